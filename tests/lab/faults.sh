# shellcheck shell=bash
# Sourced after cluster.sh: what can be wrong, and its undoing, each for node N and rail R.

at() { local n=$1; shift; ip netns exec "n$n" "$@"; }	# the network side only: quicker than `node`
sysfs() { at "$1" sh -c "echo '$4' > /sys/class/net/rail$2/$3"; }	# N R FILE VALUE

# Link and addresses. Each returns when the RDMA device has noticed.
link_down() { ip -n "n$1" link set "rail$2" down; port_wait "$1" "$2" DOWN; }
link_up() { ip -n "n$1" link set "rail$2" up; port_wait "$1" "$2" ACTIVE; }	# addresses stay; IPv4 routes come back
cable_out() { ip -n sw link set "p$1r$2" down; port_wait "$1" "$2" DOWN; }	# the far end: the node sees no carrier
cable_in() { ip -n sw link set "p$1r$2" up; port_wait "$1" "$2" ACTIVE; }
mtu() { ip -n "n$1" link set "rail$2" mtu "$3"; }	# N R 1500|4200
address_gone() { ip -n "n$1" addr del "192.168.$((77 + $2)).$1/24" dev "rail$2"; rail_wait_gone "$1" "$2"; }
address_back() { ip -n "n$1" addr add "192.168.$((77 + $2)).$1/24" dev "rail$2"; rail_wait "$1" "$2"; }

# Lossless settings
pfc_off() { at "$1" dcb pfc set dev "rail$2" prio-pfc all:off; }
pfc_all() { at "$1" dcb pfc set dev "rail$2" prio-pfc all:on; }
pfc_only() { at "$1" dcb pfc set dev "rail$2" prio-pfc all:off "$3:on"; }	# N R PRIORITY
pfc_default() { pfc_only "$1" "$2" 3; }
dscp_to() { at "$1" dcb app replace dev "rail$2" dscp-prio "$3:$4"; }	# N R DSCP PRIORITY
dscp_26_to_0() { dscp_to "$1" "$2" 26 0; }
dscp_26_back() { dscp_to "$1" "$2" 26 3; }
trust_pcp() { sysfs "$1" "$2" fdlab/dscp_default 0; }	# no DSCP entry left, as mlx5 has it then
trust_dscp() { sysfs "$1" "$2" fdlab/dscp_default 1; }
global_pause_on() { at "$1" ethtool -A "rail$2" rx on tx on; }
global_pause_off() { at "$1" ethtool -A "rail$2" rx off tx off; }
class_of() { at "$1" dcb ets set dev "rail$2" prio-tc "$3:$4"; }	# N R PRIORITY CLASS (default: the same number)
class_shares() { local n=$1 r=$2; shift 2; at "$n" dcb ets set dev "rail$r" tc-bw "$@"; }	# N R CLASS:PERCENT…
class_shares_default() { class_shares "$1" "$2" 0:50 3:50; }
# N R CLASS 1Gbit|0. Some dcb of iproute2 take bytes/s for the kernel's kbit/s: it becomes 125 Gbit/s then.
rate_limit() { at "$1" dcb maxrate set dev "rail$2" tc-maxrate "$3:$4"; }
buffer_of() { at "$1" dcb buffer set dev "rail$2" prio-buffer "$3:$4"; }	# N R PRIORITY BUFFER (default: 3:1, others 0)
buffer_bytes() { at "$1" dcb buffer set dev "rail$2" buffer-size "$3:$4"; }	# N R BUFFER BYTES (default: 1:200064)
dcbx_firmware() { at "$1" dcb dcbx set dev "rail$2" lld-managed ieee; }
dcbx_host() { at "$1" dcb dcbx set dev "rail$2" host ieee; }
storm_watchdog() { at "$1" ethtool --set-tunable "rail$2" pfc-prevention-tout "$3"; }	# N R 0 (off)|65535 (automatic)
# R CLASS: what rdma_cm gives to connections on rail R, of all nodes: configfs knows devices by name, in no namespace.
rdma_cm_class() {
	local device=/sys/kernel/config/rdma_cm/mlx5_$1
	mountpoint -q /sys/kernel/config || mount -t configfs none /sys/kernel/config
	mkdir "$device" && echo "$2" > "$device/ports/1/default_roce_tos"
}
rdma_cm_class_end() { rmdir "/sys/kernel/config/rdma_cm/mlx5_$1"; }
cnp_dscp() { sysfs "$1" "$2" ecn/roce_np/cnp_dscp "$3"; }	# N R DSCP (default 48)
ecn_half() { sysfs "$1" "$2" "ecn/roce_$3/enable/$4" "$5"; }	# N R np|rp PRIORITY 0|1
# N R, on every priority: that one is left makes the port answer marks of all.
ecn_answers_off() { local p; for p in 0 1 2 3 4 5 6 7; do ecn_half "$1" "$2" np "$p" 0; done; }
ecn_answers_on() { local p; for p in 0 1 2 3 4 5 6 7; do ecn_half "$1" "$2" np "$p" 1; done; }
ecn_off() { sysfs "$1" "$2" "ecn/roce_np/enable/$3" 0; sysfs "$1" "$2" "ecn/roce_rp/enable/$3" 0; }	# N R PRIORITY
ecn_on() { sysfs "$1" "$2" "ecn/roce_np/enable/$3" 1; sysfs "$1" "$2" "ecn/roce_rp/enable/$3" 1; }

