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
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include <linux/wait.h>
#include <net/dcbnl.h>

#include "fdlab.h"

static char *ifname[MAXDEV];
static int nif;
module_param_array(ifname, charp, &nif, 0444);
MODULE_PARM_DESC(ifname, "network devices to attach to");
bool fdlab_has_apptrust;
module_param_named(has_apptrust, fdlab_has_apptrust, bool, 0444);
MODULE_PARM_DESC(has_apptrust, "offer the APP trust table, which mlx5 does not");
char *fdlab_driver = "mlx5_core";
module_param_named(driver, fdlab_driver, charp, 0444);
MODULE_PARM_DESC(driver, "driver name that ethtool -i shows");

static struct fdlab labs[MAXDEV];

struct fdlab *fdlab_find(const struct net_device *dev)
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
	dev->dcbnl_ops = fdlab_dcb_ops();
	dev->ethtool_ops = &s->eth;
	rtnl_unlock();
	fdlab_dscp_default(s);
	s->tap = (struct packet_type){ .type = htons(ETH_P_ALL), .dev = dev, .func = fdlab_count };
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
	struct fdlab *s = fdlab_find(dev);
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
