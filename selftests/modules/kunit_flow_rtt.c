// SPDX-License-Identifier: GPL-2.0
#include <kunit/test.h>
#include <linux/slab.h>
#include <linux/string.h>

/* The module has them too. */
#define flow_rtt_bucket		tested_rtt_bucket
#define flow_rtt_bucket_middle	tested_rtt_bucket_middle
#define flow_rtt_add		tested_rtt_add
#define flow_rtt_percentile	tested_rtt_percentile
#include "flow_rtt.c"

#define LAST	(PEERLANE_RTT_BUCKETS - 1)

/* ---- buckets, by the words of the netlink specification ---- */

static u64 said_start(u32 i)
{
	return i < 32 ? 64ULL * i : (16ULL + i % 16) << (5 + i / 16);
}

static u64 said_width(u32 i)
{
	return i < 32 ? 64 : 1ULL << (5 + i / 16);
}

static void each_bucket_begins_and_ends_as_told(struct kunit *test)
{
	u64 start, end;
	u32 i;

	for (i = 0; i < PEERLANE_RTT_BUCKETS; i++) {
		start = said_start(i);
		end = start + said_width(i);
		KUNIT_EXPECT_EQ_MSG(test, flow_rtt_bucket(start), i, "%u", i);
		KUNIT_EXPECT_EQ_MSG(test, flow_rtt_bucket(end - 1), i, "%u", i);
		if (i)
			KUNIT_EXPECT_EQ(test, flow_rtt_bucket(start - 1), i - 1);
		if (i < LAST)
			KUNIT_EXPECT_EQ(test, end, said_start(i + 1));
	}
}

static void the_last_bucket_has_no_end(struct kunit *test)
{
	u64 end = said_start(LAST) + said_width(LAST);

	KUNIT_EXPECT_EQ(test, flow_rtt_bucket(end), (u32)LAST);
	KUNIT_EXPECT_EQ(test, flow_rtt_bucket(1ULL << 63), (u32)LAST);
	KUNIT_EXPECT_EQ(test, flow_rtt_bucket(~0ULL), (u32)LAST);
}

static void buckets_are_in_order(struct kunit *test)
{
	u32 bucket, last = 0;
	u64 ns;

	for (ns = 0; ns < 1ULL << 40; ns += 1 + ns / 100) {
		bucket = flow_rtt_bucket(ns);
		KUNIT_ASSERT_TRUE_MSG(test, bucket >= last && bucket <= LAST,
				      "%llu ns", ns);
		last = bucket;
	}
}

static void the_middle_is_in_the_middle(struct kunit *test)
{
	u32 i;

	for (i = 0; i < PEERLANE_RTT_BUCKETS; i++)
		KUNIT_EXPECT_EQ(test, flow_rtt_bucket_middle(i),
				said_start(i) + said_width(i) / 2);
}

/* ---- what is kept of samples ---- */

static struct flow_rtt *empty(struct kunit *test)
{
	struct flow_rtt *rtt = kmalloc(sizeof(*rtt), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, rtt);
	memset(rtt, 0, sizeof(*rtt));
	return rtt;
}

static void count_sum_and_extremes(struct kunit *test)
{
	struct flow_rtt *rtt = empty(test);

	flow_rtt_add(rtt, 5000);
	KUNIT_EXPECT_EQ(test, rtt->min, 5000ULL);
	KUNIT_EXPECT_EQ(test, rtt->max, 5000ULL);
	flow_rtt_add(rtt, 7000);
	flow_rtt_add(rtt, 1000);
	flow_rtt_add(rtt, 6000);
	KUNIT_EXPECT_EQ(test, rtt->samples, 4ULL);
	KUNIT_EXPECT_EQ(test, rtt->sum, 19000ULL);
	KUNIT_EXPECT_EQ(test, rtt->min, 1000ULL);
	KUNIT_EXPECT_EQ(test, rtt->max, 7000ULL);
	KUNIT_EXPECT_EQ(test, rtt->bucket[flow_rtt_bucket(6000)], 1U);
	kfree(rtt);
}

static void all_are_halved_when_one_would_overflow(struct kunit *test)
{
	struct flow_rtt *rtt = empty(test);

	rtt->bucket[1] = ~0U;
	rtt->bucket[2] = 101;
	rtt->bucket[LAST] = 1000;
	rtt->samples = 5000000000ULL;
	flow_rtt_add(rtt, 64);
	KUNIT_EXPECT_EQ(test, rtt->bucket[1], 0x80000000);
	KUNIT_EXPECT_EQ(test, rtt->bucket[2], 50U);
	KUNIT_EXPECT_EQ(test, rtt->bucket[LAST], 500U);
	KUNIT_EXPECT_EQ(test, rtt->samples, 5000000001ULL);
	flow_rtt_add(rtt, 128);
	KUNIT_EXPECT_EQ(test, rtt->bucket[1], 0x80000000);
	KUNIT_EXPECT_EQ(test, rtt->bucket[2], 51U);
	kfree(rtt);
}

static void full_but_for_one_is_not_halved(struct kunit *test)
{
	struct flow_rtt *rtt = empty(test);

	rtt->bucket[1] = ~0U - 1;
	rtt->bucket[2] = 100;
	flow_rtt_add(rtt, 64);
	KUNIT_EXPECT_EQ(test, rtt->bucket[1], ~0U);
	KUNIT_EXPECT_EQ(test, rtt->bucket[2], 100U);
	kfree(rtt);
}

