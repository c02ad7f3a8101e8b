# shellcheck shell=bash
# Sourced in the guest: one boot is a whole cluster. cluster_up NODES RAILS makes
#   n1…     a network namespace per node: rail0… with mlx5_0… on them, and mgmt0
#   sw      the switch: bridge br0, port p1r0 leads to rail 0 of node 1
#   mgmt    the management network's bridge, where the script itself is 10.77.0.254
# Rail r of node n is 192.168.(77+r).n, its management address 10.77.0.n. Every node is a lossless RoCE node that is
# set right: PFC on priority 3 only, trust DSCP with DSCP 26 on priority 3, ETS, MTU 4200, no global pause.

LAB=${LAB:-$(dirname "${BASH_SOURCE[0]}")}

node() { "$LAB/node.sh" "$@"; }

cluster_up() {
	NODES=$1 RAILS=$2
	local n r names=
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
	# The link's device is made in the first namespace, whoever asks, and moved from there.
	ip netns exec "n$n" rdma link add "t${n}r$r" type rxe netdev "rail$r" &&
		rdma dev set "t${n}r$r" netns "n$n" &&
		ip netns exec "n$n" rdma dev set "t${n}r$r" name "mlx5_$r"
}

# Entry 1 of the GID table is the IPv4 address; it appears some time after the address.
rail_wait() {
	ip netns exec "n$1" sh -c "for i in \$(seq 100); do
		grep -q ffff /sys/class/infiniband/mlx5_$2/ports/1/gids/1 && exit 0; sleep 0.1; done; exit 1" ||
		{ echo "no GID for node $1 rail $2" >&2; return 1; }
}
