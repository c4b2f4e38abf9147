// SPDX-License-Identifier: GPL-2.0
/* What a worker knows: which segment goes next, which operation is complete. */
#include <errno.h>
#include <stdlib.h>

#include "tap.h"

#include "group_stream.h"

enum { I32 = 7, SUM = 1 };

#define WINDOW	3
#define PER	1024	/* elements in a segment */

struct worker {
	struct group_streams streams;
	void *memory;
	/* what the last group_stream_next() said */
	u64 n;
	u64 index;
	struct group_op *op;
	struct group_segment segment;
};

static void begin(struct worker *worker, u32 aggregators, u32 window)
{
	const struct group_shape shape = { 3, aggregators, 4096 };

	worker->memory = calloc(1, group_streams_size(aggregators, window));
	group_streams_init(&worker->streams, worker->memory, &shape, 1, window);
}

static void end(struct worker *worker)
{
	free(worker->memory);
}

/* All-reduce of @segments, or a barrier of none */
static void add(struct worker *worker, struct group_op *op, u64 segments)
{
	op->in_place = false;
	op->call = (struct group_call){ .kind = GROUP_BARRIER };
	if (segments)
		op->call = (struct group_call){
			GROUP_ALL_REDUCE, I32, SUM, 0, segments * PER - 1,
		};
	group_stream_add(&worker->streams, op);
}

static bool next(struct worker *worker, u32 aggregator)
{
	return group_stream_next(&worker->streams, aggregator, &worker->n,
				 &worker->op, &worker->index, &worker->segment);
}

/* Next is segment @index of @op, as number @n. */
static void check_next(struct worker *worker, u32 aggregator, u64 n,
		       const struct group_op *op, u64 index)
{
	if (!CHECK(next(worker, aggregator)))
		return;
	CHECK_INT(worker->n, n);
	CHECK(worker->op == op);
	CHECK_INT(worker->index, index);
	CHECK_INT(worker->segment.aggregator, aggregator);
	CHECK_INT(worker->segment.send, index * 4096);
}

/* The operation that it completes */
static struct group_op *result(struct worker *worker, u32 aggregator, u64 n,
			       u64 seq)
{
	struct group_op *done = NULL;

	CHECK_INT(group_stream_result(&worker->streams, aggregator, n, seq,
				      &done), 0);
	return done;
}

static void check_refused(struct worker *worker, u32 aggregator, u64 n, u64 seq)
{
	struct group_op *done;

	CHECK_INT(group_stream_result(&worker->streams, aggregator, n, seq,
				      &done), -EPROTO);
	CHECK(!done);
}

/* ---- one operation ---- */

static void segments_go_in_order(void)
{
	struct worker worker;
	struct group_op op;

	begin(&worker, 2, 8);
	CHECK(!next(&worker, 0));
	add(&worker, &op, 5);
	CHECK_INT(op.seq, 0);
	CHECK_INT(op.segments, 5);
	check_next(&worker, 0, 0, &op, 0);
	check_next(&worker, 0, 1, &op, 2);
	check_next(&worker, 1, 0, &op, 1);
	check_next(&worker, 0, 2, &op, 4);
	CHECK_INT(worker.segment.bytes, 4092);
	CHECK(!next(&worker, 0));
	check_next(&worker, 1, 1, &op, 3);
	CHECK(!next(&worker, 1));
	end(&worker);
}

static void it_is_complete_with_the_last_result(void)
{
	struct worker worker;
	struct group_op op;
	u32 i;

	begin(&worker, 2, 8);
	add(&worker, &op, 5);
	for (i = 0; i < 3; i++)
		next(&worker, 0);
	for (i = 0; i < 2; i++)
		next(&worker, 1);
	CHECK(!result(&worker, 0, 2, 0));
	CHECK(!result(&worker, 1, 0, 0));
	CHECK(!result(&worker, 0, 0, 0));
	CHECK(!result(&worker, 1, 1, 0));
	CHECK(result(&worker, 0, 1, 0) == &op);
	CHECK(list_empty(&worker.streams.ops));
	CHECK(!group_stream_abort(&worker.streams));
	end(&worker);
}

/* What came back is not all that is to be sent. */
static void it_is_not_complete_before_all_went(void)
{
	struct worker worker;
	struct group_op op;

	begin(&worker, 1, 1);
	add(&worker, &op, 3);
	check_next(&worker, 0, 0, &op, 0);
	CHECK(!result(&worker, 0, 0, 0));
	check_next(&worker, 0, 1, &op, 1);
	CHECK(!result(&worker, 0, 1, 0));
	check_next(&worker, 0, 2, &op, 2);
	CHECK(result(&worker, 0, 2, 0) == &op);
	end(&worker);
}

/* ---- the window ---- */

