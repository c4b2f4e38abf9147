/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Private types of the module.
 *
 * Lifetime of a region
 * --------------------
 * ->users counts who can reach the memory: the file (which every VMA of it
 * holds), each exported dma-buf and each map of a link. ->ref counts who has the struct: ->users as
 * a whole, each snapshot walker, and limbo.
 *
 * Memory leaves a region once, through limbo (limbo.c), which begins when
 * ->users falls to zero or the region is revoked, whichever is first:
 *   1. unpublish: state is no longer ACTIVE (so no fault, mmap, export, attach
 *      or map of a link begins), CPU mappings are zapped, importers and links
 *      are told;
 *   2. wait: synchronize_rcu() lets every GUP-fast that read a PTE before the
 *      zap take its reference; then poll until no reference, no DMA mapping and
 *      no DMA in flight is left;
 *   3. free: wipe, give back to the pool or its owner.
 * Nothing can take a new reference in step 2: GUP needs a PTE, and PTEs are
 * made by fault under ->lock after looking at ->state.
 *
 * A region holds the module and its device's struct until step 3 is done, so
 * rmmod fails while a pin lives, and an unbind waits in peerlane_device_destroy().
 *
 * Lock order, outermost first
 * ---------------------------
 *   mmap_lock -> region->lock -> device->lock -> mappers_lock
 *   devices_lock -> device->lock; charge_lock: leaf
 *   region->lock -> exports_lock -> dma_resv, under which nothing of ours
 *   is taken. Revocation takes exports_lock without region->lock.
 *   regions_lock -> region->lock (trylock for read), for snapshots
 *   region->lock -> watches.lock: leaf
 *   maps_lock (link_map.c): leaf
 * "A callback of a region_watch runs" counts as a lock of its own, outside of
 * all above: who waits for its end holds none that a callback takes. A region
 * may be revoked by the callback of another, never the other way round.
 * No lock of ours is held across copy_{from,to}_user, which may fault into
 * mmap_lock, nor across calls into another driver except dma_resv, which
 * dma-buf requires.
 */
#ifndef PEERLANE_KMOD_H
#define PEERLANE_KMOD_H

#include <linux/atomic.h>
#include <linux/completion.h>
#include <linux/cred.h>
#include <linux/device.h>
#include <linux/dma-buf.h>
#include <linux/fs.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/pci.h>
#include <linux/peerlane.h>
#include <linux/refcount.h>
#include <linux/rwsem.h>
#include <linux/sizes.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include <uapi/peerlane.h>

#include "device.h"

#define PEERLANE_MAPPERS	8

struct peerlane_region;

/* ---- msg.c: the reason that goes with an errno ---- */

struct peerlane_msg {
	char text[PEERLANE_MSG_MAX];
};

/*
 * Returns @err, leaves the text in @msg (may be NULL) and in the refuse
 * tracepoint. Never logs: what a user can trigger must not flood the log.
 */
__printf(3, 4)
int peerlane_refuse(struct peerlane_msg *msg, int err, const char *fmt, ...);
__printf(2, 3)
void peerlane_say(struct peerlane_msg *msg, const char *fmt, ...);

/* ---- charge.c: what one user holds ---- */

/* Bytes on @dev. @limit 0: none. */
int peerlane_charge(const struct peerlane_device *dev, kuid_t uid, u64 amount,
		    u64 limit, struct peerlane_msg *msg);
void peerlane_uncharge(const struct peerlane_device *dev, kuid_t uid,
		       u64 amount);
/* Of what is the same for all devices. */
struct peerlane_countable {
	const char *nouns;
	const char *parameter;		/* that has the limit */
};

int peerlane_count(const struct peerlane_countable *what, kuid_t uid, u64 amount,
		   u64 limit, struct peerlane_msg *msg);
void peerlane_uncount(const struct peerlane_countable *what, kuid_t uid,
		      u64 amount);
/* All of it in one sum: for tests, which want it back. */
u64 peerlane_charged(void);

