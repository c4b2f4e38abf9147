// SPDX-License-Identifier: GPL-2.0
/* Endpoints: birth, end, and the list of them. */
#include <linux/file.h>
#include <linux/anon_inodes.h>
#include <linux/module.h>
#include <linux/nsproxy.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <net/net_namespace.h>

#include "compat.h"
#include "endpoint.h"
#include "link_path.h"

#define DEFAULT_DEPTH	128
#define DEFAULT_SLOTS	16
#define DEFAULT_TIMEOUT	5000
#define MAX_SLOTS	1024
#define GRANTS		1024

static unsigned int endpoint_depth = 4096;
module_param(endpoint_depth, uint, 0644);
MODULE_PARM_DESC(endpoint_depth,
		 "operations that an endpoint may have outstanding, and unread notices (default 4096)");

static unsigned int endpoint_keys = 65536;
module_param(endpoint_keys, uint, 0644);
MODULE_PARM_DESC(endpoint_keys,
		 "memory keys for exposures of one endpoint, each of up to 2 MiB (default 65536)");

static LIST_HEAD(endpoints);		/* in order of id */
static DEFINE_MUTEX(endpoints_lock);	/* protects endpoints */
static u64 last_id;			/* endpoints_lock */

struct workqueue_struct *endpoint_work_queue;

/* ---- settings ---- */

static int take_number(u32 value, u32 fallback, u32 most, u32 *to,
		       const char *name, struct peerlane_msg *msg)
{
	*to = value ?: min(fallback, most);
	if (*to <= most)
		return 0;
	return peerlane_refuse(msg, -EINVAL, "%s %u is more than %u", name, value,
			       most);
}

static int take_sizes(const struct peerlane_endpoint_create *args,
		      struct link_settings *settings, struct peerlane_msg *msg)
{
	u32 most = clamp(READ_ONCE(endpoint_depth), 1U, 1U << 16);
	int ret;

	ret = take_number(args->lanes, 1, LINK_LANES_MAX, &settings->lanes,
			  "lanes", msg);
	if (!ret)
		ret = take_number(args->depth, DEFAULT_DEPTH, most,
				  &settings->depth, "depth", msg);
	if (!ret)
		ret = take_number(args->notify_depth, DEFAULT_DEPTH, most,
				  &settings->notify, "notify_depth", msg);
	if (!ret)
		ret = take_number(args->timeout_ms, DEFAULT_TIMEOUT, 600000,
				  &settings->timeout_ms, "timeout_ms", msg);
	if (!ret && settings->timeout_ms < 100)
		ret = peerlane_refuse(msg, -EINVAL,
				      "timeout_ms %u is less than 100",
				      settings->timeout_ms);
	settings->purse = &endpoint_purse;
	settings->grants = GRANTS;
	settings->keys = READ_ONCE(endpoint_keys);
	return ret;
}

static bool is_text(const char *text, size_t size)
{
	return strnlen(text, size) < size;
}

static int take_texts(const struct peerlane_endpoint_create *args,
		      struct link_settings *settings, struct peerlane_msg *msg)
{
	if (!memchr_inv(args->secret, 0, sizeof(args->secret)))
		return peerlane_refuse(msg, -EINVAL, "the secret is all zero");
	if (!is_text(args->rdma_device, sizeof(args->rdma_device)) ||
	    !is_text(args->label, sizeof(args->label)))
		return peerlane_refuse(msg, -EINVAL,
				       "rdma_device or label has no end");
	memcpy(settings->secret, args->secret, sizeof(settings->secret));
	strscpy(settings->device, args->rdma_device, sizeof(settings->device));
	strscpy(settings->label, args->label, sizeof(settings->label));
	return 0;
}

static int take_settings(struct peerlane_endpoint *endpoint,
			 const struct peerlane_endpoint_create *args,
			 const struct peerlane_endpoint *parent,
			 struct peerlane_msg *msg)
{
	int ret;

	if (parent) {
		endpoint->settings = parent->settings;
		endpoint->has_label = parent->has_label;
		endpoint->slot_count = parent->slot_count;
		return 0;
	}
	endpoint->has_label = args->label[0];
	ret = take_sizes(args, &endpoint->settings, msg);
	if (!ret)
		ret = take_texts(args, &endpoint->settings, msg);
	if (!ret)
		ret = take_number(args->slots, DEFAULT_SLOTS, MAX_SLOTS,
				  &endpoint->slot_count, "slots", msg);
	return ret;
}

