// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/* One rank of a group, and how much of its communication is hidden. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "overlap.h"

#define PAGE	4096
#define SECOND	UINT64_C(1000000000)

/* ---- options ---------------------------------------------------------------- */

static void usage(const struct overlap *rank, int status)
{
	fprintf(status ? stderr : stdout,
		"usage: %s [OPTIONS]\n"
		"\n"
		"  -l N     layers; 8\n"
		"  -b BYTES of a layer; 1048576\n"
		"  -c MS    that computing a layer takes; as long as communicating it\n"
		"  -w       wait instead of computing, as for an accelerator\n"
		"  -n N     steps that are measured; 5\n"
		"  -d NAME  memory of /dev/peerlane/NAME, not of the host\n"
		"  -j       as JSON, from each rank\n"
		"\n"
		"Rank, size, secret and aggregators come from the environment: from mpirun, srun\n"
		"or torchrun, PEERLANE_SECRET, and PEERLANE_AGGREGATORS; see libpeerlane-group(3).\n",
		rank->name);
	exit(status);
}

static uint64_t number(const struct overlap *rank, const char *text,
		       uint64_t most)
{
	unsigned long long value;
	char *end;

	errno = 0;
	value = strtoull(text, &end, 10);
	if (errno || *end || !*text || *text == '-' || !value || value > most)
		usage(rank, 1);
	return value;
}

static void take(struct overlap *rank, int option)
{
	switch (option) {
	case 'l':
		rank->layers = (uint32_t)number(rank, optarg, 4096);
		break;
	case 'b':
		rank->bytes = number(rank, optarg, UINT64_C(1) << 32);
		break;
	case 'c':
		rank->layer_ms = (uint32_t)number(rank, optarg, 60000);
		break;
	case 'n':
		rank->steps = (uint32_t)number(rank, optarg, 1000000);
		break;
	case 'w':
		rank->idle = true;
		break;
	case 'd':
		rank->device = optarg;
		break;
	case 'j':
		rank->json = true;
		break;
	default:
		usage(rank, option != 'h');
	}
}

void overlap_begin(struct overlap *rank, int argc, char **argv)
{
	int option;

	rank->layers = 8;
	rank->bytes = 1 << 20;
	rank->steps = 5;
	while ((option = getopt(argc, argv, "l:b:c:n:wd:jh")) != -1)
		take(rank, option);
	if (optind < argc)
		usage(rank, 1);
}

int overlap_fail(const struct overlap *rank)
{
	fprintf(stderr, "%s: rank %u: %s\n", rank->name, rank->rank,
		peerlane_strerror());
	return 1;
}

/* ---- memory and the others ------------------------------------------------------ */

static int host_memory(size_t length, void **memory,
		       struct peerlane_region **region)
{
	*memory = mmap(NULL, length, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (*memory == MAP_FAILED) {
		perror("memory");
		exit(1);
	}
	return peerlane_region_host(*memory, length, false, region);
}

static int data_memory(struct overlap *rank, size_t length)
{
	void *memory = NULL;
	int ret;

	rank->length = (length + PAGE - 1) / PAGE * PAGE;
	if (!rank->device) {
		ret = host_memory(rank->length, &memory, &rank->data);
	} else {
		ret = peerlane_region_alloc(rank->device, rank->length,
					    &rank->data);
		if (!ret)
			ret = peerlane_region_map(rank->data, &memory);
	}
	rank->memory = memory;
	return ret;
}

static int become_rank(struct overlap *rank)
{
	struct peerlane_group_options options = { .size = sizeof(options) };
	int ret = peerlane_launch_read(&rank->launch, &options);

	rank->rank = options.rank;
	rank->ranks = options.ranks;
	if (!ret && !options.group)
		ret = peerlane_group_number(rank->name, &options.group);
	options.nearest_to = rank->data;
	return ret ? ret : peerlane_group_create(&options, &rank->group);
}

int overlap_join(struct overlap *rank, size_t length)
{
	void *shared;
	int ret = data_memory(rank, length);

	if (!ret)
		ret = host_memory(PAGE, &shared, &rank->control);
	if (!ret)
		rank->shared = shared;
	if (!ret)
		ret = become_rank(rank);
	if (!ret)
		ret = peerlane_group_bind(rank->group, SLOT_DATA, rank->data, 0,
					  0, false, NULL);
	if (!ret)
		ret = peerlane_group_bind(rank->group, SLOT_CONTROL,
					  rank->control, 0, 0, false, NULL);
	if (!ret)
		ret = peerlane_group_join(rank->group, rank->launch.aggregators,
					  NULL);
	return ret;
}

void overlap_end(struct overlap *rank)
{
	peerlane_group_close(rank->group);
	peerlane_region_free(rank->data);
	peerlane_region_free(rank->control);
	if (rank->shared)
		munmap(rank->shared, PAGE);
	if (rank->memory && !rank->device)
		munmap(rank->memory, rank->length);
}

/* ---- computing ------------------------------------------------------------------- */

static uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * SECOND + (uint64_t)time.tv_nsec;
}

