/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/* What a group can do of what MPI asks for. Pure: knows nothing of MPI's handles. */
#ifndef PEERLANE_MPI_CHOOSE_H
#define PEERLANE_MPI_CHOOSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SHIM_REASON	192
#define SHIM_GATHERED	(UINT64_C(256) << 20)	/* bytes, of all ranks */

/* What MPI allows to compute with a type depends on these, not on its name. */
enum shim_class {
	SHIM_OTHER,		/* complex, logical, pairs, characters, derived */
	SHIM_SIGNED,
	SHIM_UNSIGNED,
	SHIM_FLOAT,
	SHIM_BYTE,		/* bits, and no number */
};

/* enum peerlane_element, 0: there is none. */
uint8_t shim_element(enum shim_class class, int size);

/* @op is an enum peerlane_combination, or 0. What MPI forbids is refused, too. */
bool shim_reduces(enum shim_class class, int size, uint8_t op);

/* Bytes of @count elements; 0: none, or more than MPI's counts can say. */
uint64_t shim_bytes(int count, int size);

/*
 * Is an all-gather of so many bytes of each rank for a group? Where it has to be
 * packed, all of it is in memory once more; whether it has to may differ between
 * ranks, so others have the same bound.
 */
bool shim_gathers(uint64_t bytes, int ranks);

/* Does @environment, as of environ, have anything for peerlane? */
bool shim_is_asked(char *const *environment);

/*
 * Is the library that says @version of itself of the family that @built has, both
 * as of MPI_Get_library_version()? Open MPI's handles are not those of others, which
 * have MPICH's.
 */
bool shim_is_alike(const char *built, const char *version);

/* What the environment says, with what is so by default. */
struct shim_settings {
	uint64_t buffer;		/* bytes */
	uint64_t verbose;
	uint64_t timeout;		/* ms */
	uint64_t operation_timeout;
	uint64_t join_timeout;
};

/*
 * @get is getenv(), and @limit RLIMIT_MEMLOCK, of which a buffer that nobody asked
 * for leaves half to others. False: what is said is nonsense, and @reason has why.
 */
bool shim_settings(struct shim_settings *settings,
		   char *(*get)(const char *name), uint64_t limit,
		   char reason[SHIM_REASON]);

#endif /* PEERLANE_MPI_CHOOSE_H */
