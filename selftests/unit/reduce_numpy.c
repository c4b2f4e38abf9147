// SPDX-License-Identifier: GPL-2.0
/*
 * reduce_numpy TYPE OP COUNT RADIX: reads COUNT sources of equal length, one
 * after another, from the standard input and writes their reduction, by the
 * variant that the module would choose.
 */
#include <stdio.h>
#include <stdlib.h>

#include "reduce_cpu.h"

int main(int argc, char **argv)
{
	const void *from[256];
	struct reduce_work work = { .from = from };
	struct reduce reduce;
	u32 type, count, i;
	size_t bytes, room = 64UL << 20;
	char *all;
	void *scratch;

	if (argc != 5)
		return 2;
	type = (u32)atoi(argv[1]);
	count = (u32)atoi(argv[3]);
	reduce_cpu_init();
	if (!count || count > 256 ||
	    reduce_cpu_plan(&reduce, type, (u32)atoi(argv[2]), count,
			    (u32)atoi(argv[4])))
		return 1;
	all = malloc(room);
	bytes = fread(all, 1, room, stdin) / count;
	for (i = 0; i < count; i++)
		from[i] = all + i * bytes;
	work.to = malloc(bytes);
	work.count = count;
	work.length = bytes / reduce_size(type);
	scratch = malloc(reduce_scratch_size(&reduce, count));
	reduce_cpu_run(&reduce, REDUCE_STEP_ALL, &work, scratch);
	fwrite(work.to, 1, bytes, stdout);
	free(scratch);
	free(work.to);
	free(all);
	return 0;
}
