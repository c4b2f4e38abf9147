// SPDX-License-Identifier: GPL-2.0
/*
 * pattern [-a ADDRESS] [-s SEED] [-l BYTES] [-d] CASE...
 *
 * Moves the stream of a seed between two nodes and has it compared at its
 * goal, by the host where that is device memory. The same cases are given on
 * both nodes; the one with an ADDRESS calls the other and posts the requests.
 * Prints TAP: on the node where the bytes end whether they are right, on the
 * other that the request completed.
 *
 * CASE is OP:LENGTH:SOURCE:GOAL with OP one of write, write_imm, send, read,
 * fetch_add, cmp_swap. A read has its source on the node that was called, all
 * others their goal; of an atomic, SOURCE is where the old value goes. For
 * SOURCE and GOAL see place.h. -l: bytes of each region; -d: show too that the
 * comparison sees a single wrong byte.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "fill.h"
#include "peer.h"
#include "place.h"

#define IMM	0x706c616eU
#define ADDEND	0x0101010101010101ULL
#define FIRST	1000000007ULL
#define SWAP	0x5741505741505741ULL

struct op {
	const char *name;
	enum ibv_wr_opcode code;
	bool takes_recv;	/* consumes a receive of the target */
	bool recv_has_memory;	/* which is where the bytes go */
};

static const struct op ops[] = {
	{ "write", IBV_WR_RDMA_WRITE },
	{ "write_imm", IBV_WR_RDMA_WRITE_WITH_IMM, true },
	{ "send", IBV_WR_SEND, true, true },
	{ "read", IBV_WR_RDMA_READ },
	{ "fetch_add", IBV_WR_ATOMIC_FETCH_AND_ADD },
	{ "cmp_swap", IBV_WR_ATOMIC_CMP_AND_SWP },
};

struct transfer {
	const char *text;
	const struct op *op;
	size_t length;
	struct place source;
	struct place goal;
	uint64_t seed;
};

static int tests;
static int failures;

static void result(bool good, const struct transfer *t, const char *what)
{
	printf("%sok %d - %s: %s\n", good ? "" : "not ", ++tests, t->text, what);
	fflush(stdout);
	failures += !good;
}

static bool is_read(const struct transfer *t)
{
	return t->op->code == IBV_WR_RDMA_READ;
}

static bool is_atomic(const struct transfer *t)
{
	return t->op->code == IBV_WR_ATOMIC_FETCH_AND_ADD ||
	       t->op->code == IBV_WR_ATOMIC_CMP_AND_SWP;
}

static void parse(struct transfer *t, char *text, uint64_t seed)
{
	char *copy = strdup(text), *name, *length, *source, *goal;
	size_t i;

	name = strtok(copy, ":");
	length = strtok(NULL, ":");
	source = strtok(NULL, ":");
	goal = strtok(NULL, ":");
	if (!goal)
		die("not a case: %s", text);
	memset(t, 0, sizeof(*t));
	for (i = 0; i < sizeof(ops) / sizeof(ops[0]); i++)
		if (!strcmp(ops[i].name, name))
			t->op = &ops[i];
	if (!t->op)
		die("no operation %s", name);
	t->text = text;
	t->length = strtoull(length, NULL, 0);
	t->seed = seed;
	place_parse(&t->source, source);
	place_parse(&t->goal, goal);
	free(copy);
}

/* Which of the two places is on this node? */
static bool holds_goal(const struct peer *peer, const struct transfer *t)
{
	return peer->is_target != is_read(t);
}

static void prepare(const struct peer *peer, const struct transfer *t)
{
	const uint64_t first = FIRST;

	if (holds_goal(peer, t)) {
		place_open((struct place *)&t->goal, t->length);
		if (is_atomic(t))
			memcpy(place_at(&t->goal), &first, sizeof(first));
	} else {
		place_open((struct place *)&t->source, t->length);
		if (!is_atomic(t))
			place_fill(&t->source, t->length, t->seed);
	}
}

static void request(struct peer *peer, const struct transfer *t,
		    struct ibv_mr *mr, char *at, const struct remote *them)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)at,
		.length = (uint32_t)t->length,
		.lkey = mr->lkey,
	};
	struct ibv_send_wr wr = {
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = t->op->code,
		.imm_data = IMM,
	};
	struct ibv_wc wc;

	if (is_atomic(t)) {
		wr.wr.atomic.remote_addr = them->addr;
		wr.wr.atomic.rkey = them->rkey;
		wr.wr.atomic.compare_add =
			t->op->code == IBV_WR_ATOMIC_CMP_AND_SWP ? FIRST : ADDEND;
		wr.wr.atomic.swap = SWAP;
	} else {
		wr.wr.rdma.remote_addr = them->addr;
		wr.wr.rdma.rkey = them->rkey;
	}
	peer_post_send(peer, &wr);
	peer_wait(peer, &wc);
}

