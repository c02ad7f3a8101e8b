// SPDX-License-Identifier: GPL-2.0
/*
 * fdlab: gives existing software network devices (veth) the settings of a RoCE
 * NIC as the mlx5 driver shows them, for tests without hardware:
 *
 *	insmod fdlab.ko ifname=e1r0,e1r1
 *
 * DCB netlink, ethtool and ecn/ in sysfs answer per device; what a test needs to
 * disturb a device lies in fdlab/ in the device's own sysfs directory (README.md).
 */
#include <linux/ethtool.h>
#include <linux/if_ether.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include <linux/wait.h>
#include <net/dcbnl.h>
#include <net/dsfield.h>

#include "fdlab.h"

static char *ifname[MAXDEV];
static int nif;
module_param_array(ifname, charp, &nif, 0444);
MODULE_PARM_DESC(ifname, "network devices to attach to");
static bool has_apptrust;
module_param(has_apptrust, bool, 0444);
MODULE_PARM_DESC(has_apptrust, "offer the APP trust table, which mlx5 does not");
static char *driver = "mlx5_core";
module_param(driver, charp, 0444);
MODULE_PARM_DESC(driver, "driver name that ethtool -i shows");

static struct fdlab labs[MAXDEV];

static struct fdlab *find(const struct net_device *dev)
{
	int i;

	for (i = 0; i < MAXDEV; i++)
		if (labs[i].dev == dev)
			return &labs[i];
	return NULL;
}

struct fdlab *fdlab_of(struct kobject *k)
{
	int i;

	for (; k; k = k->parent)
		for (i = 0; i < MAXDEV; i++)
			if (labs[i].dev && &labs[i].dev->dev.kobj == k)
				return &labs[i];
	return NULL;
}

/* Sleeps uninterruptibly, as a reader does whose driver waits for dead firmware. */
void fdlab_hang(struct fdlab *s, int level)
{
	wait_event_timeout(s->disarmed, READ_ONCE(s->armed) < level, HANG_SECONDS * HZ);
}

/* ---- DCB ---- */

static u8 dscp_prios(struct net_device *dev, u8 dscp)
{
	struct dcb_app app = { .selector = IEEE_8021QAZ_APP_SEL_DSCP, .protocol = dscp };

	return dcb_ieee_getapp_mask(dev, &app);
}

bool fdlab_trusts_dscp(struct fdlab *s)
{
	int dscp;

	for (dscp = 0; dscp < 64; dscp++)
		if (dscp_prios(s->dev, dscp))
			return true;
	return false;
}

static int ieee_delapp(struct net_device *dev, struct dcb_app *app)
{
	return dcb_ieee_delapp(dev, app);
}

/* A DSCP has one priority in mlx5: a new entry replaces the old one. */
static int ieee_setapp(struct net_device *dev, struct dcb_app *app)
{
	struct dcb_app old = *app;
	int err = dcb_ieee_setapp(dev, app);
	u8 prios;

	if (err || app->selector != IEEE_8021QAZ_APP_SEL_DSCP)
		return err;
	prios = dscp_prios(dev, app->protocol) & ~BIT(app->priority);
	for (old.priority = 0; old.priority < PRIOS; old.priority++)
		if (prios & BIT(old.priority))
			dcb_ieee_delapp(dev, &old);
	return 0;
}

/* The kernel drops a device's entries when it changes its namespace: publish again. */
void fdlab_dscp_default(struct fdlab *s)
{
	struct dcb_app app = { .selector = IEEE_8021QAZ_APP_SEL_DSCP };

	for (app.protocol = 0; app.protocol < 64; app.protocol++) {
		app.priority = app.protocol >> 3;
		ieee_setapp(s->dev, &app);
	}
}

void fdlab_dscp_clear(struct fdlab *s)
{
	struct dcb_app app = { .selector = IEEE_8021QAZ_APP_SEL_DSCP };

	for (app.protocol = 0; app.protocol < 64; app.protocol++)
		for (app.priority = 0; app.priority < PRIOS; app.priority++)
			dcb_ieee_delapp(s->dev, &app);
}

static int ieee_getpfc(struct net_device *dev, struct ieee_pfc *pfc)
{
	struct fdlab *s = find(dev);
	int i;

	*pfc = s->pfc;
	for (i = 0; i < PRIOS; i++) {
		pfc->requests[i] = s->prio[i][TX_PAUSE];
		pfc->indications[i] = s->prio[i][RX_PAUSE];
	}
	return 0;
}