/* ---- percentiles ---- */

static void without_samples_there_is_none(struct kunit *test)
{
	struct flow_rtt *rtt = empty(test);

	KUNIT_EXPECT_EQ(test, flow_rtt_percentile(rtt, 500), 0ULL);
	KUNIT_EXPECT_EQ(test, flow_rtt_percentile(rtt, 1000), 0ULL);
	kfree(rtt);
}

static void of_one_sample_it_is_that_one(struct kunit *test)
{
	static const u64 samples[] = { 1, 63, 64, 2047, 2048, 123456789,
				       ~0ULL >> 1 };
	struct flow_rtt *rtt = empty(test);
	size_t i;

	for (i = 0; i < ARRAY_SIZE(samples); i++) {
		memset(rtt, 0, sizeof(*rtt));
		flow_rtt_add(rtt, samples[i]);
		KUNIT_EXPECT_EQ(test, flow_rtt_percentile(rtt, 1), samples[i]);
		KUNIT_EXPECT_EQ(test, flow_rtt_percentile(rtt, 500), samples[i]);
		KUNIT_EXPECT_EQ(test, flow_rtt_percentile(rtt, 1000),
				samples[i]);
	}
	kfree(rtt);
}

/* 500 of 1000 do not exceed the median: of two samples it is the lower. */
static void half_of_two(struct kunit *test)
{
	struct flow_rtt *rtt = empty(test);

	flow_rtt_add(rtt, 10);
	flow_rtt_add(rtt, 1000000);
	KUNIT_EXPECT_TRUE(test, flow_rtt_percentile(rtt, 500) < 64);
	KUNIT_EXPECT_TRUE(test, flow_rtt_percentile(rtt, 501) > 960000);
	kfree(rtt);
}

static void also_of_more_than_32_bits_of_samples(struct kunit *test)
{
	struct flow_rtt *rtt = empty(test);

	rtt->max = ~0ULL;
	rtt->bucket[10] = ~0U;
	rtt->bucket[20] = ~0U;
	rtt->bucket[30] = 1;
	KUNIT_EXPECT_EQ(test, flow_rtt_percentile(rtt, 500),
			flow_rtt_bucket_middle(20));
	KUNIT_EXPECT_EQ(test, flow_rtt_percentile(rtt, 499),
			flow_rtt_bucket_middle(10));
	KUNIT_EXPECT_EQ(test, flow_rtt_percentile(rtt, 1000),
			flow_rtt_bucket_middle(30));
	kfree(rtt);
}

#define SAMPLES	500

static void sort(u64 *samples, u32 count)
{
	u32 i, j;
	u64 one;

	for (i = 1; i < count; i++) {
		one = samples[i];
		for (j = i; j && samples[j - 1] > one; j--)
			samples[j] = samples[j - 1];
		samples[j] = one;
	}
}

/* Of sorted samples, each permille is the one at that place. */
static void check_sorted(struct kunit *test, const struct flow_rtt *rtt,
			 const u64 *samples, u32 count)
{
	u64 got, want, room;
	u32 permille;

	for (permille = 1; permille <= 1000; permille++) {
		want = samples[(count * permille + 999) / 1000 - 1];
		got = flow_rtt_percentile(rtt, permille);
		room = want < 2048 ? 32 : want / 32 + 1;
		KUNIT_ASSERT_TRUE_MSG(test, got + room >= want &&
				      got <= want + room,
				      "%u of 1000: %llu, not %llu", permille,
				      got, want);
	}
}

static void within_a_32nd_of_sorted_samples(struct kunit *test)
{
	u64 *samples = kmalloc(SAMPLES * sizeof(*samples), GFP_KERNEL);
	struct flow_rtt *rtt = empty(test);
	u32 i, round, random = 1;

	KUNIT_ASSERT_NOT_NULL(test, samples);
	for (round = 0; round < 8; round++) {
		memset(rtt, 0, sizeof(*rtt));
		for (i = 0; i < SAMPLES - round; i++) {
			random = random * 1664525 + 1013904223;
			/* As many of each magnitude */
			samples[i] = (u64)random >> (random >> 4) % 32;
			if (round % 2)
				samples[i] = (u64)random << random % 2;
			flow_rtt_add(rtt, samples[i]);
		}
		sort(samples, SAMPLES - round);
		check_sorted(test, rtt, samples, SAMPLES - round);
	}
	kfree(samples);
	kfree(rtt);
}

static struct kunit_case flow_rtt_cases[] = {
	KUNIT_CASE(each_bucket_begins_and_ends_as_told),
	KUNIT_CASE(the_last_bucket_has_no_end),
	KUNIT_CASE(buckets_are_in_order),
	KUNIT_CASE(the_middle_is_in_the_middle),
	KUNIT_CASE(count_sum_and_extremes),
	KUNIT_CASE(all_are_halved_when_one_would_overflow),
	KUNIT_CASE(full_but_for_one_is_not_halved),
	KUNIT_CASE(without_samples_there_is_none),
	KUNIT_CASE(of_one_sample_it_is_that_one),
	KUNIT_CASE(half_of_two),
	KUNIT_CASE(also_of_more_than_32_bits_of_samples),
	KUNIT_CASE(within_a_32nd_of_sorted_samples),
	{}
};

static struct kunit_suite flow_rtt_suite = {
	.name		= "peerlane_flow_rtt",
	.test_cases	= flow_rtt_cases,
};

kunit_test_suite(flow_rtt_suite);
