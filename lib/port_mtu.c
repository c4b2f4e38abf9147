// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/* Packet size of a port, by libibverbs, which is looked up when needed. */
#include <dlfcn.h>
#include <errno.h>
#include <infiniband/verbs.h>
#include <string.h>

#include "port.h"

#define LIBIBVERBS	"libibverbs.so.1"

/* The header has a macro and an inline of that name. */
#undef ibv_query_port

typedef struct ibv_device **(*get_list_fn)(int *count);
typedef void (*free_list_fn)(struct ibv_device **list);
typedef const char *(*name_fn)(struct ibv_device *device);
typedef struct ibv_context *(*open_fn)(struct ibv_device *device);
typedef int (*close_fn)(struct ibv_context *context);
typedef int (*query_fn)(struct ibv_context *context, uint8_t port,
			struct _compat_ibv_port_attr *attr);

/**
 * struct verbs - what is used of libibverbs
 * @library: for dlclose()
 * @get_list: ibv_get_device_list(), and so on
 * @free_list: see there
 * @name: see there
 * @open: see there
 * @close: see there
 * @query: fills the first part of struct ibv_port_attr
 */
struct verbs {
	void *library;
	get_list_fn get_list;
	free_list_fn free_list;
	name_fn name;
	open_fn open;
	close_fn close;
	query_fn query;
};

static void *symbol(const struct verbs *verbs, const char *name)
{
	return dlsym(verbs->library, name);
}

static int load(struct verbs *verbs)
{
	verbs->library = dlopen(LIBIBVERBS, RTLD_NOW);
	if (!verbs->library)
		return pl_fail_text(ENOSYS, LIBIBVERBS " is not installed");
	verbs->get_list = (get_list_fn)symbol(verbs, "ibv_get_device_list");
	verbs->free_list = (free_list_fn)symbol(verbs, "ibv_free_device_list");
	verbs->name = (name_fn)symbol(verbs, "ibv_get_device_name");
	verbs->open = (open_fn)symbol(verbs, "ibv_open_device");
	verbs->close = (close_fn)symbol(verbs, "ibv_close_device");
	verbs->query = (query_fn)symbol(verbs, "ibv_query_port");
	if (verbs->get_list && verbs->free_list && verbs->name && verbs->open &&
	    verbs->close && verbs->query)
		return 0;
	dlclose(verbs->library);
	return pl_fail_text(ENOSYS, LIBIBVERBS " lacks what is needed");
}

/* enum ibv_mtu: 1 is 256 bytes */
static uint32_t bytes(enum ibv_mtu mtu)
{
	return mtu >= IBV_MTU_256 && mtu <= IBV_MTU_4096 ? 128U << mtu : 0;
}

static int query(const struct verbs *verbs, struct ibv_device *device,
		 uint32_t port, uint32_t *active, uint32_t *max)
{
	struct ibv_port_attr attr = { 0 };
	const char *name = verbs->name(device);
	struct ibv_context *context;
	int err;

	errno = 0;
	context = verbs->open(device);
	if (!context)
		return pl_fail(errno ? errno : EIO, "RDMA device %s", name);
	err = verbs->query(context, (uint8_t)port,
			   (struct _compat_ibv_port_attr *)&attr);
	verbs->close(context);
	if (err)
		return pl_fail(err < 0 ? EIO : err, "port %u of RDMA device %s",
			       port, name);
	*active = bytes(attr.active_mtu);
	*max = bytes(attr.max_mtu);
	return 0;
}

static int find(const struct verbs *verbs, const char *name, uint32_t port,
		uint32_t *active, uint32_t *max)
{
	struct ibv_device **list;
	int count = 0, i, ret;

	errno = 0;
	list = verbs->get_list(&count);
	if (!list)
		return pl_fail(errno ? errno : EIO, "list of RDMA devices by verbs");
	for (i = 0; i < count; i++)
		if (!strcmp(verbs->name(list[i]), name))
			break;
	if (i < count)
		ret = query(verbs, list[i], port, active, max);
	else
		ret = pl_fail_text(ENODEV, "RDMA device %s: no driver for verbs",
				   name);
	verbs->free_list(list);
	return ret;
}

int peerlane_port_mtu(const char *device, uint32_t port, uint32_t *active,
		      uint32_t *max)
{
	struct verbs verbs;
	int ret;

	pl_clear();
	if (!port || port > UINT8_MAX)
		return pl_fail_text(ENODEV, "RDMA device %s has no port %u",
				    device, port);
	ret = load(&verbs);
	if (ret)
		return ret;
	ret = find(&verbs, device, port, active, max);
	dlclose(verbs.library);
	return ret;
}
