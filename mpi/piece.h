/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * A collective in pieces that fit into a buffer: what of the program's memory
 * is in the buffer, where, and what is asked of the group for it. Pure.
 */
#ifndef PEERLANE_MPI_PIECE_H
#define PEERLANE_MPI_PIECE_H

#include <peerlane.h>

/**
 * struct shim_job - one call, of data without gaps
 * @kind: enum peerlane_collective_kind
 * @type: enum peerlane_element
 * @op: enum peerlane_combination, or 0
 * @root: of a reduce or broadcast
 * @count: elements of a block; each rank has one of a reduce-scatter and an
 *	all-gather, other kinds have one in all
 * @give: what this rank gives, if it does
 * @get: where the result goes, if there is one here; may be @give
 */
struct shim_job {
	uint8_t kind;
	uint8_t type;
	uint8_t op;
	uint32_t root;
	uint64_t count;
	const void *give;
	void *get;
};

/**
 * struct shim_plan - how a job goes through the buffer
 * @element: bytes of one
 * @gives: blocks that this rank gives
 * @gets: blocks that it gets
 * @most: elements of each block in a piece, the same on all ranks; 0: not even
 *	one has room
 * @pieces: at least 1
 */
struct shim_plan {
	uint32_t element;
	uint32_t gives;
	uint32_t gets;
	uint64_t most;
	uint64_t pieces;
};

/* One of a plan: @count elements of each block, from @first on */
struct shim_piece {
	uint64_t first;
	uint64_t count;
	struct peerlane_collective what;
};

struct shim_plan shim_plan(const struct shim_job *job, uint32_t rank,
			   uint32_t ranks, uint64_t room);

/* Piece @index, in the buffer from @offset on; the cookie is left to the caller. */
struct shim_piece shim_piece(const struct shim_job *job,
			     const struct shim_plan *plan, uint32_t rank,
			     uint64_t index, uint64_t offset);

/* @buffer is where slots begin, that is what offset 0 names. */
void shim_fill(const struct shim_job *job, const struct shim_plan *plan,
	       const struct shim_piece *piece, char *buffer);
void shim_drain(const struct shim_job *job, const struct shim_plan *plan,
		const struct shim_piece *piece, const char *buffer);

#endif /* PEERLANE_MPI_PIECE_H */
