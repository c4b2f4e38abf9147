// SPDX-License-Identifier: GPL-2.0
/* Files: made, made again, watched, closed. */
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "actions.h"
#include "arena.h"
#include "call.h"
#include "files.h"
#include "tag.h"

static int open_region(struct actor *actor, int flags, struct thing *thing)
{
	struct peerlane_region_status info = {};

	*thing = (struct thing){ .kind = THING_REGION };
	thing->read_only = (flags & O_ACCMODE) == O_RDONLY;
	thing->fd = open(some_device(actor), flags | O_CLOEXEC);
	if (thing->fd < 0)
		return -errno;
	if (CALL(actor, thing->fd, REGION_INFO, &info)) {
		/* Another thread's mistake: nobody knows the number yet. */
		close(thing->fd);
		return NOTHING;
	}
	thing->region = info.out_id;
	return 0;
}

static int open_empty(struct actor *actor)
{
	struct thing thing;
	int ret = open_region(actor, one_in(actor, 8) ? O_RDONLY : O_RDWR,
			      &thing);

	if (!ret)
		files_put(actor, &thing);
	return ret;
}

struct fresh {
	char *at;
	uint64_t length, region;
};

static void look_at_fresh(void *arg)
{
	struct fresh *fresh = arg;

	if (!tag_is_zero(fresh->at, fresh->length))
		complain(COMPLAINT_DIRT, "region %llu is not zero when new",
			 (unsigned long long)fresh->region);
	tag_write(fresh->at, fresh->length, fresh->region, 0);
	tag_check(fresh->at, fresh->length, fresh->region, 0, "its maker");
}

/* Nobody has it yet: zero from end to end, and then full of tags. */
static void use_fresh(struct actor *actor, const struct thing *thing,
		      uint64_t length)
{
	struct fresh fresh = { .length = length, .region = thing->region };
	struct place *place = place_get_alone(actor);

	if (!place)
		return;
	place_unmap(place);
	fresh.at = mmap(place_address(actor, place), length,
			PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
			thing->fd, 0);
	if (fresh.at != MAP_FAILED) {
		guarded(look_at_fresh, &fresh);
		*place = (struct place){
			.region = thing->region, .at = fresh.at,
			.length = length, .writable = true,
		};
	}
	place_put(place);
}

static int new_region(struct actor *actor)
{
	struct peerlane_region_alloc args = {};
	struct thing thing;
	int ret = open_region(actor, O_RDWR, &thing);

	if (ret)
		return ret;
	args.length = some_length(actor);
	ret = CALL(actor, thing.fd, REGION_ALLOC, &args);
	if (ret) {
		close(thing.fd);
		return ret;
	}
	use_fresh(actor, &thing, args.length);
	files_put(actor, &thing);
	return 0;
}

static int open_control(struct actor *actor)
{
	struct thing thing = { .kind = THING_CONTROL };

	thing.fd = open(CONTROL, O_RDWR | O_CLOEXEC);
	if (thing.fd < 0)
		return -errno;
	files_put(actor, &thing);
	return 0;
}

static int open_path(struct actor *actor)
{
	struct thing thing = { .kind = THING_PATH }, of;
	char name[32];

	if (one_in(actor, 2) || !files_take(actor, THING_REGIONS, &of)) {
		thing.fd = open(some_device(actor), O_PATH | O_CLOEXEC);
	} else {
		snprintf(name, sizeof(name), "/proc/self/fd/%d", of.fd);
		thing.fd = open(name, O_PATH | O_CLOEXEC);
		files_put(actor, &of);
	}
	if (thing.fd < 0)
		return -errno;
	files_put(actor, &thing);
	return 0;
}

/* Of a device's file: another region. Others have no node to open. */
static int reopen(struct actor *actor)
{
	struct peerlane_region_status info = {};
	struct thing thing = { .kind = THING_REGION }, of;
	char name[32];
	int ret = 0;

	if (!files_take(actor, THING_REGIONS | THING_DMABUF | THING_PATH, &of))
		return NOTHING;
	snprintf(name, sizeof(name), "/proc/self/fd/%d", of.fd);
	thing.fd = open(name, O_RDWR | O_CLOEXEC);
	ret = thing.fd < 0 ? -errno : 0;
	files_put(actor, &of);
	if (ret)
		return ret;
	ret = CALL(actor, thing.fd, REGION_INFO, &info);
	if (!ret && info.out_id == of.region)
		complain(COMPLAINT_FOREIGN, "a file opened again is the same region");
	thing.region = info.out_id;
	if (ret)
		close(thing.fd);
	else
		files_put(actor, &thing);
	return ret;
}

