// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * Broadcast and all-gather of data of any type, as bytes. What has gaps or is
 * in another order is packed first; shim_begin() has seen that packed data is
 * what lies in memory, one element after the other.
 */
#include <stdio.h>
#include <stdlib.h>

#include "shim.h"

static const char no_memory[] = "no memory to pack data";

/* ---- packing ------------------------------------------------------------------- */

static MPI_Aint extent_of(MPI_Datatype type)
{
	MPI_Aint low, extent;

	return PMPI_Type_get_extent(type, &low, &extent) == MPI_SUCCESS ?
	       extent : 0;
}

/* What MPI says of data that it does not pack or unpack; @text is of this thread. */
static const char *no_packing(int error)
{
	static _Thread_local char text[MPI_MAX_ERROR_STRING + 32];
	char words[MPI_MAX_ERROR_STRING] = "";
	int length;

	if (error != MPI_SUCCESS)
		PMPI_Error_string(error, words, &length);
	snprintf(text, sizeof(text), "data cannot be packed%s%s",
		 *words ? ": " : "", words);
	return text;
}

/* NULL, or why not; unpack(), too */
static const char *pack(const void *from, int count, MPI_Datatype type,
			void *to, uint64_t bytes)
{
	int at = 0, error;

	if (shim_is_of_gpu(from))
		return SHIM_OF_GPU;
	error = PMPI_Pack(from, count, type, to, (int)bytes, &at, shim.own);
	return error == MPI_SUCCESS && (uint64_t)at == bytes ?
	       NULL : no_packing(error);
}

/* @blocks of @count elements, one behind the other at both ends */
static const char *unpack(const char *from, uint64_t bytes, uint32_t blocks,
			  void *to, int count, MPI_Datatype type)
{
	MPI_Aint step = extent_of(type) * count;

	if (shim_is_of_gpu(to))
		return SHIM_OF_GPU;
	for (uint32_t i = 0; i < blocks; i++) {
		int at = 0;
		int error = PMPI_Unpack(from + i * bytes, (int)bytes, &at,
					(char *)to + (MPI_Aint)i * step, count,
					type, shim.own);

		if (error != MPI_SUCCESS)
			return no_packing(error);
	}
	return NULL;
}

/* ---- broadcast -------------------------------------------------------------------- */

static int broadcast_packed(struct shim_job *job, void *data, int count,
			    MPI_Datatype type, MPI_Comm comm)
{
	static const char call[] = "MPI_Bcast";
	bool is_root = (uint32_t)shim.rank == job->root;
	char *flat = malloc(job->count);
	const char *reason = NULL;
	int ret;

	if (!flat)
		return shim_fail(comm, call, no_memory);
	job->give = flat;
	job->get = flat;
	if (is_root)
		reason = pack(data, count, type, flat, job->count);
	ret = reason ? shim_fail(comm, call, reason) : shim_run(job, comm, call);
	if (ret == MPI_SUCCESS && !is_root)
		reason = unpack(flat, job->count, 1, data, count, type);
	if (ret == MPI_SUCCESS && reason)
		ret = shim_fail(comm, call, reason);
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
	return flat->own ? pack(data, count, type, flat->own, bytes) : NULL;
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
	if (ret == MPI_SUCCESS && to.own)
		reason = unpack(to.own, job.count, ranks, get, count, type);
	if (ret == MPI_SUCCESS && reason)
		ret = shim_fail(comm, call, reason);
	free(from.own);
	free(to.own);
	return ret;
}
