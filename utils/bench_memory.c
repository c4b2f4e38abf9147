// SPDX-License-Identifier: GPL-2.0
/* Memory that is measured, and what is in it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bench.h"

#define CHUNK	65536

static uint64_t whole_pages(uint64_t bytes)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);

	return (bytes + page - 1) / page * page;
}

static int open_host(struct bench_memory *memory)
{
	size_t length = 2 * memory->half;
	int error;

	memory->pages = mmap(NULL, length, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (memory->pages == MAP_FAILED) {
		memory->pages = NULL;
		return usage_error("%s of host memory: %s", bytes_text(length),
				   strerror(errno));
	}
	memory->map = memory->pages;
	error = peerlane_region_host(memory->pages, length, false,
				     &memory->region);
	return error ? library_error(error) : STATUS_OK;
}

static int open_device(struct bench_memory *memory, const char *device)
{
	void *map = NULL;
	int error = peerlane_region_alloc(device, 2 * memory->half,
					  &memory->region);

	if (!error)
		error = peerlane_region_map(memory->region, &map);
	memory->map = map;
	return error ? library_error(error) : STATUS_OK;
}

int bench_memory_open(struct bench_memory *memory, const char *device,
		      uint64_t half)
{
	memset(memory, 0, sizeof(*memory));
	memory->half = whole_pages(half);
	return device ? open_device(memory, device) : open_host(memory);
}

void bench_memory_close(struct bench_memory *memory)
{
	peerlane_region_free(memory->region);
	if (memory->pages)
		munmap(memory->pages, 2 * memory->half);
	memset(memory, 0, sizeof(*memory));
}

/* ---- patterns ------------------------------------------------------------------ */

/* Depends on the place, so that what lands elsewhere is seen. */
static uint64_t word_at(uint64_t index, uint64_t seed)
{
	uint64_t x = (index + 1) * UINT64_C(0x9e3779b97f4a7c15) + seed;

	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	return x ^ x >> 31;
}

/* @at of a half, a multiple of CHUNK */
static void make(unsigned char chunk[CHUNK], uint64_t at, uint64_t seed)
{
	for (size_t i = 0; i < CHUNK; i += 8) {
		uint64_t word = word_at((at + i) / 8, seed);

		memcpy(chunk + i, &word, 8);
	}
}

static size_t piece(uint64_t at, uint64_t length)
{
	return length - at < CHUNK ? (size_t)(length - at) : CHUNK;
}

void bench_pattern_fill(const struct bench_memory *memory, uint64_t offset,
			uint64_t length, uint64_t seed)
{
	static unsigned char chunk[CHUNK];

	for (uint64_t at = 0; at < length; at += CHUNK) {
		make(chunk, at, seed);
		peerlane_copy_to(memory->map + offset + at, chunk,
				 piece(at, length));
	}
}

/* The opposite of what is to come: no byte is right by chance. */
void bench_pattern_spoil(const struct bench_memory *memory, uint64_t offset,
			 uint64_t length, uint64_t seed)
{
	static unsigned char chunk[CHUNK];

	for (uint64_t at = 0; at < length; at += CHUNK) {
		make(chunk, at, seed);
		for (size_t i = 0; i < CHUNK; i++)
			chunk[i] = (unsigned char)~chunk[i];
		peerlane_copy_to(memory->map + offset + at, chunk,
				 piece(at, length));
	}
}

uint64_t bench_pattern_wrong(const struct bench_memory *memory,
			     uint64_t offset, uint64_t length, uint64_t seed)
{
	static unsigned char chunk[CHUNK], got[CHUNK];
	uint64_t wrong = 0;

	for (uint64_t at = 0; at < length; at += CHUNK) {
		make(chunk, at, seed);
		peerlane_copy_from(got, memory->map + offset + at,
				   piece(at, length));
		for (size_t i = 0; i < piece(at, length); i++)
			wrong += chunk[i] != got[i];
	}
	return wrong;
}
