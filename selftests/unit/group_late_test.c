// SPDX-License-Identifier: GPL-2.0
/* Which rank is said to be late, and when it is said. */
#include "group_table_make.h"

#define MS	1000000ULL

static struct group_late late;
static struct group_late_word words[2];
static u64 now;
static u64 number;

static void start(void)
{
	begin();
	memset(&late, 0, sizeof(late));
	now = 1000 * GROUP_LATE_WINDOW;
	number = 0;
	CHECK_INT(group_late_look(&table, &late, now, words), 0);
}

/* A segment, to which @rank comes @ns after the others, and then the next begins. */
static void segment(u32 rank, u64 ns)
{
	/* Its index is within the operation. */
	struct group_part part = make_part(number % 40);
	u32 i;

	part.n = number;
	part.seq = number / 40 * 2;	/* that index 1 stays ours */
	for (i = 0; i < SIZE; i++)
		if (i != rank)
			CHECK_INT(group_table_contribute(&table, i, &part, now,
							 &fault), 0);
	now += ns;
	CHECK_INT(group_table_contribute(&table, rank, &part, now, &fault), 1);
	group_table_done(&table, number++);
}

/* A window of @count segments, of which each waits @ns for @rank. */
static u32 window(u32 rank, u32 count, u64 ns)
{
	u64 end = now + GROUP_LATE_WINDOW;

	for (; count; count--)
		segment(rank, ns);
	CHECK(now <= end);
	now = end;
	return group_late_look(&table, &late, now, words);
}

static void three_windows_make_one_word(void)
{
	u32 i;

	start();
	CHECK_INT(window(3, 10, 80 * MS), 0);
	CHECK_INT(window(3, 10, 80 * MS), 0);
	CHECK_INT(window(3, 10, 80 * MS), 1);
	CHECK(words[0].late);
	CHECK_INT(words[0].rank, 3);
	CHECK_INT(words[0].delay_ns, 80 * MS);
	/* 10 * 80 ms of 2 s, by 3 segments on their way */
	CHECK_INT(words[0].share, 400000 / WINDOW);
	for (i = 0; i < 10; i++)
		CHECK_INT(window(3, 10, 80 * MS), 0);
	end();
}

static void it_is_in_time_after_three_others(void)
{
	start();
	window(3, 10, 80 * MS);
	window(3, 10, 80 * MS);
	CHECK_INT(window(3, 10, 80 * MS), 1);
	CHECK_INT(window(3, 10, 0), 0);
	CHECK_INT(window(3, 10, 0), 0);
	CHECK_INT(window(3, 10, 80 * MS), 0);
	CHECK_INT(window(3, 10, 0), 0);
	CHECK_INT(window(3, 10, 0), 0);
	CHECK_INT(window(3, 10, 0), 1);
	CHECK(!words[0].late);
	CHECK_INT(words[0].rank, 3);
	CHECK_INT(window(3, 10, 0), 0);
	end();
}

static void another_one_takes_its_place(void)
{
	start();
	window(3, 10, 80 * MS);
	window(3, 10, 80 * MS);
	CHECK_INT(window(3, 10, 80 * MS), 1);
	CHECK_INT(window(1, 10, 80 * MS), 0);
	CHECK_INT(window(1, 10, 80 * MS), 0);
	CHECK_INT(window(1, 10, 80 * MS), 2);
	CHECK(!words[0].late);
	CHECK_INT(words[0].rank, 3);
	CHECK(words[1].late);
	CHECK_INT(words[1].rank, 1);
	end();
}

static void what_costs_little_is_not_told(void)
{
	u32 i;

	start();
	for (i = 0; i < 6; i++)
		CHECK_INT(window(3, 10, 59 * MS), 0);
	end();
}

/* A few are judged with those that follow. */
static void few_segments_are_an_accident(void)
{
	u32 i;

	start();
	for (i = 0; i < 5; i++)
		CHECK_INT(window(3, 4, 200 * MS), 0);
	CHECK_INT(window(3, 4, 200 * MS), 1);
	CHECK_INT(words[0].rank, 3);
	end();
}

static void an_idle_group_is_not_judged(void)
{
	u32 i;

	start();
	window(3, 10, 80 * MS);
	window(3, 10, 80 * MS);
	for (i = 0; i < 6; i++)
		CHECK_INT(window(3, 0, 0), 0);
	/* That window was long, so little of it was lost. */
	CHECK_INT(window(3, 10, 80 * MS), 0);
	CHECK_INT(window(3, 10, 80 * MS), 0);
	end();
}

/* Two that are as late: this is how it is. */
static void two_of_a_kind_are_not_told(void)
{
	u32 i, k, rank;

	start();
	for (i = 0; i < 6; i++) {
		for (k = 0; k < 10; k++, number++) {
			struct group_part part = make_part(number % 40);

			part.n = number;
			part.seq = number / 40 * 2;	/* that index 1 stays ours */
			for (rank = 0; rank < 3; rank++)
				group_table_contribute(&table, rank, &part, now,
						       &fault);
			now += 80 * MS;
			group_table_contribute(&table, 3, &part, now, &fault);
			now += 1;
			CHECK_INT(group_table_contribute(&table, 4, &part, now,
							 &fault), 1);
			group_table_done(&table, number);
		}
		now += GROUP_LATE_WINDOW - 10 * 80 * MS;
		CHECK_INT(group_late_look(&table, &late, now, words), 0);
	}
	end();
}

static void one_that_stands_still_is_told(void)
{
	u32 i;

	start();
	for (i = 0; i < SIZE; i++)
		if (i != 2)
			CHECK_INT(contribute(i, 0, now), 0);
	for (i = 0; i < 2; i++) {
		now += GROUP_LATE_WINDOW;
		CHECK_INT(group_late_look(&table, &late, now, words), 0);
	}
	now += GROUP_LATE_WINDOW;
	CHECK_INT(group_late_look(&table, &late, now, words), 1);
	CHECK_INT(words[0].rank, 2);
	CHECK_INT(words[0].share, 1000000);
	end();
}

static void of_several_that_are_missing_none_is_told(void)
{
	u32 i;

	start();
	CHECK_INT(contribute(SIZE - 1, 0, now), 0);
	for (i = 0; i < 5; i++) {
		now += GROUP_LATE_WINDOW;
		CHECK_INT(group_late_look(&table, &late, now, words), 0);
	}
	end();
}

static void it_looks_once_in_a_window(void)
{
	start();
	now += GROUP_LATE_WINDOW - 1;
	CHECK_INT(group_late_look(&table, &late, now, words), 0);
	CHECK(late.at < now);
	segment(3, 0);
	for (now++; number < 8;)
		segment(3, 0);
	CHECK_INT(group_late_look(&table, &late, now, words), 0);
	CHECK(late.at == now);
	end();
}

static const struct tap_case cases[] = {
	TAP_CASE(three_windows_make_one_word),
	TAP_CASE(it_is_in_time_after_three_others),
	TAP_CASE(another_one_takes_its_place),
	TAP_CASE(what_costs_little_is_not_told),
	TAP_CASE(few_segments_are_an_accident),
	TAP_CASE(an_idle_group_is_not_judged),
	TAP_CASE(two_of_a_kind_are_not_told),
	TAP_CASE(one_that_stands_still_is_told),
	TAP_CASE(of_several_that_are_missing_none_is_told),
	TAP_CASE(it_looks_once_in_a_window),
};

int main(void)
{
	return TAP_RUN(cases);
}
