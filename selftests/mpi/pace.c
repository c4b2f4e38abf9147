// SPDX-License-Identifier: GPL-2.0
/*
 * mpirun -x LD_PRELOAD=libpeerlane-mpi.so pace BYTES TIMES [BYTES TIMES]...
 *
 * How long an all-reduce takes, by the group and by MPI in turn: "sample
 * allreduce-RANKS-BYTES/peerlane US" for each, on average of all ranks: who comes
 * out of the barrier last finds what the others sent already. Starting takes
 * longer than most of what is measured, hence several sizes.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

typedef int (*reduce)(const void *give, void *get, int count, MPI_Datatype type,
		      MPI_Op op, MPI_Comm comm);

static int rank, ranks, count;
static float *given, *got;

static double once(reduce call)
{
	double begin;

	PMPI_Barrier(MPI_COMM_WORLD);
	begin = MPI_Wtime();
	call(given, got, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
	return (MPI_Wtime() - begin) * 1e6;
}

static void sample(reduce call, const char *side)
{
	double us = once(call), sum = 0;

	PMPI_Reduce(&us, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
	if (!rank)
		printf("sample allreduce-%d-%zu/%s %.1f\n", ranks,
		       (size_t)count * sizeof(*given), side, sum / ranks);
}

static void measure(size_t bytes, int times)
{
	count = (int)(bytes / sizeof(*given));
	given = calloc((size_t)count, sizeof(*given));
	got = calloc((size_t)count, sizeof(*got));
	/* The first ones make connections. */
	once(MPI_Allreduce);
	once(PMPI_Allreduce);
	for (int i = 0; i < times; i++) {
		sample(MPI_Allreduce, "peerlane");
		sample(PMPI_Allreduce, "mpi");
	}
	if (!rank)
		fflush(stdout);
	free(given);
	free(got);
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	for (int i = 1; i + 1 < argc; i += 2)
		measure(strtoull(argv[i], NULL, 0), atoi(argv[i + 1]));
	MPI_Finalize();
	return 0;
}
