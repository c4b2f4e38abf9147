// SPDX-License-Identifier: GPL-2.0
/* allreduce --trace: a file that does not take all of it. */
#include "tap.h"

#include <errno.h>
#include <stdlib.h>

#include "../../utils/bench_trace.h"
#include "../../utils/cli.h"

struct options options;

static char said[256];
static int refusals;	/* writes that still fail */
static size_t taken;

int usage_error(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(said, sizeof(said), format, args);
	va_end(args);
	return STATUS_ERROR;
}

void note(const char *format, ...)
{
	(void)format;
}

/* As a disk of which room was made meanwhile */
static ssize_t take(void *cookie, const char *text, size_t size)
{
	(void)cookie;
	(void)text;
	if (refusals) {
		refusals--;
		errno = ENOSPC;
		return -1;
	}
	errno = 0;
	taken += size;
	return (ssize_t)size;
}

static int close_trace(int fails)
{
	static const struct trace_owner owner = { .ranks = 1, .what = "sum" };
	static const struct trace_slice slice = { .bytes = 4096, .end = 9 };
	struct trace trace = { 0 };

	*said = '\0';
	taken = 0;
	refusals = fails;
	trace.file = fopencookie(NULL, "w",
				 (cookie_io_functions_t){ .write = take });
	if (!CHECK(trace.file))
		return -1;
	for (int i = 0; i < 500; i++)
		trace_add(&trace, &slice);
	return trace_close(&trace, &owner);
}

static void all_of_it_is_written(void)
{
	CHECK_INT(close_trace(0), STATUS_OK);
	CHECK(taken > 50000);
	CHECK_STR(said, "");
}

/* Long before the end, when errno says nothing of it any more */
static void a_hole_is_an_error(void)
{
	CHECK_INT(close_trace(1), STATUS_ERROR);
	CHECK_STR(said, "trace: part of it could not be written");
}

static void a_full_disk_is_named(void)
{
	CHECK_INT(close_trace(1 << 30), STATUS_ERROR);
	CHECK_STR(said, "trace: No space left on device");
}

static const struct tap_case cases[] = {
	TAP_CASE(all_of_it_is_written), TAP_CASE(a_hole_is_an_error),
	TAP_CASE(a_full_disk_is_named),
};

int main(void)
{
	return TAP_RUN(cases);
}
