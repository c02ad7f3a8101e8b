#!/bin/sh
# node.sh N COMMAND…: run a command on node N: its network, RDMA devices and /sys, its host name, and its own
# folders in place of those below, which keep their content from one command to the next.
n=$1; shift
# shellcheck disable=SC2016
exec ip netns exec "n$n" unshare --uts sh -c '
n=$1; shift
hostname "node$n"
mount -t configfs none /sys/kernel/config || exit 125
for d in /var/lib/fabricdoctor /run/fabricdoctor /etc/fabricdoctor; do mount --bind "/run/lab/n$n$d" "$d" || exit 125; done
exec "$@"' sh "$n" "$@"
