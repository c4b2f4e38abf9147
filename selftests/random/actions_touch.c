// SPDX-License-Identifier: GPL-2.0
/* The memory itself: read, written, and compared with what may be there. */
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "actions.h"
#include "arena.h"
#include "call.h"
#include "files.h"
#include "process.h"
#include "tag.h"

struct range {
	const struct place *place;
	char *at;
	uint64_t length;
	bool whole;			/* or the first line of each page */
};

static void write_range(void *arg)
{
	const struct range *range = arg;
	uint64_t done, part = range->whole ? PAGE : TAG_LINE;

	for (done = 0; done < range->length; done += PAGE)
		tag_write(range->at + done, part, range->place->region,
			  place_offset(range->place, range->at + done));
}

static void check_range(void *arg)
{
	const struct range *range = arg;
	uint64_t done, part = range->whole ? PAGE : TAG_LINE;

	for (done = 0; done < range->length; done += PAGE)
		tag_check(range->at + done, part, range->place->region,
			  place_offset(range->place, range->at + done), "load");
}

static int use_range(struct actor *actor, bool write)
{
	struct place *place = place_get(actor);
	struct range range = { .place = place, .whole = one_in(actor, 8) };
	int number = 0, ret = NOTHING;

	if (!place)
		return NOTHING;
	if (place->region && (!write || place->writable)) {
		range.length = place_part(actor, place, ARENA_MOST, &range.at);
		number = guarded(write ? write_range : check_range, &range);
		ret = number ? -EFAULT : 0;	/* SIGBUS, or mprotect() */
	}
	place_put(place);
	return ret;
}

static int store(struct actor *actor)
{
	return use_range(actor, true);
}

static int load(struct actor *actor)
{
	return use_range(actor, false);
}

/* A fault for writing that changes nothing, wherever it hits. */
static void touch(void *arg)
{
	__atomic_fetch_or((char *)arg, 0, __ATOMIC_RELAXED);
}

static int touch_any(struct actor *actor)
{
	return guarded(touch, arena_page(actor)) ? -EFAULT : 0;
}

static int revoke_place(struct actor *actor, const struct place *place)
{
	struct peerlane_region_revoke args = {};
	struct loan loan;
	int ret;

	if (!place->region || !files_borrow_region(place->region, &loan))
		return NOTHING;
	guarded(touch, place->at);
	ret = CALL(actor, loan.thing.fd, REGION_REVOKE, &args);
	if (!files_kept(actor, &loan) || ret)
		return ret;
	if (!guarded(touch, place->at))
		complain(COMPLAINT_ALIVE,
			 "region %llu is revoked, and its mapping is not cut",
			 (unsigned long long)place->region);
	return 0;
}

/* Whoever else does what with it: once revoked, it cannot be reached. */
static int revoke_and_touch(struct actor *actor)
{
	struct place *place = place_get(actor);
	int ret;

	if (!place)
		return NOTHING;
	ret = revoke_place(actor, place);
	place_put(place);
	return ret;
}

/* By another's page tables, while he changes them. */
static int read_of_another(struct actor *actor)
{
	char line[TAG_LINE];
	struct iovec local = { line, sizeof(line) };
	struct iovec remote = { arena_page(actor), sizeof(line) };
	pid_t pid = some_worker(actor);

	if (process_vm_readv(pid, &local, 1, &remote, 1, 0) < 0)
		return -errno;
	return 0;
}

static int read_by_kernel(struct actor *actor)
{
	struct place *place = place_get(actor);
	struct iovec local = { actor->buffer, PAGE }, remote = { NULL, PAGE };
	int ret = NOTHING;
	char *at;

	if (!place)
		return NOTHING;
	if (place->region) {
		place_part(actor, place, PAGE, &at);
		remote.iov_base = at;
		ret = process_vm_readv(getpid(), &local, 1, &remote, 1, 0) < 0 ?
		      -errno : 0;
		if (!ret)
			tag_check(actor->buffer, PAGE, place->region,
				  place_offset(place, at), "process_vm_readv()");
	}
	place_put(place);
	return ret;
}

static int write_by_kernel(struct actor *actor)
{
	struct place *place = place_get(actor);
	struct iovec local = { actor->buffer, PAGE }, remote = { NULL, PAGE };
	int ret = NOTHING;
	char *at;

	if (!place)
		return NOTHING;
	if (place->region) {
		place_part(actor, place, PAGE, &at);
		remote.iov_base = at;
		tag_write(actor->buffer, PAGE, place->region,
			  place_offset(place, at));
		ret = process_vm_writev(getpid(), &local, 1, &remote, 1, 0) < 0 ?
		      -errno : 0;
	}
	place_put(place);
	return ret;
}

const struct action touch_actions[] = {
	{ "store", store, 30, { EFAULT } },
	{ "load", load, 30, { EFAULT } },
	{ "touch any address", touch_any, 30, { EFAULT } },
	{ "REGION_REVOKE and touch", revoke_and_touch, 6,
	  { EBUSY, ENODATA } },
	{ "process_vm_readv", read_by_kernel, 10, { EFAULT } },
	{ "process_vm_writev", write_by_kernel, 10, { EFAULT } },
	{ "process_vm_readv of another", read_of_another, 10,
	  { EFAULT, ESRCH } },
	{}
};