static void no_more_than_the_window_are_out(void)
{
	struct worker worker;
	struct group_op op;
	u32 i;

	begin(&worker, 1, WINDOW);
	add(&worker, &op, 10);
	for (i = 0; i < WINDOW; i++)
		check_next(&worker, 0, i, &op, i);
	CHECK(!next(&worker, 0));
	CHECK(!result(&worker, 0, 0, 0));
	check_next(&worker, 0, WINDOW, &op, WINDOW);
	CHECK(!next(&worker, 0));
	end(&worker);
}

/* The place of the next one is still in use. */
static void a_later_result_is_no_credit_for_an_earlier_one(void)
{
	struct worker worker;
	struct group_op op;
	u32 i;

	begin(&worker, 1, WINDOW);
	add(&worker, &op, 10);
	for (i = 0; i < WINDOW; i++)
		next(&worker, 0);
	CHECK(!result(&worker, 0, 1, 0));
	CHECK(!result(&worker, 0, 2, 0));
	CHECK(!next(&worker, 0));
	CHECK_INT(worker.streams.of[0].back, 0);
	CHECK(!result(&worker, 0, 0, 0));
	CHECK_INT(worker.streams.of[0].back, 3);
	for (i = 0; i < WINDOW; i++)
		check_next(&worker, 0, WINDOW + i, &op, WINDOW + i);
	CHECK(!next(&worker, 0));
	end(&worker);
}

static void windows_are_of_each_aggregator(void)
{
	struct worker worker;
	struct group_op op;

	begin(&worker, 2, 1);
	add(&worker, &op, 4);
	check_next(&worker, 0, 0, &op, 0);
	CHECK(!next(&worker, 0));
	check_next(&worker, 1, 0, &op, 1);
	CHECK(!next(&worker, 1));
	CHECK(!result(&worker, 1, 0, 0));
	CHECK(!next(&worker, 0));
	check_next(&worker, 1, 1, &op, 3);
	end(&worker);
}

/* ---- several operations ---- */

static void operations_follow_each_other(void)
{
	struct group_op op[4];
	struct worker worker;

	begin(&worker, 2, 8);
	add(&worker, &op[0], 1);	/* 0 of aggregator 0 */
	add(&worker, &op[1], 1);	/* 0 of aggregator 1 */
	add(&worker, &op[2], 2);
	check_next(&worker, 0, 0, &op[0], 0);
	check_next(&worker, 0, 1, &op[2], 0);
	CHECK(!next(&worker, 0));
	/* It comes when the stream is at its end. */
	add(&worker, &op[3], 0);
	CHECK(!next(&worker, 0));
	check_next(&worker, 1, 0, &op[1], 0);
	check_next(&worker, 1, 1, &op[2], 1);
	check_next(&worker, 1, 2, &op[3], 0);
	CHECK(!next(&worker, 1));
	end(&worker);
}

static void operations_complete_in_any_order(void)
{
	struct group_op op[3];
	struct worker worker;
	u32 i;

	begin(&worker, 1, 8);
	for (i = 0; i < 3; i++) {
		add(&worker, &op[i], i != 1);
		check_next(&worker, 0, i, &op[i], 0);
	}
	CHECK(result(&worker, 0, 1, 1) == &op[1]);
	CHECK(result(&worker, 0, 2, 2) == &op[2]);
	/* The list has no hole. */
	add(&worker, &op[1], 1);
	CHECK_INT(op[1].seq, 3);
	check_next(&worker, 0, 3, &op[1], 0);
	CHECK(result(&worker, 0, 0, 0) == &op[0]);
	CHECK(result(&worker, 0, 3, 3) == &op[1]);
	end(&worker);
}

/* Completed and freed while another aggregator has sent nothing of the next */
static void what_is_complete_is_not_touched(void)
{
	struct group_op *first = malloc(sizeof(*first)), second;
	struct worker worker;

	begin(&worker, 2, 8);
	add(&worker, first, 2);
	next(&worker, 0);
	next(&worker, 1);
	CHECK(!result(&worker, 1, 0, 0));
	CHECK(result(&worker, 0, 0, 0) == first);
	free(first);
	add(&worker, &second, 2);
	check_next(&worker, 1, 1, &second, 0);
	check_next(&worker, 0, 1, &second, 1);
	end(&worker);
}

/* ---- wrong results ---- */

static void results_of_nothing_are_refused(void)
{
	struct worker worker;
	struct group_op op;

	begin(&worker, 2, WINDOW);
	check_refused(&worker, 0, 0, 0);
	add(&worker, &op, 20);
	check_refused(&worker, 0, 0, 0);
	next(&worker, 0);
	check_refused(&worker, 1, 0, 0);	/* of another aggregator */
	check_refused(&worker, 0, 1, 0);	/* not sent yet */
	check_refused(&worker, 0, WINDOW, 0);	/* in the same place */
	check_refused(&worker, 0, U64_MAX, 0);
	check_refused(&worker, 0, 0, 1);	/* of another operation */
	CHECK_INT(op.back, 0);
	CHECK(!result(&worker, 0, 0, 0));
	end(&worker);
}

