// SPDX-License-Identifier: GPL-2.0
/* Reading flows, with their processes, in the order that was asked for. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "flow.h"

/* Queue pairs are asked for again after this time, and for each new flow. */
static const uint64_t join_again_ns = 10000000000;

uint64_t monotonic_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* ---- order -------------------------------------------------------------- */

static int compare_numbers(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

int flow_key_compare(const struct peerlane_flow_key *a,
		     const struct peerlane_flow_key *b)
{
	int order = memcmp(a->saddr, b->saddr, sizeof(a->saddr));

	if (!order)
		order = memcmp(a->daddr, b->daddr, sizeof(a->daddr));
	if (!order)
		order = compare_numbers(a->transport, b->transport);
	return order ? order : compare_numbers(a->qpn, b->qpn);
}

static int compare_infos(const void *a, const void *b)
{
	const struct peerlane_flow_info *one = a;
	const struct peerlane_flow_info *other = b;

	return flow_key_compare(&one->key, &other->key);
}

const struct peerlane_flow_info *
flow_set_find(const struct flow_set *set, const struct peerlane_flow_key *key)
{
	struct peerlane_flow_info wanted = { .key = *key };

	if (!set || !set->count)
		return NULL;
	return bsearch(&wanted, set->infos, set->count, sizeof(wanted),
		       compare_infos);
}

struct ordering {
	const struct flow_set *set;
	uint32_t counter;
};

/* The largest first; equal ones in the order of their keys. */
static int compare_order(const void *a, const void *b, void *arg)
{
	const struct ordering *ordering = arg;
	size_t one = *(const size_t *)a;
	size_t other = *(const size_t *)b;
	const struct peerlane_flow_info *infos = ordering->set->infos;
	int order = compare_numbers(
		peerlane_flow_counter(&infos[other], ordering->counter),
		peerlane_flow_counter(&infos[one], ordering->counter));

	return order ? order : compare_numbers(one, other);
}

static void put_in_order(const struct flow_query *query, struct flow_set *set)
{
	struct ordering ordering = { set, query->sort };

	set->order = must(calloc(set->count + 1, sizeof(*set->order)));
	for (size_t i = 0; i < set->count; i++)
		set->order[i] = i;
	if (query->sorted)
		qsort_r(set->order, set->count, sizeof(*set->order),
			compare_order, &ordering);
	set->shown = set->count;
	if (query->top && set->shown > query->top)
		set->shown = query->top;
}

/* ---- processes ---------------------------------------------------------- */

/* Take over what @previous knows; false if some flow is new. */
static bool inherit_qps(const struct flow_set *previous, struct flow_set *set)
{
	if (!previous || set->when - previous->joined > join_again_ns)
		return false;
	for (size_t i = 0; i < set->count; i++) {
		const struct peerlane_flow_info *known =
			flow_set_find(previous, &set->infos[i].key);

		if (!known)
			return false;
		set->qps[i] = previous->qps[known - previous->infos];
	}
	set->joined = previous->joined;
	return true;
}

/* Flows without a process are still flows: what fails here is only told. */
static void join(const struct flow_set *previous, struct flow_set *set)
{
	int error;

	set->qps = must(calloc(set->count + 1, sizeof(*set->qps)));
	if (!set->count || inherit_qps(previous, set))
		return;
	error = peerlane_flow_join(set->infos, set->count, set->qps);
	set->joined = set->when;
	if (error) {
		set->no_processes = library_reason(error);
		memset(set->qps, 0, set->count * sizeof(*set->qps));
	}
}

static bool is_wanted(const struct flow_query *query,
		      const struct peerlane_flow_qp *qp)
{
	if (query->pid && (!qp->found || qp->qp.pid != query->pid))
		return false;
	return !query->rdma || (qp->found && !strcmp(qp->qp.device, query->rdma));
}

static void drop_unwanted(const struct flow_query *query, struct flow_set *set)
{
	size_t kept = 0;

	for (size_t i = 0; i < set->count; i++) {
		if (!is_wanted(query, &set->qps[i]))
			continue;
		set->infos[kept] = set->infos[i];
		set->qps[kept++] = set->qps[i];
	}
	set->count = kept;
}

/* ---- reading ------------------------------------------------------------ */

/* The kernel cuts the list where it can: then the rest is never copied. */
static struct peerlane_flow_filter filter_of(const struct flow_query *query)
{
	struct peerlane_flow_filter filter = query->filter;

	if (query->top && query->top <= PEERLANE_FLOW_TOP &&
	    query->sort < PEERLANE_COUNTERS && !query->pid && !query->rdma) {
		filter.top = query->top;
		filter.top_by = query->sort;
	}
	return filter;
}

int flow_set_read(const struct flow_query *query,
		  const struct flow_set *previous, struct flow_set *set)
{
	struct peerlane_flow_filter filter = filter_of(query);
	int error;

	memset(set, 0, sizeof(*set));
	error = peerlane_flow_list(&filter, &set->infos, &set->count,
				   &set->incomplete);
	if (error)
		return error;
	set->when = monotonic_ns();
	if (set->count)
		qsort(set->infos, set->count, sizeof(*set->infos),
		      compare_infos);
	join(previous, set);
	drop_unwanted(query, set);
	put_in_order(query, set);
	return 0;
}

void flow_set_free(struct flow_set *set)
{
	free(set->infos);
	free(set->qps);
	free(set->order);
	free(set->no_processes);
	memset(set, 0, sizeof(*set));
}