static void post_recv(struct peer *peer, const struct transfer *t,
		      struct ibv_mr *mr)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)place_at(&t->goal),
		.length = (uint32_t)t->length,
		.lkey = mr->lkey,
	};

	peer_post_recv(peer, &sge, t->op->recv_has_memory ? 1 : 0);
}

/* The bytes that a receive's completion tells of, or why it is wrong */
static const char *check_recv(struct peer *peer, const struct transfer *t)
{
	struct ibv_wc wc;

	peer_wait(peer, &wc);
	if (wc.byte_len != t->length)
		return "the completion has another length";
	if (t->op->code == IBV_WR_RDMA_WRITE_WITH_IMM &&
	    (!(wc.wc_flags & IBV_WC_WITH_IMM) || wc.imm_data != IMM))
		return "the immediate value is another";
	return NULL;
}

static void judge_atomic(const struct peer *peer, const struct transfer *t)
{
	uint64_t want = t->op->code == IBV_WR_ATOMIC_CMP_AND_SWP ?
			SWAP : FIRST + ADDEND;

	if (peer->is_target)
		result(place_word(&t->goal) == want, t, "the new value is there");
	else
		result(place_word(&t->source) == FIRST, t,
		       "the old value came back");
}

static void judge(const struct peer *peer, const struct transfer *t,
		  const char *wrong, double ms)
{
	char text[64];

	if (is_atomic(t)) {
		judge_atomic(peer, t);
	} else if (wrong) {
		result(false, t, wrong);
	} else if (holds_goal(peer, t)) {
		result(place_check(&t->goal, t->length, t->seed), t,
		       t->goal.area->region ? "arrived, as the host sees it" :
					      "arrived");
	} else {
		snprintf(text, sizeof(text), "completed in %.1f ms", ms);
		result(true, t, text);
	}
}

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void run(struct peer *peer, const struct transfer *t, bool detect)
{
	const struct place *mine = holds_goal(peer, t) ? &t->goal : &t->source;
	struct ibv_mr *mrs[MANY + 1];
	struct remote us = { 0 }, them;
	const char *wrong = NULL;
	double begin;
	int count;

	prepare(peer, t);
	count = place_register(mine, peer->pd, t->length, mrs);
	if (peer->is_target && t->op->takes_recv)
		post_recv(peer, t, mrs[0]);
	us.addr = (uintptr_t)place_at(mine);
	us.rkey = mrs[0]->rkey;
	peer_swap(peer, &us, &them, sizeof(us));
	begin = now_ms();
	if (!peer->is_target)
		request(peer, t, mrs[0], place_at(mine), &them);
	else if (t->op->takes_recv)
		wrong = check_recv(peer, t);
	peer_sync(peer);
	judge(peer, t, wrong, now_ms() - begin);
	if (detect && holds_goal(peer, t))
		result(place_check_detects(&t->goal, t->length, t->seed), t,
		       "detects a wrong byte");
	while (count--)
		if (ibv_dereg_mr(mrs[count]))
			die("an MR cannot be deregistered");
	peer_sync(peer);
}

int main(int argc, char **argv)
{
	struct transfer transfers[64];
	const char *address = NULL;
	uint64_t seed = 1;
	bool detect = false;
	struct peer peer;
	int opt, n, i;

	areas_length(8 << 20);
	while ((opt = getopt(argc, argv, "a:s:l:d")) != -1) {
		if (opt == 'a')
			address = optarg;
		else if (opt == 's')
			seed = strtoull(optarg, NULL, 0);
		else if (opt == 'l')
			areas_length(strtoull(optarg, NULL, 0));
		else if (opt == 'd')
			detect = true;
		else
			return 2;
	}
	n = argc - optind;
	if (n < 1 || n > (int)(sizeof(transfers) / sizeof(transfers[0])))
		die("1 to 64 cases");
	for (i = 0; i < n; i++)
		parse(&transfers[i], argv[optind + i], seed + (uint64_t)i * 1000);
	peer_meet(&peer, address);
	detect = detect && holds_goal(&peer, &transfers[0]);
	printf("1..%d\n", n + detect);
	for (i = 0; i < n; i++)
		run(&peer, &transfers[i], detect && i == 0);
	areas_free();
	peer_part(&peer);
	return failures ? 1 : 0;
}
