// SPDX-License-Identifier: GPL-2.0
/* Memory devices: publish, list, take back. */
#include <linux/idr.h>
#include <linux/module.h>
#include <linux/pci.h>
#include <linux/slab.h>

#include "compat.h"
#include "device_sysfs.h"
#include "peerlane.h"
#include "trace.h"

static unsigned long long user_limit;
module_param(user_limit, ullong, 0644);
MODULE_PARM_DESC(user_limit,
		 "bytes one user may hold on a device, for devices bound later; 0: no limit (default)");

static unsigned int revoke_kill;
module_param(revoke_kill, uint, 0644);
MODULE_PARM_DESC(revoke_kill,
		 "seconds after which processes that mapped a revoked region are killed while its device waits for their pins; 0: never (default)");

static dev_t first_dev;
static struct class *class;
static struct cdev control_cdev;
static DEFINE_IDA(minors);		/* 0 is control */

static LIST_HEAD(devices);		/* in order of id */
static DEFINE_MUTEX(devices_lock);	/* protects devices; outside device->lock */

bool peerlane_device_present(const struct peerlane_device *dev)
{
	return !dev->pdev || pci_device_is_present(dev->pdev);
}

static void device_release(struct device *device)
{
	struct peerlane_device *dev;

	dev = container_of(device, struct peerlane_device, dev);
	peerlane_pool_fini(&dev->pool);
	if (dev->id)
		ida_free(&minors, dev->id);
	if (dev->pdev)
		pci_dev_put(dev->pdev);
	kfree(dev);
}

static bool name_is_taken(const char *name)
{
	struct peerlane_device *dev;

	list_for_each_entry(dev, &devices, node)
		if (!strcmp(peerlane_device_name(dev), name))
			return true;
	return false;
}

/* The lowest free number, so that a device keeps its name over a rebind. */
static int name_device(struct peerlane_device *dev, const char *prefix)
{
	char name[PEERLANE_NAME_LEN];
	int n;

	lockdep_assert_held(&devices_lock);
	for (n = 0; n < PEERLANE_MINORS; n++) {
		snprintf(name, sizeof(name), "%s%d", prefix, n);
		if (!name_is_taken(name))
			return dev_set_name(&dev->dev, "%s", name);
	}
	return -ENOSPC;
}

static struct peerlane_device *device_alloc(const struct peerlane_device_args *args)
{
	struct peerlane_device *dev = kzalloc(sizeof(*dev), GFP_KERNEL);

	if (!dev)
		return NULL;
	device_initialize(&dev->dev);
	dev->dev.class = class;
	dev->dev.parent = args->parent;
	dev->dev.release = device_release;
	dev->dev.groups = peerlane_device_groups;
	dev->kind = args->kind;
	dev->bar = args->bar;
	dev->owner = args->owner;
	dev->owner_allocates = args->owner_allocates;
	dev->phys = args->phys;
	dev->size = args->size;
	dev->memtype = PEERLANE_MEMTYPE_NONE;
	dev->user_limit = READ_ONCE(user_limit);
	if (args->pdev)
		dev->pdev = pci_dev_get(args->pdev);
	spin_lock_init(&dev->wipe_lock);
	init_waitqueue_head(&dev->wipe_wait);
	mutex_init(&dev->lock);
	INIT_LIST_HEAD(&dev->regions);
	INIT_LIST_HEAD(&dev->node);
	init_waitqueue_head(&dev->idle);
	return dev;
}

static int refuse_no_memory(struct peerlane_msg *msg)
{
	return peerlane_refuse(msg, -ENOMEM, "no memory for a device");
}

static int device_number(struct peerlane_device *dev, struct peerlane_msg *msg)
{
	int id = ida_alloc_range(&minors, 1, PEERLANE_MINORS - 1, GFP_KERNEL);

	if (id == -ENOSPC)
		return peerlane_refuse(msg, id, "no more than %d memory devices",
				       PEERLANE_MINORS - 1);
	if (id < 0)
		return refuse_no_memory(msg);
	dev->id = id;
	dev->dev.devt = MKDEV(MAJOR(first_dev), id);
	return 0;
}

static void insert_by_id(struct peerlane_device *dev)
{
	struct peerlane_device *other;

	lockdep_assert_held(&devices_lock);
	list_for_each_entry(other, &devices, node)
		if (other->id > dev->id)
			break;
	list_add_tail(&dev->node, &other->node);
}

