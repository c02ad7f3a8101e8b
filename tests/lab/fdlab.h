/* SPDX-License-Identifier: GPL-2.0 */
#ifndef FDLAB_H
#define FDLAB_H

#include <linux/ethtool.h>
#include <linux/netdevice.h>
#include <linux/wait.h>
#include <net/dcbnl.h>

#define MAXDEV 16
#define PRIOS 8
#define HANG_SECONDS 120
#define PFC_STORM_AUTO_MS 100

enum { HANG_NONE, HANG_SYSFS, HANG_ETHTOOL };

enum { RX_BYTES, RX_PACKETS, RX_DISCARDS, TX_BYTES, TX_PACKETS, RX_PAUSE, RX_PAUSE_DURATION, TX_PAUSE,
	TX_PAUSE_DURATION, RX_PAUSE_TRANSITION, PER_PRIO };

/* LINK_DOWN_EVENTS, RX_GLOBAL_PAUSE and TX_GLOBAL_PAUSE have a meaning of their own; the others are only names. */
enum { LINK_DOWN_EVENTS, RX_GLOBAL_PAUSE, RX_GLOBAL_PAUSE_DURATION, TX_GLOBAL_PAUSE, TX_GLOBAL_PAUSE_DURATION,
	RX_GLOBAL_PAUSE_TRANSITION, FIRST_PLAIN, PORT_STATS = FIRST_PLAIN + 24 };

struct fdlab {
	struct net_device *dev;
	const struct dcbnl_rtnl_ops *old_dcb;
	const struct ethtool_ops *old_eth;
	struct ethtool_ops eth;
	struct packet_type tap;
	struct ieee_pfc pfc;
	struct ieee_ets ets;
	struct ieee_maxrate maxrate;
	struct dcbnl_buffer buffer;
	int peer_pfc;			/* -1: the peer says nothing */
	u8 dcbx, trust[8];
	int ntrust;
	bool rx_pause, tx_pause, up;
	u16 storm_timeout;
	u64 prio[PRIOS][PER_PRIO];
	u64 port[PORT_STATS];
	bool np_enable[PRIOS], rp_enable[PRIOS];
	u8 cnp_dscp, cnp_prio;
	int armed;			/* HANG_… */
	wait_queue_head_t disarmed;
	struct kobject *ecn, *np, *rp, *np_dir, *rp_dir, *ctl;
};

extern char *fdlab_driver;
extern bool fdlab_has_apptrust;

struct fdlab *fdlab_find(const struct net_device *dev);
struct fdlab *fdlab_of(struct kobject *k);
void fdlab_hang(struct fdlab *s, int level);
void fdlab_arm(struct fdlab *s, int level);
const struct dcbnl_rtnl_ops *fdlab_dcb_ops(void);
int fdlab_count(struct sk_buff *skb, struct net_device *dev, struct packet_type *pt, struct net_device *orig);
bool fdlab_trusts_dscp(struct fdlab *s);
void fdlab_dscp_default(struct fdlab *s);
void fdlab_dscp_clear(struct fdlab *s);
int fdlab_sysfs_add(struct fdlab *s);
void fdlab_sysfs_remove(struct fdlab *s);
void fdlab_ethtool_ops(struct fdlab *s);
u64 *fdlab_stat(struct fdlab *s, const char *name);

#endif
