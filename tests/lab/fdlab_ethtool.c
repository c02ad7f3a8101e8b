// SPDX-License-Identifier: GPL-2.0
/* What ethtool shows of an fdlab device: the names are those of the mlx5 driver. */
#include <linux/ethtool.h>
#include <linux/linkmode.h>

#include "fdlab.h"

static const char * const prio_names[PER_PRIO] = {
	[RX_BYTES] = "rx_prio%d_bytes",
	[RX_PACKETS] = "rx_prio%d_packets",
	[RX_DISCARDS] = "rx_prio%d_discards",
	[TX_BYTES] = "tx_prio%d_bytes",
	[TX_PACKETS] = "tx_prio%d_packets",
	[RX_PAUSE] = "rx_prio%d_pause",
	[RX_PAUSE_DURATION] = "rx_prio%d_pause_duration",
	[TX_PAUSE] = "tx_prio%d_pause",
	[TX_PAUSE_DURATION] = "tx_prio%d_pause_duration",
	[RX_PAUSE_TRANSITION] = "rx_prio%d_pause_transition",
};

static const char * const port_names[PORT_STATS] = {
	[LINK_DOWN_EVENTS] = "link_down_events_phy",
	[RX_GLOBAL_PAUSE] = "rx_global_pause",
	[RX_GLOBAL_PAUSE_DURATION] = "rx_global_pause_duration",
	[TX_GLOBAL_PAUSE] = "tx_global_pause",
	[TX_GLOBAL_PAUSE_DURATION] = "tx_global_pause_duration",
	[RX_GLOBAL_PAUSE_TRANSITION] = "rx_global_pause_transition",
	[FIRST_PLAIN] = "rx_out_of_buffer", "rx_if_down_packets", "rx_steer_missed_packets", "rx_discards_phy",
	"tx_discards_phy", "tx_errors_phy", "rx_crc_errors_phy", "rx_in_range_len_errors_phy",
	"rx_oversize_pkts_phy", "rx_undersize_pkts_phy", "rx_fragments_phy", "rx_jabbers_phy",
	"rx_symbol_err_phy", "rx_pcs_symbol_err_phy", "rx_corrected_bits_phy", "rx_err_lane_0_phy",
	"rx_err_lane_1_phy", "rx_err_lane_2_phy", "rx_err_lane_3_phy", "rx_buffer_passed_thres_phy",
	"tx_pause_storm_warning_events", "tx_pause_storm_error_events", "rx_vport_rdma_unicast_bytes",
	"tx_vport_rdma_unicast_bytes",
};

/* mlx5 has the pause counters of a priority only while PFC is on for it, and the global ones with global pause. */
static bool prio_shown(const struct fdlab *s, int prio, int which)
{
	return which < RX_PAUSE || (s->pfc.pfc_en & BIT(prio));
}

static bool port_shown(const struct fdlab *s, int which)
{
	return which < RX_GLOBAL_PAUSE || which >= FIRST_PLAIN || s->rx_pause || s->tx_pause;
}

static struct fdlab *of(struct net_device *dev)
{
	return container_of(dev->ethtool_ops, struct fdlab, eth);
}

/* Calls are made with the RTNL lock held, as are those that set PFC: the three callbacks below agree. */
static int walk(struct fdlab *s, u8 *names, u64 *values)
{
	int prio, i, n = 0;

	for (i = 0; i < PORT_STATS; i++) {
		if (!port_shown(s, i))
			continue;
		if (names)
			ethtool_puts(&names, port_names[i]);
		if (values)
			values[n] = s->port[i];
		n++;
	}
	for (prio = 0; prio < PRIOS; prio++)
		for (i = 0; i < PER_PRIO; i++) {
			if (!prio_shown(s, prio, i))
				continue;
			if (names)
				ethtool_sprintf(&names, prio_names[i], prio);
			if (values)
				values[n] = s->prio[prio][i];
			n++;
		}
	return n;
}

u64 *fdlab_stat(struct fdlab *s, const char *name)
{
	char full[ETH_GSTRING_LEN];
	int prio, i;

	for (i = 0; i < PORT_STATS; i++)
		if (!strcmp(name, port_names[i]))
			return &s->port[i];
	for (prio = 0; prio < PRIOS; prio++)
		for (i = 0; i < PER_PRIO; i++) {
			snprintf(full, sizeof(full), prio_names[i], prio);
			if (!strcmp(name, full))
				return &s->prio[prio][i];
		}
	return NULL;
}

static int get_sset_count(struct net_device *dev, int set)
{
	return set == ETH_SS_STATS ? walk(of(dev), NULL, NULL) : -EOPNOTSUPP;
}

