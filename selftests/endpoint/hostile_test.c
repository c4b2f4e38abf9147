// SPDX-License-Identifier: GPL-2.0
/*
 * A peer that does not keep to the rules. Only its own connection ends: a
 * bystander goes on, memory that was not exposed is not touched, and the
 * kernel has nothing to say.
 */
#include <pthread.h>

#include "victim.h"

/* ---- honest ---- */

/* First that it can: else the rest would show nothing. */
static void an_honest_one_is_served(void)
{
	struct victim victim = victim_begin(SETTINGS());
	struct hostile hostile;
	struct link_message message, say = { .type = LINK_MESSAGE_NOTIFY, .value = 77,
					     .length = 12 };
	struct peerlane_record record;
	uint64_t iova;

	if (take_in(&victim, &hostile)) {
		message = expose(&victim, &hostile, BOTH);
		CHECK_INT(message.length, PART);
		CHECK_INT(message.count, 1);
		iova = message.chunk_at[0].iova;
		CHECK_INT(hostile_write(&hostile, message.chunk_at[0].rkey, iova, PART),
			  IBV_WC_SUCCESS);
		CHECK_INT(victim.side.mem[BEGIN], 0x66);
		CHECK_INT(victim.side.mem[BEGIN + PART - 1], 0x66);
		CHECK_INT(victim.side.mem[BEGIN + PART], (char)CANARY);
		memset(victim.side.mem + BEGIN, CANARY, PART);
		CHECK(is_untouched(&victim.side));
		CHECK_INT(hostile_read(&hostile, message.chunk_at[0].rkey, iova, 100),
			  IBV_WC_SUCCESS);
		CHECK_INT(hostile.memory[99], CANARY);
		CHECK_INT(hostile_say(&hostile, &say), IBV_WC_SUCCESS);
		record = ep_find(victim.side.ep, PEERLANE_RECORD_NOTIFY);
		CHECK_INT(record.value, 77);
		CHECK_INT(ep_do(victim.side.ep, OP(NOTIFY, .value = 78)), 0);
		CHECK(hostile_hear_of(&hostile, LINK_MESSAGE_NOTIFY, &message, PATIENCE));
		CHECK_INT(message.value, 78);
	}
	drop(&victim, &hostile);
	victim_end(&victim);
}

/* ---- reaching for memory ---- */

/* He is told so, or thrown out before he could be. */
static bool is_denied(int status)
{
	return status == IBV_WC_REM_ACCESS_ERR || status == -ENOTCONN;
}

struct reach {
	const char *what;
	uint32_t rights;
	bool read;
	u32 key_xor;
	int64_t from;		/* to the beginning of the exposure */
	u32 length;
};

static void what_was_not_exposed_is_not_reached(void)
{
	static const struct reach reaches[] = {
		{ "a byte before", BOTH, false, 0, -1, 1 },
		{ "a byte behind", BOTH, false, 0, PART, 1 },
		{ "across the end", BOTH, false, 0, PART - 1, 2 },
		{ "across the end, reading", BOTH, true, 0, PART - 1, 2 },
		{ "the page before", BOTH, false, 0, -(int64_t)PAGE, PAGE },
		{ "address 0", BOTH, false, 0, INT64_MIN, 8 },
		{ "the next key's addresses", BOTH, false, 0, 1LL << 32, 8 },
		{ "writing what may be read", PEERLANE_RIGHT_READ, false, 0, 0, 8 },
		{ "reading what may be written", PEERLANE_RIGHT_WRITE, true, 0, 0, 8 },
		{ "another variant of the key", BOTH, false, 1, 0, 8 },
		{ "another key", BOTH, false, 0x100, 0, 8 },
		{ "another key, reading", BOTH, true, 0x10000, 0, 8 },
		{ "key 0", BOTH, false, UINT32_MAX, 0, 8 },
	};
	struct victim victim = victim_begin(SETTINGS());
	size_t i;

	for (i = 0; i < ARRAY_SIZE(reaches); i++) {
		const struct reach *reach = &reaches[i];
		struct link_message message;
		struct hostile hostile;
		u32 rkey;
		u64 at;
		int ret;

		if (!take_in(&victim, &hostile))
			break;
		message = expose(&victim, &hostile, reach->rights);
		rkey = message.chunk_at[0].rkey ^ reach->key_xor;
		if (reach->key_xor == UINT32_MAX)
			rkey = 0;
		at = reach->from == INT64_MIN ? 0 :
		     message.chunk_at[0].iova + reach->from;
		memset(hostile.memory, 0x66, HOSTILE_MEMORY);
		ret = reach->read ? hostile_read(&hostile, rkey, at, reach->length) :
		      hostile_write(&hostile, rkey, at, reach->length);
		if (!is_denied(ret))
			printf("# %s: %d\n", reach->what, ret);
		CHECK(is_denied(ret));
		CHECK_INT(hostile.memory[0], 0x66);
		CHECK(is_untouched(&victim.side));
		/* Its connection ends, by itself or with the next word. */
		hostile_end(&hostile);
		ret = ep_end(victim.side.ep);
		CHECK(ret < 0);
		CHECK_INT(ep_info(victim.side.ep).keys, 0);
		CHECK(is_untouched(&victim.side));
		drop(&victim, &hostile);
	}
	victim_end(&victim);
}

