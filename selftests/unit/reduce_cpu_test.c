// SPDX-License-Identifier: GPL-2.0
/* How the kernel's wrapper behaves: sections of the FPU, and its choice. */
#include <errno.h>
#include <linux/fpu.h>
#include <stdlib.h>
#include <string.h>

#include "reduce_cpu.h"
#include "reduce_reference.h"
#include "tap.h"

#define SOURCES	100

static char *sources[SOURCES];
static const void *from[SOURCES];

static void make(u32 type, u32 count, size_t length)
{
	u32 i;

	for (i = 0; i < count; i++) {
		sources[i] = malloc(length * reduce_size(type));
		random_fill(type, ORDINARY, sources[i],
			    length * reduce_size(type));
		from[i] = sources[i];
	}
}

static void drop(u32 count)
{
	u32 i;

	for (i = 0; i < count; i++)
		free(sources[i]);
}

/* Sections, for @count sources of @length elements; the result is right. */
static unsigned long sections_of(u32 type, u32 count, size_t length, u32 radix)
{
	size_t bytes = length * reduce_size(type);
	char *to = malloc(bytes), *want = malloc(bytes);
	struct reduce_work work = {
		.to = to, .from = from, .count = count, .length = length,
	};
	unsigned long before;
	struct reduce reduce;
	void *scratch;

	make(type, count, length);
	CHECK_INT(reduce_cpu_plan(&reduce, type, PEERLANE_REDUCE_SUM, count,
				  radix), 0);
	scratch = malloc(reduce_scratch_size(&reduce, count));
	before = fpu_stub.sections;
	reduce_cpu_run(&reduce, REDUCE_STEP_ALL, &work, scratch);
	before = fpu_stub.sections - before;
	work.to = want;
	reduce_all(&reduce, &work, scratch);
	CHECK(!memcmp(to, want, bytes));
	drop(count);
	free(scratch);
	free(want);
	free(to);
	return before;
}

/* Nobody else runs meanwhile, so they are short: this many at least. */
static void check_sections(u32 type, u32 count, size_t length, u32 radix)
{
	size_t bytes = (count + 1) * length * reduce_size(type);
	unsigned long sections = sections_of(type, count, length, radix);

	CHECK(sections >= (bytes + REDUCE_SECTION - 1) / REDUCE_SECTION);
	/* But not so short that beginning them is most of the work */
	CHECK(sections <= 4 * (bytes / REDUCE_SECTION + 1));
}

static void sections_are_short(void)
{
	reduce_cpu_init();
	check_sections(PEERLANE_TYPE_F32, 8, 262144, 32);
	check_sections(PEERLANE_TYPE_BF16, 8, 32768, 32);
	check_sections(PEERLANE_TYPE_F16, 3, 1000, 2);
	check_sections(PEERLANE_TYPE_F64, 100, 1001, 16);
	check_sections(PEERLANE_TYPE_F64, 1, 77777, 16);
}

static void nothing_is_no_section(void)
{
	reduce_cpu_init();
	CHECK_INT(sections_of(PEERLANE_TYPE_F32, 8, 0, 8), 0);
}

static void one_element_is_one_section(void)
{
	reduce_cpu_init();
	CHECK_INT(sections_of(PEERLANE_TYPE_BF16, 100, 1, 128), 1);
}

/* Each step goes through the wrapper as it goes without. */
static void steps_are_the_same(void)
{
	static const enum reduce_step steps[] = {
		REDUCE_STEP_FIRST, REDUCE_STEP_ACCUMULATE, REDUCE_STEP_COMBINE,
		REDUCE_STEP_FINISH, REDUCE_STEP_ALL,
	};
	static void (*const calls[])(const struct reduce *reduce,
				     const struct reduce_work *work) = {
		reduce_first, reduce_accumulate, reduce_combine, reduce_finish,
	};
	float to[3000] = {}, want[3000] = {};
	struct reduce_work work = {
		.to = to, .from = from, .count = 7, .length = 3000,
	};
	struct reduce reduce;
	size_t i;

	reduce_cpu_init();
	make(PEERLANE_TYPE_F32, 7, 3000);
	CHECK_INT(reduce_cpu_plan(&reduce, PEERLANE_TYPE_F32,
				  PEERLANE_REDUCE_AVG, 7, 8), 0);
	for (i = 0; i < ARRAY_SIZE(steps); i++) {
		work.to = to;
		reduce_cpu_run(&reduce, steps[i], &work, NULL);
		work.to = want;
		if (i < ARRAY_SIZE(calls))
			calls[i](&reduce, &work);
		else
			reduce_all(&reduce, &work, NULL);
		CHECK(!memcmp(to, want, sizeof(to)));
	}
	drop(7);
}

static void without_fpu_integers_are_left(void)
{
	struct reduce reduce;

	fpu_stub.is_away = true;
	CHECK(reduce_cpu_variant(0) == &reduce_integer);
	CHECK(!reduce_cpu_variant(1));
	fpu_stub.is_away = false;
	reduce_cpu_init();
	CHECK_INT(reduce_cpu_plan(&reduce, PEERLANE_TYPE_F32,
				  PEERLANE_REDUCE_SUM, 2, 2), 0);
}

static void without_fpu_floats_are_refused(void)
{
	struct reduce reduce;

	fpu_stub.is_away = true;
	reduce_cpu_init();
	CHECK_INT(reduce_cpu_plan(&reduce, PEERLANE_TYPE_F32,
				  PEERLANE_REDUCE_SUM, 2, 2), -EOPNOTSUPP);
	CHECK_INT(reduce_cpu_plan(&reduce, PEERLANE_TYPE_I32,
				  PEERLANE_REDUCE_SUM, 2, 2), 0);
	CHECK_INT(sections_of(PEERLANE_TYPE_I32, 8, 3000, 8), 0);
	fpu_stub.is_away = false;
}

static const struct tap_case cases[] = {
	TAP_CASE(without_fpu_floats_are_refused),
	TAP_CASE(without_fpu_integers_are_left),
	TAP_CASE(sections_are_short),
	TAP_CASE(nothing_is_no_section),
	TAP_CASE(one_element_is_one_section),
	TAP_CASE(steps_are_the_same),
};

int main(void)
{
	return TAP_RUN(cases);
}