# Counters: inject N R NAME VALUE adds once; rising N R NAME PER_SECOND goes on until rising_stop.
inject() { sysfs "$1" "$2" fdlab/inject "$3 $4"; }
discards() { inject "$1" "$2" rx_prio3_discards "$3"; inject "$1" "$2" rx_discards_phy "$3"; }
pauses() { inject "$1" "$2" "rx_prio3_pause" "$3"; inject "$1" "$2" rx_prio3_pause_duration $(($3 * 5)); }
rising() {
	# By the clock: a loop of an emulated processor comes round when it can. Not by `at`: $! must be the loop itself.
	ip netns exec "n$1" bash -c '
		exec 9<> <(:)	# nothing ever comes from it: `read` waits without a process of its own
		last=${EPOCHREALTIME/./}
		until read -rt 0.5 -u 9; do
			now=${EPOCHREALTIME/./}
			echo "$1 $(($2 * (now - last) / 1000000))" > "$0"
			last=$now
		done' "/sys/class/net/rail$2/fdlab/inject" "$3" "$4" &
	RISING="${RISING:-} $!"
}
# shellcheck disable=SC2086
rising_stop() { kill ${RISING:-} 2>/dev/null; wait ${RISING:-} 2>/dev/null; RISING=; }

# Reading ecn/roce_np/cnp_dscp and fdlab/hang sleeps in state D for up to 120 s. hang_ethtool does so to `ethtool -S`
# as well; the kernel holds its lock of all network settings then, so most other network commands wait, too.
hang() { sysfs "$1" "$2" fdlab/arm 1; }
hang_ethtool() { sysfs "$1" "$2" fdlab/arm 2; }
hang_end() { sysfs "$1" "$2" fdlab/arm 0; until_true "the end of a hang" nothing_hangs; }
# Those that slept, and those that waited for the lock, take a while to die.
nothing_hangs() {
	local file where
	for file in /proc/[0-9]*/wchan; do
		read -r where < "$file"
		case $where in fdlab_hang* | *rtnl* | *mutex*) return 1 ;; esac
	done 2> /dev/null
	return 0
}

# The switch, on the port that leads to node N rail R.
# Loss is of what it sends to the node; where there are two, loss of what node 1 sends is loss to node 2.
switch_loss() { switch_queue "$1" "$2" loss "$3%"; }
switch_loss_end() { switch_queue_end "$1" "$2"; }
switch_queue() { # N R [LOSS…]: as much as emulated processors can do beside their other work
	local n=$1 r=$2; shift 2
	ip netns exec sw tc qdisc replace dev "p${n}r$r" root netem rate 2mbit limit 4000 "$@"
}
switch_queue_end() { ip netns exec sw tc qdisc del dev "p$1r$2" root; }
switch_mtu() { ip -n sw link set "p$1r$2" mtu "$3"; }	# 1500: a black hole for large packets
# switch_remark N R TOS [RETAIN]: what comes from the node gets this TOS byte (0x02: DSCP bleached; 0x3 0x3: CE).
switch_remark() {
	local retain=()
	[ -z "${4:-}" ] || retain=(retain "$4")
	ip netns exec sw sh -c 'd=$1; shift
		tc qdisc add dev "$d" clsact && tc filter add dev "$d" ingress protocol ip prio 1 u32 \
		match ip protocol 17 0xff match ip dport 4791 0xffff \
		action pedit ex munge ip tos set "$@" pipe action csum ip' sh "p$1r$2" "$3" "${retain[@]}"
}
switch_remark_end() { ip netns exec sw tc qdisc del dev "p$1r$2" clsact; }

# RDMA messages between these rails of nodes 1 and 2, both ways at once, until traffic_end RAIL…; switch_loss is undone
# by switch_queue then. Each message is many packets (MTU 256), so that those behind a lost one tell of it; the time-out
# is a second, as no time-out may come of slow emulation alone.
traffic() { # RAIL…
	local r
	one_processor n1 && one_processor n2 && one_processor sw
	for r; do
		switch_queue 1 "$r" && switch_queue 2 "$r"
		rdma_loop 2 "$r"
		rdma_loop 1 "$r" "192.168.$((77 + r)).2"
	done
	for r; do
		TRIES=120 until_true "traffic on rail $r" has_traffic "$r" || { cp /run/traffic?? "$SHARED"; return 1; }
	done
}
# Packets that two processors take from a queue overtake each other, and count as missing.
one_processor() { ip netns exec "$1" sh -c 'for f in /sys/class/net/*/queues/rx-*/rps_cpus; do echo 1 > "$f"; done'; }
rdma_loop() { # N R [SERVER]: starts again when a connection is lost; a process group of its own
	local n=$1 r=$2
	setsid bash -c 'while :; do "$@"; sleep 0.5; done' sh ip netns exec "n$n" ib_send_bw -d "mlx5_$r" -p "1900$r" -x 1 \
		-F -N -b -e -m 256 -s 65536 -t 4 -r 512 -u 18 -n 1000000 ${3:+"$3"} < /dev/null > "/run/traffic$n$r" 2>&1 &
	TRAFFIC="${TRAFFIC:-} $!"
}
has_traffic() { [ "$(ip netns exec n1 cat "/sys/class/infiniband/mlx5_$1/ports/1/hw_counters/rcvd_pkts")" -gt 3000 ]; }
# shellcheck disable=SC2086
traffic_end() {
	local p r
	for p in ${TRAFFIC:-}; do kill -- "-$p"; done
	for r; do switch_queue_end 1 "$r"; switch_queue_end 2 "$r"; done
	wait ${TRAFFIC:-} 2> /dev/null
	TRAFFIC=
}

# Permissions and limits (root is exempt from both)
as_user() { setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all --bounding-set=-all "$@"; }
with_memlock() { local kb=$1; shift; (ulimit -l "$kb" && "$@"); }	# KB COMMAND…
uverbs_closed() { chmod 0600 /dev/infiniband/uverbs*; }
uverbs_open() { chmod 0666 /dev/infiniband/uverbs*; }
