/* SPDX-License-Identifier: GPL-2.0 */
/* A hostile aggregator, and a rank of the module's that has joined it. */
#ifndef SELFTESTS_HOSTILE_SCENE_H
#define SELFTESTS_HOSTILE_SCENE_H

#include "hostile_group.h"

#define LENGTH		MIB
#define PORT		18998	/* and those after it, of other ranks */
#define SMALL		4096	/* segment: the liar has little memory */
#define POOL_AT		16384	/* of its memory */
#define POOL_TOKEN	3
#define CANARY		0x5a
#define MANY		256	/* messages on their way */
#define SETTINGS_OF(...) GROUP_SETTINGS(.ranks = 2, .window = WINDOW,	\
	.segment = SMALL, __VA_ARGS__)

/* A rank, the first by itself; what the others would do the liar makes up. */
struct scene {
	uint32_t rank;
	int fd;
	struct pages pages;
	struct liar liar;
	uint32_t receives;	/* of a slow one; else 0 */
};

/* ---- until it has joined ---- */

static inline bool take_in(struct hostile *hostile)
{
	struct link_hello hello = hostile->answer;
	uint8_t data[LINK_HELLO_SIZE];

	memset(hello.secret, 0, sizeof(hello.secret));
	hello.notify = 2 * MANY;
	hello.grants = 64;
	hello.timeout_ms = 20000;
	link_hello_encode(&hello, data);
	return CHECK_INT(hostile_accept(hostile, data, sizeof(data)), 0) &&
	       CHECK_INT(hostile_established(hostile), 0);
}

static inline bool scene_join(struct scene *scene, struct peerlane_group_create args)
{
	struct group_message word;
	uint8_t address[PEERLANE_ADDRESS_LEN];
	uint32_t receives = scene->receives;

	args.rank = scene->rank;
	scene->pages = pages_new(LENGTH);
	memset(scene->pages.mem, CANARY, LENGTH);
	scene->fd = group_create(args);
	CHECK(scene->fd >= 0);
	CHECK_INT(group_bind(scene->fd, 0, scene->pages.region, 0), 0);
	if (!CHECK_INT(hostile_listen(&scene->liar.hostile, own_address(),
				      PORT + scene->rank), 0))
		return false;
	scene->liar.hostile.slow = receives;
	scene->liar.hostile.receives = receives ?: HOSTILE_RECEIVES;
	put_address(address, own_address(), PORT + scene->rank);
	set_nonblock(scene->fd, true);
	CHECK_INT(group_join(scene->fd, address, 1), -EINPROGRESS);
	set_nonblock(scene->fd, false);
	return CHECK_INT(hostile_wait(&scene->liar.hostile), 0) &&
	       take_in(&scene->liar.hostile) &&
	       CHECK(liar_hear(&scene->liar, GROUP_MESSAGE_JOIN, &word, PATIENCE)) &&
	       CHECK_INT(word.join.rank, scene->rank) &&
	       CHECK_INT(word.join.size, args.ranks);
}

/* It has said JOIN. */
static inline bool scene_of(struct scene *scene, struct peerlane_group_create args)
{
	memset(scene, 0, sizeof(*scene));
	return scene_join(scene, args);
}

/* Its slot is known, but it does not know that. */
static inline bool welcome(struct scene *scene, uint32_t window)
{
	struct group_message word;

	CHECK_INT(liar_expose(&scene->liar, POOL_TOKEN, POOL_AT, window * SMALL,
			      POOL_VALUE, PEERLANE_RIGHT_WRITE), IBV_WC_SUCCESS);
	CHECK_INT(liar_say(&scene->liar, WORD(WELCOME)), IBV_WC_SUCCESS);
	return CHECK(liar_hear(&scene->liar, ANY_EXPOSURE, &word, PATIENCE)) &&
	       group_next(scene->fd, PEERLANE_GROUP_RECORD_JOINED).type ==
	       PEERLANE_GROUP_RECORD_JOINED;
}

static inline bool scene_joined(struct scene *scene)
{
	return scene_of(scene, SETTINGS_OF()) && welcome(scene, WINDOW);
}

static inline void scene_end(struct scene *scene)
{
	size_t i, touched = 0;

	close(scene->fd);
	for (i = 0; i < LENGTH; i++)
		touched += scene->pages.mem[i] != CANARY;
	CHECK_INT(touched, 0);
	liar_end(&scene->liar);
	pages_end(&scene->pages);
}

static inline void check_ended(struct scene *scene, uint32_t cause,
			       uint32_t rank, int status, const char *what)
{
	struct peerlane_group_record record =
		group_find(scene->fd, PEERLANE_GROUP_RECORD_ENDED);

	if (record.cause != cause || record.rank != rank)
		printf("# %s: %s\n", what, group_info(scene->fd).text);
	CHECK_INT(record.cause, cause);
	CHECK_INT(record.rank, rank);
	CHECK_INT(record.status, status);
}

static inline void check_blamed(struct scene *scene, const char *what)
{
	check_ended(scene, PEERLANE_GROUP_CAUSE_PROTOCOL, PEERLANE_RANK_NONE, -EPROTO,
		    what);
	CHECK_HAS(group_info(scene->fd).text, "aggregator 0");
}

/* ---- honest ---- */

static inline void ready(struct scene *scene)
{
	CHECK_INT(liar_say(&scene->liar, WORD(READY, .token = scene->liar.exposed.token)),
		  IBV_WC_SUCCESS);
}

static inline void result(struct scene *scene, uint64_t n, uint64_t seq)
{
	liar_say(&scene->liar, WORD(RESULT, .result = { n, seq }));
}

#endif /* SELFTESTS_HOSTILE_SCENE_H */