/* ---- region.c ---- */

/* Where a region's bytes are, for links: one of the three pointers is set. */
struct peerlane_memory {
	struct peerlane_region *owner;	/* of device memory, perhaps another one */
	const struct sg_table *pages;	/* pinned */
	struct dma_buf *dmabuf;		/* of another driver */
	u64 offset;			/* of the first byte in it */
	bool writable;
};

/* What differs between kinds. All may sleep. */
struct peerlane_region_kind {
	u32 (*kind)(const struct peerlane_region *region);
	/* PEERLANE_CAP_* of an active region */
	u32 (*caps)(const struct peerlane_region *region);
	/* CPU mapping; NULL: none. Under mmap_lock, region->lock held for read */
	int (*mmap)(struct peerlane_region *region, struct vm_area_struct *vma);
	/*
	 * New dma-buf with a reference for the caller, or ERR_PTR; NULL: none.
	 * The range was checked; region->lock held for read
	 */
	struct dma_buf *(*export)(struct peerlane_region *region, u64 offset,
				  u64 length, u32 flags,
				  struct peerlane_msg *msg);
	/* Between peerlane_region_begin_dma() and _end_dma() */
	void (*memory)(struct peerlane_region *region,
		       struct peerlane_memory *memory);
	/* Step 1 of the end, after the state changed; NULL: nothing to do */
	void (*unpublish)(struct peerlane_region *region);
	/* Step 2: units (or pages) still in foreign hands */
	unsigned int (*pinned)(struct peerlane_region *region);
	/* Step 3: give the memory back */
	void (*release)(struct peerlane_region *region);
};

/* Of one region; see region_watch.c. */
struct peerlane_watches {
	spinlock_t lock;
	/* protected by lock */
	struct list_head list;
	struct region_watch *running;	/* its callback is */
	struct task_struct *runner;
	wait_queue_head_t wait;		/* running has changed */
};

struct peerlane_mapper {
	struct pid *tgid;		/* NULL: unused slot */
	char comm[PEERLANE_COMM_LEN];
};

struct peerlane_region {
	/* immutable after publish */
	u64 id;
	const struct peerlane_region_kind *kind;
	struct peerlane_device *dev;	/* NULL: imports and host pages */
	struct inode *inode;		/* its address_space has all our VMAs */
	kuid_t uid;			/* opener */
	struct pid *opener;
	char comm[PEERLANE_COMM_LEN];
	struct list_head node;		/* regions_lock */

	struct kref ref;
	refcount_t users;

	struct rw_semaphore lock;
	/* protected by lock */
	u32 state;			/* PEERLANE_STATE_*; READ_ONCE outside */
	u64 length;			/* bytes that may be mapped */
	u64 offset;			/* in the device */
	u64 span;			/* bytes taken from the device */
	void *priv;			/* the kind's own; set before ACTIVE */

	struct list_head dev_node;	/* device->lock */

	struct mutex exports_lock;
	struct list_head exports;	/* exports_lock */
	atomic_t nr_exports;
	atomic_t attachments;		/* DMA mappings: importers', links' */
	struct peerlane_watches watches;
	atomic_t mappings;		/* VMAs */

	spinlock_t mappers_lock;
	struct peerlane_mapper mappers[PEERLANE_MAPPERS];	/* mappers_lock */
	unsigned int next_mapper;				/* mappers_lock */
	unsigned int last_mapper;				/* mappers_lock */

	wait_queue_head_t wait;		/* poll(): revoked */
	struct completion unpublished;	/* step 1 is done */
	struct delayed_work limbo;
	unsigned long limbo_since;	/* jiffies; limbo work only */
	unsigned long limbo_delay;
};

/*
 * A new empty region with one user, who is the caller. Holds the module, its
 * device's struct and one count of the caller's region limit.
 */
struct peerlane_region *peerlane_region_new(const struct peerlane_region_kind *kind,
					    struct peerlane_device *dev,
					    struct peerlane_msg *msg);
