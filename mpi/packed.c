// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * Broadcast and all-gather of data of any type, as bytes. What has gaps or is
 * in another order is packed first; shim_begin() has seen that packed data is
 * what lies in memory, one element after the other.
 */
#include <stdlib.h>

#include "shim.h"

static const char no_memory[] = "no memory to pack data";
static const char no_packing[] = "data cannot be packed";

/* ---- packing ------------------------------------------------------------------- */

static MPI_Aint extent_of(MPI_Datatype type)
{
	MPI_Aint low, extent;

	return PMPI_Type_get_extent(type, &low, &extent) == MPI_SUCCESS ?
	       extent : 0;
}

static bool pack(const void *from, int count, MPI_Datatype type, void *to,
		 uint64_t bytes)
{
	int at = 0;

	return PMPI_Pack(from, count, type, to, (int)bytes, &at, shim.own) ==
	       MPI_SUCCESS && (uint64_t)at == bytes;
}

/* @blocks of @count elements, one behind the other at both ends */
static bool unpack(const char *from, uint64_t bytes, uint32_t blocks, void *to,
		   int count, MPI_Datatype type)
{
	MPI_Aint step = extent_of(type) * count;
	bool good = true;

	for (uint32_t i = 0; good && i < blocks; i++) {
		int at = 0;

		good = PMPI_Unpack(from + i * bytes, (int)bytes, &at,
				   (char *)to + (MPI_Aint)i * step, count,
				   type, shim.own) == MPI_SUCCESS;
	}
	return good;
}

/* ---- broadcast -------------------------------------------------------------------- */

static int broadcast_packed(struct shim_job *job, void *data, int count,
			    MPI_Datatype type, MPI_Comm comm)
{
	static const char call[] = "MPI_Bcast";
	bool is_root = (uint32_t)shim.rank == job->root;
	char *flat = malloc(job->count);
	int ret;

	if (!flat)
		return shim_fail(comm, call, no_memory);
	job->give = flat;
	job->get = flat;
	if (is_root && !pack(data, count, type, flat, job->count))
		ret = shim_fail(comm, call, no_packing);
	else
		ret = shim_run(job, comm, call);
	if (ret == MPI_SUCCESS && !is_root &&
	    !unpack(flat, job->count, 1, data, count, type))
		ret = shim_fail(comm, call, no_packing);
	free(flat);
	return ret;
}

int shim_broadcast(void *data, int count, MPI_Datatype type, int root,
		   MPI_Comm comm)
{
	struct shim_job job = {
		.kind = PEERLANE_BROADCAST, .type = PEERLANE_U8,
		.root = (uint32_t)root, .count = shim_data(count, type),
		.give = data, .get = data,
	};

	if (!shim_is_flat(type))
		return broadcast_packed(&job, data, count, type, comm);
	return shim_run(&job, comm, "MPI_Bcast");
}

/* ---- all-gather ---------------------------------------------------------------------- */

/* What one side of an all-gather is in flat memory, our own if need be */
struct flat {
	char *data;
	char *own;
};

static bool flat_get(struct flat *flat, void *data, MPI_Datatype type,
		     uint64_t bytes)
{
	flat->own = shim_is_flat(type) ? NULL : malloc(bytes);
	flat->data = flat->own ? flat->own : data;
	return flat->own || shim_is_flat(type);
}

static const char *flat_give(struct flat *flat, const void *data, int count,
			     MPI_Datatype type, uint64_t bytes)
{
	if (!flat_get(flat, (void *)(uintptr_t)data, type, bytes))
		return no_memory;
	if (flat->own && !pack(data, count, type, flat->own, bytes))
		return no_packing;
	return NULL;
}

int shim_gather(const void *give, int give_count, MPI_Datatype give_type,
		void *get, int count, MPI_Datatype type, MPI_Comm comm)
{
	static const char call[] = "MPI_Allgather";
	struct shim_job job = {
		.kind = PEERLANE_ALL_GATHER, .type = PEERLANE_U8,
		.count = shim_data(count, type),
	};
	uint32_t ranks = (uint32_t)shim.ranks;
	struct flat from = { 0 }, to = { 0 };
	const char *reason = NULL;
	int ret;

	if (give == MPI_IN_PLACE) {
		give = (char *)get + extent_of(type) * count * shim.rank;
		give_count = count;
		give_type = type;
	}
	if (shim_data(give_count, give_type) != job.count)
		reason = "it gives another number of bytes than it gets of each rank";
	if (!reason)
		reason = flat_give(&from, give, give_count, give_type, job.count);
	if (!reason && !flat_get(&to, get, type, ranks * job.count))
		reason = no_memory;
	job.give = from.data;
	job.get = to.data;
	ret = reason ? shim_fail(comm, call, reason) :
		       shim_run(&job, comm, call);
	if (ret == MPI_SUCCESS && to.own &&
	    !unpack(to.own, job.count, ranks, get, count, type))
		ret = shim_fail(comm, call, no_packing);
	free(from.own);
	free(to.own);
	return ret;
}
