// SPDX-License-Identifier: GPL-2.0
/*
 * Calls that are not well-formed: one good call in which something is not. The
 * errno must be one of the header's all the same.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "actions.h"
#include "arena.h"
#include "call.h"
#include "files.h"

#define GARBAGE_ROOM	4096UL		/* the largest struct of any version */

struct shape {
	unsigned long cmd;
	uint32_t size;
	int out_fd;			/* where a new file's number is, or -1 */
};

#define SHAPE(name, type)	{ PEERLANE_IOC_##name, sizeof(type), -1 }
#define MAKER(name, type) \
	{ PEERLANE_IOC_##name, sizeof(type), offsetof(type, out_fd) }

static const struct shape shapes[] = {
	SHAPE(REGION_ALLOC, struct peerlane_region_alloc),
	SHAPE(REGION_INFO, struct peerlane_region_status),
	MAKER(REGION_EXPORT, struct peerlane_region_export),
	SHAPE(REGION_REVOKE, struct peerlane_region_revoke),
	SHAPE(DEVICE_LIST, struct peerlane_list),
	SHAPE(REGION_LIST, struct peerlane_list),
	MAKER(IMPORT_DMABUF, struct peerlane_import_dmabuf),
	MAKER(PIN_HOST, struct peerlane_pin_host),
	SHAPE(PREFLIGHT, struct peerlane_preflight),
};

/* Numbers that are files, were files, or never will be. */
static int some_file(struct actor *actor)
{
	struct loan loan;

	if (one_in(actor, 8))
		return (int)edge_number(actor);
	if (one_in(actor, 8) || !files_borrow(actor, THING_ANY, &loan))
		return dice(actor, 64);
	return loan.thing.fd;
}

static void spoil(struct actor *actor, char *args, uint32_t size)
{
	uint64_t word = edge_number(actor);
	uint32_t half = edge_number(actor);

	switch (dice(actor, 5)) {
	case 0:		/* its size */
		half = one_in(actor, 2) ? half : size - 8 + dice(actor, 24);
		memcpy(args, &half, sizeof(half));
		break;
	case 1:		/* a tail of a later version */
		half = size + 1 + dice(actor, GARBAGE_ROOM - size);
		memcpy(args, &half, sizeof(half));
		args[half - 1] = one_in(actor, 2);
		break;
	case 2:
		memcpy(args + 8 * dice(actor, size / 8), &word, sizeof(word));
		break;
	case 3:
		memcpy(args + 4 * dice(actor, size / 4), &half, sizeof(half));
		break;
	case 4:
		word = dice(actor, size);
		args[word] ^= 1 << dice(actor, 8);
		break;
	}
}

/* A struct that would be good for something. */
static void fill(struct actor *actor, const struct shape *shape, char *args)
{
	struct peerlane_hdr *hdr = (void *)args;
	uint64_t *field = (uint64_t *)(args + sizeof(*hdr));

	memset(args, 0, GARBAGE_ROOM);
	hdr->size = shape->size;
	switch (shape->cmd) {
	case PEERLANE_IOC_REGION_EXPORT:
	case PEERLANE_IOC_REGION_ALLOC:
		field[shape->cmd == PEERLANE_IOC_REGION_EXPORT] = PAGE;
		break;
	case PEERLANE_IOC_IMPORT_DMABUF:
		*(int *)field = some_file(actor);
		break;
	case PEERLANE_IOC_PIN_HOST:
		field[0] = (uintptr_t)actor->buffer;
		field[1] = PAGE;
		break;
	case PEERLANE_IOC_PREFLIGHT:
		memcpy(field, "0000:00:00.0", 13);
		break;
	}
}

static const struct shape *some_shape(struct actor *actor)
{
	return &shapes[dice(actor, sizeof(shapes) / sizeof(shapes[0]))];
}

/* Mostly one that has such a command. */
static bool borrow_for(struct actor *actor, const struct shape *shape,
		       struct loan *loan)
{
	bool is_control = _IOC_NR(shape->cmd) >= PEERLANE_CMD_DEVICE_LIST;

	if (one_in(actor, 8))
		is_control = !is_control;
	return files_borrow(actor, is_control ? THING_CONTROL : THING_REGIONS,
			    loan);
}

static int garbage_call(struct actor *actor)
{
	const struct shape *shape = some_shape(actor);
	/* Behind it nothing is mapped to fill: this one is its own. */
	char *args = aligned_alloc(PAGE, GARBAGE_ROOM);
	struct loan loan;
	int ret, made;

	if (!borrow_for(actor, shape, &loan)) {
		free(args);
		return NOTHING;
	}
	fill(actor, shape, args);
	spoil(actor, args, shape->size);
	ret = ioctl(loan.thing.fd, shape->cmd, args) < 0 ? -errno : 0;
	if (!ret && shape->out_fd >= 0) {
		memcpy(&made, args + shape->out_fd, sizeof(made));
		close(made);
	}
	files_kept(actor, &loan);
	free(args);
	return ret;
}

/* At an address that cannot be read, or not written, or ends too soon. */
static int garbage_pointer(struct actor *actor)
{
	const struct shape *shape = some_shape(actor);
	char *page = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), *args = page;
	struct loan loan;
	int ret;

	if (page == MAP_FAILED)
		return -errno;
	munmap(page + PAGE, PAGE);
	if (!borrow_for(actor, shape, &loan)) {
		munmap(page, PAGE);
		return NOTHING;
	}
	fill(actor, shape, page);
	if (one_in(actor, 3))
		args = (char *)(edge_number(actor) << 47);
	else if (one_in(actor, 2))
		mprotect(page, PAGE, PROT_READ);
	else
		args = page + PAGE - dice(actor, 64);
	ret = ioctl(loan.thing.fd, shape->cmd, args) < 0 ? -errno : 0;
	files_kept(actor, &loan);
	munmap(page, PAGE);
	return ret;
}

/* Commands that there are not, on files that are not ours too. */
static int garbage_command(struct actor *actor)
{
	char args[256] = { 0 };
	unsigned long cmd = one_in(actor, 2) ? edge_number(actor) :
		_IOC(dice(actor, 4), PEERLANE_IOC_TYPE, dice(actor, 64), 0);
	struct thing thing;
	int ret;

	if (!files_take(actor, THING_REGIONS | THING_CONTROL, &thing))
		return NOTHING;
	ret = ioctl(thing.fd, cmd, args) < 0 ? -errno : 0;
	/* The core has some of its own for every file: FIOCLEX, … */
	actor->is_loose = true;
	files_put(actor, &thing);
	return ret;
}

/* Of everybody's errnos, those of the header. */
#define CONTRACT \
	{ ENOTTY, E2BIG, EINVAL, EOPNOTSUPP, EOVERFLOW, EFAULT, ENODEV, EBUSY, \
	  ENOSPC, EDQUOT, EPERM, EBADF, EMSGSIZE, ENODATA, ENOENT, EREMOTEIO }

const struct action garbage_actions[] = {
	{ "a call with something wrong", garbage_call, 30, CONTRACT },
	{ "a call with a bad pointer", garbage_pointer, 10, CONTRACT },
	{ "a command that there is not", garbage_command, 5, CONTRACT,
	  .may_never = true },
	{}
};
