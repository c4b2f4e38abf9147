// SPDX-License-Identifier: GPL-2.0
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/ktime.h>
#include <linux/sched.h>

#include <asm/barrier.h>

#include "compat_fpu.h"
#include "reduce_cpu.h"

#ifdef CONFIG_X86_64
#include <asm/cpufeature.h>
#include <asm/fpu/api.h>
#include <asm/fpu/types.h>
#endif

#define SOURCES		8
#define TRIES		3

/* By type: what does most, NULL where nothing does it, and what does the rest. */
static const struct reduce_variant *best[REDUCE_TYPES];
static const struct reduce_variant *rest[REDUCE_TYPES];

/* ---- what the processor has ---- */

#ifdef CONFIG_X86_64
static bool has_avx2(void)
{
	return boot_cpu_has(X86_FEATURE_AVX2) && boot_cpu_has(X86_FEATURE_F16C) &&
	       cpu_has_xfeatures(XFEATURE_MASK_SSE | XFEATURE_MASK_YMM, NULL);
}

static bool has_avx512(void)
{
	return has_avx2() && boot_cpu_has(X86_FEATURE_AVX512F) &&
	       boot_cpu_has(X86_FEATURE_AVX512BW) &&
	       boot_cpu_has(X86_FEATURE_AVX512DQ) &&
	       boot_cpu_has(X86_FEATURE_AVX512VL) &&
	       cpu_has_xfeatures(XFEATURE_MASK_AVX512, NULL);
}
#endif

#ifdef PEERLANE_FPU
/* Fills @found, best last; returns how many. */
static unsigned int find_fpu(const struct reduce_variant **found)
{
	unsigned int count = 0;

	if (!peerlane_fpu_available())
		return 0;
	found[count++] = &reduce_float;
	found[count++] = &reduce_vector16;
#ifdef CONFIG_X86_64
	if (has_avx2())
		found[count++] = &reduce_avx2;
	if (has_avx512())
		found[count++] = &reduce_avx512;
#endif
	return count;
}
#else
static unsigned int find_fpu(const struct reduce_variant **found)
{
	return 0;
}
#endif

const struct reduce_variant *reduce_cpu_variant(unsigned int index)
{
	const struct reduce_variant *found[5] = { &reduce_integer };

	return index <= find_fpu(found + 1) ? found[index] : NULL;
}

/* ---- sections ---- */

static bool uses_fpu(const struct reduce *reduce)
{
	return reduce->variant->uses_fpu || reduce->rest->uses_fpu;
}

/*
 * Elements of a section: nobody else runs on this processor meanwhile. Whole
 * cache lines if possible.
 */
static size_t section_of(const struct reduce *reduce, enum reduce_step step,
			 u32 count)
{
	bool is_partial = step == REDUCE_STEP_COMBINE ||
			  step == REDUCE_STEP_FINISH;
	size_t wide = reduce_accumulator_size(reduce->type);
	size_t source = is_partial ? wide : reduce_size(reduce->type);
	size_t length = REDUCE_SECTION / (count * source + wide);

	if (length >= 64)
		return ALIGN_DOWN(length, 64);
	return length ? length : 1;
}

static void run_section(const struct reduce *reduce, enum reduce_step step,
			const struct reduce_work *work, void *scratch)
{
	switch (step) {
	case REDUCE_STEP_FIRST:
		return reduce_first(reduce, work);
	case REDUCE_STEP_ACCUMULATE:
		return reduce_accumulate(reduce, work);
	case REDUCE_STEP_COMBINE:
		return reduce_combine(reduce, work);
	case REDUCE_STEP_FINISH:
		return reduce_finish(reduce, work);
	case REDUCE_STEP_ALL:
		return reduce_all(reduce, work, scratch);
	}
}

void reduce_cpu_run(const struct reduce *reduce, enum reduce_step step,
		    const struct reduce_work *work, void *scratch)
{
	size_t section = section_of(reduce, step, work->count);
	size_t left = work->length;
	bool is_fpu = uses_fpu(reduce);
	struct reduce_work part = *work;

	for (; left; left -= part.length) {
		part.length = min(left, section);
		if (is_fpu)
			peerlane_fpu_begin();
		run_section(reduce, step, &part, scratch);
		if (is_fpu)
			peerlane_fpu_end();
		part.begin += part.length;
		cond_resched();
	}
	if (!work->past_cache)
		return;
	/* What went past the cache is in no order with what follows. */
	wmb();
}

/* ---- the choice ---- */

int reduce_cpu_plan(struct reduce *reduce, u32 type, u32 op, u32 ranks,
		    u32 radix)
{
	if (!reduce_size(type) || !best[type])
		return -EOPNOTSUPP;
	return reduce_init(reduce, type, op, ranks, radix, best[type],
			   rest[type]);
}

/*
 * Nanoseconds for some sources that are in the cache, the least of some tries.
 * All of them are the same zeroes: an add takes no longer for other numbers.
 */
static u64 measure(const struct reduce_variant *variant, u32 type)
{
	static u64 zeroes[REDUCE_SECTION / (SOURCES + 1) / sizeof(u64)];
	const void *from[SOURCES];
	struct reduce_work work = {
		.to = zeroes, .from = from, .count = SOURCES,
		.length = sizeof(zeroes) / reduce_accumulator_size(type),
	};
	u64 least = U64_MAX, begin, took;
	struct reduce reduce;
	unsigned int i;

	for (i = 0; i < SOURCES; i++)
		from[i] = zeroes;
	reduce_init(&reduce, type, PEERLANE_REDUCE_SUM, SOURCES, SOURCES, variant,
		    rest[type]);
	for (i = 0; i < TRIES; i++) {
		begin = ktime_get_ns();
		reduce_cpu_run(&reduce, REDUCE_STEP_ALL, &work, NULL);
		took = ktime_get_ns() - begin;
		least = min(least, took);
	}
	return least;
}

static void choose(u32 type)
{
	const struct reduce_variant *variant;
	u64 least = U64_MAX, took;
	unsigned int i;

	best[type] = NULL;
	for (i = 0; (variant = reduce_cpu_variant(i)); i++) {
		if (!variant->fold[type][PEERLANE_REDUCE_SUM])
			continue;
		if (!rest[type])
			rest[type] = variant;
		took = measure(variant, type);
		if (took >= least)
			continue;
		least = took;
		best[type] = variant;
	}
}

void reduce_cpu_init(void)
{
	u32 type;

	for (type = 1; type < REDUCE_TYPES; type++)
		choose(type);
}
