// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/* One flow, names of flows, limits, and where packets are looked at. */
#include <errno.h>
#include <linux/netlink.h>
#include <netlink/attr.h>
#include <netlink/msg.h>
#include <stdlib.h>
#include <string.h>

#include "flow.h"

static int ignore(struct nlmsghdr *hdr, void *arg)
{
	(void)hdr;
	(void)arg;
	return 0;
}

/*
 * ENOENT is a module that is not loaded. A flow that there is not gets another
 * errno, with the kernel's words.
 */
static int no_flow(int ret)
{
	static const char tail[] = " (ENOENT)";
	char text[PL_TEXT_MAX];
	size_t length;

	if (ret != -ENOENT)
		return ret;
	pl_text_keep(text);
	length = strlen(text);
	if (length > sizeof(tail) &&
	    !strcmp(text + length - (sizeof(tail) - 1), tail))
		text[length - (sizeof(tail) - 1)] = '\0';
	return pl_fail_text(ESRCH, "%s", text);
}

/* ---- one flow ------------------------------------------------------------ */

struct one {
	struct peerlane_flow_info info;
	uint32_t *histogram;
	bool found;
};

static int one_row(struct nlmsghdr *hdr, void *arg)
{
	struct nlattr *tb[PEERLANE_A_FLOW_MAX + 1];
	struct one *one = arg;

	if (pl_genl_parse(hdr, tb, PEERLANE_A_FLOW_MAX) ||
	    pl_flow_parse(tb, &one->info, one->histogram))
		return pl_fail_text(EPROTO, "flow: the answer cannot be read");
	one->found = true;
	return 0;
}

static int ask_one(struct pl_genl *genl, const struct peerlane_flow_key *key,
		   struct one *one)
{
	struct nl_msg *msg = pl_genl_msg(genl, PEERLANE_CMD_FLOW_GET,
					 NLM_F_ACK);
	int ret;

	if (!msg)
		return pl_fail(ENOMEM, "flow");
	ret = pl_flow_put_key(msg, key, "flow");
	if (!ret && one->histogram &&
	    nla_put_flag(msg, PEERLANE_A_FLOW_WITH_HISTOGRAM) < 0)
		ret = pl_fail(ENOMEM, "flow");
	if (ret) {
		nlmsg_free(msg);
		return ret;
	}
	ret = no_flow(pl_genl_ask(genl, msg, one_row, one, NULL, "flow"));
	if (!ret && !one->found)
		return pl_fail_text(EPROTO, "flow: an empty answer");
	return ret;
}

int peerlane_flow_get(const struct peerlane_flow_key *key,
		      struct peerlane_flow_info *info,
		      uint32_t histogram[PEERLANE_RTT_HISTOGRAM])
{
	uint32_t buckets[PEERLANE_RTT_HISTOGRAM];
	struct one one = { .histogram = histogram ? buckets : NULL };
	struct pl_genl genl;
	int ret;

	pl_clear();
	ret = pl_genl_open(&genl);
	if (ret)
		return ret;
	ret = ask_one(&genl, key, &one);
	pl_genl_close(&genl);
	if (ret)
		return ret;
	*info = one.info;
	if (histogram)
		memcpy(histogram, buckets, sizeof(buckets));
	return 0;
}

/* ---- labels and pairs ----------------------------------------------------- */

static int count_row(struct nlmsghdr *hdr, void *arg)
{
	struct nlattr *tb[PEERLANE_A_FLOW_MAX + 1];

	if (!pl_genl_parse(hdr, tb, PEERLANE_A_FLOW_MAX))
		*(uint32_t *)arg =
			(uint32_t)pl_flow_number(tb[PEERLANE_A_FLOW_COUNT]);
	return 0;
}

static int label(struct pl_genl *genl, const struct peerlane_flow_key *key,
		 const struct peerlane_flow_filter *filter, const char *text,
		 uint32_t *count)
{
	struct nl_msg *msg = pl_genl_msg(genl, PEERLANE_CMD_FLOW_SET,
					 NLM_F_ACK);
	int ret;

	if (!msg)
		return pl_fail(ENOMEM, "label");
	ret = pl_flow_put_label(msg, text, "label");
	if (!ret && key)
		ret = pl_flow_put_key(msg, key, "label");
	else if (!ret)
		ret = pl_flow_put_filter(msg, filter, "label");
	if (ret) {
		nlmsg_free(msg);
		return ret;
	}
	return pl_genl_ask(genl, msg, count_row, count, NULL, "label");
}

