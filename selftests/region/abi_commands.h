/* SPDX-License-Identifier: GPL-2.0 */
/* Every command, and for each arguments that work. */
#ifndef SELFTESTS_REGION_ABI_COMMANDS_H
#define SELFTESTS_REGION_ABI_COMMANDS_H

#include <stddef.h>

#include "harness.h"

#define ROOM	512	/* longer than any struct */
#define NO_FD	UINT32_MAX

/* Where a call is made, and everything it needs. */
struct scene {
	_Alignas(8) char args[ROOM];
	int fd;
	int other;		/* -1, or a file that the arguments name */
	int region;		/* likewise */
	void *pages;
};

struct command {
	const char *name;
	unsigned int cmd;
	uint32_t size;
	uint32_t flags;		/* known ones */
	bool is_control;
	bool has_output;
	uint32_t out_fd;	/* offset, or NO_FD */
	uint32_t reserved2;	/* offset, or 0 */
	void (*prepare)(struct scene *scene);	/* arguments that work */
};

static inline void needs_region(struct scene *scene)
{
	scene->fd = new_region(2 * PAGE);
	((struct peerlane_region_export *)scene->args)->length = 2 * PAGE;
}

static inline void needs_memory(struct scene *scene)
{
	scene->fd = new_region(2 * PAGE);
}

static inline void needs_length(struct scene *scene)
{
	scene->fd = open_device();
	((struct peerlane_region_alloc *)scene->args)->length = 2 * PAGE;
}

static inline void needs_array(struct scene *scene, uint32_t record_size)
{
	struct peerlane_list *args = (void *)scene->args;

	scene->fd = open_control();
	scene->pages = calloc(64, record_size);
	args->array_ptr = (uintptr_t)scene->pages;
	args->count = 64;
	args->record_size = record_size;
}

static inline void needs_devices(struct scene *scene)
{
	needs_array(scene, sizeof(struct peerlane_device_record));
}

static inline void needs_regions(struct scene *scene)
{
	needs_array(scene, sizeof(struct peerlane_region_record));
}

static inline void needs_dmabuf(struct scene *scene)
{
	struct peerlane_import_dmabuf *args = (void *)scene->args;

	scene->fd = open_control();
	scene->region = new_region(2 * PAGE);
	scene->other = region_export(scene->region, 0, 2 * PAGE, 0);
	args->dmabuf_fd = scene->other;
}

static inline void needs_pages(struct scene *scene)
{
	struct peerlane_pin_host *args = (void *)scene->args;

	scene->fd = open_control();
	scene->pages = aligned_alloc(PAGE, 2 * PAGE);
	args->addr = (uintptr_t)scene->pages;
	args->length = 2 * PAGE;
}

static inline void needs_endpoints(struct scene *scene)
{
	needs_array(scene, sizeof(struct peerlane_endpoint_record));
}

static inline void needs_groups(struct scene *scene)
{
	needs_array(scene, sizeof(struct peerlane_group_info));
}

static inline void needs_lanes(struct scene *scene)
{
	needs_array(scene, sizeof(struct peerlane_lane_info));
}

static inline void needs_aggregators(struct scene *scene)
{
	needs_array(scene, sizeof(struct peerlane_aggregator_info));
}

static inline void needs_secret(struct scene *scene)
{
	struct peerlane_endpoint_create *args = (void *)scene->args;

	scene->fd = open_control();
	args->secret[0] = 1;
	args->near_fd = -1;
}

static inline void needs_group(struct scene *scene)
{
	struct peerlane_group_create *args = (void *)scene->args;

	scene->fd = open_control();
	args->secret[0] = 1;
	args->group = 1;
	args->ranks = 1;
	args->near_fd = -1;
}

static inline void needs_function(struct scene *scene)
{
	struct peerlane_preflight *args = (void *)scene->args;
	char path[PATH_MAX] = "";

	scene->fd = open_control();
	if (!realpath(device_attr("device"), path))
		CHECK(!"no PCI function");
	args->flags = PEERLANE_PREFLIGHT_BIND;
	snprintf(args->target, sizeof(args->target), "%.15s",
		 strrchr(path, '/') + 1);
}

#define COMMAND(_name, _struct) .name = #_name,				\
	.cmd = PEERLANE_IOC_##_name, .size = sizeof(struct peerlane_##_struct)

static const struct command commands[] = {
	{ COMMAND(REGION_ALLOC, region_alloc), .out_fd = NO_FD,
	  .has_output = true, .prepare = needs_length },
	{ COMMAND(REGION_INFO, region_status), .out_fd = NO_FD,
	  .has_output = true, .prepare = needs_memory },
	{ COMMAND(REGION_EXPORT, region_export), .flags = 1,
	  .out_fd = offsetof(struct peerlane_region_export, out_fd),
	  .reserved2 = offsetof(struct peerlane_region_export, reserved2),
	  .has_output = true, .prepare = needs_region },
	{ COMMAND(REGION_REVOKE, region_revoke), .out_fd = NO_FD,
	  .prepare = needs_memory },
	{ COMMAND(DEVICE_LIST, list), .out_fd = NO_FD, .is_control = true,
	  .has_output = true, .prepare = needs_devices },
	{ COMMAND(REGION_LIST, list), .out_fd = NO_FD, .is_control = true,
	  .has_output = true, .prepare = needs_regions },
	{ COMMAND(IMPORT_DMABUF, import_dmabuf), .is_control = true,
	  .out_fd = offsetof(struct peerlane_import_dmabuf, out_fd),
	  .has_output = true, .prepare = needs_dmabuf },
	{ COMMAND(PIN_HOST, pin_host), .flags = 1, .is_control = true,
	  .out_fd = offsetof(struct peerlane_pin_host, out_fd),
	  .reserved2 = offsetof(struct peerlane_pin_host, reserved2),
	  .has_output = true, .prepare = needs_pages },
	{ COMMAND(PREFLIGHT, preflight), .flags = 1, .is_control = true,
	  .out_fd = NO_FD,
	  .reserved2 = offsetof(struct peerlane_preflight, reserved2),
	  .has_output = true, .prepare = needs_function },
	{ COMMAND(ENDPOINT_CREATE, endpoint_create), .is_control = true,
	  .out_fd = offsetof(struct peerlane_endpoint_create, out_fd),
	  .reserved2 = offsetof(struct peerlane_endpoint_create, reserved2),
	  .has_output = true, .prepare = needs_secret },
	{ COMMAND(ENDPOINT_LIST, list), .out_fd = NO_FD, .is_control = true,
	  .has_output = true, .prepare = needs_endpoints },
	{ COMMAND(GROUP_CREATE, group_create), .is_control = true,
	  .out_fd = offsetof(struct peerlane_group_create, out_fd),
	  .has_output = true, .prepare = needs_group },
	{ COMMAND(GROUP_LIST, list), .out_fd = NO_FD, .is_control = true,
	  .has_output = true, .prepare = needs_groups },
	{ COMMAND(AGGREGATOR_LIST, list), .out_fd = NO_FD, .is_control = true,
	  .has_output = true, .prepare = needs_aggregators },
	{ COMMAND(GROUP_LANES, list), .out_fd = NO_FD, .is_control = true,
	  .has_output = true, .prepare = needs_lanes },
};

#endif /* SELFTESTS_REGION_ABI_COMMANDS_H */
