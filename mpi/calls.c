// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/* The functions of MPI that a program calls, and which go to the group. */
#include "shim.h"

/* Also what is wrong on all ranks goes to MPI, whose place it is to say so. */
#define PASS(call) (atomic_fetch_add(&shim.passed, 1), (call))

static bool is_rank(int rank)
{
	return rank >= 0 && rank < shim.ranks;
}

SHIM_EXPORT int MPI_Init(int *argc, char ***argv)
{
	int ret = PMPI_Init(argc, argv);

	if (ret == MPI_SUCCESS)
		shim_begin();
	return ret;
}

SHIM_EXPORT int MPI_Init_thread(int *argc, char ***argv, int required,
				int *provided)
{
	int ret = PMPI_Init_thread(argc, argv, required, provided);

	if (ret == MPI_SUCCESS)
		shim_begin();
	return ret;
}

SHIM_EXPORT int MPI_Finalize(void)
{
	shim_end();
	return PMPI_Finalize();
}

SHIM_EXPORT int MPI_Allreduce(const void *give, void *get, int count,
			      MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
	struct shim_job job = { .kind = PEERLANE_ALL_REDUCE };

	if (!shim_serves(comm) || !shim_reduction(&job, count, type, op))
		return PASS(PMPI_Allreduce(give, get, count, type, op, comm));
	job.give = give == MPI_IN_PLACE ? get : give;
	job.get = get;
	return shim_run(&job, comm, "MPI_Allreduce");
}

SHIM_EXPORT int MPI_Reduce(const void *give, void *get, int count,
			   MPI_Datatype type, MPI_Op op, int root,
			   MPI_Comm comm)
{
	struct shim_job job = { .kind = PEERLANE_REDUCE };

	if (!shim_serves(comm) || !is_rank(root) ||
	    !shim_reduction(&job, count, type, op))
		return PASS(PMPI_Reduce(give, get, count, type, op, root, comm));
	/* The others may be right, and have gone to the group. */
	if (give == MPI_IN_PLACE && shim.rank != root)
		return shim_fail(comm, "MPI_Reduce",
				 "MPI_IN_PLACE is for the root only");
	job.root = (uint32_t)root;
	job.give = give == MPI_IN_PLACE ? get : give;
	job.get = get;
	return shim_run(&job, comm, "MPI_Reduce");
}

SHIM_EXPORT int MPI_Reduce_scatter_block(const void *give, void *get, int count,
					 MPI_Datatype type, MPI_Op op,
					 MPI_Comm comm)
{
	struct shim_job job = { .kind = PEERLANE_REDUCE_SCATTER };

	if (!shim_serves(comm) || !shim_reduction(&job, count, type, op))
		return PASS(PMPI_Reduce_scatter_block(give, get, count, type,
						      op, comm));
	job.give = give == MPI_IN_PLACE ? get : give;
	job.get = get;
	return shim_run(&job, comm, "MPI_Reduce_scatter_block");
}

SHIM_EXPORT int MPI_Allgather(const void *give, int give_count,
			      MPI_Datatype give_type, void *get, int count,
			      MPI_Datatype type, MPI_Comm comm)
{
	if (!shim_serves(comm) ||
	    !shim_gathers(shim_data(count, type), shim.ranks))
		return PASS(PMPI_Allgather(give, give_count, give_type, get,
					   count, type, comm));
	return shim_gather(give, give_count, give_type, get, count, type, comm);
}

SHIM_EXPORT int MPI_Bcast(void *data, int count, MPI_Datatype type, int root,
			  MPI_Comm comm)
{
	if (!shim_serves(comm) || !is_rank(root) || !shim_data(count, type))
		return PASS(PMPI_Bcast(data, count, type, root, comm));
	return shim_broadcast(data, count, type, root, comm);
}

SHIM_EXPORT int MPI_Barrier(MPI_Comm comm)
{
	struct shim_job job = { .kind = PEERLANE_BARRIER };

	if (!shim_serves(comm))
		return PASS(PMPI_Barrier(comm));
	return shim_run(&job, comm, "MPI_Barrier");
}