static int duplicate(struct actor *actor)
{
	struct thing thing, copy;

	if (!files_take(actor, THING_ANY & ~THING_MR, &thing))
		return NOTHING;
	copy = thing;
	copy.fd = fcntl(thing.fd, F_DUPFD_CLOEXEC, 0);
	files_put(actor, &thing);
	if (copy.fd < 0)
		return -errno;
	files_put(actor, &copy);
	return 0;
}

static int close_one(struct actor *actor)
{
	struct thing thing;

	if (!files_take(actor, THING_ANY, &thing))
		return NOTHING;
	thing_close(&thing);
	return 0;
}

#define OLD_MS 3000

/* So that pins end, and a device that goes has not long to wait. */
static int close_old(struct actor *actor)
{
	(void)actor;
	files_close_old(OLD_MS);
	return 0;
}

static int poll_some(struct actor *actor)
{
	struct pollfd polled[4];
	struct loan loan;
	int n = 0;

	while (n < 4 && files_borrow(actor, THING_ANY & ~THING_MR, &loan)) {
		polled[n].fd = loan.thing.fd;
		polled[n++].events = POLLIN | POLLOUT | POLLPRI;
	}
	if (!n)
		return NOTHING;
	return poll(polled, n, dice(actor, 20)) < 0 ? -errno : 0;
}

static int epoll_new(struct actor *actor)
{
	struct thing thing = { .kind = THING_EPOLL };

	thing.fd = epoll_create1(EPOLL_CLOEXEC);
	if (thing.fd < 0)
		return -errno;
	files_put(actor, &thing);
	return 0;
}

static int epoll_use(struct actor *actor)
{
	struct epoll_event event = { .events = EPOLLIN | EPOLLET };
	struct loan epoll, watched;
	int ret;

	if (!files_borrow(actor, THING_EPOLL, &epoll) ||
	    !files_borrow(actor, THING_REGIONS, &watched))
		return NOTHING;
	ret = epoll_ctl(epoll.thing.fd, one_in(actor, 4) ? EPOLL_CTL_DEL :
			EPOLL_CTL_ADD, watched.thing.fd, &event);
	ret = ret ? -errno : 0;
	if (files_kept(actor, &epoll) && !ret)
		epoll_wait(epoll.thing.fd, &event, 1, dice(actor, 5));
	files_kept(actor, &watched);
	return ret;
}

/* Calls that these files have no use for. */
static int odd_calls(struct actor *actor)
{
	struct thing thing;
	struct stat status;
	char byte = 0;

	if (!files_take(actor, THING_REGIONS | THING_CONTROL | THING_DMABUF,
			&thing))
		return NOTHING;
	if (pread(thing.fd, &byte, 1, 0) >= 0 || pwrite(thing.fd, &byte, 1, 0) >= 0)
		complain(COMPLAINT_ERRNO, "read() or write() of a region");
	lseek(thing.fd, edge_number(actor), SEEK_SET);
	lseek(thing.fd, 0, SEEK_END);
	if (ftruncate(thing.fd, edge_number(actor) >> 1) >= 0)
		complain(COMPLAINT_ERRNO, "ftruncate() of a region");
	fallocate(thing.fd, dice(actor, 4), 0, PAGE);
	fsync(thing.fd);
	flock(thing.fd, LOCK_SH | LOCK_NB);
	fstat(thing.fd, &status);
	fcntl(thing.fd, F_SETFL, one_in(actor, 2) ? O_NONBLOCK : 0);
	files_put(actor, &thing);
	return 0;
}

const struct action open_actions[] = {
	{ "open, alloc and touch", new_region, 40,
	  { ENOENT, ENODEV, ENXIO, EDQUOT, ENOSPC, EBUSY } },
	{ "open", open_empty, 12, { ENOENT, ENODEV, ENXIO, EDQUOT } },
	{ "open control", open_control, 10, { ENOENT } },
	{ "open O_PATH", open_path, 5, { ENOENT } },
	{ "open again", reopen, 10,
	  { ENOENT, ENODEV, ENXIO, EDQUOT, EACCES } },
	{ "dup", duplicate, 10 },
	{ "close", close_one, 30 },
	{ "close what is old", close_old, 30 },
	{ "poll", poll_some, 6 },
	{ "epoll_create", epoll_new, 2 },
	{ "epoll", epoll_use, 8, { EEXIST, ENOENT } },
	{ "odd calls", odd_calls, 6 },
	{}
};