static int take_near(struct peerlane_endpoint *endpoint, int fd,
		     const struct peerlane_endpoint *parent,
		     struct peerlane_msg *msg)
{
	struct peerlane_region *near = NULL;
	struct file *file;

	if (parent) {
		near = parent->near;
		if (near)
			peerlane_region_get_user(near);
	} else if (fd != -1) {
		file = fget(fd);
		near = file ? peerlane_region_of(file) : NULL;
		if (near)
			peerlane_region_get_user(near);
		if (file)
			fput(file);
		if (!near)
			return peerlane_refuse(msg, -EBADF,
					       "near_fd %d is not a region", fd);
	}
	endpoint->near = near;
	return 0;
}

/* ---- birth ---- */

static void set_owner(struct peerlane_endpoint *endpoint,
		      const struct peerlane_endpoint *parent)
{
	if (parent) {
		endpoint->net = get_net(parent->net);
		endpoint->opener = get_pid(parent->opener);
		memcpy(endpoint->comm, parent->comm, sizeof(endpoint->comm));
		return;
	}
	endpoint->net = get_net(current->nsproxy->net_ns);
	endpoint->settings.uid = current_euid();
	endpoint->opener = get_pid(task_tgid(current));
	get_task_comm(endpoint->comm, current->group_leader);
}

static void init(struct peerlane_endpoint *endpoint)
{
	kref_init(&endpoint->ref);
	mutex_init(&endpoint->bind_lock);
	init_rwsem(&endpoint->lock);
	spin_lock_init(&endpoint->queue_lock);
	mutex_init(&endpoint->read_lock);
	init_waitqueue_head(&endpoint->wait);
	INIT_LIST_HEAD(&endpoint->node);
	INIT_LIST_HEAD(&endpoint->free_ops);
	INIT_LIST_HEAD(&endpoint->free_flushes);
	INIT_LIST_HEAD(&endpoint->free_notices);
	INIT_LIST_HEAD(&endpoint->grants);
	INIT_LIST_HEAD(&endpoint->records);
	INIT_LIST_HEAD(&endpoint->pending);
	INIT_LIST_HEAD(&endpoint->ready);
	INIT_LIST_HEAD(&endpoint->child_node);
	INIT_WORK(&endpoint->reap, endpoint_reap_work);
	endpoint->connected.type = PEERLANE_RECORD_CONNECTED;
	endpoint->disconnected.type = PEERLANE_RECORD_DISCONNECTED;
}

static int make_slots(struct peerlane_endpoint *endpoint)
{
	u32 i;

	endpoint->slots = kvcalloc(endpoint->slot_count,
				   sizeof(*endpoint->slots), GFP_KERNEL_ACCOUNT);
	if (!endpoint->slots)
		return -ENOMEM;
	for (i = 0; i < endpoint->slot_count; i++) {
		endpoint->slots[i].endpoint = endpoint;
		endpoint->slots[i].index = i;
	}
	return 0;
}

static void publish(struct peerlane_endpoint *endpoint)
{
	mutex_lock(&endpoints_lock);
	endpoint->id = ++last_id;
	if (!endpoint->has_label)
		snprintf(endpoint->settings.label,
			 sizeof(endpoint->settings.label), "endpoint %llu",
			 endpoint->id);
	list_add_tail(&endpoint->node, &endpoints);
	mutex_unlock(&endpoints_lock);
}

static void free_parts(struct peerlane_endpoint *endpoint)
{
	endpoint_ops_free(endpoint);
	if (endpoint->near)
		peerlane_region_put_user(endpoint->near);
	kvfree(endpoint->slots);
	endpoint_uncharge(endpoint);
	put_pid(endpoint->opener);
	if (endpoint->net)
		put_net(endpoint->net);
	kfree_sensitive(endpoint);
}

struct peerlane_endpoint *
endpoint_new(const struct peerlane_endpoint_create *args,
	     struct peerlane_endpoint *parent, struct peerlane_msg *msg)
{
	struct peerlane_endpoint *endpoint;
	int ret;

