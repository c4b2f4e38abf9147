// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/* Many flows: one after another, in an array, or while they are reset. */
#include <errno.h>
#include <linux/netlink.h>
#include <netlink/attr.h>
#include <netlink/msg.h>
#include <stdlib.h>
#include <string.h>

#include "flow.h"

/* So often a list that changes while it is read is read again. */
#define TRIES		5
/* A kernel that has told one flow so often goes round in a circle. */
#define REPEATS_MOST	8

/**
 * struct walk - one dump while it comes in
 * @fn: told of each flow; may be NULL
 * @arg: for @fn
 * @histogram: room for one, or NULL
 * @ret: what @fn ended with
 * @rows: flows so far
 * @unread: answers that are no flow
 * @mark: a flow that was told before
 * @next_mark: the row that becomes it, a power of two
 * @repeats: how often @mark was told again
 */
struct walk {
	peerlane_flow_fn fn;
	void *arg;
	uint32_t *histogram;
	int ret;
	uint64_t rows;
	uint64_t unread;
	struct peerlane_flow_key mark;
	uint64_t next_mark;
	uint32_t repeats;
};

/*
 * A dump that does not get on repeats itself for ever. A circle of any length
 * is found once the mark lies in it, and marks are ever farther apart.
 */
static int check_circle(struct walk *walk, const struct peerlane_flow_key *key)
{
	if (walk->rows && !memcmp(key, &walk->mark, sizeof(*key)))
		walk->repeats++;
	if (walk->repeats > REPEATS_MOST)
		return pl_fail_text(EPROTO, "list of flows: the kernel repeats itself");
	if (++walk->rows < walk->next_mark)
		return 0;
	walk->mark = *key;
	walk->next_mark = 2 * walk->rows;
	walk->repeats = 0;
	return 0;
}

static bool has_samples(const struct peerlane_flow_info *info,
			const uint32_t *histogram)
{
	return histogram && info->rtt.samples;
}

static int flow_row(struct nlmsghdr *hdr, void *arg)
{
	struct nlattr *tb[PEERLANE_A_FLOW_MAX + 1];
	struct peerlane_flow_info info;
	struct walk *walk = arg;
	int ret;

	if (pl_genl_parse(hdr, tb, PEERLANE_A_FLOW_MAX) ||
	    pl_flow_parse(tb, &info, walk->histogram)) {
		walk->unread++;
		return 0;
	}
	ret = check_circle(walk, &info.key);
	if (ret || !walk->fn)
		return ret;
	walk->ret = walk->fn(&info, has_samples(&info, walk->histogram) ?
			     walk->histogram : NULL, walk->arg);
	return walk->ret;
}

static int ask(struct pl_genl *genl, uint8_t command,
	       const struct peerlane_flow_filter *filter, struct walk *walk,
	       bool *interrupted)
{
	struct nl_msg *msg = pl_genl_msg(genl, command, NLM_F_DUMP);
	int ret;

	if (!msg)
		return pl_fail(ENOMEM, "list of flows");
	ret = pl_flow_put_filter(msg, filter, "list of flows");
	if (!ret && walk->histogram &&
	    nla_put_flag(msg, PEERLANE_A_FLOW_WITH_HISTOGRAM) < 0)
		ret = pl_fail(ENOMEM, "list of flows");
	if (ret) {
		nlmsg_free(msg);
		return ret;
	}
	return pl_genl_ask(genl, msg, flow_row, walk, interrupted,
			   "list of flows");
}

/* What an answer is worth that came to its end */
static int verdict(const struct walk *walk, bool interrupted)
{
	if (walk->unread)
		return pl_fail_text(EINTR, "list of flows: %llu could not be read",
				    (unsigned long long)walk->unread);
	if (interrupted)
		return pl_fail_text(EINTR, "list of flows: the table changed meanwhile, some may be missing");
	return 0;
}

static int each(uint8_t command, const struct peerlane_flow_filter *filter,
		uint32_t flags, peerlane_flow_fn fn, void *arg)
{
	uint32_t histogram[PEERLANE_RTT_HISTOGRAM];
	struct walk walk = { .fn = fn, .arg = arg };
	bool interrupted = false;
	struct pl_genl genl;
	int ret;

	pl_clear();
	if (flags & ~PEERLANE_FLOW_HISTOGRAM)
		return pl_fail_text(EINVAL, "list of flows: unknown flags");
	if (flags & PEERLANE_FLOW_HISTOGRAM)
		walk.histogram = histogram;
	ret = pl_genl_open(&genl);
	if (ret)
		return ret;
	ret = ask(&genl, command, filter, &walk, &interrupted);
	pl_genl_close(&genl);
	if (ret)
		return ret;
	return verdict(&walk, interrupted);
}

int peerlane_flow_each(const struct peerlane_flow_filter *filter,
		       uint32_t flags, peerlane_flow_fn fn, void *arg)
{
	return each(PEERLANE_CMD_FLOW_GET, filter, flags, fn, arg);
}

int peerlane_flow_reset(const struct peerlane_flow_filter *filter,
			uint32_t flags, peerlane_flow_fn fn, void *arg)
{
	pl_clear();
	if (filter && filter->top)
		return pl_fail_text(EINVAL, "reset: all flows that are meant, not the first %u",
				    filter->top);
	return each(PEERLANE_CMD_FLOW_RESET, filter, flags, fn, arg);
}

/* ---- in an array ----------------------------------------------------------- */

struct array {
	struct peerlane_flow_info *list;
	size_t count, room;
};

static int append(const struct peerlane_flow_info *info,
		  const uint32_t *histogram, void *arg)
{
	struct array *array = arg;
	struct peerlane_flow_info *list;
	size_t room;

	(void)histogram;
	if (array->count == array->room) {
		room = array->room ? 2 * array->room : 64;
		list = reallocarray(array->list, room, sizeof(*list));
		if (!list)
			return pl_fail(ENOMEM, "list of %zu flows", room);
		array->list = list;
		array->room = room;
	}
	array->list[array->count++] = *info;
	return 0;
}

int pl_flow_list(struct pl_genl *genl,
		 const struct peerlane_flow_filter *filter,
		 struct peerlane_flow_info **list, size_t *count,
		 bool *incomplete)
{
	struct array array = { 0 };
	struct walk walk;
	bool interrupted;
	int ret, i;

	for (i = 0; i < TRIES; i++) {
		walk = (struct walk){ .fn = append, .arg = &array };
		interrupted = false;
		array.count = 0;
		ret = ask(genl, PEERLANE_CMD_FLOW_GET, filter, &walk,
			  &interrupted);
		if (ret) {
			free(array.list);
			return ret;
		}
		if (!interrupted)
			break;
	}
	if (!array.count) {
		free(array.list);
		array.list = NULL;
	}
	*list = array.list;
	*count = array.count;
	*incomplete = interrupted || walk.unread;
	return 0;
}

int peerlane_flow_list(const struct peerlane_flow_filter *filter,
		       struct peerlane_flow_info **list, size_t *count,
		       bool *incomplete)
{
	struct pl_genl genl;
	bool partly;
	int ret;

	pl_clear();
	ret = pl_genl_open(&genl);
	if (ret)
		return ret;
	ret = pl_flow_list(&genl, filter, list, count, &partly);
	pl_genl_close(&genl);
	if (!ret && incomplete)
		*incomplete = partly;
	return ret;
}
