// SPDX-License-Identifier: GPL-2.0
/*
 * f16 and bf16: every one of the 65,536 values to f32 and back, and every place
 * where rounding changes its mind, by every variant, against exact arithmetic.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reduce_cpu.h"
#include "reduce_reference.h"
#include "tap.h"

#define VALUES	65536

static u16 all[VALUES];
static float wide[4 * VALUES];
static u16 back[4 * VALUES];

static void make_all(void)
{
	u32 i;

	for (i = 0; i < VALUES; i++)
		all[i] = i;
}

/* One source: nothing is added, it is only loaded and stored. */
static struct reduce plan(const struct reduce_variant *variant, u32 type, u32 op)
{
	struct reduce reduce;

	CHECK_INT(reduce_init(&reduce, type, op, 1, 2, variant, &reduce_float), 0);
	return reduce;
}

static void check_widen(const struct reduce_variant *variant, u32 type)
{
	struct reduce reduce = plan(variant, type, PEERLANE_REDUCE_SUM);
	const void *from = all;
	struct reduce_work work = {
		.to = wide, .from = &from, .count = 1, .length = VALUES,
	};
	struct number number;
	u32 i, bits;

	reduce_first(&reduce, &work);
	for (i = 0; i < VALUES; i++) {
		memcpy(&bits, &wide[i], sizeof(bits));
		number = reference_read(type, all, i);
		if (!reference_same(PEERLANE_TYPE_F32, bits,
				    reference_store(PEERLANE_TYPE_F32, number))) {
			printf("# %s %s %04x\n", variant->name, type_names[type], i);
			CHECK(!"another number");
			return;
		}
	}
}

/* The numbers in wide[] as narrow ones */
static void check_narrow(const struct reduce_variant *variant, u32 type,
			 size_t length)
{
	struct reduce reduce = plan(variant, type, PEERLANE_REDUCE_SUM);
	const void *from = wide;
	struct reduce_work work = {
		.to = back, .from = &from, .count = 1, .length = length,
	};
	uint64_t want;
	size_t i;

	reduce_finish(&reduce, &work);
	for (i = 0; i < length; i++) {
		want = reference_store(type, (struct number){ .f = wide[i] });
		if (reference_same(type, back[i], want))
			continue;
		printf("# %s %s of %a: %04x, not %04x\n", variant->name,
		       type_names[type], wide[i], back[i], (u32)want);
		CHECK(!"rounded otherwise");
		return;
	}
}

static void each(void (*check)(const struct reduce_variant *variant, u32 type))
{
	const struct reduce_variant *variant;
	unsigned int i;

	make_all();
	for (i = 0; (variant = reduce_cpu_variant(i)); i++) {
		if (!variant->fold[PEERLANE_TYPE_F16][PEERLANE_REDUCE_SUM])
			continue;
		check(variant, PEERLANE_TYPE_F16);
		check(variant, PEERLANE_TYPE_BF16);
	}
}

static void every_value_is_widened(void)
{
	each(check_widen);
}

static void check_back(const struct reduce_variant *variant, u32 type)
{
	u32 i;

	check_widen(variant, type);
	check_narrow(variant, type, VALUES);
	for (i = 0; i < VALUES; i++)
		if (!reference_is_nan(type, i) && !tap.bad)
			CHECK_INT(back[i], i);
}

static void every_value_comes_back(void)
{
	each(check_back);
}

/* Half way to the next value, and the f32 before and behind that */
static void check_ties(const struct reduce_variant *variant, u32 type)
{
	size_t length = 0;
	double next;
	float tie;
	u32 i;

	for (i = 0; i < VALUES; i++) {
		if (!isfinite(reference_read(type, all, i).f) || i == 0xffff)
			continue;
		next = reference_read(type, all, i + 1).f;
		/* The value behind the largest one would be this. */
		if (isinf(next))
			next = type == PEERLANE_TYPE_F16 ? 65536 : 0x1p128;
		next = copysign(next, reference_read(type, all, i).f);
		tie = (float)((reference_read(type, all, i).f + next) / 2);
		wide[length++] = tie;
		wide[length++] = nextafterf(tie, INFINITY);
		wide[length++] = nextafterf(tie, -INFINITY);
	}
	check_narrow(variant, type, length);
}

static void ties_go_to_the_even_one(void)
{
	each(check_ties);
}

static void check_random(const struct reduce_variant *variant, u32 type)
{
	random_fill(PEERLANE_TYPE_F32, ANY, wide, sizeof(wide));
	check_narrow(variant, type, ARRAY_SIZE(wide));
}

static void any_f32_is_rounded(void)
{
	each(check_random);
}

/*
 * 2048 + 1 + 1 in f16 is 2048 if each sum is rounded, 2050 if the last one is.
 * In bf16 likewise 256 + 1 + 1.
 */
static void check_once(const struct reduce_variant *variant, u32 type)
{
	float large = type == PEERLANE_TYPE_F16 ? 2048 : 256;
	u16 one[40], first[40], to[40], want;
	const void *from[] = { first, one, one };
	struct reduce reduce = plan(variant, type, PEERLANE_REDUCE_SUM);
	struct reduce_work work = {
		.to = to, .from = from, .count = 3, .length = 40,
	};
	char scratch[1 << 14];
	size_t i;

	for (i = 0; i < 40; i++) {
		one[i] = reference_store(type, (struct number){ .f = 1 });
		first[i] = reference_store(type, (struct number){ .f = large });
	}
	want = reference_store(type, (struct number){ .f = large + 2 });
	/* In one block, and with a partial result between two. */
	for (reduce.radix = 3; reduce.radix > 1; reduce.radix--) {
		reduce_all(&reduce, &work, scratch);
		for (i = 0; i < 40; i++)
			CHECK_INT(to[i], want);
	}
}

static void sums_are_rounded_once(void)
{
	each(check_once);
}

static const struct tap_case cases[] = {
	TAP_CASE(every_value_is_widened),
	TAP_CASE(every_value_comes_back),
	TAP_CASE(ties_go_to_the_even_one),
	TAP_CASE(any_f32_is_rounded),
	TAP_CASE(sums_are_rounded_once),
};

int main(void)
{
	return TAP_RUN(cases);
}
