# shellcheck shell=bash
# Sourced after cluster.sh: what can be wrong, and its undoing, each for node N and rail R.

at() { local n=$1; shift; ip netns exec "n$n" "$@"; }	# the network side only: quicker than `node`
sysfs() { at "$1" sh -c "echo '$4' > /sys/class/net/rail$2/$3"; }	# N R FILE VALUE

# Link and addresses
link_down() { ip -n "n$1" link set "rail$2" down; }
link_up() { ip -n "n$1" link set "rail$2" up; }	# the address stays; IPv4 routes come back with the link
cable_out() { ip -n sw link set "p$1r$2" down; }	# the far end: the node has set its port up, but sees no carrier
cable_in() { ip -n sw link set "p$1r$2" up; }
mtu() { ip -n "n$1" link set "rail$2" mtu "$3"; }	# N R 1500|4200
address_gone() { ip -n "n$1" addr del "192.168.$((77 + $2)).$1/24" dev "rail$2"; }
address_back() { ip -n "n$1" addr add "192.168.$((77 + $2)).$1/24" dev "rail$2"; }

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
ecn_off() { sysfs "$1" "$2" "ecn/roce_np/enable/$3" 0; sysfs "$1" "$2" "ecn/roce_rp/enable/$3" 0; }	# N R PRIORITY
ecn_on() { sysfs "$1" "$2" "ecn/roce_np/enable/$3" 1; sysfs "$1" "$2" "ecn/roce_rp/enable/$3" 1; }

# Counters: inject N R NAME VALUE adds once; rising N R NAME PER_SECOND goes on until rising_stop.
inject() { sysfs "$1" "$2" fdlab/inject "$3 $4"; }
discards() { inject "$1" "$2" rx_prio3_discards "$3"; inject "$1" "$2" rx_discards_phy "$3"; }
pauses() { inject "$1" "$2" "rx_prio3_pause" "$3"; inject "$1" "$2" rx_prio3_pause_duration $(($3 * 5)); }
rising() {
	at "$1" sh -c "while :; do echo '$3 $4' > /sys/class/net/rail$2/fdlab/inject; sleep 1; done" &
	RISING="${RISING:-} $!"
}
# shellcheck disable=SC2086
rising_stop() { kill ${RISING:-} 2>/dev/null; wait ${RISING:-} 2>/dev/null; RISING=; }

# Reading ecn/roce_np/cnp_dscp and fdlab/hang sleeps in state D for up to 120 s. hang_ethtool does so to `ethtool -S`
# as well; the kernel holds its lock of all network settings then, so most other network commands wait, too.
hang() { sysfs "$1" "$2" fdlab/arm 1; }
hang_ethtool() { sysfs "$1" "$2" fdlab/arm 2; }
hang_end() { sysfs "$1" "$2" fdlab/arm 0; }

# The switch, on the port that leads to node N rail R.
switch_loss() { ip netns exec sw tc qdisc replace dev "p$1r$2" root netem loss "$3%"; }	# towards the node
switch_loss_end() { ip netns exec sw tc qdisc del dev "p$1r$2" root; }
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

# Permissions and limits (root is exempt from both)
as_user() { setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all --bounding-set=-all "$@"; }
with_memlock() { local kb=$1; shift; (ulimit -l "$kb" && "$@"); }	# KB COMMAND…
uverbs_closed() { chmod 0600 /dev/infiniband/uverbs*; }
uverbs_open() { chmod 0666 /dev/infiniband/uverbs*; }