static int ieee_setpfc(struct net_device *dev, struct ieee_pfc *pfc)
{
	struct fdlab *s = find(dev);

	s->pfc.pfc_en = pfc->pfc_en;
	s->pfc.mbc = pfc->mbc;
	if (pfc->delay)
		s->pfc.delay = pfc->delay;
	return 0;
}

static int ieee_getets(struct net_device *dev, struct ieee_ets *ets)
{
	*ets = find(dev)->ets;
	return 0;
}

static int ieee_setets(struct net_device *dev, struct ieee_ets *ets)
{
	struct fdlab *s = find(dev);
	u8 cap = s->ets.ets_cap;

	s->ets = *ets;
	s->ets.ets_cap = cap;
	return 0;
}

static int ieee_getmaxrate(struct net_device *dev, struct ieee_maxrate *rate)
{
	*rate = find(dev)->maxrate;
	return 0;
}

static int ieee_setmaxrate(struct net_device *dev, struct ieee_maxrate *rate)
{
	find(dev)->maxrate = *rate;
	return 0;
}

static int getbuffer(struct net_device *dev, struct dcbnl_buffer *buffer)
{
	*buffer = find(dev)->buffer;
	return 0;
}

static int setbuffer(struct net_device *dev, struct dcbnl_buffer *buffer)
{
	struct fdlab *s = find(dev);
	u32 total = s->buffer.total_size;

	s->buffer = *buffer;
	s->buffer.total_size = total;
	return 0;
}

static u8 getdcbx(struct net_device *dev)
{
	return find(dev)->dcbx;
}

static u8 setdcbx(struct net_device *dev, u8 mode)
{
	find(dev)->dcbx = mode;
	return 0;
}

static int peer_getpfc(struct net_device *dev, struct ieee_pfc *pfc)
{
	struct fdlab *s = find(dev);

	if (s->peer_pfc < 0)
		return -EOPNOTSUPP;
	pfc->pfc_cap = PRIOS;
	pfc->pfc_en = s->peer_pfc;
	return 0;
}

static int getapptrust(struct net_device *dev, u8 *selectors, int *n)
{
	struct fdlab *s = find(dev);

	memcpy(selectors, s->trust, s->ntrust);
	*n = s->ntrust;
	return 0;
}

static int setapptrust(struct net_device *dev, u8 *selectors, int n)
{
	struct fdlab *s = find(dev);

	if (n > ARRAY_SIZE(s->trust))
		return -EINVAL;
	memcpy(s->trust, selectors, n);
	s->ntrust = n;
	return 0;
}

static struct dcbnl_rtnl_ops dcb_ops = {
	.ieee_getets = ieee_getets, .ieee_setets = ieee_setets,
	.ieee_getpfc = ieee_getpfc, .ieee_setpfc = ieee_setpfc,
	.ieee_getmaxrate = ieee_getmaxrate, .ieee_setmaxrate = ieee_setmaxrate,
	.ieee_setapp = ieee_setapp, .ieee_delapp = ieee_delapp,
	.ieee_peer_getpfc = peer_getpfc,
	.getdcbx = getdcbx, .setdcbx = setdcbx,
	.dcbnl_getbuffer = getbuffer, .dcbnl_setbuffer = setbuffer,
};

/* ---- bytes per priority: what the DSCP map makes of the packets that pass ---- */

static u8 priority(struct net_device *dev, struct sk_buff *skb)
{
	u8 buf[2], *head = skb_header_pointer(skb, skb_network_offset(skb), 2, buf);
	u8 mask, dscp;

	if (!head)
		return 0;
	if (skb->protocol == htons(ETH_P_IP))
		dscp = head[1] >> 2;
	else if (skb->protocol == htons(ETH_P_IPV6))
		dscp = (head[0] & 0x0f) << 2 | head[1] >> 6;
	else
		return 0;
	mask = dscp_prios(dev, dscp);
	return mask ? __ffs(mask) : 0;
}

static int count(struct sk_buff *skb, struct net_device *dev, struct packet_type *pt, struct net_device *orig)
{
	struct fdlab *s = container_of(pt, struct fdlab, tap);
	bool out = skb->pkt_type == PACKET_OUTGOING;
	u8 prio = priority(dev, skb);

	s->prio[prio][out ? TX_BYTES : RX_BYTES] += skb->len + (out ? 0 : ETH_HLEN);
	s->prio[prio][out ? TX_PACKETS : RX_PACKETS]++;
	consume_skb(skb);
	return 0;
}

/* ---- attach and detach ---- */