	endpoint = kzalloc(sizeof(*endpoint), GFP_KERNEL_ACCOUNT);
	if (!endpoint)
		return ERR_PTR(-ENOMEM);
	init(endpoint);
	set_owner(endpoint, parent);
	ret = take_settings(endpoint, args, parent, msg);
	if (!ret)
		ret = endpoint_charge(endpoint, msg);
	if (!ret)
		ret = take_near(endpoint, parent ? -1 : args->near_fd, parent,
				msg);
	if (!ret)
		ret = make_slots(endpoint);
	if (!ret)
		ret = endpoint_ops_init(endpoint);
	if (ret) {
		free_parts(endpoint);
		return ERR_PTR(ret);
	}
	if (parent) {
		endpoint_get(parent);
		endpoint->parent = parent;
	}
	/* The end of a child goes on in a work without a file. */
	__module_get(THIS_MODULE);
	publish(endpoint);
	return endpoint;
}

static int release(struct inode *inode, struct file *file)
{
	if (file->private_data)
		endpoint_close(file->private_data);
	return 0;
}

void endpoint_file_detach(struct file *file)
{
	file->private_data = NULL;
}

const struct file_operations peerlane_endpoint_fops = {
	.owner		= THIS_MODULE,
	.release	= release,
	.read_iter	= endpoint_read,
	.poll		= endpoint_poll,
	.unlocked_ioctl	= peerlane_endpoint_ioctl,
	.compat_ioctl	= compat_ptr_ioctl,
	.uring_cmd	= endpoint_uring_cmd,
	.llseek		= PEERLANE_NO_LLSEEK,
};

struct file *endpoint_file(struct peerlane_endpoint *endpoint)
{
	struct file *file;

	file = anon_inode_getfile("[peerlane-endpoint]", &peerlane_endpoint_fops,
				  endpoint, O_RDWR);
	/* io_uring reads without a worker: it asks, and waits by poll. */
	if (!IS_ERR(file))
		file->f_mode |= FMODE_NOWAIT;
	return file;
}

/* ---- end ---- */

void endpoint_get(struct peerlane_endpoint *endpoint)
{
	kref_get(&endpoint->ref);
}

static void endpoint_free(struct kref *ref)
{
	struct peerlane_endpoint *endpoint, *parent;

	endpoint = container_of(ref, struct peerlane_endpoint, ref);
	parent = endpoint->parent;
	if (endpoint->link)
		link_put(endpoint->link);
	free_parts(endpoint);
	if (parent)
		endpoint_put(parent);
	/* Whoever called holds the module too, by a file or a work queue. */
	module_put(THIS_MODULE);
}

void endpoint_put(struct peerlane_endpoint *endpoint)
{
	kref_put(&endpoint->ref, endpoint_free);
}

void endpoint_disconnect(struct peerlane_endpoint *endpoint)
{
	struct link_listener *listener;
	struct link *link;

	down_write(&endpoint->lock);
	link = endpoint->link;
	if (link)
		link_get(link);
	listener = endpoint->listener;
	endpoint->listener = NULL;
	spin_lock(&endpoint->queue_lock);
	/* The end stays, and is told by a record, whoever waits in CONNECT. */
	endpoint->connect_waits = false;
	if ((!link || endpoint->connect_failed) &&
	    endpoint->state != PEERLANE_ENDPOINT_CLOSED) {
		WRITE_ONCE(endpoint->connect_failed, false);
		endpoint->status = -ECANCELED;
		strscpy(endpoint->reason, "closed by this side",
			sizeof(endpoint->reason));
		endpoint_queue(endpoint, &endpoint->disconnected);
		endpoint_set_state(endpoint, PEERLANE_ENDPOINT_CLOSED);
	}
	spin_unlock(&endpoint->queue_lock);
	up_write(&endpoint->lock);

	if (listener)
		link_listener_free(listener);
	endpoint_close_children(endpoint);
	if (link) {
		link_kill(link, -ECANCELED, -ECANCELED, "closed by this side");
		link_wait_ended(link);
		link_put(link);
	}
	endpoint_wake(endpoint, EPOLLIN | EPOLLHUP);
}

