#!/bin/bash
# Run by boot.py in the guest: injects each fault of $SHARED/rows on node 1, runs the check as root and as an ordinary
# user, undoes it, and checks once more. Answers: $SHARED/NAME.{root,user,undone}.json, with .status and .seconds beside.
# $CHECK is the command; rows are lines NAME|INJECT|UNDO|ENVIRONMENT|AROUND|OPTIONS.
# shellcheck source=cluster.sh
. "$LAB/cluster.sh"
# shellcheck source=faults.sh
. "$LAB/faults.sh"

cluster_up 2 2 || exit 1
mkdir -p /run/home && chmod 0777 /run/home

# A reader of this file waits for ever. It is one that the tool reads: NCCL's configuration.
fifo_make() { rm -f /etc/nccl.conf; mkfifo /etc/nccl.conf; }
fifo_end() { rm -f /etc/nccl.conf; }

one() { # FILE WHO ENVIRONMENT AROUND OPTIONS
	local out=$SHARED/$1 who=$2 around=$4 begun
	# shellcheck disable=SC2086
	set -- env HOME=/run/home XDG_STATE_HOME=/run/home LC_ALL=C.UTF-8 $3 $CHECK --profile roce-lossless --no-save \
		--format json $5
	[ "$who" = root ] ||
		set -- setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all --bounding-set=-all "$@"
	begun=$(date +%s%N)
	$around node 1 "$@" > "$out.json" 2> "$out.err" < /dev/null
	echo $? > "$out.status"
	echo $(($(date +%s%N) - begun)) > "$out.nanoseconds"
}

while IFS='|' read -r name inject undo environment around options; do
	eval "$inject"
	one "$name.root" root "$environment" "$around" "$options"
	one "$name.user" user "$environment" "$around" "$options"
	eval "$undo"
	[ -z "$inject" ] || one "$name.undone" root "" "" ""
	echo "$name $(cut -d' ' -f1 /proc/uptime)"
done < "$SHARED/rows"