static void defaults(struct fdlab *s)
{
	int i;

	s->pfc = (struct ieee_pfc){ .pfc_cap = PRIOS, .pfc_en = BIT(3), .delay = 7 };
	s->ets = (struct ieee_ets){ .ets_cap = PRIOS };
	for (i = 0; i < PRIOS; i++) {
		s->ets.prio_tc[i] = i;
		s->ets.tc_tsa[i] = i == 6 ? IEEE_8021QAZ_TSA_STRICT : IEEE_8021QAZ_TSA_ETS;
		s->np_enable[i] = true;
		s->rp_enable[i] = true;
	}
	s->ets.tc_tx_bw[0] = 50;
	s->ets.tc_tx_bw[3] = 50;
	s->buffer.prio2buffer[3] = 1;
	s->buffer.buffer_size[0] = 130944;
	s->buffer.buffer_size[1] = 200064;
	s->buffer.total_size = 331008;
	s->dcbx = DCB_CAP_DCBX_HOST | DCB_CAP_DCBX_VER_IEEE;
	s->trust[0] = IEEE_8021QAZ_APP_SEL_DSCP;
	s->ntrust = 1;
	s->peer_pfc = -1;
	s->cnp_dscp = 48;
	s->cnp_prio = 6;
	s->storm_timeout = PFC_STORM_AUTO_MS;
	init_waitqueue_head(&s->disarmed);
}

static int attach(struct fdlab *s, const char *name)
{
	struct net_device *dev = dev_get_by_name(&init_net, name);
	int err;

	if (!dev) {
		pr_err("fdlab: no device %s\n", name);
		return -ENODEV;
	}
	defaults(s);
	s->dev = dev;
	err = fdlab_sysfs_add(s);
	if (err) {
		s->dev = NULL;
		dev_put(dev);
		return err;
	}
	s->old_dcb = dev->dcbnl_ops;
	s->old_eth = dev->ethtool_ops;
	fdlab_ethtool_ops(s);
	rtnl_lock();
	dev->dcbnl_ops = &dcb_ops;
	dev->ethtool_ops = &s->eth;
	rtnl_unlock();
	fdlab_dscp_default(s);
	s->tap = (struct packet_type){ .type = htons(ETH_P_ALL), .dev = dev, .func = count };
	dev_add_pack(&s->tap);
	return 0;
}

/* Called with the RTNL lock held. */
static void detach(struct fdlab *s)
{
	struct net_device *dev = s->dev;

	fdlab_arm(s, 0);
	dev_remove_pack(&s->tap);
	fdlab_dscp_clear(s);
	dev->dcbnl_ops = s->old_dcb;
	dev->ethtool_ops = s->old_eth;
	fdlab_sysfs_remove(s);
	s->dev = NULL;
	dev_put(dev);
}

static int event(struct notifier_block *nb, unsigned long what, void *data)
{
	struct net_device *dev = netdev_notifier_info_to_dev(data);
	struct fdlab *s = find(dev);
	bool up;

	if (!s)
		return NOTIFY_DONE;
	if (what == NETDEV_UNREGISTER && dev->reg_state == NETREG_UNREGISTERING) {
		detach(s);
	} else if (what == NETDEV_REGISTER) {	/* it came into another namespace */
		fdlab_dscp_default(s);
	} else if (what == NETDEV_UP || what == NETDEV_DOWN || what == NETDEV_CHANGE) {
		up = netif_running(dev) && netif_carrier_ok(dev);
		if (s->up && !up)
			s->port[LINK_DOWN_EVENTS]++;
		s->up = up;
	}
	return NOTIFY_DONE;
}

static struct notifier_block notifier = { .notifier_call = event };

static void detach_all(void)
{
	int i;

	rtnl_lock();
	for (i = 0; i < MAXDEV; i++)
		if (labs[i].dev)
			detach(&labs[i]);
	rtnl_unlock();
}

static int __init fdlab_init(void)
{
	int i, err = 0;

	if (has_apptrust) {
		dcb_ops.dcbnl_getapptrust = getapptrust;
		dcb_ops.dcbnl_setapptrust = setapptrust;
	}
	fdlab_driver = driver;
	for (i = 0; i < nif && !err; i++)
		err = attach(&labs[i], ifname[i]);
	if (!err)
		err = register_netdevice_notifier(&notifier);
	if (err)
		detach_all();
	return err;
}

static void __exit fdlab_exit(void)
{
	unregister_netdevice_notifier(&notifier);
	detach_all();
}

module_init(fdlab_init);
module_exit(fdlab_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("RoCE NIC settings on software network devices, for tests");
