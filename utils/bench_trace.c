// SPDX-License-Identifier: GPL-2.0
/*
 * Operations of one rank as Chrome's trace events. The kernel tells when an
 * operation has ended, and not when its segments came to an aggregator or were
 * summed up, so there are the phases that the process itself can tell apart.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bench_trace.h"
#include "cli.h"

/* More make a file that no viewer opens. */
#define SLICES_MOST	(1U << 18)

int trace_open(struct trace *trace, const char *path)
{
	*trace = (struct trace){ 0 };
	if (!path)
		return STATUS_OK;
	trace->file = fopen(path, "we");
	return trace->file ? STATUS_OK :
			     usage_error("%s: %s", path, strerror(errno));
}

void trace_add(struct trace *trace, const struct trace_slice *slice)
{
	if (trace->count == SLICES_MOST) {
		trace->left_out++;
		return;
	}
	if (trace->count == trace->room) {
		trace->room = trace->room ? 2 * trace->room : 256;
		trace->slices = must(reallocarray(trace->slices, trace->room,
						  sizeof(*trace->slices)));
	}
	trace->slices[trace->count++] = *slice;
}

/* ---- events ------------------------------------------------------------- */

static struct json_object *event(const char *phase, const char *name,
				 const struct trace_owner *owner)
{
	struct json_object *object = must(json_object_new_object());

	json_text(object, "ph", phase, SIZE_MAX);
	json_text(object, "name", name, SIZE_MAX);
	json_number(object, "pid", owner->rank);
	json_number(object, "tid", 0);
	return object;
}

static void add_name(struct json_object *events, const char *kind,
		     const char *name, const struct trace_owner *owner)
{
	struct json_object *object = event("M", kind, owner);
	struct json_object *args = must(json_object_new_object());

	json_text(args, "name", name, SIZE_MAX);
	json_object_object_add(object, "args", args);
	json_object_array_add(events, object);
}

/* The unit of the format is the microsecond. */
static void add_time(struct json_object *object, const char *key, uint64_t ns)
{
	json_object_object_add(object, key,
			       must(json_object_new_double((double)ns / 1e3)));
}

static struct json_object *slice(const char *name, uint64_t begin, uint64_t end,
				 const struct trace_owner *owner)
{
	struct json_object *object = event("X", name, owner);

	add_time(object, "ts", begin);
	add_time(object, "dur", end - begin);
	return object;
}

/* One within the other: a viewer stacks them. */
static void add_operation(struct json_object *events,
			  const struct trace_slice *one, uint64_t zero,
			  uint64_t number, const struct trace_owner *owner)
{
	struct json_object *args = must(json_object_new_object());
	struct json_object *whole = slice(owner->what, one->begin - zero,
					  one->end - zero, owner);

	json_number(args, "operation", number);
	json_number(args, "bytes", one->bytes);
	json_object_object_add(whole, "args", args);
	json_object_array_add(events, whole);
	json_object_array_add(events, slice("submit", one->begin - zero,
					    one->submitted - zero, owner));
	json_object_array_add(events, slice("wait", one->submitted - zero,
					    one->end - zero, owner));
}

static struct json_object *all_events(const struct trace *trace,
				      const struct trace_owner *owner)
{
	struct json_object *events = must(json_object_new_array());
	uint64_t zero = trace->count ? trace->slices[0].begin : 0;
	char *name = format_text("rank %u of %u, group %ju", owner->rank,
				 owner->ranks, (uintmax_t)owner->group);

	add_name(events, "process_name", name, owner);
	add_name(events, "thread_name", "operations", owner);
	for (size_t i = 0; i < trace->count; i++)
		add_operation(events, &trace->slices[i], zero, i, owner);
	free(name);
	return events;
}

/* ---- the file ------------------------------------------------------------- */

static int finish(struct trace *trace)
{
	bool has_hole = ferror(trace->file);
	int error = fclose(trace->file) ? errno : 0;

	trace->file = NULL;
	if (error)
		return usage_error("trace: %s", strerror(error));
	/* Writes that went well came after it, so errno is not its reason. */
	if (has_hole)
		return usage_error("trace: part of it could not be written");
	return STATUS_OK;
}

int trace_close(struct trace *trace, const struct trace_owner *owner)
{
	int status = STATUS_OK;

	if (trace->file) {
		json_print(trace->file, all_events(trace, owner), false);
		status = finish(trace);
	}
	if (trace->left_out)
		note("the trace has the first %zu operations, %ju are left out",
		     trace->count, (uintmax_t)trace->left_out);
	free(trace->slices);
	*trace = (struct trace){ 0 };
	return status;
}