static double sum_of(const float *layer, size_t count)
{
	double sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += (double)layer[i];
	return sum;
}

static void sleep_until(uint64_t end)
{
	const struct timespec time = {
		.tv_sec = (time_t)(end / SECOND), .tv_nsec = (long)(end % SECOND),
	};

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL))
		;
}

double overlap_compute(const struct overlap *rank, const float *layer,
		       size_t count)
{
	uint64_t begin = now();
	/* So that no pass is left out as one that changes nothing */
	volatile double sum = 0;

	if (rank->idle) {
		sum = sum_of(layer, count);
		sleep_until(begin + rank->wait_ns);
		return sum;
	}
	for (uint64_t pass = 0; pass < rank->passes; pass++)
		sum = sum_of(layer, count);
	return sum;
}

/* @layer_ns is what computing one layer is to take from now on. */
static int calibrate(struct overlap *rank, const struct overlap_work *work,
		     uint64_t layer_ns)
{
	uint64_t begin, one;
	int ret;

	rank->passes = 1;
	rank->wait_ns = 0;
	begin = now();
	ret = work->compute(rank);
	one = (now() - begin) / rank->layers;
	rank->passes = one && layer_ns > one ? layer_ns / one : 1;
	rank->wait_ns = layer_ns;
	return ret;
}

/* ---- measuring ---------------------------------------------------------------------- */

enum { COMMUNICATE, COMPUTE, SERIAL, OVERLAPPED, WAYS };

struct figures {
	double ns[WAYS];	/* of one step, on average of all ranks */
	double least, most;	/* ratios of single steps */
	double wrong;
};

/* What is hidden of the communication's time */
static double ratio(const double ns[WAYS])
{
	return (ns[COMMUNICATE] + ns[COMPUTE] - ns[OVERLAPPED]) /
	       ns[COMMUNICATE];
}

static int run(struct overlap *rank, const struct peerlane_collective *what)
{
	int ret = peerlane_group_run(rank->group, what);

	while (ret == -EINTR)
		ret = peerlane_group_wait(rank->group, what->cookie, -1);
	return ret;
}

static int barrier(struct overlap *rank)
{
	const struct peerlane_collective what = {
		.kind = PEERLANE_BARRIER, .cookie = UINT64_MAX,
	};

	return run(rank, &what);
}

/* @count values become the average of all ranks'. */
static int average(struct overlap *rank, double *values, uint64_t count)
{
	const struct peerlane_collective what = {
		.kind = PEERLANE_ALL_REDUCE, .type = PEERLANE_F64,
		.op = PEERLANE_AVG, .count = count, .cookie = UINT64_MAX,
		.send_slot = SLOT_CONTROL, .receive_slot = SLOT_CONTROL,
	};
	int ret;

	memcpy(rank->shared, values, count * sizeof(*values));
	ret = run(rank, &what);
	memcpy(values, rank->shared, count * sizeof(*values));
	return ret;
}

