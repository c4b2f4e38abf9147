/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A group of two whose rank 1 lies, and another group of the same aggregator,
 * which goes on whatever the liar does.
 */
#ifndef SELFTESTS_HOSTILE_VICTIM_H
#define SELFTESTS_HOSTILE_VICTIM_H

#include "hostile_group.h"

#define LENGTH	MIB
#define COUNT	1000
#define SOON	10.0	/* seconds; emulation on a busy machine is slow */
#define GROUP	0x4444

#define SUM(_count) GROUP_OP(ALL_REDUCE, .type = PEERLANE_TYPE_I32,	\
	.op = PEERLANE_REDUCE_SUM, .count = _count, .receive_offset = LENGTH / 2)
#define BARRIER() GROUP_OP(BARRIER)
#define SETTINGS_OF(...) GROUP_SETTINGS(.group = GROUP, .ranks = 2,	\
	.window = WINDOW, __VA_ARGS__)

/* Two honest ranks, whose aggregator the others use too. */
static struct world bystander;

/* A group of two: rank 0 is the module's, rank 1 lies. */
struct victim {
	int fd;
	struct pages pages;
	struct liar liar;
};

/* ---- the honest ones ---- */

static inline struct aggregator *aggregator(void)
{
	return &bystander.aggregator[0];
}

static inline void check_bystander(void)
{
	int *from[2], *to[2];
	int i, k, wrong = 0;

	for (i = 0; i < 2; i++) {
		from[i] = (int *)bystander.pages[i].mem;
		to[i] = (int *)(bystander.pages[i].mem + LENGTH / 2);
		for (k = 0; k < COUNT; k++) {
			from[i][k] = 3 * k + i;
			to[i][k] = -1;
		}
	}
	CHECK_INT(world_do(&bystander, SUM(COUNT)), 0);
	for (i = 0; i < 2; i++)
		for (k = 0; k < COUNT; k++)
			wrong += to[i][k] != 6 * k + 1;
	CHECK_INT(wrong, 0);
}

static inline bool bystander_begin(void)
{
	struct peerlane_group_create settings = GROUP_SETTINGS(.group = 77);

	if (!CHECK(world_of(&bystander, 2, 1, LENGTH, settings)))
		return false;
	check_bystander();
	return true;
}

static inline void bystander_end(void)
{
	check_bystander();
	world_end(&bystander);
}

static inline int call_rank(struct peerlane_group_create args, const struct pages *pages)
{
	int fd = group_create(args);

	CHECK(fd >= 0);
	CHECK_INT(group_bind(fd, 0, pages->region, 0), 0);
	set_nonblock(fd, true);
	CHECK_INT(group_join(fd, aggregator()->address, 1), -EINPROGRESS);
	set_nonblock(fd, false);
	return fd;
}

/* ---- the two ---- */

static inline bool join_as(struct liar *liar, struct group_join join, uint32_t notify)
{
	struct group_message word;

	return liar_connect(liar, aggregator(), notify) &&
	       CHECK_INT(liar_say(liar, WORD(JOIN, .join = join)), IBV_WC_SUCCESS) &&
	       CHECK(liar_hear(liar, ANY_EXPOSURE, &word, PATIENCE));
}

/* Both have joined. */
static inline bool victim_of(struct victim *victim, struct peerlane_group_create args,
		      uint32_t notify)
{
	struct group_join join = join_of(args.group, 1, 2);
	struct group_message word;

	join.timeout_ms = args.op_timeout_ms;
	victim->pages = pages_new(LENGTH);
	victim->fd = call_rank(args, &victim->pages);
	return join_as(&victim->liar, join, notify) &&
	       CHECK(liar_hear(&victim->liar, GROUP_MESSAGE_WELCOME, &word, PATIENCE)) &&
	       group_next(victim->fd, PEERLANE_GROUP_RECORD_JOINED).type ==
	       PEERLANE_GROUP_RECORD_JOINED;
}

static inline bool victim_new(struct victim *victim)
{
	return victim_of(victim, SETTINGS_OF(), 64);
}

/* Only the bystander is left at the aggregator. */
static inline void victim_end(struct victim *victim)
{
	liar_end(&victim->liar);
	close(victim->fd);
	pages_end(&victim->pages);
	CHECK(WAIT_FOR(aggregator_info(aggregator()->fd).groups == 1, SOON));
	CHECK(WAIT_FOR(aggregator_info(aggregator()->fd).links == 2, SOON));
}

static inline void check_ended(int fd, uint32_t cause, uint32_t rank, int status,
			const char *what)
{
	struct peerlane_group_record record = group_find(fd, PEERLANE_GROUP_RECORD_ENDED);

	if (record.cause != cause || record.rank != rank)
		printf("# %s: %s\n", what, group_info(fd).text);
	CHECK_INT(record.cause, cause);
	CHECK_INT(record.rank, rank);
	CHECK_INT(record.status, status);
}

static inline void check_blamed(struct victim *victim, const char *what)
{
	check_ended(victim->fd, PEERLANE_GROUP_CAUSE_PROTOCOL, 1, -EPROTO, what);
}

#endif /* SELFTESTS_HOSTILE_VICTIM_H */