static void a_withdrawn_key_does_not_open(void)
{
	struct victim victim = victim_begin(SETTINGS());
	struct link_message message, end;
	struct hostile hostile;
	int wait, read;

	for (wait = 0; wait < 2; wait++)
		for (read = 0; read < 2; read++) {
			u32 rkey;
			u64 at;

			if (!take_in(&victim, &hostile))
				break;
			message = expose(&victim, &hostile, BOTH);
			rkey = message.chunk_at[0].rkey;
			at = message.chunk_at[0].iova;
			CHECK_INT(ep_withdraw(victim.side.ep, message.token), 0);
			if (wait)
				CHECK(hostile_hear_of(&hostile, LINK_MESSAGE_WITHDRAW,
						      &end, PATIENCE));
			CHECK(is_denied(read ? hostile_read(&hostile, rkey, at, 8) :
					hostile_write(&hostile, rkey, at, 8)));
			CHECK(is_untouched(&victim.side));
			drop(&victim, &hostile);
		}
	victim_end(&victim);
}

/* The key is of another connection: also of the same process. */
static void a_key_is_for_one_connection(void)
{
	struct victim victim = victim_begin(SETTINGS()), other;
	struct link_message message;
	struct hostile owner, thief;

	other = victim_new(SETTINGS());
	if (take_in(&victim, &owner) && take_in(&other, &thief)) {
		message = expose(&victim, &owner, BOTH);
		CHECK(is_denied(hostile_write(&thief, message.chunk_at[0].rkey,
					      message.chunk_at[0].iova, 8)));
		CHECK(is_untouched(&victim.side));
		/* The thief's ends, the owner's does not. */
		CHECK_INT(hostile_write(&owner, message.chunk_at[0].rkey,
					message.chunk_at[0].iova, 8), IBV_WC_SUCCESS);
	}
	drop(&other, &thief);
	close(other.listener);
	drop(&victim, &owner);
	victim_end(&victim);
}

/*
 * The answer to a FLUSH comes through the memory that was written. Who may only
 * write it does not get to know what is in there, byte by byte.
 */
static void a_flush_does_not_tell_what_is_in_memory(void)
{
	struct victim victim = victim_begin(SETTINGS());
	struct link_message message, answer;
	struct hostile hostile;
	int told = 0, i;

	if (take_in(&victim, &hostile)) {
		message = expose(&victim, &hostile, PEERLANE_RIGHT_WRITE);
		for (i = 0; i < 64; i++)
			victim.side.mem[BEGIN + i] = 0x80 + i;
		for (i = 1; i < 64; i++) {
			struct link_message ask = { .type = LINK_MESSAGE_FLUSH,
				.token = message.token, .offset = i };
			uint32_t k;

			CHECK_INT(hostile_say(&hostile, &ask), IBV_WC_SUCCESS);
			memset(&answer, 0, sizeof(answer));
			if (!CHECK(hostile_hear_of(&hostile, LINK_MESSAGE_FLUSHED,
						   &answer, PATIENCE)))
				break;
			/* Anywhere in what came. */
			for (k = 0; k < hostile.last_length; k++)
				told += hostile.last[k] == (u8)(0x80 + i);
		}
		printf("# %d of 63 bytes were told\n", told);
		CHECK(told < 8);
	}
	drop(&victim, &hostile);
	victim_end(&victim);
}