static void get_strings(struct net_device *dev, u32 set, u8 *names)
{
	if (set == ETH_SS_STATS)
		walk(of(dev), names, NULL);
}

static void get_ethtool_stats(struct net_device *dev, struct ethtool_stats *stats, u64 *values)
{
	fdlab_hang(of(dev), HANG_ETHTOOL);
	walk(of(dev), NULL, values);
}

static void get_drvinfo(struct net_device *dev, struct ethtool_drvinfo *info)
{
	strscpy(info->driver, fdlab_driver, sizeof(info->driver));
	strscpy(info->fw_version, "28.43.2026 (FDL0000000001)", sizeof(info->fw_version));
}

static void get_pauseparam(struct net_device *dev, struct ethtool_pauseparam *pause)
{
	pause->autoneg = 0;
	pause->rx_pause = of(dev)->rx_pause;
	pause->tx_pause = of(dev)->tx_pause;
}

static int set_pauseparam(struct net_device *dev, struct ethtool_pauseparam *pause)
{
	if (pause->autoneg)
		return -EINVAL;
	of(dev)->rx_pause = pause->rx_pause;
	of(dev)->tx_pause = pause->tx_pause;
	return 0;
}

static void get_pause_stats(struct net_device *dev, struct ethtool_pause_stats *stats)
{
	stats->rx_pause_frames = of(dev)->port[RX_GLOBAL_PAUSE];
	stats->tx_pause_frames = of(dev)->port[TX_GLOBAL_PAUSE];
}

static int get_link_ksettings(struct net_device *dev, struct ethtool_link_ksettings *k)
{
	bool up = netif_running(dev) && netif_carrier_ok(dev);

	ethtool_link_ksettings_zero_link_mode(k, supported);
	ethtool_link_ksettings_add_link_mode(k, supported, 400000baseCR4_Full);
	ethtool_link_ksettings_add_link_mode(k, supported, Autoneg);
	ethtool_link_ksettings_add_link_mode(k, supported, FIBRE);
	ethtool_link_ksettings_add_link_mode(k, supported, FEC_RS);
	linkmode_copy(k->link_modes.advertising, k->link_modes.supported);
	k->base.speed = up ? 400000 : SPEED_UNKNOWN;
	k->base.duplex = up ? DUPLEX_FULL : DUPLEX_UNKNOWN;
	k->base.autoneg = AUTONEG_ENABLE;
	k->base.port = PORT_DA;
	k->lanes = up ? 4 : 0;
	return 0;
}

static int get_fecparam(struct net_device *dev, struct ethtool_fecparam *fec)
{
	fec->fec = ETHTOOL_FEC_RS;
	fec->active_fec = ETHTOOL_FEC_RS;
	return 0;
}

static int get_link_ext_state(struct net_device *dev, struct ethtool_link_ext_state_info *info)
{
	if (netif_carrier_ok(dev))
		return -ENODATA;
	info->link_ext_state = ETHTOOL_LINK_EXT_STATE_NO_CABLE;
	return 0;
}

static int get_tunable(struct net_device *dev, const struct ethtool_tunable *tuna, void *data)
{
	if (tuna->id != ETHTOOL_PFC_PREVENTION_TOUT)
		return -EOPNOTSUPP;
	*(u16 *)data = of(dev)->storm_timeout;
	return 0;
}

static int set_tunable(struct net_device *dev, const struct ethtool_tunable *tuna, const void *data)
{
	u16 timeout = *(const u16 *)data;

	if (tuna->id != ETHTOOL_PFC_PREVENTION_TOUT)
		return -EOPNOTSUPP;
	of(dev)->storm_timeout = timeout == PFC_STORM_PREVENTION_AUTO ? PFC_STORM_AUTO_MS : timeout;
	return 0;
}

/* What is not a RoCE NIC's own (channels, time stamping) stays the software device's answer. */
void fdlab_ethtool_ops(struct fdlab *s)
{
	s->eth = *s->old_eth;
	s->eth.get_drvinfo = get_drvinfo;
	s->eth.get_link = ethtool_op_get_link;
	s->eth.get_link_ext_state = get_link_ext_state;
	s->eth.get_link_ksettings = get_link_ksettings;
	s->eth.get_sset_count = get_sset_count;
	s->eth.get_strings = get_strings;
	s->eth.get_ethtool_stats = get_ethtool_stats;
	s->eth.get_pauseparam = get_pauseparam;
	s->eth.set_pauseparam = set_pauseparam;
	s->eth.get_pause_stats = get_pause_stats;
	s->eth.get_fecparam = get_fecparam;
	s->eth.get_tunable = get_tunable;
	s->eth.set_tunable = set_tunable;
}
