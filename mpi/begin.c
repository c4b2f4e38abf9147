// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/* The group of MPI_COMM_WORLD: whether there is one, and its end. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <unistd.h>

#include "shim.h"

#define WAIT_MS	1

#ifdef OPEN_MPI
#define BUILT_FOR	"Open MPI"
#else
#define BUILT_FOR	"MPICH"
#endif

/* Of any MPI; what is built for one may meet the words of another. */
#define VERSION_ROOM	8192

struct shim shim;

/* What this rank has got so far, and why it got no further, or nothing. */
struct start {
	struct peerlane_launch launch;
	struct peerlane_group_options options;
	char reason[512];
};

static bool refuse(struct start *start, const char *reason)
{
	snprintf(start->reason, sizeof(start->reason), "%s", reason);
	return false;
}

/* ---- this rank alone ---------------------------------------------------------------- */

/* Needs no handle: those of another MPI are of another kind. */
static bool is_our_mpi(void)
{
	char version[VERSION_ROOM] = "";
	int length;

	if (PMPI_Get_library_version(version, &length) != MPI_SUCCESS ||
	    shim_is_alike(BUILT_FOR, version))
		return true;
	fprintf(stderr, SHIM_NAME ": all calls go to MPI: it is for " BUILT_FOR
		", and this is %.*s\n", (int)strcspn(version, "\n,"),
		version);
	return false;
}

/* Broadcast and all-gather rely on it, see packed.c. */
static bool packs_plainly(void)
{
	const double value = 1.0 / 3;
	char packed[64];
	int at = 0;

	return PMPI_Pack(&value, 1, MPI_DOUBLE, packed, sizeof(packed), &at,
			 shim.own) == MPI_SUCCESS &&
	       at == sizeof(value) && !memcmp(packed, &value, sizeof(value));
}

static uint64_t pin_limit(void)
{
	struct rlimit limit;

	/* RLIM_INFINITY is a large number, too. */
	return getrlimit(RLIMIT_MEMLOCK, &limit) ? UINT64_MAX : limit.rlim_cur;
}

static bool read_environment(struct start *start)
{
	static const uint8_t zero[PEERLANE_SECRET];
	char reason[SHIM_REASON];

	if (!shim_settings(&shim.settings, getenv, pin_limit(), reason))
		return refuse(start, reason);
	if (shim.ranks == 1)
		return refuse(start, "there is one rank");
	if (peerlane_launch_read(&start->launch, &start->options))
		return refuse(start, peerlane_strerror());
	if (!*start->launch.aggregators)
		return refuse(start, "PEERLANE_AGGREGATORS is not set");
	if (!memcmp(start->options.secret, zero, sizeof(zero)))
		return refuse(start, "PEERLANE_SECRET is not set");
	if (!packs_plainly())
		return refuse(start, "packed data is not what lies in memory");
	return true;
}

