// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/* Which flows the kernel is asked about. Zero stands for "any". */
#include <errno.h>
#include <netlink/attr.h>
#include <netlink/msg.h>
#include <string.h>

#include "flow.h"

static bool is_zero(const uint8_t address[16])
{
	static const uint8_t zero[16];

	return !memcmp(address, zero, sizeof(zero));
}

/* IPv4 goes as the four bytes that it has. */
static int put_address(struct nl_msg *msg, int attr, const uint8_t address[16])
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };

	if (!memcmp(address, mapped, sizeof(mapped)))
		return nla_put(msg, attr, 4, address + 12);
	return nla_put(msg, attr, 16, address);
}

static int no_room(int nle, const char *what)
{
	return nle < 0 ? pl_fail(ENOMEM, "%s", what) : 0;
}

int pl_flow_put_key(struct nl_msg *msg, const struct peerlane_flow_key *key,
		    const char *what)
{
	int nle = put_address(msg, PEERLANE_A_FLOW_SADDR, key->saddr);

	if (!nle)
		nle = put_address(msg, PEERLANE_A_FLOW_DADDR, key->daddr);
	if (!nle)
		nle = nla_put_u32(msg, PEERLANE_A_FLOW_TRANSPORT,
				  key->transport);
	if (!nle)
		nle = nla_put_u32(msg, PEERLANE_A_FLOW_QPN, key->qpn);
	return no_room(nle, what);
}

int pl_flow_put_label(struct nl_msg *msg, const char *label, const char *what)
{
	if (strlen(label) > PEERLANE_LABEL_MAX)
		return pl_fail_text(EINVAL, "%s: a label has %d bytes at most, this one has %zu",
				    what, PEERLANE_LABEL_MAX, strlen(label));
	return no_room(nla_put_string(msg, PEERLANE_A_FLOW_LABEL, label), what);
}

static int put_given(struct nl_msg *msg, int attr, const uint8_t address[16])
{
	return is_zero(address) ? 0 : put_address(msg, attr, address);
}

static int put_number(struct nl_msg *msg, int attr, uint32_t number)
{
	return number ? nla_put_u32(msg, attr, number) : 0;
}

static int put_min(struct nl_msg *msg, const struct peerlane_flow_min *min)
{
	struct nlattr *nest = nla_nest_start(msg, NLA_F_NESTED |
						    PEERLANE_A_FILTER_MIN);
	int nle;

	if (!nest)
		return -1;
	nle = nla_put_u32(msg, PEERLANE_A_MIN_COUNTER, min->counter);
	if (!nle)
		nle = nla_put_u64(msg, PEERLANE_A_MIN_VALUE, min->value);
	nla_nest_end(msg, nest);
	return nle;
}

static int put_numbers(struct nl_msg *msg,
		       const struct peerlane_flow_filter *filter)
{
	int nle = put_number(msg, PEERLANE_A_FILTER_IFINDEX, filter->ifindex);

	if (!nle)
		nle = put_number(msg, PEERLANE_A_FILTER_POINT, filter->point);
	if (!nle)
		nle = put_number(msg, PEERLANE_A_FILTER_QPN, filter->qpn);
	if (!nle && filter->has_transport)
		nle = nla_put_u32(msg, PEERLANE_A_FILTER_TRANSPORT,
				  filter->transport);
	if (!nle && filter->congested)
		nle = nla_put_flag(msg, PEERLANE_A_FILTER_CONGESTED);
	if (!nle && filter->top)
		nle = nla_put_u32(msg, PEERLANE_A_FILTER_TOP_BY,
				  filter->top_by);
	return nle ? nle :
		     put_number(msg, PEERLANE_A_FILTER_TOP, filter->top);
}

static int put_names(struct nl_msg *msg,
		     const struct peerlane_flow_filter *filter)
{
	int nle = put_given(msg, PEERLANE_A_FILTER_ADDRESS, filter->address);
	uint32_t i;

	if (!nle)
		nle = put_given(msg, PEERLANE_A_FILTER_SADDR, filter->saddr);
	if (!nle)
		nle = put_given(msg, PEERLANE_A_FILTER_DADDR, filter->daddr);
	if (!nle && filter->label[0])
		nle = nla_put_string(msg, PEERLANE_A_FILTER_LABEL,
				     filter->label);
	for (i = 0; !nle && i < filter->min_count; i++)
		nle = put_min(msg, &filter->min[i]);
	return nle;
}

static int check_counter(uint32_t counter, const char *what)
{
	if (counter < PEERLANE_COUNTERS)
		return 0;
	return pl_fail_text(ERANGE, "%s: flows are not selected by %s", what,
			    peerlane_flow_counter_name(counter));
}

/* Older kernels refuse a list without a reason, so what can be said is. */
static int check(const struct peerlane_flow_filter *filter, const char *what)
{
	int ret = 0;
	uint32_t i;

	if (filter->min_count > PEERLANE_FLOW_MINS)
		return pl_fail_text(EINVAL, "%s: %u smallest values, at most %d are possible",
				    what, filter->min_count,
				    PEERLANE_FLOW_MINS);
	if (!memchr(filter->label, '\0', sizeof(filter->label)))
		return pl_fail_text(EINVAL, "%s: the label does not end", what);
	if (filter->top > PEERLANE_FLOW_TOP)
		return pl_fail_text(ERANGE, "%s: the first %u, at most %d are possible",
				    what, filter->top, PEERLANE_FLOW_TOP);
	for (i = 0; !ret && i < filter->min_count; i++)
		ret = check_counter(filter->min[i].counter, what);
	if (!ret && filter->top)
		ret = check_counter(filter->top_by, what);
	return ret;
}

int pl_flow_put_filter(struct nl_msg *msg,
		       const struct peerlane_flow_filter *filter,
		       const char *what)
{
	struct nlattr *nest;
	int nle, ret;

	if (!filter)
		return 0;
	ret = check(filter, what);
	if (ret)
		return ret;
	nest = nla_nest_start(msg, NLA_F_NESTED | PEERLANE_A_FLOW_FILTER);
	if (!nest)
		return no_room(-1, what);
	nle = put_numbers(msg, filter);
	if (!nle)
		nle = put_names(msg, filter);
	/* An empty one says "every flow", where none at all may be a mistake. */
	nla_nest_end_keep_empty(msg, nest);
	return no_room(nle, what);
}
