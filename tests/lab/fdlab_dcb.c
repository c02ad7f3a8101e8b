// SPDX-License-Identifier: GPL-2.0
/* What DCB netlink reads and sets on an fdlab device, and the counters per priority that follow from its DSCP map. */
#include <linux/if_ether.h>
#include <linux/netdevice.h>
#include <net/dcbnl.h>

#include "fdlab.h"

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

/*
 * What is set is what is read. `_refresh` is done before it is read, `_keep` after it was set: with `old` it gives back
 * what only the driver can say.
 */
#define SETTING(_name, _struct, _refresh, _keep)						\
static int get_##_name(struct net_device *dev, struct _struct *answer)				\
{												\
	struct fdlab *s = fdlab_find(dev);							\
												\
	_refresh;										\
	*answer = s->_name;									\
	return 0;										\
}												\
static int set_##_name(struct net_device *dev, struct _struct *wish)				\
{												\
	struct fdlab *s = fdlab_find(dev);							\
	struct _struct old = s->_name;								\
												\
	s->_name = *wish;									\
	_keep(s, &old);										\
	return 0;										\
}

static void pfc_frames(struct fdlab *s)
{
	int i;

	for (i = 0; i < PRIOS; i++) {
		s->pfc.requests[i] = s->prio[i][TX_PAUSE];
		s->pfc.indications[i] = s->prio[i][RX_PAUSE];
	}
}

static void pfc_keep(struct fdlab *s, const struct ieee_pfc *old)
{
	s->pfc.pfc_cap = old->pfc_cap;
	if (!s->pfc.delay)
		s->pfc.delay = old->delay;
}

#define CAP_KEEP(_s, _old) ((_s)->ets.ets_cap = (_old)->ets_cap)
#define TOTAL_KEEP(_s, _old) ((_s)->buffer.total_size = (_old)->total_size)
#define NOTHING_KEPT(_s, _old) ((void)(_old))

SETTING(pfc, ieee_pfc, pfc_frames(s), pfc_keep)
SETTING(ets, ieee_ets, , CAP_KEEP)
SETTING(maxrate, ieee_maxrate, , NOTHING_KEPT)
SETTING(buffer, dcbnl_buffer, , TOTAL_KEEP)

static u8 getdcbx(struct net_device *dev)
{
	return fdlab_find(dev)->dcbx;
}

static u8 setdcbx(struct net_device *dev, u8 mode)
{
	fdlab_find(dev)->dcbx = mode;
	return 0;
}

static int peer_getpfc(struct net_device *dev, struct ieee_pfc *pfc)
{
	struct fdlab *s = fdlab_find(dev);

	if (s->peer_pfc < 0)
		return -EOPNOTSUPP;
	pfc->pfc_cap = PRIOS;
	pfc->pfc_en = s->peer_pfc;
	return 0;
}

static int getapptrust(struct net_device *dev, u8 *selectors, int *n)
{
	struct fdlab *s = fdlab_find(dev);

	memcpy(selectors, s->trust, s->ntrust);
	*n = s->ntrust;
	return 0;
}

static int setapptrust(struct net_device *dev, u8 *selectors, int n)
{
	struct fdlab *s = fdlab_find(dev);

	if (n > ARRAY_SIZE(s->trust))
		return -EINVAL;
	memcpy(s->trust, selectors, n);
	s->ntrust = n;
	return 0;
}

static struct dcbnl_rtnl_ops dcb_ops = {
	.ieee_getets = get_ets, .ieee_setets = set_ets,
	.ieee_getpfc = get_pfc, .ieee_setpfc = set_pfc,
	.ieee_getmaxrate = get_maxrate, .ieee_setmaxrate = set_maxrate,
	.ieee_setapp = ieee_setapp, .ieee_delapp = ieee_delapp,
	.ieee_peer_getpfc = peer_getpfc,
	.getdcbx = getdcbx, .setdcbx = setdcbx,
	.dcbnl_getbuffer = get_buffer, .dcbnl_setbuffer = set_buffer,
};

const struct dcbnl_rtnl_ops *fdlab_dcb_ops(void)
{
	if (fdlab_has_apptrust) {
		dcb_ops.dcbnl_getapptrust = getapptrust;
		dcb_ops.dcbnl_setapptrust = setapptrust;
	}
	return &dcb_ops;
}

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

int fdlab_count(struct sk_buff *skb, struct net_device *dev, struct packet_type *pt, struct net_device *orig)
{
	struct fdlab *s = container_of(pt, struct fdlab, tap);
	bool out = skb->pkt_type == PACKET_OUTGOING;
	u8 prio = priority(dev, skb);

	s->prio[prio][out ? TX_BYTES : RX_BYTES] += skb->len + (out ? 0 : ETH_HLEN);
	s->prio[prio][out ? TX_PACKETS : RX_PACKETS]++;
	consume_skb(skb);
	return 0;
}
