// SPDX-License-Identifier: GPL-2.0
/*
 * mpirun -x LD_PRELOAD=libpeerlane-mpi.so wrong CASE
 *
 * One call that is wrong, on a communicator whose errors are returned. Each rank
 * says what it was told.
 */
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

static int rank, ranks;
static const char *program;	/* with its folder */

/* A type that MPI does not pack, at the root alone */
static int not_committed(void)
{
	int data[6] = { 0 }, error;
	MPI_Datatype type;

	if (rank)
		return MPI_Bcast(data, 2, MPI_INT, 0, MPI_COMM_WORLD);
	PMPI_Type_vector(2, 1, 3, MPI_INT, &type);
	error = MPI_Bcast(data, 1, type, 0, MPI_COMM_WORLD);
	PMPI_Type_free(&type);
	return error;
}

/* The last rank gives nothing at all. */
static int in_place(void)
{
	int give = rank, get = 0;

	return MPI_Reduce(rank == ranks - 1 ? MPI_IN_PLACE : &give, &get, 1,
			  MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
}

/* The last rank has a library of GPUs, see the Makefile, which lies beside this. */
static int of_gpu(void)
{
	char path[4096];
	int sum = 0;

	snprintf(path, sizeof(path), "%.*s/libcuda.so.1",
		 (int)(strrchr(program, '/') - program), program);
	if (rank == ranks - 1 && !dlopen(path, RTLD_NOW | RTLD_LOCAL))
		printf("%s\n", dlerror());
	return MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

static const struct {
	const char *name;
	int (*run)(void);
} cases[] = {
	{ "not-committed", not_committed },
	{ "in-place", in_place },
	{ "of-gpu", of_gpu },
};

static void tell(int error)
{
	char text[MPI_MAX_ERROR_STRING] = "nothing";
	int length;

	if (error != MPI_SUCCESS)
		MPI_Error_string(error, text, &length);
	printf("rank %d was told: %s\n", rank, text);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	int ret = 1;

	program = argv[0];
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		if (argc < 2 || strcmp(argv[1], cases[i].name))
			continue;
		tell(cases[i].run());
		ret = 0;
	}
	MPI_Finalize();
	return ret;
}
