// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/* A job through the group, and what happens when the group fails. */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "shim.h"

#define PROGRESS_MS	1

/* One operation at a time: the buffer is one, and so is the order of calls. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Only ever counts up: a cookie is that of one operation. */
static uint64_t cookies;

void shim_progress(void)
{
	int found;

	PMPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, shim.own, &found,
		    MPI_STATUS_IGNORE);
}

/* ---- pieces; lock held ---------------------------------------------------------- */

static int begin(const struct shim_job *job, const struct shim_plan *plan,
		 struct shim_piece *piece, uint64_t index)
{
	*piece = shim_piece(job, plan, (uint32_t)shim.rank, index,
			    index % 2 * shim.room);
	piece->what.cookie = ++cookies;
	shim_fill(job, plan, piece, shim.buffer);
	return peerlane_group_submit(shim.group, &piece->what, 1, NULL);
}

static int finish(const struct shim_job *job, const struct shim_plan *plan,
		  const struct shim_piece *piece)
{
	int ret;

	for (;;) {
		ret = peerlane_group_wait(shim.group, piece->what.cookie,
					  PROGRESS_MS);
		if (ret != -EAGAIN && ret != -EINTR)
			break;
		shim_progress();
	}
	if (!ret)
		shim_drain(job, plan, piece, shim.buffer);
	return ret;
}

/* One piece is copied while the one before it is on its way. */
static int run_all(const struct shim_job *job, const struct shim_plan *plan)
{
	struct shim_piece pieces[2];
	int ret = begin(job, plan, &pieces[0], 0);

	for (uint64_t i = 1; !ret && i <= plan->pieces; i++) {
		if (i < plan->pieces)
			ret = begin(job, plan, &pieces[i % 2], i);
		if (!ret)
			ret = finish(job, plan, &pieces[(i - 1) % 2]);
	}
	return ret;
}

static void count(const struct shim_job *job, const struct shim_plan *plan)
{
	shim.calls[job->kind]++;
	shim.bytes += job->count * plan->element *
		      ((uint64_t)plan->gives + plan->gets);
}

/* ---- failure ----------------------------------------------------------------------- */

/* An error of MPI's with words of our own; some error if there is no room. */
static int new_code(const char *text)
{
	char line[MPI_MAX_ERROR_STRING];
	int class, code;

	snprintf(line, sizeof(line), "%.*s", MPI_MAX_ERROR_STRING - 1, text);
	if (PMPI_Add_error_class(&class) != MPI_SUCCESS ||
	    PMPI_Add_error_code(class, &code) != MPI_SUCCESS ||
	    PMPI_Add_error_string(code, line) != MPI_SUCCESS)
		return MPI_ERR_OTHER;
	return code;
}

/*
 * A group that failed is not made again, and MPI does not take over: some ranks
 * may have the result of the call, and others not. Every further call gets the
 * same error. Who leaves lets the others know.
 */
static int break_group(const char *call, const char *reason)
{
	char text[512];

	if (shim.error)
		return shim.error;
	snprintf(text, sizeof(text), SHIM_NAME ": %s on rank %d: %s", call,
		 shim.rank, reason);
	fprintf(stderr, "%s\n", text);
	peerlane_group_leave(shim.group);
	shim.error = new_code(text);
	return shim.error;
}

int shim_fail(MPI_Comm comm, const char *call, const char *reason)
{
	int error;

	pthread_mutex_lock(&lock);
	error = break_group(call, reason);
	pthread_mutex_unlock(&lock);
	/* It may not come back, and may call MPI. */
	PMPI_Comm_call_errhandler(comm, error);
	return error;
}

/*
 * Data is copied by the CPU. That a rank's is a GPU's the others do not know, so
 * it cannot go to MPI.
 */
static bool is_out_of_reach(const struct shim_job *job,
			    const struct shim_plan *plan)
{
	return (plan->gives && shim_is_of_gpu(job->give)) ||
	       (plan->gets && shim_is_of_gpu(job->get));
}

/* ---- all of it ----------------------------------------------------------------------- */

int shim_run(const struct shim_job *job, MPI_Comm comm, const char *call)
{
	struct shim_plan plan = shim_plan(job, (uint32_t)shim.rank,
					  (uint32_t)shim.ranks,
					  shim.room);
	int error;

	if (is_out_of_reach(job, &plan))
		return shim_fail(comm, call, SHIM_OF_GPU);
	pthread_mutex_lock(&lock);
	error = shim.error;
	if (!error && run_all(job, &plan))
		error = break_group(call, peerlane_strerror());
	if (!error)
		count(job, &plan);
	pthread_mutex_unlock(&lock);
	if (!error)
		return MPI_SUCCESS;
	PMPI_Comm_call_errhandler(comm, error);
	return error;
}
