// SPDX-License-Identifier: GPL-2.0
/* /sys/class/peerlane/<device>/ */
#include <linux/device.h>
#include <linux/kstrtox.h>
#include <linux/sysfs.h>

#include "device_sysfs.h"
#include "peerlane.h"

static struct peerlane_device *of(struct device *device)
{
	return container_of(device, struct peerlane_device, dev);
}

static ssize_t size_show(struct device *device, struct device_attribute *attr,
			 char *buf)
{
	return sysfs_emit(buf, "%llu\n", of(device)->size);
}
static DEVICE_ATTR_RO(size);

static ssize_t free_show(struct device *device, struct device_attribute *attr,
			 char *buf)
{
	return sysfs_emit(buf, "%llu\n",
			  (u64)READ_ONCE(of(device)->pool.free) << PEERLANE_UNIT_SHIFT);
}
static DEVICE_ATTR_RO(free);

static ssize_t limbo_show(struct device *device, struct device_attribute *attr,
			  char *buf)
{
	return sysfs_emit(buf, "%llu\n",
			  (u64)READ_ONCE(of(device)->pool.limbo) << PEERLANE_UNIT_SHIFT);
}
static DEVICE_ATTR_RO(limbo);

static ssize_t memtype_show(struct device *device,
			    struct device_attribute *attr, char *buf)
{
	static const char * const names[] = { "wb", "wc", "uc", "none" };

	return sysfs_emit(buf, "%s\n", names[of(device)->memtype]);
}
static DEVICE_ATTR_RO(memtype);

static ssize_t bar_show(struct device *device, struct device_attribute *attr,
			char *buf)
{
	return sysfs_emit(buf, "%d\n", of(device)->bar);
}
static DEVICE_ATTR_RO(bar);

static ssize_t user_limit_show(struct device *device,
			       struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%llu\n", READ_ONCE(of(device)->user_limit));
}

static ssize_t user_limit_store(struct device *device,
				struct device_attribute *attr, const char *buf,
				size_t count)
{
	struct peerlane_device *dev = of(device);
	u64 limit;
	int ret = kstrtou64(buf, 0, &limit);

	if (ret)
		return ret;
	mutex_lock(&dev->lock);
	WRITE_ONCE(dev->user_limit, limit);
	mutex_unlock(&dev->lock);
	return count;
}
static DEVICE_ATTR_RW(user_limit);

static struct attribute *peerlane_device_attrs[] = {
	&dev_attr_size.attr,
	&dev_attr_free.attr,
	&dev_attr_limbo.attr,
	&dev_attr_memtype.attr,
	&dev_attr_bar.attr,
	&dev_attr_user_limit.attr,
	NULL
};

static const struct attribute_group peerlane_device_group = {
	.attrs = peerlane_device_attrs,
};

const struct attribute_group *peerlane_device_groups[] = {
	&peerlane_device_group,
	NULL
};