static void a_result_comes_once(void)
{
	struct worker worker;
	struct group_op op;
	u32 i;

	begin(&worker, 1, WINDOW);
	add(&worker, &op, 20);
	for (i = 0; i < WINDOW; i++)
		next(&worker, 0);
	CHECK(!result(&worker, 0, 0, 0));
	check_refused(&worker, 0, 0, 0);
	next(&worker, 0);
	check_refused(&worker, 0, 0, 0);
	CHECK_INT(op.back, 1);
	end(&worker);
}

/* ---- the end ---- */

static void all_come_back_once_and_in_order(void)
{
	struct group_op op[4];
	struct worker worker;
	u32 i;

	begin(&worker, 2, WINDOW);
	for (i = 0; i < 4; i++)
		add(&worker, &op[i], i ? 8 : 1);
	for (i = 0; i < WINDOW; i++)
		next(&worker, 0);
	CHECK(result(&worker, 0, 0, 0) == &op[0]);
	for (i = 1; i < 4; i++)
		CHECK(group_stream_abort(&worker.streams) == &op[i]);
	CHECK(!group_stream_abort(&worker.streams));
	CHECK(!group_stream_abort(&worker.streams));
	end(&worker);
}

static void nothing_of_what_was_aborted_is_touched(void)
{
	struct group_op *op = malloc(sizeof(*op));
	struct worker worker;
	u32 i;

	begin(&worker, 2, WINDOW);
	add(&worker, op, 20);
	for (i = 0; i < WINDOW; i++)
		next(&worker, 0);
	next(&worker, 1);
	CHECK(!result(&worker, 0, 1, 0));
	CHECK(group_stream_abort(&worker.streams) == op);
	free(op);
	CHECK(!next(&worker, 0));
	CHECK(!next(&worker, 1));
	for (i = 0; i < 2 * WINDOW; i++) {
		check_refused(&worker, 0, i, 0);
		check_refused(&worker, 1, i, 0);
	}
	end(&worker);
}

/* ---- all ranks agree ---- */

#define OPS	6
#define MOST	200	/* segments to one aggregator */

struct said {
	u64 seq;
	u64 index;
	bool is_there;
};

/* Sends all, to aggregators in an order of its own, and hears at once. */
static void walk(struct worker *worker, u32 aggregators, u32 seed,
		 struct said said[][MOST])
{
	struct group_op op[OPS];
	u32 i, a, idle = 0;
	struct said now;

	for (i = 0; i < OPS; i++)
		add(worker, &op[i], (7 * i + 3) % 11);
	for (i = seed; idle < aggregators; i += seed) {
		a = i % aggregators;
		idle = next(worker, a) ? 0 : idle + 1;
		if (idle)
			continue;
		now = (struct said){ worker->op->seq, worker->index, true };
		if (!CHECK(worker->n < MOST))
			return;
		if (!said[a][worker->n].is_there)
			said[a][worker->n] = now;
		CHECK_INT(said[a][worker->n].seq, now.seq);
		CHECK_INT(said[a][worker->n].index, now.index);
		result(worker, a, worker->n, now.seq);
	}
	CHECK(list_empty(&worker->streams.ops));
}

static void streams_of_all_ranks_are_the_same(void)
{
	static const u32 seeds[] = { 1, 7, 11, 13 };	/* to 5 coprime */
	struct said said[5][MOST];
	struct worker worker;
	u32 aggregators, i;

	for (aggregators = 1; aggregators <= 5; aggregators++) {
		memset(said, 0, sizeof(said));
		for (i = 0; i < ARRAY_SIZE(seeds); i++) {
			begin(&worker, aggregators, 1 + i);
			walk(&worker, aggregators, seeds[i], said);
			end(&worker);
		}
	}
}

static const struct tap_case cases[] = {
	TAP_CASE(segments_go_in_order),
	TAP_CASE(it_is_complete_with_the_last_result),
	TAP_CASE(it_is_not_complete_before_all_went),
	TAP_CASE(no_more_than_the_window_are_out),
	TAP_CASE(a_later_result_is_no_credit_for_an_earlier_one),
	TAP_CASE(windows_are_of_each_aggregator),
	TAP_CASE(operations_follow_each_other),
	TAP_CASE(operations_complete_in_any_order),
	TAP_CASE(what_is_complete_is_not_touched),
	TAP_CASE(results_of_nothing_are_refused),
	TAP_CASE(a_result_comes_once),
	TAP_CASE(all_come_back_once_and_in_order),
	TAP_CASE(nothing_of_what_was_aborted_is_touched),
	TAP_CASE(streams_of_all_ranks_are_the_same),
};

int main(void)
{
	return TAP_RUN(cases);
}
