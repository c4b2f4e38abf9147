/* SPDX-License-Identifier: GPL-2.0 */
/*
 * An endpoint with a hostile peer, and a bystander: two other endpoints of the
 * node, which go on whatever the hostile one does.
 */
#ifndef SELFTESTS_ENDPOINT_VICTIM_H
#define SELFTESTS_ENDPOINT_VICTIM_H

#include "endpoint.h"
#include "hostile.h"

#define LENGTH	(1 * MIB)
#define BEGIN	(LENGTH / 2 + 100)	/* exposed: not whole pages */
#define PART	(60 * 1024UL + 77)
#define CANARY	0xa5

static struct pair bystander;
static uint64_t bystander_token;

/* An endpoint that listens, and takes in whoever comes. */
struct victim {
	int listener;
	uint16_t port;
	struct side side;
};

static inline struct victim victim_new(struct peerlane_endpoint_create settings)
{
	struct victim victim = { .side = { -1, -1 } };

	victim.listener = ep_create(&settings);
	victim.port = ep_listen(victim.listener);
	return victim;
}

/* Its connection with @hostile, with memory that is all canary. */
static inline bool take_in(struct victim *victim, struct hostile *hostile)
{
	struct pollfd pollfd = { .fd = victim->listener, .events = POLLIN };

	if (!CHECK_INT(hostile_connect_well(hostile, own_address(), victim->port, NULL), 0))
		return false;
	if (!CHECK_INT(poll(&pollfd, 1, PATIENCE * 1000), 1))
		return false;
	victim->side.ep = ep_accept(victim->listener);
	side_memory(&victim->side, second_device(), LENGTH);
	memset(victim->side.mem, CANARY, LENGTH);
	return true;
}

static inline bool is_untouched(const struct side *side)
{
	size_t i;

	for (i = 0; i < LENGTH; i++)
		if (side->mem[i] != (char)CANARY) {
			printf("# byte %zu was touched\n", i);
			return false;
		}
	return true;
}

static inline void drop(struct victim *victim, struct hostile *hostile)
{
	hostile_end(hostile);
	side_end(&victim->side);
	victim->side = (struct side){ -1, -1 };
}

static inline void check_bystander(void)
{
	CHECK_INT(ep_do(bystander.a.ep, OP(PUT, .length = 5000,
					   .token = bystander_token)), 0);
	CHECK_INT(ep_do(bystander.a.ep, OP(NOTIFY, .value = 1)), 0);
	CHECK_INT(ep_next(bystander.b.ep, PEERLANE_RECORD_NOTIFY).value, 1);
}

static inline void victim_end(struct victim *victim)
{
	close(victim->listener);
	check_bystander();
	pair_end(&bystander);
}

static inline struct victim victim_begin(struct peerlane_endpoint_create settings)
{
	bystander = pair_new(LENGTH);
	bystander_token = open_all(&bystander.b, &bystander.a);
	return victim_new(settings);
}

/* A key of [BEGIN, + PART): told to the hostile one. */
static inline struct link_message expose(struct victim *victim, struct hostile *hostile,
				  uint32_t rights)
{
	struct link_message message = {};
	uint64_t token;

	CHECK_INT(ep_expose_as(victim->side.ep, 0, rights, BEGIN, PART, 5,
			       &token), 0);
	CHECK(hostile_hear_of(hostile, LINK_MESSAGE_EXPOSE, &message, PATIENCE));
	CHECK(message.token == token);
	return message;
}

#endif /* SELFTESTS_ENDPOINT_VICTIM_H */
