// SPDX-License-Identifier: GPL-2.0
/* Ranks of groups as "group top" has them, from one reading to the next. */
#include <stdlib.h>

#include "flow.h"
#include "group_top.h"

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
		rank->aggregator = seen->aggregator.id;
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
