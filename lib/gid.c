// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/* Addresses of RDMA ports. */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "port.h"

struct gids {
	struct peerlane_gid_info *list;
	size_t count;
};

int pl_port_check(const char *device, uint32_t port)
{
	char text[64];
	int ret;

	/* A name is no path. */
	if (!*device || strchr(device, '/') || device[0] == '.')
		return pl_fail_text(ENODEV, "no RDMA device \"%s\"", device);
	ret = pl_attr_text(text, sizeof(text), PL_RDMA "/%s/node_type", device);
	if (ret)
		return pl_fail_text(ENODEV, "no RDMA device %s", device);
	if (!port)
		return 0;
	ret = pl_attr_text(text, sizeof(text), PL_RDMA "/%s/ports/%u/state",
			   device, port);
	if (ret == -ENOENT)
		return pl_fail_text(ENODEV, "RDMA device %s has no port %u",
				    device, port);
	return 0;
}

static uint32_t gid_type(const char *text, bool ethernet)
{
	if (!strcmp(text, "RoCE v2"))
		return PEERLANE_GID_ROCE_V2;
	/* One word for both: "IB/RoCE v1" */
	if (!strncmp(text, "IB", 2))
		return ethernet ? PEERLANE_GID_ROCE_V1 : PEERLANE_GID_IB;
	if (!strcmp(text, "RoCE v1"))
		return PEERLANE_GID_ROCE_V1;
	return PEERLANE_GID_UNKNOWN;
}

static bool is_zero(const uint8_t raw[16])
{
	static const uint8_t zero[16];

	return !memcmp(raw, zero, sizeof(zero));
}

/* A subnet prefix without an identifier: what IB has before it is set up */
static bool is_prefix_only(const uint8_t raw[16])
{
	static const uint8_t zero[8];

	return !memcmp(raw + 8, zero, sizeof(zero));
}

static void describe(struct peerlane_gid_info *gid)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };
	const uint8_t *raw = gid->raw;

	gid->ipv4 = !memcmp(raw, mapped, sizeof(mapped));
	if (gid->ipv4) {
		gid->link_local = raw[12] == 169 && raw[13] == 254;
		inet_ntop(AF_INET, raw + 12, gid->address,
			  sizeof(gid->address));
	} else {
		gid->link_local = raw[0] == 0xfe && (raw[1] & 0xc0) == 0x80;
		inet_ntop(AF_INET6, raw, gid->address, sizeof(gid->address));
	}
}

/* false: an empty slot, or one that went meanwhile */
static bool read_gid(struct peerlane_gid_info *gid, const char *slot,
		     bool ethernet)
{
	uint64_t index;
	char text[64];

	if (pl_number(slot, &index) ||
	    pl_attr_text(text, sizeof(text), PL_RDMA "/%s/ports/%u/gids/%s",
			 gid->device, gid->port, slot) ||
	    inet_pton(AF_INET6, text, gid->raw) != 1 || is_zero(gid->raw) ||
	    (ethernet && is_prefix_only(gid->raw)))
		return false;
	gid->index = (uint32_t)index;
	describe(gid);
	if (!pl_attr_text(text, sizeof(text),
			  PL_RDMA "/%s/ports/%u/gid_attrs/types/%s",
			  gid->device, gid->port, slot))
		gid->type = gid_type(text, ethernet);
	pl_attr_text(gid->netdev, sizeof(gid->netdev),
		     PL_RDMA "/%s/ports/%u/gid_attrs/ndevs/%s", gid->device,
		     gid->port, slot);
	return true;
}

static int add_gid(struct gids *gids, const struct peerlane_gid_info *gid)
{
	struct peerlane_gid_info *list;

	list = reallocarray(gids->list, gids->count + 1, sizeof(*list));
	if (!list)
		return pl_fail(ENOMEM, "list of RDMA addresses");
	gids->list = list;
	list[gids->count++] = *gid;
	return 0;
}

static int add_port(struct gids *gids, const char *device, uint32_t port)
{
	struct peerlane_gid_info gid;
	char text[32] = "", **slots;
	size_t count, i;
	bool ethernet;
	int ret;

	pl_attr_text(text, sizeof(text), PL_RDMA "/%s/ports/%u/link_layer",
		     device, port);
	ethernet = !strcmp(text, "Ethernet");
	if (pl_attr_names(&slots, &count, PL_RDMA "/%s/ports/%u/gids", device,
			  port))
		return 0;	/* a port without a table has no addresses */
	for (ret = 0, i = 0; !ret && i < count; i++) {
		memset(&gid, 0, sizeof(gid));
		pl_copy_text(gid.device, device, sizeof(gid.device));
		gid.port = port;
		if (read_gid(&gid, slots[i], ethernet))
			ret = add_gid(gids, &gid);
	}
	pl_attr_names_free(slots, count);
	return ret;
}

static int add_device(struct gids *gids, const char *device)
{
	uint64_t number;
	size_t count, i;
	char **ports;
	int ret = 0;

	if (pl_attr_names(&ports, &count, PL_RDMA "/%s/ports", device))
		return 0;
	for (i = 0; !ret && i < count; i++)
		if (!pl_number(ports[i], &number))
			ret = add_port(gids, device, (uint32_t)number);
	pl_attr_names_free(ports, count);
	return ret;
}

static int add_all(struct gids *gids)
{
	size_t count, i;
	char **devices;
	int ret = 0;

	if (pl_attr_names(&devices, &count, PL_RDMA))
		return 0;
	for (i = 0; !ret && i < count; i++)
		ret = add_device(gids, devices[i]);
	pl_attr_names_free(devices, count);
	return ret;
}

int peerlane_gid_list(const char *device, uint32_t port,
		      struct peerlane_gid_info **list, size_t *count)
{
	struct gids gids = { 0 };
	int ret;

	pl_clear();
	ret = device ? pl_port_check(device, port) : 0;
	if (ret)
		return ret;
	if (!device)
		ret = add_all(&gids);
	else if (!port)
		ret = add_device(&gids, device);
	else
		ret = add_port(&gids, device, port);
	if (ret) {
		free(gids.list);
		return ret;
	}
	*list = gids.list;
	*count = gids.count;
	return 0;
}

void pl_gid_netdev(const char *device, uint32_t port, char *name, size_t size)
{
	size_t count, i;
	char **slots;

	if (pl_attr_names(&slots, &count,
			  PL_RDMA "/%s/ports/%u/gid_attrs/ndevs", device, port))
		return;
	for (i = 0; i < count && !*name; i++)
		if (pl_attr_text(name, size,
				 PL_RDMA "/%s/ports/%u/gid_attrs/ndevs/%s",
				 device, port, slots[i]))
			*name = '\0';
	pl_attr_names_free(slots, count);
}

const char *peerlane_gid_type_name(uint32_t type)
{
	static const char *const names[] = {
		"unknown", "ib", "roce-v1", "roce-v2",
	};

	return type < sizeof(names) / sizeof(names[0]) ? names[type] :
							 "unknown";
}