/* EMPTY -> ACTIVE for a region without a device; it owns @priv from here. */
void peerlane_region_activate(struct peerlane_region *region, u64 length,
			      void *priv);
/* Step 3 is next: no look at the memory after this. For limbo.c. */
void peerlane_region_set_released(struct peerlane_region *region);
/* -ENODEV with a text unless ACTIVE, -ENODATA if EMPTY. region->lock held. */
int peerlane_region_usable(const struct peerlane_region *region,
			   struct peerlane_msg *msg);
int peerlane_region_revoke(struct peerlane_region *region,
			   struct peerlane_msg *msg);
/*
 * A DMA mapping, for which limbo waits; what peerlane_region_usable() says. The
 * last thing that a mapping does is to end, as the memory may go then.
 */
int peerlane_region_begin_dma(struct peerlane_region *region,
			      struct peerlane_msg *msg);
void peerlane_region_end_dma(struct peerlane_region *region);

static inline void peerlane_region_get_user(struct peerlane_region *region)
{
	refcount_inc(&region->users);
}
/* The last user starts limbo. May sleep. */
void peerlane_region_put_user(struct peerlane_region *region);
void peerlane_region_put(struct peerlane_region *region);

/*
 * A region file for a region made by control or by another driver; takes over
 * the caller's user. On failure the user is still the caller's.
 */
struct file *peerlane_region_file(struct peerlane_region *region);
/* Region of @file, or NULL if it is none of ours. */
struct peerlane_region *peerlane_region_of(struct file *file);

void peerlane_region_info(struct peerlane_region *region,
			  struct peerlane_region_status *info);
u32 peerlane_region_records(struct peerlane_region_record *records, u32 room);
/* "ib_write_bw[312], python3[99]": who maps or mapped it; for humans. */
void peerlane_region_mappers(struct peerlane_region *region, char *text,
			     size_t size);
void peerlane_region_kill_mappers(struct peerlane_region *region);
void peerlane_region_note_mapper(struct peerlane_region *region);

/* ---- region_watch.c: who wants to know that a region is revoked ---- */

/*
 * @revoked is called once, in step 1 of a revocation, holds no lock and may
 * sleep: when it returns no new use of the memory begins. A watcher is a user
 * of the region, so a region that ends with its last user has none.
 */
struct region_watch {
	void (*revoked)(struct region_watch *watch);
	struct list_head node;		/* watches.lock; empty: off the list */
};

/* -ENODEV, -ENODATA with a text: as peerlane_region_usable(). */
int peerlane_region_watch(struct peerlane_region *region,
			  struct region_watch *watch, struct peerlane_msg *msg);
/*
 * After it the callback neither runs nor will: no lock that it takes may be
 * held. A callback may end its own watch, and does not wait then, but no other:
 * two that wait for each other would for ever. May sleep.
 */
void peerlane_region_unwatch(struct peerlane_region *region,
			     struct region_watch *watch);
/* Does not wait. False: the callback runs, has run, or there is no watch. */
bool peerlane_region_unwatch_try(struct peerlane_region *region,
				 struct region_watch *watch);
/* Call them all. State is not ACTIVE any more. */
void peerlane_region_tell_watches(struct peerlane_region *region);
void peerlane_region_init_watches(struct peerlane_region *region);

/* ---- device_region.c: regions of device memory ---- */

extern const struct peerlane_region_kind peerlane_kind_pool;
/* Device memory for an empty region. region->lock held for write. */
int peerlane_region_fill(struct peerlane_region *region, u64 length,
			 struct peerlane_msg *msg);

/* ---- limbo.c ---- */

int peerlane_limbo_init(void);
void peerlane_limbo_exit(void);
/* Begin steps 2 and 3. State is not ACTIVE any more; called once. */
void peerlane_limbo_begin(struct peerlane_region *region);
/* Other work that the module's exit has to wait for. */
void peerlane_limbo_queue(struct work_struct *work);
void peerlane_limbo_work(struct work_struct *work);

