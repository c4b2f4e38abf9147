/* SPDX-License-Identifier: GPL-2.0 */
/* What a measurement is to be, as said on the command line. Pure. */
#ifndef PEERLANE_BENCH_OPTIONS_H
#define PEERLANE_BENCH_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum bench_test { BENCH_PUT, BENCH_GET, BENCH_LAT };

enum {
	BENCH_SIZES = 32,		/* measured one after another */
	BENCH_PORT = 18516,
	BENCH_LANES = 16,
	BENCH_DEPTH_MOST = 4096,
	BENCH_LIST_MOST = 1024,
	BENCH_REASON = 160,
};

#define BENCH_SIZE_MOST (UINT64_C(1) << 30)

/*
 * @peer: whom to connect to; NULL waits for one
 * @source: local address, or NULL
 * @device: memory device, or NULL for host memory
 * @rdma_device: or NULL
 * @secret: words, or NULL
 * @sizes: @size_count of them, bytes; none: by default
 * @iterations: operations of each size, 0 by default
 * @duration: seconds of each size, 0 none
 * @lanes, @depth, @list: 0 by default
 * @timeout: ms, 0 by default
 * @quiet: only each such operation is told to be done; 0: all
 */
struct bench_options {
	enum bench_test test;
	const char *peer;
	const char *source;
	const char *device;
	const char *rdma_device;
	const char *secret;
	uint64_t sizes[BENCH_SIZES];
	size_t size_count;
	uint64_t iterations;
	uint32_t duration;
	uint32_t lanes;
	uint32_t depth;
	uint32_t list;
	uint32_t quiet;
	uint32_t timeout;
	uint16_t port;
	bool all_sizes;
	bool both;
	bool flush;
	bool busy_poll;
	bool check;
	bool histogram;
	bool separate;
	bool poll_memory;
	bool json;
	bool pretty;
	bool help;
};

/* "4096", "64k", "1M", "2g", of 1024. False: it is none. */
bool bench_parse_size(const char *text, uint64_t *size);

/*
 * @argv has what follows the name of the test, and a place in front. False:
 * @reason says what is wrong.
 */
bool bench_options_parse(struct bench_options *options, enum bench_test test,
			 int argc, char **argv, char reason[BENCH_REASON]);

/* Those that are measured when none was given */
void bench_default_sizes(struct bench_options *options);

#endif /* PEERLANE_BENCH_OPTIONS_H */
