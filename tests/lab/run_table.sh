#!/bin/bash
# Run by boot.py in the guest: injects each fault of $SHARED/rows on node 1, runs the check as root and as an ordinary
# user, and undoes it: that it vanishes is seen in the next row. Answers: $SHARED/NAME.{root,user}.json, with the exit
# .status and .nanoseconds beside.
# Rows are lines NAME|INJECT|UNDO|ENVIRONMENT|AROUND|OPTIONS|AGAIN.
# shellcheck source=cluster.sh
. "$LAB/cluster.sh"
# shellcheck source=faults.sh
. "$LAB/faults.sh"

# The root file system comes from the host file by file: what each run reads is copied into memory once.
in_memory() {
	local copy=/run/copy$1
	[ -d "$1" ] || return 0
	mkdir -p "$copy"
	tar -C "$1" --exclude=./test --exclude=./idlelib --exclude=./lib2to3 -cf - . | tar -C "$copy" -xf -
	mount --bind "$copy" "$1"
}
python=/usr/bin/python3
in_memory "$($python -c 'import os; print(os.path.dirname(os.__file__))')"
in_memory /usr/lib/python3/dist-packages/pyverbs
cp -r "$SHARED/site" /run/site
$python -m compileall -q /run/site/fabricdoctor /run/site/typer /run/site/psutil
chmod -R a+rX /run/site
CHECK="env PYTHONPATH=/run/site $python -m fabricdoctor check"

ulimit -l unlimited  # as a job has it where the site is set right
cluster_up 2 2 3 || exit 1
mkdir -p /run/home && chmod 0777 /run/home
cd /run/home || exit 1	# not in the repository, whose package python would take before the one in memory

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

both() { # NAME ENVIRONMENT AROUND OPTIONS
	local root
	one "$1.root" root "$2" "$3" "$4" & root=$!
	one "$1.user" user "$2" "$3" "$4"
	wait "$root"
}
# On an emulated processor with busy neighbours an answer may take longer than the second it has: that is asked again,
# once, unless the row is about answers that do not come.
incomplete() { ! grep -q '"left_out": \[\]' "$SHARED/$1.root.json" || ! grep -q '"left_out": \[\]' "$SHARED/$1.user.json"; }

# What the tool says that repairs the faults of the row (a finding is a line), done on node 1 as it stands there.
by_fix() {
	sed -n 's/.*"verdict": "fault".*"fix": "\(.*\)", "odd".*/\1/p' "$SHARED/$name.root.json" | sort -u > /run/fixes
	at 1 sh -ex /run/fixes
}

while IFS='|' read -r name inject undo environment around options again <&3; do
	eval "$inject" || echo "$name" >> "$SHARED/not-injected"
	both "$name" "$environment" "$around" "$options"
	if [ -n "$again" ] && incomplete "$name"; then
		echo "$name again: an answer was too late"
		both "$name" "$environment" "$around" "$options"
	fi
	eval "$undo"
	echo "$name $(cut -d' ' -f1 /proc/uptime)"
done 3< "$SHARED/rows"