static int device_publish(struct peerlane_device *dev, const char *name)
{
	int ret;

	mutex_lock(&devices_lock);
	ret = name_device(dev, name);
	if (ret)
		goto out;
	cdev_init(&dev->cdev, &peerlane_device_fops);
	dev->cdev.owner = THIS_MODULE;
	ret = cdev_device_add(&dev->cdev, &dev->dev);
	if (!ret)
		insert_by_id(dev);
out:
	mutex_unlock(&devices_lock);
	return ret;
}

int peerlane_device_hold(struct peerlane_device *dev)
{
	int ret = -ENODEV;

	mutex_lock(&dev->lock);
	if (!dev->dead) {
		dev->holders++;
		ret = 0;
	}
	mutex_unlock(&dev->lock);
	return ret;
}

void peerlane_device_unhold(struct peerlane_device *dev)
{
	mutex_lock(&dev->lock);
	/* The caller has the struct until after this: no use after free. */
	if (!--dev->holders)
		wake_up_all(&dev->idle);
	mutex_unlock(&dev->lock);
}

int peerlane_device_attach(struct peerlane_device *dev,
			   struct peerlane_region *region)
{
	int ret = -ENODEV;

	lockdep_assert_held_write(&region->lock);
	mutex_lock(&dev->lock);
	/*
	 * ACTIVE and listed in one step: device_destroy() sets dead and then
	 * revokes what is listed and active, so it misses nobody.
	 */
	if (!dev->dead) {
		list_add_tail(&region->dev_node, &dev->regions);
		WRITE_ONCE(region->state, PEERLANE_STATE_ACTIVE);
		ret = 0;
	}
	mutex_unlock(&dev->lock);
	if (!ret)
		trace_peerlane_region_state(region, PEERLANE_STATE_EMPTY,
					    PEERLANE_STATE_ACTIVE);
	return ret;
}

void peerlane_device_detach(struct peerlane_device *dev,
			    struct peerlane_region *region)
{
	mutex_lock(&dev->lock);
	list_del_init(&region->dev_node);
	mutex_unlock(&dev->lock);
}

bool peerlane_device_get_owner(struct peerlane_device *dev)
{
	bool got;

	/*
	 * Until dead the owner has not got past device_destroy(), so its
	 * struct module is there to be asked.
	 */
	mutex_lock(&dev->lock);
	got = !dev->dead && try_module_get(dev->owner);
	mutex_unlock(&dev->lock);
	return got;
}

void peerlane_device_limbo(struct peerlane_device *dev, u64 span, bool enter)
{
	unsigned int units = span >> PEERLANE_UNIT_SHIFT;

	mutex_lock(&dev->lock);
	dev->pool.limbo += enter ? units : -units;
	mutex_unlock(&dev->lock);
}

static struct peerlane_region *get_first(struct peerlane_device *dev)
{
	struct peerlane_region *region;

	mutex_lock(&dev->lock);
	region = list_first_entry_or_null(&dev->regions, struct peerlane_region,
					  dev_node);
	if (region)
		kref_get(&region->ref);
	mutex_unlock(&dev->lock);
	return region;
}

static void say_who_holds(struct peerlane_device *dev)
{
	struct peerlane_region *region = get_first(dev);
	char mappers[PEERLANE_MAPPERS * 40];

	if (!region)
		return;
	peerlane_region_mappers(region, mappers, sizeof(mappers));
	dev_notice(&dev->dev,
		   "removal waits for %u regions; region %llu: %u units pinned, %d DMA mappings, %u exports with DMA in flight; mapped by %s\n",
		   READ_ONCE(dev->holders), region->id,
		   region->kind->pinned(region),
		   atomic_read(&region->attachments),
		   peerlane_dmabuf_in_flight(region), mappers);
	peerlane_region_put(region);
}

static void kill_holders(struct peerlane_device *dev)
{
	struct peerlane_region *region;

	mutex_lock(&dev->lock);
	list_for_each_entry(region, &dev->regions, dev_node)
		peerlane_region_kill_mappers(region);
	mutex_unlock(&dev->lock);
}

/*
 * Blocks as long as a NIC may write the memory, as vfio does: when remove()
 * has returned the BAR's address may be given to another device. First line
 * after 2 s, then at doubling intervals, so that a held device does not fill
 * the log.
 */
static void wait_for_holders(struct peerlane_device *dev)
{
	unsigned long start = jiffies, delay = 2 * HZ, left;
	unsigned long kill = READ_ONCE(revoke_kill) * (unsigned long)HZ;

	if (kill)
		delay = min(delay, kill);
	while (!wait_event_timeout(dev->idle, !READ_ONCE(dev->holders), delay)) {
		say_who_holds(dev);
		delay = min(delay * 2, 60UL * HZ);
		if (!kill)
			continue;
		left = kill - min(kill, jiffies - start);
		if (left)
			delay = min(delay, left);
		else
			kill_holders(dev);
	}
}