static int time_one(struct overlap *rank, int (*way)(struct overlap *rank),
		    double *ns)
{
	uint64_t begin;
	int ret = barrier(rank);

	begin = now();
	if (!ret)
		ret = way(rank);
	*ns = (double)(now() - begin);
	return ret;
}

/* Each way after the other, so that a slow moment meets all of them */
static int one_step(struct overlap *rank, const struct overlap_work *work,
		    uint64_t step, struct figures *figures)
{
	int (*const ways[WAYS])(struct overlap *) = {
		work->communicate, work->compute, work->serial, work->overlapped,
	};
	double values[WAYS + 1];
	int ret = 0;

	for (int i = 0; !ret && i < WAYS; i++) {
		work->prepare(rank, WAYS * step + i);
		ret = time_one(rank, ways[i], &values[i]);
	}
	if (!ret)
		values[WAYS] = (double)work->wrong(rank, WAYS * step + OVERLAPPED);
	if (!ret)
		ret = average(rank, values, WAYS + 1);
	for (int i = 0; i < WAYS; i++)
		figures->ns[i] += values[i] / rank->steps;
	figures->wrong += values[WAYS] * rank->ranks;
	if (!step || ratio(values) < figures->least)
		figures->least = ratio(values);
	if (!step || ratio(values) > figures->most)
		figures->most = ratio(values);
	return ret;
}

static void report(const struct overlap *rank, const struct figures *figures)
{
	const double *ns = figures->ns;

	if (rank->json) {
		printf("{\"test\":\"%s\",\"rank\":%u,\"ranks\":%u,\"layers\":%u,\"bytes\":%ju,"
		       "\"steps\":%u,\"compute\":\"%s\",\"communicate_ns\":%.0f,\"compute_ns\":%.0f,"
		       "\"serial_ns\":%.0f,\"overlapped_ns\":%.0f,\"overlap\":%.4f,"
		       "\"overlap_min\":%.4f,\"overlap_max\":%.4f,\"wrong\":%.0f}\n",
		       rank->name, rank->rank, rank->ranks, rank->layers,
		       (uintmax_t)rank->bytes, rank->steps,
		       rank->idle ? "wait" : "cpu", ns[COMMUNICATE],
		       ns[COMPUTE], ns[SERIAL], ns[OVERLAPPED], ratio(ns),
		       figures->least, figures->most, figures->wrong);
		return;
	}
	if (rank->rank)
		return;
	printf("%s: %u ranks, %u layers of %ju bytes, %u steps, computing %s\n"
	       "%12s %12s %12s %12s %8s %13s %8s\n"
	       "%9.3f ms %9.3f ms %9.3f ms %9.3f ms %8.2f %5.2f to %5.2f %8.0f\n",
	       rank->name, rank->ranks, rank->layers, (uintmax_t)rank->bytes,
	       rank->steps, rank->idle ? "elsewhere" : "by the CPU",
	       "COMMUNICATE", "COMPUTE", "SERIAL", "OVERLAPPED", "OVERLAP",
	       "MIN TO MAX", "WRONG", ns[COMMUNICATE] / 1e6, ns[COMPUTE] / 1e6,
	       ns[SERIAL] / 1e6, ns[OVERLAPPED] / 1e6, ratio(ns),
	       figures->least, figures->most, figures->wrong);
}

int overlap_measure(struct overlap *rank, const struct overlap_work *work)
{
	struct figures figures = { 0 };
	uint64_t layer_ns = rank->layer_ms * UINT64_C(1000000);
	double ns = 0;
	int ret;

	work->prepare(rank, 0);
	/* The first one wakes everything up. */
	ret = work->communicate(rank);
	if (!ret)
		ret = time_one(rank, work->communicate, &ns);
	if (!ret)
		ret = average(rank, &ns, 1);
	if (!ret)
		ret = calibrate(rank, work, layer_ns ? layer_ns :
				(uint64_t)ns / rank->layers);
	for (uint64_t step = 0; !ret && step < rank->steps; step++)
		ret = one_step(rank, work, step, &figures);
	if (ret)
		return overlap_fail(rank);
	report(rank, &figures);
	return figures.wrong > 0 ? 2 : 0;
}