int peerlane_flow_label(const struct peerlane_flow_key *key, const char *text)
{
	struct pl_genl genl;
	uint32_t count = 0;
	int ret;

	pl_clear();
	ret = pl_genl_open(&genl);
	if (ret)
		return ret;
	ret = no_flow(label(&genl, key, NULL, text, &count));
	pl_genl_close(&genl);
	return ret;
}

int peerlane_flow_label_all(const struct peerlane_flow_filter *filter,
			    const char *text, uint32_t *count)
{
	static const struct peerlane_flow_filter all;
	struct pl_genl genl;
	uint32_t changed = 0;
	int ret;

	pl_clear();
	ret = pl_genl_open(&genl);
	if (ret)
		return ret;
	ret = no_flow(label(&genl, NULL, filter ? filter : &all, text,
			    &changed));
	pl_genl_close(&genl);
	if (!ret && count)
		*count = changed;
	return ret;
}

int pl_flow_pair(struct pl_genl *genl, const struct peerlane_flow_key *key,
		 uint32_t peer_qpn)
{
	struct nl_msg *msg = pl_genl_msg(genl, PEERLANE_CMD_FLOW_SET,
					 NLM_F_ACK);
	int ret;

	if (!msg)
		return pl_fail(ENOMEM, "pair");
	ret = pl_flow_put_key(msg, key, "pair");
	if (!ret && nla_put_u32(msg, PEERLANE_A_FLOW_PEER_QPN, peer_qpn) < 0)
		ret = pl_fail(ENOMEM, "pair");
	if (ret) {
		nlmsg_free(msg);
		return ret;
	}
	return no_flow(pl_genl_ask(genl, msg, ignore, NULL, NULL, "pair"));
}

int peerlane_flow_pair(const struct peerlane_flow_key *key, uint32_t peer_qpn)
{
	struct pl_genl genl;
	int ret;

	pl_clear();
	ret = pl_genl_open(&genl);
	if (ret)
		return ret;
	ret = pl_flow_pair(&genl, key, peer_qpn);
	pl_genl_close(&genl);
	return ret;
}

/* ---- limits --------------------------------------------------------------- */

static int stats_row(struct nlmsghdr *hdr, void *arg)
{
	struct nlattr *tb[PEERLANE_A_INFO_MAX + 1];

	if (!pl_genl_parse(hdr, tb, PEERLANE_A_INFO_MAX))
		pl_flow_parse_stats(tb, arg);
	return 0;
}

int pl_flow_stats(struct pl_genl *genl, struct peerlane_flow_stats *stats)
{
	struct nl_msg *msg = pl_genl_msg(genl, PEERLANE_CMD_INFO_GET,
					 NLM_F_ACK);

	return pl_genl_ask(genl, msg, stats_row, stats, NULL,
			   "limits of flow statistics");
}

int peerlane_flow_stats(struct peerlane_flow_stats *out)
{
	struct peerlane_flow_stats stats = { 0 };
	struct pl_genl genl;
	int ret;

	pl_clear();
	ret = pl_genl_open(&genl);
	if (ret)
		return ret;
	ret = pl_flow_stats(&genl, &stats);
	pl_genl_close(&genl);
	if (!ret)
		*out = stats;
	return ret;
}

/* Ask @msg of @genl, which ends with it. @nle: what filling it said */
static int tell(struct pl_genl *genl, struct nl_msg *msg, int nle,
		const char *what)
{
	int ret;

	if (msg && nle < 0) {
		nlmsg_free(msg);
		msg = NULL;
	}
	ret = pl_genl_ask(genl, msg, ignore, NULL, NULL, what);
	pl_genl_close(genl);
	return ret;
}

