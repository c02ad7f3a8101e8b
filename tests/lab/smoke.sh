#!/bin/bash
# Run by boot.py in the guest: shows that each part of the lab does what README.md says. Exit status 0: all did.
# shellcheck source=cluster.sh
. "$LAB/cluster.sh"
# shellcheck source=faults.sh
. "$LAB/faults.sh"

failed=0
up() { cut -d' ' -f1 /proc/uptime; }
check() { # TEXT COMMAND…: the command must succeed
	local text=$1; shift
	if "$@"; then echo "ok    $text"; else echo "FAIL  $text"; failed=1; fi
}
stat_of() { at "$1" ethtool -S "rail$2" | awk -v name="$3:" '$1 == name { print $2 }'; }
shows() { local want=$1; shift; "$@" 2>&1 | grep -q -- "$want"; }
not() { ! "$@"; }

echo "boot: $(up) s after power on, kernel $(uname -r)"
cluster_up 2 2 || exit 1
echo "cluster: $(up) s"
node 1 rdma link
node 1 dcb pfc show dev rail0
check "node 2 sees only its own devices" test "$(node 2 ls /sys/class/infiniband | xargs)" = "mlx5_0 mlx5_1"
check "host name per node" test "$(node 2 hostname)" = node2
node 1 sh -c 'echo one > /var/lib/fabricdoctor/x'
check "state per node" test "$(node 1 cat /var/lib/fabricdoctor/x; node 2 ls /var/lib/fabricdoctor)" = one
check "management network" node 1 ping -qc1 -W2 10.77.0.2
check "rail network" node 1 ping -qc1 -W2 192.168.78.2

check "PFC on priority 3" shows '3:on' node 1 dcb pfc show dev rail0
check "DSCP 26 is priority 3" shows 'AF31:3' node 1 dcb app show dev rail0
dscp_26_to_0 1 0; check "remapped" shows 'AF31:0' node 1 dcb app show dev rail0
dscp_26_back 1 0; check "and back, once" test "$(node 1 dcb app show dev rail0 | grep -o 'AF31:[0-7]')" = AF31:3
check "other rails kept theirs" shows 'AF31:3' node 2 dcb app show dev rail0
trust_pcp 1 0; check "trust PCP" shows pcp node 1 cat /sys/class/net/rail0/fdlab/trust
check "no DSCP entry" not shows AF31 node 1 dcb app show dev rail0
trust_dscp 1 0; check "trust DSCP" shows dscp node 1 cat /sys/class/net/rail0/fdlab/trust
pfc_only 1 0 4; check "pause counters follow PFC" test "$(stat_of 1 0 rx_prio4_pause)/$(stat_of 1 0 rx_prio3_pause)" = 0/
pfc_default 1 0
global_pause_on 1 0; check "global pause" shows 'RX:.*on' node 1 ethtool -a rail0
check "its counters appear" test "$(stat_of 1 0 rx_global_pause)" = 0
global_pause_off 1 0
inject 1 0 rx_prio3_pause 1234; inject 1 0 rx_prio3_pause 1
check "injected counter" test "$(stat_of 1 0 rx_prio3_pause)" = 1235
check "of that rail only" test "$(stat_of 1 1 rx_prio3_pause)" = 0
check "unknown counter refused" not inject 1 0 no_such 1
rising 1 1 rx_discards_phy 7; sleep 2.5; rising_stop
check "discards rose" test "$(stat_of 1 1 rx_discards_phy)" -ge 14
ecn_off 1 0 3; check "ECN off" shows 0 node 1 cat /sys/class/net/rail0/ecn/roce_np/enable/3; ecn_on 1 0 3
check "400G, RS-FEC" shows 'Speed: 400000Mb/s' node 1 ethtool rail0
check "FEC" shows 'Active FEC encoding: RS' node 1 ethtool --show-fec rail0

link_down 1 1; check "link down" shows 'DOWN' node 1 cat /sys/class/infiniband/mlx5_1/ports/1/state; link_up 1 1
cable_out 1 1; sleep 0.3
check "no cable" shows 'No cable' node 1 ethtool rail1
cable_in 1 1; sleep 0.3
check "link down events counted" test "$(stat_of 1 1 link_down_events_phy)" -ge 2
check "link is back" shows ACTIVE node 1 cat /sys/class/infiniband/mlx5_1/ports/1/state
mtu 1 0 1500; check "MTU 1500" shows 1500 node 1 cat /sys/class/net/rail0/mtu; mtu 1 0 4200
address_gone 1 1; check "no address" not shows 192.168 node 1 ip -4 -o addr show dev rail1; address_back 1 1
rail_wait 1 1
echo "settings: $(up) s"

hang 1 0
node 1 cat /sys/class/net/rail0/ecn/roce_np/cnp_dscp > /run/hung & reader=$!
sleep 1
hung=$(pgrep -x cat)
check "reader in state D" grep -q '^State:.*D' "/proc/$hung/status"
kill -9 "$hung"; sleep 0.5
check "survives SIGKILL" grep -q '^State:.*D' "/proc/$hung/status"
check "other rails answer meanwhile" timeout 5 "$LAB/node.sh" 1 cat /sys/class/net/rail1/ecn/roce_np/cnp_dscp
check "netlink and ethtool, too" shows '3:on' timeout 5 "$LAB/node.sh" 1 dcb pfc show dev rail0
hang_end 1 0; wait $reader
check "gone when disarmed" test ! -e "/proc/$hung"

pair() { # DEVICE RAIL COMMAND…: run the command on node 2 as server and on node 1 as client
	local rail=$1; shift
	timeout 60 "$LAB/node.sh" 2 "$@" > /run/server 2>&1 & local server=$!
	sleep 1.5
	timeout 60 "$LAB/node.sh" 1 "$@" "192.168.$((77 + rail)).2"
	local rc=$?
	wait $server
	return $rc
}
before=$(stat_of 1 1 tx_prio3_bytes)
pair 1 ibv_rc_pingpong -d mlx5_1 -g 1 -l 3 -n 200 -s 4096 > /run/client 2>&1
check "RDMA between nodes" grep 'Mbit/sec' /run/client
echo "      tx_prio0_bytes $(stat_of 1 1 tx_prio0_bytes), tx_prio3_bytes $before -> $(stat_of 1 1 tx_prio3_bytes)"
if command -v ib_write_bw > /dev/null; then
	pair 0 ib_write_bw -d mlx5_0 -x 1 --tclass=106 -s 65536 -n 200 -F > /run/client 2>&1
	grep -A1 '#bytes' /run/client || cat /run/client
	check "its bytes are in priority 3" test "$(stat_of 1 0 tx_prio3_bytes)" -gt 13000000
fi
switch_remark 1 1 0x02; check "re-marking set" shows pedit ip netns exec sw tc filter show dev p1r1 ingress
switch_remark_end 1 1
switch_loss 1 1 100; check "all lost at the switch" not node 1 ping -qc1 -W1 192.168.78.2 > /dev/null
switch_loss_end 1 1
uverbs_closed; check "uverbs closed to users" not as_user test -r /dev/infiniband/uverbs0; uverbs_open
check "small memlock" test "$(with_memlock 64 sh -c 'ulimit -l')" = 64
rmmod rdma_rxe 2> /dev/null
check "module removed" rmmod fdlab
check "kernel did not complain" not shows 'BUG:\|Oops\|WARNING:\|refcount' dmesg
echo "end: $(up) s"
exit $failed