void endpoint_close(struct peerlane_endpoint *endpoint)
{
	mutex_lock(&endpoints_lock);
	list_del_init(&endpoint->node);
	mutex_unlock(&endpoints_lock);
	endpoint_disconnect(endpoint);
	endpoint_unbind_all(endpoint);
	endpoint_drop_records(endpoint);
	/* A link that is still leaving its device needs it no more. */
	if (endpoint->near)
		peerlane_region_put_user(endpoint->near);
	endpoint->near = NULL;
	endpoint_put(endpoint);
}

int endpoint_connected(struct peerlane_endpoint *endpoint,
		       struct peerlane_msg *msg)
{
	if (endpoint_state(endpoint) == PEERLANE_ENDPOINT_CONNECTED)
		return 0;
	if (endpoint_state(endpoint) == PEERLANE_ENDPOINT_CLOSED)
		return peerlane_refuse(msg, -ENOTCONN, "not connected any more: %s",
				       endpoint->reason);
	return peerlane_refuse(msg, -ENOTCONN, "not connected");
}

/* ---- list ---- */

static void fill_connection(struct peerlane_endpoint *endpoint,
			    struct peerlane_endpoint_record *record)
{
	struct link_info info = {};

	down_read(&endpoint->lock);
	if (endpoint->link)
		link_info(endpoint->link, &info);
	else
		info.local = endpoint->address;
	up_read(&endpoint->lock);
	record->lanes = info.lanes ?: endpoint->settings.lanes;
	record->exposed = info.exposed;
	record->granted = info.granted;
	record->keys = info.keys;
	memcpy(record->local, &info.local, sizeof(record->local));
	memcpy(record->peer, &info.peer, sizeof(record->peer));
	memcpy(record->rdma_device, info.device, sizeof(record->rdma_device));
}

static void fill_slots(struct peerlane_endpoint *endpoint,
		       struct peerlane_endpoint_record *record)
{
	u32 i;

	down_read(&endpoint->lock);
	for (i = 0; i < endpoint->slot_count; i++)
		record->slots += !!endpoint->slots[i].region;
	up_read(&endpoint->lock);
}

void endpoint_record(struct peerlane_endpoint *endpoint,
		     struct peerlane_endpoint_record *record)
{
	*record = (struct peerlane_endpoint_record){
		.id = endpoint->id,
		.bytes_put = atomic64_read(&endpoint->bytes_put),
		.bytes_get = atomic64_read(&endpoint->bytes_get),
		.ops_done = atomic64_read(&endpoint->ops_done),
		.ops_failed = atomic64_read(&endpoint->ops_failed),
		.uid = from_kuid_munged(current_user_ns(),
					endpoint->settings.uid),
		.pid = pid_vnr(endpoint->opener),
		.depth = endpoint->settings.depth,
		.path = endpoint->path,
	};
	fill_connection(endpoint, record);
	fill_slots(endpoint, record);
	memcpy(record->comm, endpoint->comm, sizeof(record->comm));
	strscpy(record->label, endpoint->settings.label, sizeof(record->label));
	spin_lock(&endpoint->queue_lock);
	record->state = endpoint->state;
	record->status = endpoint->status;
	record->outstanding = endpoint->outstanding;
	strscpy(record->reason, endpoint->reason, sizeof(record->reason));
	spin_unlock(&endpoint->queue_lock);
}

u32 endpoint_records(struct net *net, bool all,
		     struct peerlane_endpoint_record *records, u32 room)
{
	struct peerlane_endpoint *endpoint;
	u32 count = 0;

	mutex_lock(&endpoints_lock);
	list_for_each_entry(endpoint, &endpoints, node) {
		if (!net_eq(endpoint->net, net) ||
		    (!all && !uid_eq(endpoint->settings.uid, current_euid())))
			continue;
		if (count < room)
			endpoint_record(endpoint, &records[count]);
		count++;
	}
	mutex_unlock(&endpoints_lock);
	return count;
}

/* ---- module ---- */

int endpoint_init(void)
{
	int ret = link_init();

	if (ret)
		return ret;
	/* Ends of endpoints without a file, after which the module may go. */
	endpoint_work_queue = alloc_workqueue("peerlane_endpoint", WQ_UNBOUND, 0);
	if (endpoint_work_queue)
		return 0;
	link_exit();
	return -ENOMEM;
}

void endpoint_exit(void)
{
	destroy_workqueue(endpoint_work_queue);
	link_exit();
}
