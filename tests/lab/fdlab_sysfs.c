// SPDX-License-Identifier: GPL-2.0
/*
 * The files of fdlab in a device's sysfs directory: ecn/ as the vendor's driver
 * lays it out, and fdlab/ with which a test disturbs the device.
 */
#include <linux/kobject.h>
#include <linux/sysfs.h>

#include "fdlab.h"

#define ATTR(_ident, _name, _mode, _show, _store) \
	static struct kobj_attribute attr_##_ident = \
		{ .attr = { .name = _name, .mode = _mode }, .show = _show, .store = _store }

static ssize_t enable_show(struct kobject *k, struct kobj_attribute *a, char *buf)
{
	struct fdlab *s = fdlab_of(k);
	int prio = a->attr.name[0] - '0';

	return sysfs_emit(buf, "%d\n", k == s->rp_dir ? s->rp_enable[prio] : s->np_enable[prio]);
}

static ssize_t enable_store(struct kobject *k, struct kobj_attribute *a, const char *buf, size_t n)
{
	struct fdlab *s = fdlab_of(k);
	int prio = a->attr.name[0] - '0';
	int err = kstrtobool(buf, k == s->rp_dir ? &s->rp_enable[prio] : &s->np_enable[prio]);

	return err ?: n;
}

#define ENABLE(_p) ATTR(enable##_p, #_p, 0644, enable_show, enable_store)
ENABLE(0); ENABLE(1); ENABLE(2); ENABLE(3); ENABLE(4); ENABLE(5); ENABLE(6); ENABLE(7);

static const struct attribute *enables[] = {
	&attr_enable0.attr, &attr_enable1.attr, &attr_enable2.attr, &attr_enable3.attr,
	&attr_enable4.attr, &attr_enable5.attr, &attr_enable6.attr, &attr_enable7.attr, NULL
};

static ssize_t cnp_dscp_show(struct kobject *k, struct kobj_attribute *a, char *buf)
{
	struct fdlab *s = fdlab_of(k);

	fdlab_hang(s, HANG_SYSFS);
	return sysfs_emit(buf, "%u\n", s->cnp_dscp);
}

static ssize_t cnp_dscp_store(struct kobject *k, struct kobj_attribute *a, const char *buf, size_t n)
{
	return kstrtou8(buf, 0, &fdlab_of(k)->cnp_dscp) ?: n;
}
ATTR(cnp_dscp, "cnp_dscp", 0644, cnp_dscp_show, cnp_dscp_store);

static ssize_t cnp_prio_show(struct kobject *k, struct kobj_attribute *a, char *buf)
{
	return sysfs_emit(buf, "%u\n", fdlab_of(k)->cnp_prio);
}

static ssize_t cnp_prio_store(struct kobject *k, struct kobj_attribute *a, const char *buf, size_t n)
{
	return kstrtou8(buf, 0, &fdlab_of(k)->cnp_prio) ?: n;
}
ATTR(cnp_prio, "cnp_802p_prio", 0644, cnp_prio_show, cnp_prio_store);

static const struct attribute *np_files[] = { &attr_cnp_dscp.attr, &attr_cnp_prio.attr, NULL };

/* "NAME VALUE": adds VALUE to that statistic. */
static ssize_t inject_store(struct kobject *k, struct kobj_attribute *a, const char *buf, size_t n)
{
	char name[ETH_GSTRING_LEN];
	u64 value, *stat;

	if (sscanf(buf, "%31s %llu", name, &value) != 2)
		return -EINVAL;
	stat = fdlab_stat(fdlab_of(k), name);
	if (!stat)
		return -ENOENT;
	*stat += value;
	return n;
}
ATTR(inject, "inject", 0200, NULL, inject_store);

void fdlab_arm(struct fdlab *s, int level)
{
	WRITE_ONCE(s->armed, level);
	wake_up_all(&s->disarmed);
}

