/* SPDX-License-Identifier: GPL-2.0 */
/* What the commands about groups and aggregators share. */
#ifndef PEERLANE_UTILS_GROUP_H
#define PEERLANE_UTILS_GROUP_H

#include "cli.h"

/* ---- ranks (group_rank.c) ------------------------------------------------------- */

/* What an aggregator saw of each rank, and who was late */
void ranks_print(const struct peerlane_rank_status *ranks, size_t count);
struct json_object *ranks_json(const struct peerlane_rank_status *ranks,
			       size_t count);

/* ---- what this node's aggregators saw of a group (group_sight.c) --------------- */

struct group_seen {
	struct peerlane_aggregator_status aggregator;
	struct peerlane_rank_status *ranks;
	size_t count;
};

struct group_sight {
	struct group_seen *list;
	size_t count;
	size_t refused;		/* aggregators that may not be looked at */
};

/*
 * Those that have the group. Of one that may not be looked at a note says why,
 * if @aloud. Returns 0 or a negative errno of the library.
 */
int group_look(uint64_t group, bool aloud, struct group_sight *sight);
void group_sight_free(struct group_sight *sight);

/* ---- words (group_rank.c) ------------------------------------------------------- */

/* "ETIMEDOUT" of -ETIMEDOUT, "" of 0 */
const char *errno_text(int32_t status);
/* The same, or null */
void json_errno(struct json_object *object, int32_t status);
/* A rank, or null for nobody */
void json_rank(struct json_object *object, const char *key, uint32_t rank);

/* Words that nobody can guess; NULL, and errno, if there are none */
const char *secret_random(void);

#endif /* PEERLANE_UTILS_GROUP_H */
