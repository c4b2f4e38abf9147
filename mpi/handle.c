// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * MPI's handles, and who decides: the group or MPI. A call that some ranks
 * give to the group and others to MPI never ends. So it is decided only by
 * what MPI requires to be the same on all ranks:
 *
 * - the communicator, of which all ranks find the same members;
 * - of reductions: count, type and operation;
 * - of broadcast and all-gather: the bytes of the signature. Types may differ
 *   there, say a column on one rank and an array on another. So data of any
 *   type goes through the group, packed where need be.
 */
#include "shim.h"

struct type {
	MPI_Datatype type;
	enum shim_class class;
};

/* What is often used comes first. */
static const struct type types[] = {
	{ MPI_DOUBLE, SHIM_FLOAT },
	{ MPI_FLOAT, SHIM_FLOAT },
	{ MPI_INT, SHIM_SIGNED },
	{ MPI_LONG, SHIM_SIGNED },
	{ MPI_BYTE, SHIM_BYTE },
	{ MPI_SIGNED_CHAR, SHIM_SIGNED },
	{ MPI_SHORT, SHIM_SIGNED },
	{ MPI_LONG_LONG, SHIM_SIGNED },
	{ MPI_INT8_T, SHIM_SIGNED },
	{ MPI_INT16_T, SHIM_SIGNED },
	{ MPI_INT32_T, SHIM_SIGNED },
	{ MPI_INT64_T, SHIM_SIGNED },
	{ MPI_AINT, SHIM_SIGNED },
	{ MPI_OFFSET, SHIM_SIGNED },
	{ MPI_COUNT, SHIM_SIGNED },
	{ MPI_UNSIGNED_CHAR, SHIM_UNSIGNED },
	{ MPI_UNSIGNED_SHORT, SHIM_UNSIGNED },
	{ MPI_UNSIGNED, SHIM_UNSIGNED },
	{ MPI_UNSIGNED_LONG, SHIM_UNSIGNED },
	{ MPI_UNSIGNED_LONG_LONG, SHIM_UNSIGNED },
	{ MPI_UINT8_T, SHIM_UNSIGNED },
	{ MPI_UINT16_T, SHIM_UNSIGNED },
	{ MPI_UINT32_T, SHIM_UNSIGNED },
	{ MPI_UINT64_T, SHIM_UNSIGNED },
	{ MPI_INTEGER, SHIM_SIGNED },
	{ MPI_REAL, SHIM_FLOAT },
	{ MPI_DOUBLE_PRECISION, SHIM_FLOAT },
	{ MPI_INTEGER1, SHIM_SIGNED },
	{ MPI_INTEGER2, SHIM_SIGNED },
	{ MPI_INTEGER4, SHIM_SIGNED },
	{ MPI_INTEGER8, SHIM_SIGNED },
	{ MPI_REAL4, SHIM_FLOAT },
	{ MPI_REAL8, SHIM_FLOAT },
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static enum shim_class class_of(MPI_Datatype type)
{
	for (size_t i = 0; i < COUNT(types); i++)
		if (types[i].type == type)
			return types[i].class;
	return SHIM_OTHER;
}

static uint8_t combination(MPI_Op op)
{
	const struct {
		MPI_Op op;
		uint8_t combination;
	} ops[] = {
		{ MPI_SUM, PEERLANE_SUM }, { MPI_MIN, PEERLANE_MIN },
		{ MPI_MAX, PEERLANE_MAX }, { MPI_PROD, PEERLANE_PROD },
		{ MPI_BAND, PEERLANE_BAND }, { MPI_BOR, PEERLANE_BOR },
		{ MPI_BXOR, PEERLANE_BXOR },
	};

	for (size_t i = 0; i < COUNT(ops); i++)
		if (ops[i].op == op)
			return ops[i].combination;
	return 0;
}

/* 0: no size that counts, or no type */
static int size_of(MPI_Datatype type)
{
	int size;

	if (type == MPI_DATATYPE_NULL ||
	    PMPI_Type_size(type, &size) != MPI_SUCCESS || size < 0)
		return 0;
	return size;
}

/* ---- the same on all ranks -------------------------------------------------------- */

/* MPI_COMM_WORLD under another name, or other ranks, or in another order? */
static bool is_world(MPI_Comm comm)
{
	int is_inter, result;

	if (PMPI_Comm_test_inter(comm, &is_inter) != MPI_SUCCESS || is_inter)
		return false;
	return PMPI_Comm_compare(comm, MPI_COMM_WORLD, &result) == MPI_SUCCESS &&
	       (result == MPI_IDENT || result == MPI_CONGRUENT);
}

/*
 * A group knows one order of calls. If threads call at once, ranks may have
 * calls on different communicators in different orders, and be right; those of
 * one communicator have one.
 */
bool shim_serves(MPI_Comm comm)
{
	static char yes, no;
	char *answer;
	int is_known;

	if (!shim.group || comm == MPI_COMM_NULL)
		return false;
	if (comm == MPI_COMM_WORLD)
		return true;
	if (shim.is_threaded ||
	    PMPI_Comm_get_attr(comm, shim.mark, &answer, &is_known) != MPI_SUCCESS)
		return false;
	if (!is_known) {
		answer = is_world(comm) ? &yes : &no;
		PMPI_Comm_set_attr(comm, shim.mark, answer);
	}
	return answer == &yes;
}

bool shim_reduction(struct shim_job *job, int count, MPI_Datatype type,
		    MPI_Op op)
{
	enum shim_class class = class_of(type);
	int size;

	if (count <= 0 || class == SHIM_OTHER)
		return false;
	size = size_of(type);
	job->type = shim_element(class, size);
	job->op = combination(op);
	job->count = (uint64_t)count;
	return shim_reduces(class, size, job->op);
}

uint64_t shim_data(int count, MPI_Datatype type)
{
	return shim_bytes(count, size_of(type));
}

/* ---- of this rank -------------------------------------------------------------------- */

/* A derived type without gaps may have its parts in another order. */
bool shim_is_flat(MPI_Datatype type)
{
	int integers, addresses, parts, combiner;
	MPI_Aint low, extent;

	if (class_of(type) != SHIM_OTHER)
		return true;
	return PMPI_Type_get_envelope(type, &integers, &addresses, &parts,
				      &combiner) == MPI_SUCCESS &&
	       combiner == MPI_COMBINER_NAMED &&
	       PMPI_Type_get_extent(type, &low, &extent) == MPI_SUCCESS &&
	       !low && extent == size_of(type);
}