/* ---- map.c: CPU mappings of device memory ---- */

/* May this VMA map device memory at all: shared and not executable. */
int peerlane_map_check(const struct vm_area_struct *vma);
int peerlane_map_vma(struct peerlane_region *region, struct vm_area_struct *vma);
int peerlane_file_mmap(struct file *file, struct vm_area_struct *vma);
/* Remove all CPU mappings made through the region file. */
void peerlane_map_zap(struct peerlane_region *region);

/* ---- chardev.c, ioctl.c ---- */

extern const struct file_operations peerlane_device_fops;
extern const struct file_operations peerlane_region_fops;
extern const struct file_operations peerlane_control_fops;
long peerlane_region_ioctl(struct file *file, unsigned int cmd,
			   unsigned long arg);
long peerlane_control_ioctl(struct file *file, unsigned int cmd,
			    unsigned long arg);

/* ---- bar.c: the PCI driver ---- */

int peerlane_bar_init(void);
void peerlane_bar_exit(void);
/* The BAR the driver would take, or a negative errno with the reason. */
int peerlane_bar_pick(struct pci_dev *pdev, struct peerlane_msg *msg);
/* The largest one that has memory, -1: none has. */
int peerlane_bar_of(struct pci_dev *pdev);

/* ---- dmabuf.c: exports of device memory ---- */

struct dma_buf *peerlane_dmabuf_export(struct peerlane_region *region,
				       u64 offset, u64 length, u32 flags,
				       struct peerlane_msg *msg);
/* State is not ACTIVE any more: zap CPU maps, tell importers. */
void peerlane_dmabuf_revoke(struct peerlane_region *region);
/* Exports that importers' engines may still access. May sleep. */
unsigned int peerlane_dmabuf_in_flight(struct peerlane_region *region);
bool peerlane_dmabuf_is_ours(const struct dma_buf *dmabuf);
/* The region of one that is, and where in it; there as long as @dmabuf is. */
struct peerlane_region *peerlane_dmabuf_behind(const struct dma_buf *dmabuf,
					       u64 *offset);

/* ---- import.c, host.c: regions made by control ---- */

struct peerlane_region *peerlane_import(int fd, u64 offset, u64 length,
					struct peerlane_msg *msg);
struct peerlane_region *peerlane_host(u64 addr, u64 length, u32 flags,
				      struct peerlane_msg *msg);

/* ---- preflight.c: may two functions talk directly? ---- */

struct peerlane_verdict {
	u32 path;		/* enum peerlane_path */
	u32 distance;
};

/*
 * 0 and a text that says what was found, or -EREMOTEIO and why not. @memory is
 * in the BAR that is meant, 0: the largest. The driver of @initiator cannot go:
 * the caller is called by it, or holds the device's lock.
 */
int peerlane_preflight(struct pci_dev *target, phys_addr_t memory,
		       struct pci_dev *initiator,
		       struct peerlane_verdict *verdict,
		       struct peerlane_msg *msg);
/* Can @dev address this range? 0, or -EREMOTEIO and why not. */
int peerlane_dma_reach(struct device *dev, phys_addr_t phys, u64 size,
		       struct peerlane_msg *msg);
/* Both questions for the driver of @dev, which is about to map the range. */
int peerlane_preflight_dma(const struct peerlane_device *target,
			   phys_addr_t phys, u64 size, struct device *dev,
			   struct peerlane_msg *msg);
/* That @dev is, or is a part of; NULL: none. No reference is taken. */
struct pci_dev *peerlane_pci_function_of(struct device *dev);
/* @text "dddd:bb:dd.f" or "bb:dd.f"; returns a reference, or ERR_PTR */
struct pci_dev *peerlane_pci_find(const char *text, struct peerlane_msg *msg);

/* ---- debugfs.c: for tests, no ABI ---- */

void peerlane_debugfs_init(void);
void peerlane_debugfs_exit(void);

#endif /* PEERLANE_KMOD_H */
