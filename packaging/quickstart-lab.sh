#!/usr/bin/env bash
# Runs in the lab's VM as root: n1 as it should be, n2 with one fault; reports and exit statuses go to $SHARED.
# Arguments: the fabricdoctor to run, and the locale its report is for.
set -euo pipefail
# shellcheck source=/dev/null
. "$LAB/cluster.sh"
# shellcheck source=/dev/null
. "$LAB/faults.sh"

fabricdoctor=$1 locale=$2

# An emulated processor is slow: the usual budget of time is for real ones.
check_node() {
	local status=0
	node "$1" env LC_ALL="$locale" COLUMNS=100 "$fabricdoctor" check --profile roce-lossless --interval 5 --budget 120 \
		>"$SHARED/n$1.txt" || status=$?
	echo "$status" >"$SHARED/n$1.status"
}

cluster_up 2 2
pfc_only 2 1 4
check_node 1
check_node 2
