// SPDX-License-Identifier: GPL-2.0
/* peerlane bench allreduce: one rank of a group that sums up. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench_reduce.h"
#include "bench_trace.h"

enum { SLOT_DATA = 0, SLOT_CONTROL = 1 };

#define PROGRESS_NS	500000000
#define SIZES_MOST	64	/* a factor of 2 has fewer */

struct reducer {
	const struct reduce_options *wanted;
	struct peerlane_group *group;
	struct peerlane_group_options options;
	struct peerlane_launch launch;
	struct bench_memory data;
	struct bench_memory control;
	struct reduce_values values;
	struct reduce_row *rows;
	size_t done;
	uint64_t wrong;
	uint64_t progress;
	struct trace trace;
};

void reduce_print_options(void)
{
	fputs("\nallreduce has options of its own; each rank is started with the same but --rank,\n"
	      "or by mpirun, srun or torchrun, which say rank and size:\n"
	      "\n"
	      "      --rank R           of this process, from 0\n"
	      "      --size N           ranks\n"
	      "  -a, --aggregator ADDR  ADDRESS[:PORT], repeated or apart by commas; in the same\n"
	      "                         order on all ranks; also PEERLANE_AGGREGATORS\n"
	      "  -b, --min-bytes SIZE   1m\n"
	      "  -e, --max-bytes SIZE   as -b\n"
	      "  -f, --factor N         from one size to the next; 2\n"
	      "  -n, --iters N          operations of each size; 20\n"
	      "  -w, --warmup N         that are not measured; 5\n"
	      "      --type TYPE        f32, f64, f16, bf16, i8 to i64, u8 to u64; f32\n"
	      "      --op OP            sum, avg, min, max, prod, band, bor, bxor; sum\n"
	      "      --in-place         the result replaces what was given\n"
	      "      --trace FILE       this rank's operations as a timeline, for Perfetto\n"
	      "      --check            compare all elements of one operation of each size\n"
	      "      --group GROUP      its number, or words; also PEERLANE_GROUP\n"
	      "      --placement PLACE  auto, dedicated, colocated, replicated, tree; auto\n"
	      "      --segment SIZE, --window N, --block N, -q, --lanes N\n"
	      "      --timeout MS, --op-timeout MS, --join-timeout MS\n"
	      "      --device, --host, -d, --source, --secret, -j as above\n",
	      stdout);
}

/* ---- one operation ------------------------------------------------------------------- */

/* Who is stopped and goes on is late, no more. */
static int wait_again(struct reducer *reducer,
		      const struct peerlane_collective *what, int error)
{
	while (error == -EINTR)
		error = peerlane_group_wait(reducer->group, what->cookie, -1);
	return error;
}

static int run(struct reducer *reducer, const struct peerlane_collective *what)
{
	return wait_again(reducer, what,
			  peerlane_group_run(reducer->group, what));
}

/* By two calls instead of one, so that there is a time between them. */
static int run_traced(struct reducer *reducer,
		      const struct peerlane_collective *what, uint64_t bytes)
{
	struct trace_slice slice = { .bytes = bytes, .begin = bench_now() };
	int error = peerlane_group_submit(reducer->group, what, 1, NULL);

	if (error)
		return error;
	slice.submitted = bench_now();
	error = wait_again(reducer, what,
			   peerlane_group_wait(reducer->group, what->cookie, -1));
	slice.end = bench_now();
	if (!error)
		trace_add(&reducer->trace, &slice);
	return error;
}

static int barrier(struct reducer *reducer)
{
	const struct peerlane_collective what = { .kind = PEERLANE_BARRIER };

	return run(reducer, &what);
}

static struct peerlane_collective operation(const struct reducer *reducer,
					    uint64_t count)
{
	const struct reduce_options *wanted = reducer->wanted;

	return (struct peerlane_collective){
		.kind = PEERLANE_ALL_REDUCE, .type = (uint8_t)wanted->type,
		.op = (uint8_t)wanted->op, .count = count,
		.send_slot = SLOT_DATA, .receive_slot = SLOT_DATA,
		.send_offset = wanted->in_place ? reducer->data.half : 0,
		.receive_offset = reducer->data.half,
	};
}

/* @value becomes that of all ranks together. */
static int agree(struct reducer *reducer, uint32_t op, uint64_t *value)
{
	const struct peerlane_collective what = {
		.kind = PEERLANE_ALL_REDUCE, .type = PEERLANE_U64,
		.op = (uint8_t)op, .count = 1,
		.send_slot = SLOT_CONTROL, .receive_slot = SLOT_CONTROL,
	};
	int error;

	memcpy(reducer->control.map, value, sizeof(*value));
	error = run(reducer, &what);
	if (!error)
		memcpy(value, reducer->control.map, sizeof(*value));
	return error;
}

