/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reductions in the kernel: which folds this processor does best, and the FPU
 * around them. May sleep.
 */
#ifndef PEERLANE_REDUCE_CPU_H
#define PEERLANE_REDUCE_CPU_H

#include "reduce.h"

/* Bytes that are read and written before others get the processor again */
#define REDUCE_SECTION		(16U << 10)

/* Which function of reduce.h is meant */
enum reduce_step {
	REDUCE_STEP_FIRST,
	REDUCE_STEP_ACCUMULATE,
	REDUCE_STEP_COMBINE,
	REDUCE_STEP_FINISH,
	REDUCE_STEP_ALL,
};

/* Looks what the processor has, and measures it. Before everything else. */
void reduce_cpu_init(void);

/* The folds that this processor has, best last; NULL: no more. For tests. */
const struct reduce_variant *reduce_cpu_variant(unsigned int index);

/**
 * reduce_cpu_plan() - a reduction, by the folds that were fastest
 *
 * Return: as reduce_init(); -EOPNOTSUPP also for floats where the kernel must
 * not use the FPU.
 */
int reduce_cpu_plan(struct reduce *reduce, u32 type, u32 op, u32 ranks,
		    u32 radix);

/**
 * reduce_cpu_run() - one step of it
 * @scratch: for REDUCE_STEP_ALL, as reduce_all() has it; else NULL
 */
void reduce_cpu_run(const struct reduce *reduce, enum reduce_step step,
		    const struct reduce_work *work, void *scratch);

#endif /* PEERLANE_REDUCE_CPU_H */
