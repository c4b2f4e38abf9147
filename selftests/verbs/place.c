// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <peerlane.h>

#include "fill.h"
#include "peer.h"
#include "place.h"

#define SAME	0
#define DIFFERS	3

static struct area areas[] = {
	{ .name = "bar" }, { .name = "bar2" }, { .name = "host" },
};

#define AREAS (sizeof(areas) / sizeof(areas[0]))

static const char *device(void)
{
	const char *name = getenv("PATTERN_DEVICE");

	return name ? name : "gpu0";
}

void areas_length(size_t length)
{
	size_t i;

	for (i = 0; i < AREAS; i++)
		areas[i].length = length;
}

static void make_host(struct area *area)
{
	void *base = mmap(NULL, area->length, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (base == MAP_FAILED)
		die("no host memory");
	area->base = base;
}

static void make_region(struct area *area)
{
	struct peerlane_region_info info;
	void *base;

	if (peerlane_region_alloc(device(), area->length, &area->region) ||
	    peerlane_region_map(area->region, &base) ||
	    peerlane_region_query(area->region, &info))
		die("%s", peerlane_strerror());
	area->base = base;
	area->dev_offset = info.dev_offset;
}

void areas_free(void)
{
	size_t i;

	for (i = 0; i < AREAS; i++) {
		if (!areas[i].base)
			continue;
		if (areas[i].region)
			peerlane_region_free(areas[i].region);
		else
			munmap(areas[i].base, areas[i].length);
	}
}

static struct area *find(const char *name, size_t length)
{
	size_t i;

	for (i = 0; i < AREAS; i++)
		if (strlen(areas[i].name) == length &&
		    !memcmp(areas[i].name, name, length))
			return &areas[i];
	die("no such memory: %.*s", (int)length, name);
}

void place_parse(struct place *place, const char *text)
{
	size_t name = strcspn(text, "+@");
	char *end = (char *)text + name;

	memset(place, 0, sizeof(*place));
	place->area = find(text, name);
	if (*end == '+')
		place->offset = strtoull(end + 1, &end, 0);
	place->whole = !strcmp(end, "@whole");
	place->many = !strcmp(end, "@many");
	if (*end && !place->whole && !place->many)
		die("not understood: %s", end);
}

char *place_at(const struct place *place)
{
	return place->area->base + place->offset;
}

static bool has_guards(const struct place *place, size_t length)
{
	return place->offset >= GUARD &&
	       place->offset + length + GUARD <= place->area->length;
}

static void set(char *to, char value, size_t length)
{
	char *from = malloc(length);

	if (!from)
		die("no memory");
	memset(from, value, length);
	peerlane_copy_to(to, from, length);
	free(from);
}

void place_open(struct place *place, size_t length)
{
	struct area *area = place->area;

	if (!area->base && !strcmp(area->name, "host"))
		make_host(area);
	else if (!area->base)
		make_region(area);
	if (place->offset > area->length ||
	    length > area->length - place->offset)
		die("%zu bytes at %zu are beyond %s", length, place->offset,
		    area->name);
	if (has_guards(place, length))
		set(place_at(place) - GUARD, (char)GUARD_BYTE,
		    length + 2 * GUARD);
	else
		set(place_at(place), (char)GUARD_BYTE, length);
}

static struct ibv_mr *register_one(const struct area *area, struct ibv_pd *pd,
				   size_t offset, size_t length)
{
	const int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
			   IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
	struct ibv_mr *mr = NULL;

	if (!area->region)
		mr = ibv_reg_mr(pd, area->base + offset, length, access);
	else if (peerlane_region_reg_mr(area->region, pd, offset, length,
					access, &mr))
		die("%s", peerlane_strerror());
	if (!mr)
		die("host memory cannot be registered");
	return mr;
}

int place_register(const struct place *place, struct ibv_pd *pd, size_t length,
		   struct ibv_mr *mrs[MANY + 1])
{
	const struct area *area = place->area;
	int count = 1, i;

	if (place->whole) {
		mrs[0] = register_one(area, pd, 0, area->length);
		return 1;
	}
	if (place->many)
		count += MANY;
	for (i = 0; i < count; i++)
		mrs[i] = register_one(area, pd, place->offset, length);
	return count;
}

void place_fill(const struct place *place, size_t length, uint64_t seed)
{
	char *from = malloc(length);

	if (!from)
		die("no memory");
	fill(from, length, seed);
	peerlane_copy_to(place_at(place), from, length);
	free(from);
}

static uint64_t in_bar(const struct place *place)
{
	return place->area->dev_offset + place->offset;
}

/* SAME or DIFFERS, else it dies: no answer must not pass for a difference. */
static int host_compares(const struct place *place, size_t length,
			 uint64_t seed)
{
	int answer = host_says("pattern-check \"$NODE\" 0 %llu %zu %llu %d",
			       (unsigned long long)in_bar(place), length,
			       (unsigned long long)seed,
			       has_guards(place, length) ? GUARD : 0);

	if (answer != SAME && answer != DIFFERS)
		die("the host cannot look at the BAR: %d", answer);
	return answer;
}

bool place_check(const struct place *place, size_t length, uint64_t seed)
{
	if (!place->area->region)
		return fill_differs(place_at(place), length, seed) < 0;
	return host_compares(place, length, seed) == SAME;
}

static void flip(const struct place *place, size_t at)
{
	if (host_says("flip \"$NODE\" 0 %llu",
		      (unsigned long long)(in_bar(place) + at)))
		die("the host cannot flip a byte");
}

bool place_check_detects(const struct place *place, size_t length,
			 uint64_t seed)
{
	bool seen;

	if (!place->area->region)
		die("only device memory is looked at from outside");
	flip(place, length / 2);
	seen = host_compares(place, length, seed) == DIFFERS;
	flip(place, length / 2);
	return seen && host_compares(place, length, seed) == SAME &&
	       host_compares(place, length, seed + 1) == DIFFERS;
}

uint64_t place_word(const struct place *place)
{
	uint64_t value;

	if (place->area->region)
		return (uint64_t)host_number("word \"$NODE\" 0 %llu",
					     (unsigned long long)in_bar(place));
	memcpy(&value, place_at(place), sizeof(value));
	return value;
}
