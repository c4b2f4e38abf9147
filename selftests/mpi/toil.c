// SPDX-License-Identifier: GPL-2.0
/*
 * mpirun -x LD_PRELOAD=libpeerlane-mpi.so toil BYTES TIMES ROUNDS
 *
 * What the processors of a rank's node do for all-reduces, by the group and by MPI in
 * turn: "sample allreduce-host-cpu-RANKS/peerlane S" per GiB, on average of all nodes.
 * All that a node does is counted, so each rank needs one of its own.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

typedef int (*reduce)(const void *give, void *get, int count, MPI_Datatype type,
		      MPI_Op op, MPI_Comm comm);

static int rank, ranks, count;
static float *given, *got;

/* Seconds of all processors that were not idle; -1: unknown */
static double busy(void)
{
	unsigned long long user, nice, system, idle, wait, hard, soft;
	FILE *file = fopen("/proc/stat", "r");
	int found;

	if (!file)
		return -1;
	found = fscanf(file, "cpu %llu %llu %llu %llu %llu %llu %llu", &user, &nice,
		       &system, &idle, &wait, &hard, &soft);
	fclose(file);
	if (found != 7)
		return -1;
	return (double)(user + nice + system + hard + soft) /
	       (double)sysconf(_SC_CLK_TCK);
}

static void call_all(reduce call, int times)
{
	for (int i = 0; i < times; i++)
		call(given, got, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
}

static void sample(reduce call, const char *side, int times)
{
	double begin, spent, sum = 0;

	PMPI_Barrier(MPI_COMM_WORLD);
	begin = busy();
	call_all(call, times);
	spent = busy() - begin;
	PMPI_Reduce(&spent, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
	if (!rank)
		printf("sample allreduce-host-cpu-%d/%s %.3f\n", ranks, side,
		       sum / ranks / ((double)count * sizeof(*given) * times) * (1 << 30));
}

int main(int argc, char **argv)
{
	int times, rounds;

	if (argc != 4)
		return 2;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	count = (int)(strtoull(argv[1], NULL, 0) / sizeof(*given));
	times = atoi(argv[2]);
	rounds = atoi(argv[3]);
	given = calloc((size_t)count, sizeof(*given));
	got = calloc((size_t)count, sizeof(*got));
	/* The first ones make connections. */
	call_all(MPI_Allreduce, 1);
	call_all(PMPI_Allreduce, 1);
	for (int i = 0; i < rounds; i++) {
		sample(MPI_Allreduce, "peerlane", times);
		sample(PMPI_Allreduce, "mpi", times);
	}
	free(given);
	free(got);
	MPI_Finalize();
	return 0;
}