struct withdrawal {
	int ep;
	uint64_t token;
	volatile double seconds;	/* 0: not yet */
	volatile int ret;
};

static void *withdraw_beside(void *arg)
{
	struct withdrawal *withdrawal = arg;
	struct peerlane_endpoint_withdraw args = { .size = sizeof(args),
						   .token = withdrawal->token };
	double begin = now();

	withdrawal->ret = call_raw(withdrawal->ep, PEERLANE_IOC_ENDPOINT_WITHDRAW, &args);
	withdrawal->seconds = now() - begin + 0.001;
	return NULL;
}

/*
 * It never says that it has dealt with an exposure, and says other things. What
 * it was given before can be taken away all the same, and soon.
 */
static void withheld_credit_does_not_keep_a_key(void)
{
	struct victim victim = victim_begin(SETTINGS(.timeout_ms = 3000));
	struct withdrawal withdrawal = { 0 };
	struct link_message message;
	struct hostile hostile;
	uint64_t token;
	pthread_t thread;
	double begin;
	int i;

	if (take_in(&victim, &hostile)) {
		message = expose(&victim, &hostile, BOTH);
		withdrawal.ep = victim.side.ep;
		withdrawal.token = message.token;
		for (i = 0; i < 60; i++)
			CHECK_INT(ep_expose_as(victim.side.ep, 0, BOTH, 0, 1, 0, &token), 0);
		pthread_create(&thread, NULL, withdraw_beside, &withdrawal);
		begin = now();
		while (!withdrawal.seconds && now() - begin < 15) {
			/* It lives, and answers what is asked. */
			struct link_message alive = { .type = LINK_MESSAGE_PONG };

			hostile.control = 0;
			hostile_say(&hostile, &alive);
			while (hostile_hear(&hostile, &message, 0.1))
				;
		}
		printf("# after %.1f s: %d, %s\n", withdrawal.seconds, withdrawal.ret,
		       ep_info(victim.side.ep).reason);
		CHECK(withdrawal.seconds && withdrawal.seconds < 8);
		ep_disconnect(victim.side.ep);
		pthread_join(thread, NULL);
	}
	drop(&victim, &hostile);
	victim_end(&victim);
}

static void atomics_are_not_allowed(void)
{
	struct victim victim = victim_begin(SETTINGS());
	struct link_message message;
	struct hostile hostile;

	if (take_in(&victim, &hostile)) {
		struct ibv_sge sge = { .addr = (uintptr_t)hostile.memory, .length = 8,
				       .lkey = hostile.mr->lkey };
		struct ibv_send_wr wr = { .wr_id = UINT32_MAX, .sg_list = &sge, .num_sge = 1,
			.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD,
			.send_flags = IBV_SEND_SIGNALED }, *bad;

		message = expose(&victim, &hostile, BOTH);
		wr.wr.atomic.rkey = message.chunk_at[0].rkey;
		wr.wr.atomic.remote_addr = message.chunk_at[0].iova;
		wr.wr.atomic.compare_add = 1;
		if (!ibv_post_send(hostile.id->qp, &wr, &bad))
			usleep(500000);
		CHECK(is_untouched(&victim.side));
	}
	drop(&victim, &hostile);
	victim_end(&victim);
}

int main(void)
{
	static const struct tap_case cases[] = {
		TAP_CASE(an_honest_one_is_served),
		TAP_CASE(what_was_not_exposed_is_not_reached),
		TAP_CASE(a_withdrawn_key_does_not_open),
		TAP_CASE(a_key_is_for_one_connection),
		TAP_CASE(a_flush_does_not_tell_what_is_in_memory),
		TAP_CASE(withheld_credit_does_not_keep_a_key),
		TAP_CASE(atomics_are_not_allowed),
	};

	hostile_init();
	return HARNESS_RUN(cases);
}