static int put_limits(struct nl_msg *msg,
		      const struct peerlane_flow_limits *limits)
{
	const struct {
		int attr;
		uint32_t value;
	} given[] = {
		{ PEERLANE_A_LIMIT_IDLE_TIMEOUT, limits->idle_timeout },
		{ PEERLANE_A_LIMIT_THRESHOLD_ON, limits->threshold_on },
		{ PEERLANE_A_LIMIT_THRESHOLD_OFF, limits->threshold_off },
		{ PEERLANE_A_LIMIT_CALM_WINDOWS, limits->calm_windows },
	};
	size_t i;

	for (i = 0; i < sizeof(given) / sizeof(given[0]); i++)
		if (given[i].value &&
		    nla_put_u32(msg, given[i].attr, given[i].value) < 0)
			return -1;
	return 0;
}

int peerlane_flow_limits_set(const struct peerlane_flow_limits *limits)
{
	struct pl_genl genl;
	struct nl_msg *msg;
	int ret;

	pl_clear();
	ret = pl_genl_open(&genl);
	if (ret)
		return ret;
	msg = pl_genl_msg(&genl, PEERLANE_CMD_LIMIT_SET, NLM_F_ACK);
	return tell(&genl, msg, msg ? put_limits(msg, limits) : 0,
		    "limits of flow statistics");
}

/* ---- points --------------------------------------------------------------- */

static int put_point(struct nl_msg *msg, uint32_t ifindex, bool on)
{
	uint32_t point = ifindex ? PEERLANE_POINT_DEVICE :
				   PEERLANE_POINT_LOCAL_IN;

	if (nla_put_u32(msg, PEERLANE_A_OBSERVE_POINT, point) < 0 ||
	    nla_put_u8(msg, PEERLANE_A_OBSERVE_ENABLE, on) < 0)
		return -1;
	return ifindex ? nla_put_u32(msg, PEERLANE_A_OBSERVE_IFINDEX, ifindex) :
			 0;
}

int peerlane_flow_observe(const char *device, bool on)
{
	uint32_t ifindex = 0;
	struct pl_genl genl;
	struct nl_msg *msg;
	int ret;

	pl_clear();
	ret = device ? peerlane_netdev_index(device, &ifindex) : 0;
	if (!ret)
		ret = pl_genl_open(&genl);
	if (ret)
		return ret;
	msg = pl_genl_msg(&genl, PEERLANE_CMD_OBSERVE_SET, NLM_F_ACK);
	return tell(&genl, msg, msg ? put_point(msg, ifindex, on) : 0,
		    device ? device : "software RDMA");
}

/* Two kinds of local points and the devices: more than there can be */
#define POINTS_MOST	4096

struct points {
	struct peerlane_flow_point *list;
	size_t count;
};

static int point_row(struct nlmsghdr *hdr, void *arg)
{
	struct nlattr *tb[PEERLANE_A_OBSERVE_MAX + 1];
	struct peerlane_flow_point *point;
	struct points *points = arg;

	if (pl_genl_parse(hdr, tb, PEERLANE_A_OBSERVE_MAX))
		return 0;
	point = points->count == POINTS_MOST ? NULL :
		reallocarray(points->list, points->count + 1, sizeof(*point));
	if (!point)
		return pl_fail(ENOMEM, "list of points");
	points->list = point;
	point += points->count++;
	memset(point, 0, sizeof(*point));
	point->point = (uint32_t)pl_flow_number(tb[PEERLANE_A_OBSERVE_POINT]);
	point->ifindex =
		(uint32_t)pl_flow_number(tb[PEERLANE_A_OBSERVE_IFINDEX]);
	if (point->ifindex)
		peerlane_netdev_name(point->ifindex, point->device);
	return 0;
}

int peerlane_flow_points(struct peerlane_flow_point **list, size_t *count)
{
	struct points points = { 0 };
	struct pl_genl genl;
	int ret;

	pl_clear();
	ret = pl_genl_open(&genl);
	if (ret)
		return ret;
	ret = pl_genl_ask(&genl,
			  pl_genl_msg(&genl, PEERLANE_CMD_OBSERVE_GET,
				      NLM_F_DUMP),
			  point_row, &points, NULL, "list of points");
	pl_genl_close(&genl);
	if (ret) {
		free(points.list);
		return ret;
	}
	*list = points.list;
	*count = points.count;
	return 0;
}
