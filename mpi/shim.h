/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/* Shared inside of libpeerlane-mpi.so. */
#ifndef PEERLANE_MPI_SHIM_H
#define PEERLANE_MPI_SHIM_H

#include <stdatomic.h>

#include <mpi.h>
#include <peerlane.h>

#include "choose.h"
#include "gpu.h"
#include "piece.h"

#define SHIM_NAME	"libpeerlane-mpi"
#define SHIM_OF_GPU	"the data is in the memory of a GPU"

/* What the program sees; everything else is hidden. */
#define SHIM_EXPORT	__attribute__((visibility("default")))

/**
 * struct shim - this process' part in the one group, that of MPI_COMM_WORLD
 * @settings: as the environment says, and as all ranks agreed
 * @group: NULL: everything goes to MPI
 * @region: of @buffer
 * @buffer: what is sent and received
 * @room: bytes of each half of it that is used, the same on all ranks
 * @mark: key of what communicators remember of shim_serves()
 * @own: communicator of this process alone, see shim_progress()
 * @is_threaded: some rank may call from several threads at once
 * @error: MPI's code for why the group ended, once it did; see shim_fail()
 * @calls: by kind, that went through the group
 * @bytes: this rank gave and got in them
 * @passed: calls that MPI did
 */
struct shim {
	struct shim_settings settings;
	struct peerlane_group *group;
	struct peerlane_region *region;
	char *buffer;
	uint64_t room;
	int rank;
	int ranks;
	int mark;
	MPI_Comm own;
	bool is_threaded;
	int error;
	uint64_t calls[PEERLANE_BARRIER + 1];
	uint64_t bytes;
	atomic_ullong passed;
};

extern struct shim shim;

/* begin.c: all ranks call them. Nothing begins where nothing is said to peerlane. */
void shim_begin(void);
void shim_end(void);

/*
 * Lets MPI go on with what was begun: a rank that waits for the group may owe
 * another one the rest of a message, without which that one does not come.
 */
void shim_progress(void);

/* handle.c: decisions that are the same on all ranks, see there */
bool shim_serves(MPI_Comm comm);
bool shim_reduction(struct shim_job *job, int count, MPI_Datatype type,
		    MPI_Op op);
uint64_t shim_data(int count, MPI_Datatype type);

/* Only of this rank: is it a predefined type without gaps? */
bool shim_is_flat(MPI_Datatype type);

/* run.c: as functions of MPI do, with its error handler */
int shim_run(const struct shim_job *job, MPI_Comm comm, const char *call);
int shim_fail(MPI_Comm comm, const char *call, const char *reason);

/* packed.c */
int shim_broadcast(void *data, int count, MPI_Datatype type, int root,
		   MPI_Comm comm);
int shim_gather(const void *give, int give_count, MPI_Datatype give_type,
		void *get, int count, MPI_Datatype type, MPI_Comm comm);

#endif /* PEERLANE_MPI_SHIM_H */