static bool pin(struct start *start)
{
	uint64_t whole = 2 * (uint64_t)sysconf(_SC_PAGESIZE);

	shim.settings.buffer -= shim.settings.buffer % whole;
	shim.buffer = mmap(NULL, shim.settings.buffer, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (shim.buffer == MAP_FAILED) {
		shim.buffer = NULL;
		return refuse(start, "no memory for PEERLANE_MPI_BUFFER");
	}
	if (peerlane_region_host(shim.buffer, shim.settings.buffer, false,
				 &shim.region))
		return refuse(start, peerlane_strerror());
	return true;
}

static bool prepare(struct start *start)
{
	return read_environment(start) && pin(start);
}

static void undo(void)
{
	peerlane_group_close(shim.group);
	peerlane_region_free(shim.region);
	if (shim.buffer)
		munmap(shim.buffer, shim.settings.buffer);
	shim.group = NULL;
	shim.region = NULL;
	shim.buffer = NULL;
}

/* ---- all ranks together ----------------------------------------------------------------- */

/* Who names aggregators wants a group, but a program of one rank needs none. */
static bool is_wanted(void)
{
	const char *named = getenv("PEERLANE_AGGREGATORS");

	return shim.settings.verbose || (shim.ranks > 1 && named && *named);
}

/*
 * Are all ranks @able? The first that is not says why, where somebody wants to
 * know.
 */
static bool agree(const struct start *start, bool able)
{
	int least[] = { able ? shim.ranks : shim.rank, !is_wanted() };
	int first;

	if (PMPI_Allreduce(MPI_IN_PLACE, least, 2, MPI_INT, MPI_MIN,
			   MPI_COMM_WORLD) != MPI_SUCCESS)
		return false;
	first = least[0];
	if (first == shim.rank && !least[1])
		fprintf(stderr, SHIM_NAME ": all calls go to MPI: rank %d: %s\n",
			shim.rank, start->reason);
	return first == shim.ranks;
}

/*
 * A job's name stays the same for programs that it starts while it runs, which
 * have an MPI_COMM_WORLD of their own. So does PEERLANE_GROUP, but who sets
 * that means it.
 */
static void number(struct start *start)
{
	const char *said = getenv("PEERLANE_GROUP");

	if ((said && *said) || shim.rank)
		return;
	do {
		if (getrandom(&start->options.group,
			      sizeof(start->options.group), 0) < 0)
			return;
	} while (!start->options.group);
}

/* What the ranks have to have alike becomes so. */
static bool even_out(struct start *start)
{
	uint64_t least[] = {
		shim.settings.buffer, shim.settings.operation_timeout,
		shim.settings.join_timeout,
	};
	int level, most;

	number(start);
	PMPI_Query_thread(&level);
	if (PMPI_Allreduce(MPI_IN_PLACE, least, 3, MPI_UINT64_T, MPI_MIN,
			   MPI_COMM_WORLD) != MPI_SUCCESS ||
	    PMPI_Allreduce(&level, &most, 1, MPI_INT, MPI_MAX,
			   MPI_COMM_WORLD) != MPI_SUCCESS ||
	    PMPI_Bcast(&start->options.group, 1, MPI_UINT64_T, 0,
		       MPI_COMM_WORLD) != MPI_SUCCESS)
		return false;
	/* Memory has the size that it has; less of it is used. */
	shim.room = least[0] / 2;
	shim.settings.operation_timeout = least[1];
	shim.settings.join_timeout = least[2];
	shim.is_threaded = most == MPI_THREAD_MULTIPLE;
	return true;
}

static bool create(struct start *start)
{
	struct peerlane_group_options *own = &start->options;

	own->rank = (uint32_t)shim.rank;
	own->ranks = (uint32_t)shim.ranks;
	own->timeout = (uint32_t)shim.settings.timeout;
	own->operation_timeout = (uint32_t)shim.settings.operation_timeout;
	own->join_timeout = (uint32_t)shim.settings.join_timeout;
	own->nonblock = true;
	if (peerlane_group_create(own, &shim.group) ||
	    peerlane_group_bind(shim.group, 0, shim.region, 0, 0, false, NULL))
		return refuse(start, peerlane_strerror());
	return true;
}

static void why_it_ended(struct start *start)
{
	struct peerlane_group_status status;

	if (peerlane_group_query(shim.group, &status))
		refuse(start, peerlane_strerror());
	else
		snprintf(start->reason, sizeof(start->reason), "%.*s",
			 (int)sizeof(status.text), status.text);
}

/* Others may still need this rank to come here, see shim_progress(). */
static bool join(struct start *start)
{
	struct peerlane_group_event event = { 0 };
	int ret = peerlane_group_join(shim.group, start->launch.aggregators,
				      NULL);

	if (ret && ret != -EINPROGRESS)
		return refuse(start, peerlane_strerror());
	do {
		shim_progress();
		ret = peerlane_group_next(shim.group, WAIT_MS, &event);
	} while (ret == -EAGAIN || ret == -EINTR);
	if (!ret && event.type == PEERLANE_GROUP_EVENT_JOINED)
		return true;
	why_it_ended(start);
	return false;
}

static bool meet(struct start *start)
{
	return agree(start, prepare(start)) && even_out(start) &&
	       agree(start, create(start)) && agree(start, join(start));
}

/*
 * Also of a job whose other programs are not preloaded, or of Fortran, one may be
 * preloaded; as long as nothing is said to peerlane, nobody is waited for.
 */
void shim_begin(void)
{
	struct start start = { .options.size = sizeof(start.options) };

	if (!shim_is_asked(environ) || !is_our_mpi())
		return;
	PMPI_Comm_rank(MPI_COMM_WORLD, &shim.rank);
	PMPI_Comm_size(MPI_COMM_WORLD, &shim.ranks);
	PMPI_Comm_dup(MPI_COMM_SELF, &shim.own);
	/* Whether an error ends the program is up to the communicator of the call. */
	PMPI_Comm_set_errhandler(shim.own, MPI_ERRORS_RETURN);
	PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN,
				&shim.mark, NULL);
	if (!meet(&start))
		undo();
	/* It is not needed any more, and memory is read by many. */
	explicit_bzero(&start, sizeof(start));
}

/* ---- the end ---------------------------------------------------------------------------- */

/* One write: mpirun has the lines of all ranks share a terminal. */
static void report(void)
{
	char calls[256];
	size_t used = 0;

	for (uint32_t kind = PEERLANE_ALL_REDUCE; kind <= PEERLANE_BARRIER;
	     kind++)
		used += (size_t)snprintf(calls + used, sizeof(calls) - used,
					 " %ju %s,",
					 (uintmax_t)shim.calls[kind],
					 peerlane_collective_name(kind));
	fprintf(stderr,
		SHIM_NAME ": rank %d of %d: by the group%s %ju bytes; by MPI %ju calls\n",
		shim.rank, shim.ranks, calls, (uintmax_t)shim.bytes,
		(uintmax_t)shim.passed);
}

/* Whether the group failed is not known to all ranks, so all do the same. */
void shim_end(void)
{
	/* It did not begin. */
	if (!shim.ranks)
		return;
	if (shim.settings.verbose > 1 ||
	    (shim.settings.verbose && !shim.rank))
		report();
	/* Nobody leaves while another one still waits for a result. */
	PMPI_Barrier(MPI_COMM_WORLD);
	undo();
	PMPI_Comm_free_keyval(&shim.mark);
	PMPI_Comm_free(&shim.own);
}
