# shellcheck shell=bash
# Sourced in the guest: one boot is a whole cluster. cluster_up NODES RAILS [SPARES] makes
#   n1…     a network namespace per node: rail0… with mlx5_0… on them, and mgmt0
#   sw      the switch: bridge br0, port p1r0 leads to rail 0 of node 1
#   mgmt    the management network's bridge, where the script itself is 10.77.0.254
# Rail r of node n is 192.168.(77+r).n, its management address 10.77.0.n. Every node is a lossless RoCE node that is
# set right: PFC on priority 3 only, trust DSCP with DSCP 26 on priority 3, ETS, MTU 4200, no global pause.

LAB=${LAB:-$(dirname "${BASH_SOURCE[0]}")}

node() { "$LAB/node.sh" "$@"; }

cluster_up() {
	NODES=$1 RAILS=$2
	local n r names= spares=${3:-0}
	[ $((NODES * RAILS + spares)) -le 16 ] || { echo "the module has room for 16 rails" >&2; return 1; }
	modprobe -a rdma_rxe ib_uverbs rdma_ucm veth || return 1
	rdma system set netns exclusive	# refused once a namespace exists
	ip link set lo up
	ip netns add sw
	ip -n sw link add br0 type bridge mcast_snooping 0
	ip -n sw link set br0 mtu 4200 up
	ip link add mgmt type bridge
	ip addr add 10.77.0.254/24 dev mgmt
	ip link set mgmt up
	for n in $(seq "$NODES"); do
		node_make "$n"
		for r in $(rails); do	# in the first namespace: the kernel keys the APP table by interface index
			ip link add "e${n}r$r" type veth peer name "p${n}r$r"
			names=$names,e${n}r$r
		done
	done
	for r in $(seq 0 $((spares - 1))); do
		ip link add "s$r" type veth peer name "q$r"
		names=$names,s$r
	done
	insmod "$FDLAB_KO" "ifname=${names#,}" || return 1
	for n in $(seq "$NODES"); do for r in $(rails); do rail_make "$n" "$r" || return 1; done; done
	for n in $(seq "$NODES"); do for r in $(rails); do rail_wait "$n" "$r" || return 1; done; done
}

rails() { seq 0 $((RAILS - 1)); }

node_make() {
	local n=$1 d
	for d in /var/lib/fabricdoctor /run/fabricdoctor /etc/fabricdoctor; do mkdir -p "$d" "/run/lab/n$n$d"; done
	ip netns add "n$n"
	ip link add "m$n" type veth peer name mgmt0 netns "n$n"
	ip link set "m$n" master mgmt up
	ip -n "n$n" -batch - <<-END
		link set lo up
		addr add 10.77.0.$n/24 dev mgmt0
		link set mgmt0 up
	END
}

rail_make() {
	local n=$1 r=$2
	ip link set "e${n}r$r" netns "n$n" name "rail$r" || return 1	# the module gives it its APP table back
	ip link set "p${n}r$r" netns sw
	ip -n sw link set "p${n}r$r" mtu 4200 master br0 up
	ip -n "n$n" -batch - <<-END
		addr add 192.168.$((77 + r)).$n/24 dev rail$r
		link set rail$r mtu 4200 up
	END
	device_make "$n" "$r"
}

# The link's device is made in the first namespace, whoever asks, and moved from there.
device_make() {
	ip netns exec "n$1" rdma link add "t$1r$2" type rxe netdev "rail$2" &&
		rdma dev set "t$1r$2" netns "n$1" &&
		ip netns exec "n$1" rdma dev set "t$1r$2" name "mlx5_$2"
}

# N SPARE: a further rail of node N as it comes from the factory. Set up, but there never was a carrier.
spare_in() {
	local r=$((RAILS + $2))
	ip link set "s$2" netns "n$1" name "rail$r" && ip -n "n$1" link set "rail$r" up && device_make "$1" "$r"
}
spare_out() {
	local r=$((RAILS + $2))
	ip netns exec "n$1" rdma link delete "mlx5_$r"
	ip -n "n$1" link set "rail$r" netns 1 name "s$2"
}

# All that waits is bounded, and long: the emulated processors may have busy neighbours.
until_true() { # TEXT COMMAND…
	local text=$1; shift
	for _ in $(seq "${TRIES:-300}"); do
		"$@" && return 0
		sleep 0.2
	done
	echo "waited in vain: $text" >&2
	return 1
}

# Entry 1 of the GID table is the IPv4 address; it appears and goes some time after the address.
has_gid() { ip netns exec "n$1" grep -q ffff "/sys/class/infiniband/mlx5_$2/ports/1/gids/1" 2> /dev/null; }
has_no_gid() { ! has_gid "$@"; }
rail_wait() { until_true "a GID for node $1 rail $2" has_gid "$1" "$2"; }
rail_wait_gone() { until_true "no GID for node $1 rail $2" has_no_gid "$1" "$2"; }

has_state() { ip netns exec "n$1" grep -q "$3" "/sys/class/infiniband/mlx5_$2/ports/1/state"; }
port_wait() { until_true "node $1 rail $2 is $3" has_state "$@"; }	# N R ACTIVE|DOWN
