// SPDX-License-Identifier: GPL-2.0
/*
 * Sums up until that fails, and says why; with MPI's own handler of errors the
 * second time. Ends with 3 if it is not ended.
 */
#include <mpi.h>
#include <stdio.h>

static int sum(int rank)
{
	int result;

	return MPI_Allreduce(&rank, &result, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

static void tell(int rank, int error)
{
	char text[MPI_MAX_ERROR_STRING];
	int length;

	MPI_Error_string(error, text, &length);
	printf("rank %d was told: %s\n", rank, text);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	int rank, error;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	do {
		error = sum(rank);
	} while (error == MPI_SUCCESS);
	tell(rank, error);
	if (sum(rank) != error)
		printf("rank %d: another error\n", rank);
	/* All have said it before one of them ends all. */
	PMPI_Barrier(MPI_COMM_WORLD);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
	sum(rank);
	MPI_Finalize();
	return 3;
}