/* ---- one size -------------------------------------------------------------------------- */

static void show_progress(struct reducer *reducer, uint64_t bytes, uint64_t ops)
{
	uint64_t now = bench_now();

	if (!reducer->progress)
		reducer->progress = now;
	if (now - reducer->progress < PROGRESS_NS || options.json ||
	    reducer->options.rank || !isatty(STDERR_FILENO))
		return;
	reducer->progress = now;
	fprintf(stderr, "\r\033[K%ju bytes: %ju operations", (uintmax_t)bytes,
		(uintmax_t)ops);
	fflush(stderr);
}

static void end_progress(struct reducer *reducer)
{
	if (reducer->progress && isatty(STDERR_FILENO) && !options.json &&
	    !reducer->options.rank)
		fputs("\r\033[K", stderr);
	reducer->progress = 0;
}

static int check(struct reducer *reducer, struct reduce_row *row)
{
	const struct peerlane_collective what = operation(reducer, row->count);
	char *receive = reducer->data.map + what.receive_offset;
	int error;

	if (!reducer->wanted->check)
		return 0;
	reduce_values_spoil(&reducer->values, receive, row->count);
	reduce_values_fill(&reducer->values,
			   reducer->data.map + what.send_offset, row->count);
	error = run(reducer, &what);
	if (error)
		return error;
	row->errors = reduce_values_wrong(&reducer->values, receive, row->count);
	return agree(reducer, PEERLANE_SUM, &row->errors);
}

static int warm_up(struct reducer *reducer,
		   const struct peerlane_collective *what)
{
	int error = 0;

	for (uint32_t i = 0; !error && i < reducer->wanted->warmups; i++)
		error = run(reducer, what);
	return error ? error : barrier(reducer);
}

static int repeat(struct reducer *reducer,
		  const struct peerlane_collective *what, struct reduce_row *row)
{
	uint64_t begin = bench_now(), before = begin, now;
	int error = 0;

	for (uint32_t i = 0; !error && i < reducer->wanted->iterations; i++) {
		error = reducer->trace.file ?
			run_traced(reducer, what, row->bytes) :
			run(reducer, what);
		now = bench_now();
		if (!error)
			latency_add(&row->latency, now - before);
		before = now;
		show_progress(reducer, row->bytes, i);
	}
	row->ns = (before - begin) / reducer->wanted->iterations;
	return error;
}

static int measure(struct reducer *reducer, struct reduce_row *row)
{
	const struct peerlane_collective what = operation(reducer, row->count);
	struct peerlane_group_status before, after;
	uint64_t ops = reducer->wanted->iterations;
	int error = warm_up(reducer, &what);

	if (!error)
		error = peerlane_group_query(reducer->group, &before);
	if (!error)
		error = repeat(reducer, &what, row);
	if (!error)
		error = peerlane_group_query(reducer->group, &after);
	if (error)
		return error;
	row->sent = (after.bytes_sent - before.bytes_sent) / ops;
	row->replicated = after.ops_replicated - before.ops_replicated;
	row->received = (after.bytes_received - before.bytes_received) / ops;
	return agree(reducer, PEERLANE_AVG, &row->ns);
}

static int measure_all(struct reducer *reducer)
{
	uint32_t element = peerlane_element_size(reducer->wanted->type);
	uint64_t bytes = 0;
	int error = 0;

	while (!error && reducer->done < SIZES_MOST &&
	       (bytes = reduce_next_size(reducer->wanted, bytes))) {
		struct reduce_row *row = &reducer->rows[reducer->done];

		row->count = bytes / element;
		row->bytes = row->count * element;
		error = check(reducer, row);
		if (!error)
			error = measure(reducer, row);
		end_progress(reducer);
		reducer->wrong += row->errors;
		reducer->done += !error;
	}
	return error;
}

/* ---- beginning ------------------------------------------------------------------------- */

static int say_who(struct reducer *reducer)
{
	const struct reduce_options *wanted = reducer->wanted;
	struct peerlane_group_options *own = &reducer->options;
	int error = peerlane_launch_read(&reducer->launch, own);

	if (!error && wanted->ranks) {
		own->rank = (uint32_t)wanted->rank;
		own->ranks = wanted->ranks;
	}
	if (!error && *wanted->aggregators)
		strcpy(reducer->launch.aggregators, wanted->aggregators);
	if (!error && wanted->secret)
		error = peerlane_endpoint_secret(wanted->secret, own->secret);
	if (!error && wanted->group)
		error = peerlane_group_number(wanted->group, &own->group);
	if (!error && !own->group && *reducer->launch.aggregators)
		error = peerlane_group_number(reducer->launch.aggregators,
					      &own->group);
	return error ? library_error(error) : STATUS_OK;
}

