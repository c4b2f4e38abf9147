// SPDX-License-Identifier: GPL-2.0
/* Calls on /dev/peerlane/control, well-formed; and dma-bufs of another driver. */
#include <fcntl.h>
#include <linux/udmabuf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "actions.h"
#include "arena.h"
#include "call.h"
#include "files.h"
#include "functions.h"

#define ROOM 128

static bool borrow_control(struct actor *actor, struct loan *loan)
{
	return files_borrow(actor, THING_CONTROL, loan);
}

static int list(struct actor *actor, unsigned long cmd, uint32_t record_size)
{
	struct peerlane_list args = {
		.count = one_in(actor, 4) ? dice(actor, 4) : ROOM,
		.record_size = record_size + 8 * dice(actor, 3),
	};
	struct loan loan;
	void *records;
	int ret;

	if (!borrow_control(actor, &loan))
		return NOTHING;
	records = calloc(ROOM, record_size + 16);
	args.array_ptr = (uintptr_t)records;
	ret = call(actor, loan.thing.fd, cmd, &args, sizeof(args));
	free(records);
	files_kept(actor, &loan);
	return ret;
}

static int list_devices(struct actor *actor)
{
	return list(actor, PEERLANE_IOC_DEVICE_LIST,
		    sizeof(struct peerlane_device_record));
}

static int list_regions(struct actor *actor)
{
	return list(actor, PEERLANE_IOC_REGION_LIST,
		    sizeof(struct peerlane_region_record));
}

/* The dma-buf is this thread's meanwhile: what it shows is known. */
static int import(struct actor *actor)
{
	struct peerlane_import_dmabuf args = {};
	struct thing dmabuf, made = { .kind = THING_IMPORT };
	struct loan control;
	int ret;

	if (!borrow_control(actor, &control) ||
	    !files_take(actor, THING_DMABUF, &dmabuf))
		return NOTHING;
	args.dmabuf_fd = dmabuf.fd;
	if (one_in(actor, 2)) {
		args.offset = some_pages(actor, dmabuf.length) - PAGE;
		args.length = some_pages(actor, dmabuf.length - args.offset);
	}
	ret = CALL(actor, control.thing.fd, IMPORT_DMABUF, &args);
	if (!ret) {
		made.fd = args.out_fd;
		made.region = dmabuf.region;
		made.base = dmabuf.base + args.offset;
		made.length = args.out_length;
		files_put(actor, &made);
	}
	files_put(actor, &dmabuf);
	files_kept(actor, &control);
	return ret;
}

static int pin(struct actor *actor, void *at, uint64_t length, uint32_t flags)
{
	struct peerlane_pin_host args = {
		.addr = (uintptr_t)at, .length = length, .flags = flags,
	};
	struct thing made = { .kind = THING_HOST };
	struct loan control;
	int ret;

	if (!borrow_control(actor, &control))
		return NOTHING;
	ret = CALL(actor, control.thing.fd, PIN_HOST, &args);
	files_kept(actor, &control);
	if (ret)
		return ret;
	made.fd = args.out_fd;
	files_put(actor, &made);
	return 0;
}

static int pin_own(struct actor *actor)
{
	return pin(actor, actor->buffer, some_pages(actor, ACTOR_BUFFER),
		   one_in(actor, 3) ? PEERLANE_PIN_READ_ONLY : 0);
}

/* Pages of a region, pinned as if they were the caller's. */
static int pin_mapping(struct actor *actor)
{
	struct place *place = place_get(actor);
	uint64_t length;
	char *at;
	int ret;

	if (!place)
		return NOTHING;
	length = place_part(actor, place, ARENA_MOST, &at);
	ret = pin(actor, at, length, one_in(actor, 3) ? PEERLANE_PIN_READ_ONLY : 0);
	place_put(place);
	return ret;
}

static int preflight(struct actor *actor)
{
	struct peerlane_preflight args = {};
	struct loan loan;
	int ret;

	if (!borrow_control(actor, &loan))
		return NOTHING;
	snprintf(args.target, sizeof(args.target), "%s", some_function(actor));
	if (one_in(actor, 3))
		args.flags = PEERLANE_PREFLIGHT_BIND;
	else
		snprintf(args.initiator, sizeof(args.initiator), "%s",
			 some_function(actor));
	ret = CALL(actor, loan.thing.fd, PREFLIGHT, &args);
	files_kept(actor, &loan);
	return ret;
}

/* ---- of another driver ---- */

static int udmabuf_of(int memory, uint64_t length)
{
	struct udmabuf_create args = {
		.memfd = memory, .flags = UDMABUF_FLAGS_CLOEXEC, .size = length,
	};
	int driver = open("/dev/udmabuf", O_RDWR | O_CLOEXEC), ret;

	if (driver < 0)
		return -errno;
	if (ftruncate(memory, length) ||
	    fcntl(memory, F_ADD_SEALS, F_SEAL_SHRINK))
		ret = -errno;
	else
		ret = ioctl(driver, UDMABUF_CREATE, &args);
	ret = ret < 0 ? -errno : ret;
	close(driver);
	return ret;
}

static bool has_udmabuf(void)
{
	return !access("/dev/udmabuf", F_OK);
}

static int new_udmabuf(struct actor *actor)
{
	struct thing made = {
		.kind = THING_DMABUF, .length = some_pages(actor, 64 * PAGE),
	};
	int memory = memfd_create("random", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (memory < 0)
		return -errno;
	made.fd = udmabuf_of(memory, made.length);
	close(memory);
	if (made.fd < 0)
		return made.fd;
	files_put(actor, &made);
	return 0;
}

const struct action control_actions[] = {
	{ "DEVICE_LIST", list_devices, 5, { EMSGSIZE } },
	{ "REGION_LIST", list_regions, 8, { EMSGSIZE } },
	{ "IMPORT_DMABUF", import, 15, { EDQUOT } },
	{ "PIN_HOST", pin_own, 8, { EDQUOT } },
	{ "PIN_HOST of a mapping", pin_mapping, 6, { EDQUOT, EFAULT } },
	{ "PREFLIGHT", preflight, 6,
	  { ENOENT, EREMOTEIO, EINVAL, EBUSY, EOPNOTSUPP } },
	{ "new udmabuf", new_udmabuf, 4, .can = has_udmabuf },
	{}
};