static ssize_t arm_show(struct kobject *k, struct kobj_attribute *a, char *buf)
{
	return sysfs_emit(buf, "%d\n", fdlab_of(k)->armed);
}

static ssize_t arm_store(struct kobject *k, struct kobj_attribute *a, const char *buf, size_t n)
{
	u8 level;
	int err = kstrtou8(buf, 0, &level);

	if (err || level > HANG_ETHTOOL)
		return err ?: -EINVAL;
	fdlab_arm(fdlab_of(k), level);
	return n;
}
ATTR(arm, "arm", 0644, arm_show, arm_store);

static ssize_t hang_show(struct kobject *k, struct kobj_attribute *a, char *buf)
{
	fdlab_hang(fdlab_of(k), HANG_SYSFS);
	return sysfs_emit(buf, "0\n");
}
ATTR(hang, "hang", 0444, hang_show, NULL);

static ssize_t dscp_default_store(struct kobject *k, struct kobj_attribute *a, const char *buf, size_t n)
{
	struct fdlab *s = fdlab_of(k);

	if (sysfs_streq(buf, "1"))
		fdlab_dscp_default(s);
	else if (sysfs_streq(buf, "0"))
		fdlab_dscp_clear(s);
	else
		return -EINVAL;
	return n;
}
ATTR(dscp_default, "dscp_default", 0200, NULL, dscp_default_store);

static ssize_t trust_show(struct kobject *k, struct kobj_attribute *a, char *buf)
{
	return sysfs_emit(buf, "%s\n", fdlab_trusts_dscp(fdlab_of(k)) ? "dscp" : "pcp");
}
ATTR(trust, "trust", 0444, trust_show, NULL);

static ssize_t peer_pfc_show(struct kobject *k, struct kobj_attribute *a, char *buf)
{
	return sysfs_emit(buf, "%d\n", fdlab_of(k)->peer_pfc);
}

static ssize_t peer_pfc_store(struct kobject *k, struct kobj_attribute *a, const char *buf, size_t n)
{
	int mask, err = kstrtoint(buf, 0, &mask);

	if (err || mask < -1 || mask > 0xff)
		return err ?: -EINVAL;
	fdlab_of(k)->peer_pfc = mask;
	return n;
}
ATTR(peer_pfc, "peer_pfc", 0644, peer_pfc_show, peer_pfc_store);

static const struct attribute *ctl_files[] = {
	&attr_inject.attr, &attr_arm.attr, &attr_hang.attr, &attr_dscp_default.attr,
	&attr_trust.attr, &attr_peer_pfc.attr, NULL
};

static int folder(struct kobject **k, const char *name, struct kobject *parent, const struct attribute **files)
{
	*k = parent ? kobject_create_and_add(name, parent) : NULL;
	if (!*k)
		return -ENOMEM;
	return files ? sysfs_create_files(*k, files) : 0;
}

int fdlab_sysfs_add(struct fdlab *s)
{
	struct kobject *top = &s->dev->dev.kobj;
	int err = folder(&s->ecn, "ecn", top, NULL) ?:
		folder(&s->np, "roce_np", s->ecn, np_files) ?:
		folder(&s->rp, "roce_rp", s->ecn, NULL) ?:
		folder(&s->np_dir, "enable", s->np, enables) ?:
		folder(&s->rp_dir, "enable", s->rp, enables) ?:
		folder(&s->ctl, "fdlab", top, ctl_files);

	if (err)
		fdlab_sysfs_remove(s);
	return err;
}

void fdlab_sysfs_remove(struct fdlab *s)
{
	struct kobject **all[] = { &s->ctl, &s->rp_dir, &s->np_dir, &s->rp, &s->np, &s->ecn };
	int i;

	for (i = 0; i < ARRAY_SIZE(all); i++) {
		kobject_put(*all[i]);	/* takes NULL, too */
		*all[i] = NULL;
	}
}
