/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A rank, or an aggregator, that says and does what it likes: a hostile peer of
 * links that knows what groups say, by the module's own code.
 */
#ifndef SELFTESTS_HOSTILE_GROUP_H
#define SELFTESTS_HOSTILE_GROUP_H

#include "group.h"
#include "hostile.h"
#include "group_wire.h"

#define POOL_VALUE	0x6c6f6f70U	/* GROUP_POOL_VALUE */
#define WINDOW		8
#define WORD(_type, ...) ((struct group_message){			\
	.type = GROUP_MESSAGE_##_type, __VA_ARGS__ })
/* What liar_hear() waits for beside enum group_message_type. */
#define ANY_EXPOSURE	0

struct liar {
	struct hostile hostile;
	struct link_message exposed;	/* the last EXPOSE of the kernel's */
	bool mute;			/* gives back no credit of OWNER messages */
};

/* ---- words ---- */

static inline int liar_send(struct liar *liar, const void *data, uint32_t length)
{
	struct link_message message = {
		.type = LINK_MESSAGE_OWNER, .length = length,
	};

	if (liar->mute)
		liar->hostile.owner = 0;
	memcpy(message.data, data, length);
	return hostile_say(&liar->hostile, &message);
}

/* 0: its device says that it arrived. */
static inline int liar_say(struct liar *liar, struct group_message word)
{
	uint8_t data[GROUP_MESSAGE_MAX];

	return liar_send(liar, data, group_message_encode(&word, data));
}

static inline void liar_answer(struct liar *liar)
{
	struct link_message pong = { .type = LINK_MESSAGE_PONG };

	if (liar->mute)
		liar->hostile.owner = 0;
	hostile_say(&liar->hostile, &pong);
}

/* The next word of that type; PINGs are answered meanwhile. False: none in time */
static inline bool liar_hear(struct liar *liar, uint8_t type,
			     struct group_message *word, double seconds)
{
	struct link_message message;
	double end = now() + seconds;

	while (now() < end) {
		if (!hostile_hear(&liar->hostile, &message, 0.02))
			continue;
		if (message.type == LINK_MESSAGE_PING)
			liar_answer(liar);
		if (message.type == LINK_MESSAGE_EXPOSE)
			liar->exposed = message;
		if (message.type == LINK_MESSAGE_EXPOSE && type == ANY_EXPOSURE)
			return true;
		if (message.type == LINK_MESSAGE_OWNER &&
		    !group_message_decode(word, message.data, message.length) &&
		    word->type == type)
			return true;
	}
	return false;
}

/* Lets it be read what the liar has at @at, which is written from there. */
static inline int liar_expose(struct liar *liar, uint64_t token, uint32_t at,
			      uint64_t length, uint64_t value, uint32_t rights)
{
	struct link_message message = {
		.type = LINK_MESSAGE_EXPOSE, .token = token, .length = length,
		.first = length, .chunk = 2 * MIB, .chunks = 1, .count = 1,
		.value = value, .rights = rights,
		.chunk_at[0].rkey = liar->hostile.mr->rkey,
		.chunk_at[0].iova = (uintptr_t)liar->hostile.memory + at,
	};

	return hostile_say(&liar->hostile, &message);
}

/* ---- as a rank ---- */

static inline struct group_join join_of(uint64_t group, uint32_t rank, uint32_t size)
{
	return (struct group_join){
		.group = group, .rank = rank, .size = size, .aggregators = 1,
		.segment = SEGMENT, .window = WINDOW, .block = GROUP_RANKS_MAX,
		.timeout_ms = 20000,
	};
}

static inline bool liar_connect(struct liar *liar, const struct aggregator *to,
				uint32_t notify)
{
	struct link_hello hello = hostile_hello();

	memset(liar, 0, sizeof(*liar));
	hello.service = LINK_SERVICE_GROUP;
	hello.notify = notify;
	return CHECK_INT(hostile_connect_well(&liar->hostile, own_address(),
					      port_of(to->address), &hello), 0);
}

static inline void liar_end(struct liar *liar)
{
	hostile_end(&liar->hostile);
}

/* Of the first operation, which all ranks have to call alike. */
static inline struct group_message barrier_word(uint64_t n)
{
	return WORD(SEGMENT, .part = {
		.n = n, .seq = n, .call.kind = GROUP_BARRIER });
}

#endif /* SELFTESTS_HOSTILE_GROUP_H */