static int complain(const struct reducer *reducer)
{
	static const uint8_t zero[PEERLANE_SECRET];

	if (!reducer->options.ranks)
		return usage_error("which rank is this? --rank and --size, or mpirun, srun or torchrun");
	if (!*reducer->launch.aggregators)
		return usage_error("where are the aggregators? --aggregator ADDRESS, or PEERLANE_AGGREGATORS");
	if (!memcmp(reducer->options.secret, zero, sizeof(zero)))
		return usage_error("a secret is needed: the one that the aggregators have, by PEERLANE_SECRET, PEERLANE_SECRET_FILE or --secret");
	return STATUS_OK;
}

static void set_options(struct reducer *reducer)
{
	const struct reduce_options *wanted = reducer->wanted;
	struct peerlane_group_options *own = &reducer->options;

	own->segment = wanted->segment;
	own->window = wanted->window;
	own->block = wanted->block;
	own->placement = wanted->placement;
	own->lanes = wanted->lanes;
	own->timeout = wanted->timeout;
	own->operation_timeout = wanted->operation_timeout;
	own->join_timeout = wanted->join_timeout;
	own->rdma_device = wanted->rdma_device;
	own->nearest_to = reducer->data.region;
}

static int join(struct reducer *reducer)
{
	int error = peerlane_group_create(&reducer->options, &reducer->group);

	if (!error)
		error = peerlane_group_bind(reducer->group, SLOT_DATA,
					    reducer->data.region, 0, 0, false,
					    NULL);
	if (!error)
		error = peerlane_group_bind(reducer->group, SLOT_CONTROL,
					    reducer->control.region, 0, 0, false,
					    NULL);
	if (!error)
		error = peerlane_group_join(reducer->group,
					    reducer->launch.aggregators,
					    reducer->wanted->source);
	return error ? library_error(error) : STATUS_OK;
}

static int begin(struct reducer *reducer)
{
	const struct reduce_options *wanted = reducer->wanted;
	int status = say_who(reducer);

	if (!status)
		status = complain(reducer);
	if (!status)
		status = bench_memory_open(&reducer->control, NULL, 4096);
	if (!status)
		status = bench_memory_open(&reducer->data, wanted->device,
					   wanted->to);
	if (status)
		return status;
	set_options(reducer);
	reduce_values_make(&reducer->values, wanted, reducer->options.rank,
			   reducer->options.ranks);
	return join(reducer);
}

/* ---- the whole --------------------------------------------------------------------------- */

static int verdict(const struct reducer *reducer, int status)
{
	if (status || !reducer->wrong)
		return status;
	note("%ju elements are wrong", (uintmax_t)reducer->wrong);
	return STATUS_FINDING;
}

static int write_trace(struct reducer *reducer, int status)
{
	const struct trace_owner owner = {
		.group = reducer->options.group, .what = "all-reduce",
		.rank = reducer->options.rank, .ranks = reducer->options.ranks,
	};
	int failed = trace_close(&reducer->trace, &owner);

	return status ? status : failed;
}

static int bench(const struct reduce_options *wanted)
{
	struct reducer *reducer = must(calloc(1, sizeof(*reducer)));
	int error = 0, status;

	reducer->wanted = wanted;
	reducer->options.size = sizeof(reducer->options);
	reducer->rows = must(calloc(SIZES_MOST, sizeof(*reducer->rows)));
	status = trace_open(&reducer->trace, wanted->trace);
	if (!status)
		status = begin(reducer);
	if (!status) {
		error = measure_all(reducer);
		/* Nobody leaves while another one still has work. */
		if (!error)
			error = barrier(reducer);
	}
	if (error)
		status = library_error(error);
	if (reducer->done || !status)
		reduce_report(wanted, reducer->options.rank,
			      reducer->options.ranks, reducer->rows,
			      reducer->done);
	status = write_trace(reducer, verdict(reducer, status));
	peerlane_group_close(reducer->group);
	bench_memory_close(&reducer->data);
	bench_memory_close(&reducer->control);
	reduce_values_free(&reducer->values);
	free(reducer->rows);
	free(reducer);
	return status;
}

int bench_reduce(int argc, char **argv)
{
	char **words = must(calloc((size_t)argc + 2, sizeof(*words)));
	struct reduce_options *wanted = must(calloc(1, sizeof(*wanted)));
	char reason[REDUCE_REASON];
	int status = STATUS_OK;

	words[0] = (char []){ "allreduce" };
	if (argc)
		memcpy(words + 1, argv, (size_t)argc * sizeof(*words));
	if (!reduce_options_parse(wanted, argc + 1, words, reason)) {
		status = usage_error("%s", reason);
	} else if (wanted->help) {
		bench_print_options();
	} else {
		options.json |= wanted->json;
		options.pretty |= wanted->pretty;
		status = bench(wanted);
	}
	free(wanted);
	free(words);
	return status;
}
