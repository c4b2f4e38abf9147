// SPDX-License-Identifier: GPL-2.0
/*
 * reduce_bench RUNS
 *
 * The module's reductions, as it runs them, of sources that are larger than
 * caches, beside the fastest of some loops that only read and write as much. In
 * turn within each run; prints "sample SERIES VALUE" with GB/s, of all that is
 * read and written.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "reduce_cpu.h"
#include "reduce_plain.h"

#define BYTES	(64UL << 20)
#define PIECE	(1UL << 20)

static const void *from[STREAMS];
static char *to;

static char *memory(void)
{
	char *at = mmap(NULL, BYTES, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED) {
		perror("mmap");
		exit(1);
	}
	/* The kernel's own memory is mapped by large pages. */
	madvise(at, BYTES, MADV_HUGEPAGE);
	return at;
}

/* Small numbers in f32 and in bf16 */
static void fill(char *at)
{
	size_t i;

	for (i = 0; i < BYTES; i += 4)
		memcpy(at + i, "\x80\x3f\x80\x3f", 4);
}

/*
 * Of this thread: others that run meanwhile take no time of it, and there are
 * many pieces, done in turn, so that they slow both sides down alike.
 */
static u64 now(void)
{
	struct timespec at;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &at);
	return (u64)at.tv_sec * 1000000000 + (u64)at.tv_nsec;
}

struct side {
	const struct plain *plain;
	const struct reduce *reduce;
	u64 took;
};

/* Piece @index of every stream */
static void run(struct side *side, size_t index)
{
	const void *pieces[STREAMS];
	struct reduce_work work = {
		.to = to + index * PIECE, .from = pieces, .count = STREAMS,
		.past_cache = true,
	};
	u64 begin;
	int i;

	for (i = 0; i < STREAMS; i++)
		pieces[i] = (const char *)from[i] + index * PIECE;
	begin = now();
	if (side->plain) {
		side->plain->run(work.to, pieces, PIECE);
	} else {
		work.length = PIECE / reduce_size(side->reduce->type);
		reduce_cpu_run(side->reduce, REDUCE_STEP_ALL, &work, NULL);
	}
	side->took += now() - begin;
}

/* Each piece by one side, and then by the other. */
static void compare(struct side *a, struct side *b)
{
	size_t i;

	a->took = 0;
	b->took = 0;
	for (i = 0; i < BYTES / PIECE; i++)
		run(i % 2 ? b : a, i);
	for (i = 0; i < BYTES / PIECE; i++)
		run(i % 2 ? a : b, i);
}

static double rate(const struct side *side)
{
	return (STREAMS + 1) * (double)BYTES / (double)side->took;
}

/* Each against the fastest one so far */
static const struct plain *fastest(void)
{
	const struct plain *list = plain_list(), *best = list;
	struct side known, other;

	while ((++list)->name) {
		known = (struct side){ .plain = best };
		other = (struct side){ .plain = list };
		compare(&known, &other);
		fprintf(stderr, "# plain %s %.2f GB/s, %s %.2f\n", best->name,
			rate(&known), list->name, rate(&other));
		if (other.took < known.took)
			best = list;
	}
	return best;
}

static void measure(const char *name, u32 type, const struct plain *plain)
{
	struct reduce reduce;
	struct side ours = { .reduce = &reduce }, theirs = { .plain = plain };

	if (reduce_cpu_plan(&reduce, type, PEERLANE_REDUCE_SUM, STREAMS, STREAMS))
		exit(1);
	compare(&theirs, &ours);
	fprintf(stderr, "# %s by %s, %s\n", name, reduce.variant->name,
		plain->name);
	printf("sample %s/plain %.3f\n", name, rate(&theirs));
	printf("sample %s/peerlane %.3f\n", name, rate(&ours));
	fflush(stdout);
}

int main(int argc, char **argv)
{
	int runs = argc > 1 ? atoi(argv[1]) : 5, i;
	const struct plain *plain;
	char *source;

	for (i = 0; i < STREAMS; i++) {
		source = memory();
		fill(source);
		from[i] = source;
	}
	to = memory();
	fill(to);
	reduce_cpu_init();
	if (!plain_list()->name) {
		fprintf(stderr, "no loop for this processor\n");
		return 1;
	}
	plain = fastest();
	for (i = 0; i < runs; i++) {
		measure("reduce-f32", PEERLANE_TYPE_F32, plain);
		measure("reduce-bf16", PEERLANE_TYPE_BF16, plain);
	}
	return 0;
}