struct peerlane_device *peerlane_device_create(const struct peerlane_device_args *args,
					       struct peerlane_msg *msg)
{
	struct peerlane_device *dev = device_alloc(args);
	int ret;

	if (!dev)
		return ERR_PTR(refuse_no_memory(msg));
	ret = device_number(dev, msg);
	if (ret)
		goto err_put;
	ret = peerlane_pool_init(&dev->pool, dev->size);
	if (ret) {
		refuse_no_memory(msg);
		goto err_put;
	}
	ret = peerlane_pages_map(dev, msg);
	if (ret)
		goto err_put;
	ret = device_publish(dev, args->name);
	if (ret) {
		peerlane_refuse(msg, ret, "no node for the device: %d", ret);
		goto err_pages;
	}
	trace_peerlane_device(dev, "create");
	return dev;

err_pages:
	/* Who has a node of his own may have opened it for a moment. */
	peerlane_device_die(dev);
	wait_for_holders(dev);
	peerlane_pages_unmap(dev);
err_put:
	put_device(&dev->dev);
	return ERR_PTR(ret);
}

void peerlane_device_destroy(struct peerlane_device *dev)
{
	/* The name is taken until the node is gone. */
	cdev_device_del(&dev->cdev, &dev->dev);
	mutex_lock(&devices_lock);
	list_del(&dev->node);
	mutex_unlock(&devices_lock);

	peerlane_device_die(dev);
	wait_for_holders(dev);

	peerlane_pages_unmap(dev);
	trace_peerlane_device(dev, "destroy");
	put_device(&dev->dev);
}

static void fill_record(struct peerlane_device *dev,
			struct peerlane_device_record *record)
{
	memset(record, 0, sizeof(*record));
	strscpy(record->name, peerlane_device_name(dev), sizeof(record->name));
	if (dev->pdev)
		strscpy(record->pci, pci_name(dev->pdev), sizeof(record->pci));
	record->bytes_total = dev->size;
	record->unit = PEERLANE_UNIT;
	record->kind = dev->kind;
	record->memtype = dev->memtype;
	record->numa_node = dev_to_node(&dev->dev);
	record->bar = dev->bar;

	mutex_lock(&dev->lock);
	record->bytes_free = (u64)dev->pool.free << PEERLANE_UNIT_SHIFT;
	record->bytes_limbo = (u64)dev->pool.limbo << PEERLANE_UNIT_SHIFT;
	record->user_limit = dev->user_limit;
	record->regions = dev->holders;
	mutex_unlock(&dev->lock);
}

u32 peerlane_device_records(struct peerlane_device_record *records, u32 room)
{
	struct peerlane_device *dev;
	u32 count = 0;

	mutex_lock(&devices_lock);
	list_for_each_entry(dev, &devices, node) {
		if (count < room)
			fill_record(dev, &records[count]);
		count++;
	}
	mutex_unlock(&devices_lock);
	return count;
}

/* 0660 from the start; the udev rule only sets the group. */
static char *devnode(peerlane_devnode_arg *device, umode_t *mode)
{
	if (mode)
		*mode = 0660;
	/* Without an answer the node would be /dev/gpu0. */
	return kasprintf(GFP_KERNEL | __GFP_NOFAIL, "peerlane/%s",
			 dev_name(device));
}

static int control_create(void)
{
	struct device *device;
	int ret;

	cdev_init(&control_cdev, &peerlane_control_fops);
	control_cdev.owner = THIS_MODULE;
	ret = cdev_add(&control_cdev, first_dev, 1);
	if (ret)
		return ret;
	device = device_create(class, NULL, first_dev, NULL, "control");
	if (IS_ERR(device)) {
		cdev_del(&control_cdev);
		return PTR_ERR(device);
	}
	return 0;
}

int peerlane_devices_init(void)
{
	int ret;

	ret = alloc_chrdev_region(&first_dev, 0, PEERLANE_MINORS, "peerlane");
	if (ret)
		return ret;
	class = peerlane_class_create("peerlane");
	if (IS_ERR(class)) {
		ret = PTR_ERR(class);
		goto err_chrdev;
	}
	class->devnode = devnode;
	ret = control_create();
	if (ret)
		goto err_class;
	return 0;

err_class:
	class_destroy(class);
err_chrdev:
	unregister_chrdev_region(first_dev, PEERLANE_MINORS);
	return ret;
}

void peerlane_devices_exit(void)
{
	device_destroy(class, first_dev);
	cdev_del(&control_cdev);
	class_destroy(class);
	unregister_chrdev_region(first_dev, PEERLANE_MINORS);
	ida_destroy(&minors);
}
