// SPDX-License-Identifier: GPL-2.0
/* What this node's aggregators saw of the ranks of a group. */
#include <stdlib.h>

#include "group.h"

static void refuse(struct group_sight *sight, int error, bool aloud)
{
	char *reason = library_reason(error);

	if (aloud)
		note("%s", reason);
	free(reason);
	sight->refused++;
}

static void look(struct group_sight *sight,
		 const struct peerlane_aggregator_status *aggregator,
		 uint64_t group, bool aloud)
{
	struct group_seen *seen = &sight->list[sight->count];
	struct peerlane_aggregator *open;
	int error = peerlane_aggregator_open(aggregator->id, &open);

	if (error) {
		refuse(sight, error, aloud);
		return;
	}
	if (!peerlane_aggregator_ranks(open, group, &seen->ranks,
				       &seen->count) && seen->count) {
		seen->aggregator = *aggregator;
		sight->count++;
	}
	peerlane_aggregator_close(open);
}

int group_look(uint64_t group, bool aloud, struct group_sight *sight)
{
	struct peerlane_aggregator_status *list = NULL;
	size_t count = 0;
	int error = peerlane_aggregator_list(&list, &count);

	*sight = (struct group_sight){ 0 };
	if (error)
		return error;
	sight->list = must(calloc(count + 1, sizeof(*sight->list)));
	for (size_t i = 0; i < count; i++)
		look(sight, &list[i], group, aloud);
	free(list);
	return 0;
}

void group_sight_free(struct group_sight *sight)
{
	for (size_t i = 0; i < sight->count; i++)
		free(sight->list[i].ranks);
	free(sight->list);
	*sight = (struct group_sight){ 0 };
}
