// SPDX-License-Identifier: GPL-2.0
/* Ranks of groups as "group top" has them, from one reading to the next. */
#include <stdlib.h>
#include <string.h>

#include "flow.h"
#include "group_top.h"
#include "lateness.h"
#include "why.h"

/* ---- reading -------------------------------------------------------------- */

const struct rank_now *rank_set_find(const struct rank_set *set,
				     const struct rank_now *rank)
{
	for (size_t i = 0; i < set->count; i++)
		if (set->list[i].group == rank->group &&
		    set->list[i].rank == rank->rank)
			return &set->list[i];
	return NULL;
}

static struct rank_now *find_or_add(struct rank_set *set, uint64_t group,
				    uint32_t rank)
{
	const struct rank_now wanted = { .group = group, .rank = rank };
	const struct rank_now *found = rank_set_find(set, &wanted);

	if (found)
		return &set->list[found - set->list];
	set->list = must(reallocarray(set->list, set->count + 1,
				      sizeof(*set->list)));
	set->list[set->count] = wanted;
	return &set->list[set->count++];
}

static void take_seen(struct rank_set *set, uint64_t group,
		      const struct group_seen *seen)
{
	for (size_t i = 0; i < seen->count; i++) {
		const struct peerlane_rank_status *status = &seen->ranks[i];
		struct rank_now *rank = find_or_add(set, group, status->rank);

		if (rank->is_seen && rank->seen.late_total > status->late_total)
			continue;
		rank->is_seen = true;
		rank->seen = *status;
	}
}

static int take_group(struct rank_set *set, uint64_t group)
{
	struct group_sight sight;
	int error = group_look(group, false, &sight);

	for (size_t i = 0; i < sight.count; i++)
		take_seen(set, group, &sight.list[i]);
	group_sight_free(&sight);
	return error;
}

/* Each group once, with the first of its ranks that are here */
static bool is_first(const struct peerlane_group_status *list, size_t index)
{
	for (size_t i = 0; i < index; i++)
		if (list[i].group == list[index].group)
			return false;
	return true;
}

int rank_set_read(uint64_t group, struct rank_set *set)
{
	struct peerlane_group_status *list = NULL;
	size_t count = 0;
	int error = peerlane_group_list(&list, &count);

	*set = (struct rank_set){ .when = monotonic_ns() };
	for (size_t i = 0; i < count && !error; i++) {
		struct rank_now *rank;

		if (group && list[i].group != group)
			continue;
		rank = find_or_add(set, list[i].group, list[i].rank);
		rank->is_local = true;
		rank->local = list[i];
	}
	for (size_t i = 0; i < count && !error && !group; i++)
		if (is_first(list, i))
			error = take_group(set, list[i].group);
	if (!error && group)
		error = take_group(set, group);
	free(list);
	if (error)
		rank_set_free(set);
	return error;
}

void rank_set_free(struct rank_set *set)
{
	free(set->list);
	*set = (struct rank_set){ 0 };
}

/* ---- figures ---------------------------------------------------------------- */

static void late_figures(struct rank_figures *figures,
			 const struct rank_now *now,
			 const struct rank_now *before)
{
	static const struct peerlane_rank_status zero;
	const struct why_rank *use;
	struct why_rank all, grown;

	if (!now->is_seen)
		return;
	all = why_rank_of(&zero, &now->seen);
	grown = why_rank_of(before && before->is_seen ? &before->seen : &zero,
			    &now->seen);
	use = grown.grown.segments ? &grown : &all;
	figures->late_p99 = lateness_percentile(&use->grown, 990000);
	if (!use->grown.segments)
		return;
	figures->wait = use->grown.late_total / use->grown.segments;
	figures->last = (uint32_t)(rate_share(use->grown.last,
					      use->grown.segments) / 100);
}

struct rank_figures rank_figures_of(const struct rank_now *now,
				    const struct rank_now *before,
				    uint64_t elapsed_ns)
{
	struct rank_figures figures = { 0 };

	late_figures(&figures, now, before);
	if (!before)
		return figures;
	if (now->is_local && before->is_local) {
		figures.ops = rate_of(before->local.ops_done,
				      now->local.ops_done, elapsed_ns);
		figures.sent = rate_of(before->local.bytes_sent,
				       now->local.bytes_sent, elapsed_ns);
		figures.received = rate_of(before->local.bytes_received,
					   now->local.bytes_received,
					   elapsed_ns);
	} else if (now->is_seen && before->is_seen) {
		figures.sent = rate_of(before->seen.bytes, now->seen.bytes,
				       elapsed_ns);
	}
	return figures;
}
