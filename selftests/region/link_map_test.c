// SPDX-License-Identifier: GPL-2.0
/*
 * Maps of regions for links: their addresses, for a device that copies by the
 * CPU and for one that does DMA; entries of work requests and of keys; sharing.
 */
#include "link.h"

#define LENGTH	(3 * UNIT)
#define PAGES	64

static const char *devices(int i)
{
	return i ? EDU : rxe();
}

/* ---- device memory ---- */

static void moves_at_every_edge(void)
{
	static const uint64_t edges[] = { PAGE, UNIT - PAGE, UNIT, 2 * UNIT };
	int region = new_region(LENGTH), link, i;
	char *at = map(region, LENGTH);
	size_t e;

	for (i = 0; i < 2; i++) {
		link = link_get(region, devices(i));
		CHECK_INT(link_state(link).length, LENGTH);
		CHECK_INT(link_state(link).writable, 1);
		check_moves(link, at, 0, 16);
		check_moves(link, at, LENGTH - 1, 1);
		check_moves(link, at, LENGTH - PL_LINK_ROOM, PL_LINK_ROOM);
		for (e = 0; e < ARRAY_SIZE(edges); e++) {
			check_moves(link, at, edges[e] - 1, 2);
			check_moves(link, at, edges[e] - 1000, 2000);
		}
		close(link);
	}
	munmap(at, LENGTH);
	close(region);
}

static void device_memory_is_one_entry(void)
{
	int region = new_region(LENGTH), link, i;
	struct pl_link_list whole, part;

	for (i = 0; i < 2; i++) {
		link = link_get(region, devices(i));
		CHECK_INT(link_list(link, PL_LINK_SGES, 0, LENGTH, 4, &whole),
			  1);
		CHECK_INT(whole.covered, LENGTH);
		CHECK_INT(whole.bytes[0], LENGTH);
		CHECK_INT(link_list(link, PL_LINK_SGES, UNIT - 1, 2, 4, &part),
			  1);
		CHECK_INT(part.addr[0] - whole.addr[0], UNIT - 1);
		CHECK_INT(part.bytes[0], 2);
		close(link);
	}
	close(region);
}

static void entries_beyond_the_end_are_refused(void)
{
	static const struct { uint64_t offset, length; int sges, keysg; } cases[] = {
		{ 0, 0, 0, -ERANGE },
		{ LENGTH, 0, 0, -ERANGE },
		{ LENGTH - 1, 1, 1, 1 },
		{ LENGTH - 1, 2, -ERANGE, -ERANGE },
		{ LENGTH, 1, -ERANGE, -ERANGE },
		{ LENGTH + 1, 0, -ERANGE, -ERANGE },
		{ 0, LENGTH + 1, -ERANGE, -ERANGE },
		{ 1, UINT64_MAX, -ERANGE, -ERANGE },
		{ UINT64_MAX, 2, -ERANGE, -ERANGE },
	};
	int region = new_region(LENGTH), link = link_get(region, rxe());
	struct pl_link_list list;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		CHECK_INT(link_list(link, PL_LINK_SGES, cases[i].offset,
				    cases[i].length, 4, &list), cases[i].sges);
		CHECK_INT(link_list(link, PL_LINK_KEYSG, cases[i].offset,
				    cases[i].length, 4, &list), cases[i].keysg);
	}
	close(link);
	close(region);
}

static void a_driver_makes_keys_of_any_part(void)
{
	static const struct { uint64_t offset, length; } parts[] = {
		{ 0, PAGE }, { 0, 1 }, { 1, 1 }, { PAGE - 1, 2 },
		{ UNIT - 1, 2 }, { 100, 256 * PAGE - 100 },
		{ UNIT - 100 * PAGE + 3, 200 * PAGE }, { LENGTH - 1, 1 },
	};
	int region = new_region(LENGTH), link = link_get(region, rxe());
	struct pl_link_list list;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(parts); i++) {
		CHECK_INT(link_list(link, PL_LINK_KEYSG, parts[i].offset,
				    parts[i].length, 1, &list), 1);
		CHECK_INT(list.bytes[0], parts[i].length);
		CHECK_INT(list.covered, parts[i].length);
	}
	CHECK_INT(link_list(link, PL_LINK_KEYSG, 0, PAGE, 0, &list), -ENOSPC);
	close(link);
	close(region);
}

static void a_file_without_memory_is_refused(void)
{
	int region = open_device();

	CHECK_INT(link_get_mode(region, rxe(), PL_LINK_KEEP), -ENODATA);
	CHECK_HAS(text, "has no memory yet");
	close(region);
}

/* ---- pinned pages ---- */

static void pinned_pages_move_at_every_edge(void)
{
	char *at = backwards(PAGES);
	int region = pin_host(-1, at, PAGES * PAGE, 0), link, i, page;

	for (i = 0; i < 2; i++) {
		link = link_get(region, devices(i));
		CHECK_INT(link_state(link).length, PAGES * PAGE);
		/* edu's engine is slow. */
		for (page = 1; page < PAGES; page += i ? 13 : 1)
			check_moves(link, at, page * PAGE - 2, 4);
		check_moves(link, at, 0, 1);
		check_moves(link, at, PAGES * PAGE - 1, 1);
		close(link);
	}
	close(region);
	munmap(at, PAGES * PAGE);
}

static void entries_are_as_many_as_pieces(void)
{
	char *at = backwards(PAGES);
	int region = pin_host(-1, at, PAGES * PAGE, 0);
	int link = link_get(region, rxe()), n, all;
	struct pl_link_list list;
	uint64_t next;

	all = link_list(link, PL_LINK_SGES, 0, PAGES * PAGE, PAGES, &list);
	CHECK_INT(all, PAGES);
	CHECK_INT(list.covered, PAGES * PAGE);
	/* No more than there is room for, and told how far that goes. */
	n = link_list(link, PL_LINK_SGES, 5, PAGES * PAGE - 5, all - 1, &list);
	CHECK_INT(n, all - 1);
	CHECK(list.covered < PAGES * PAGE - 5);
	next = 5 + list.covered;
	CHECK_INT(link_list(link, PL_LINK_SGES, next, PAGES * PAGE - next,
			    PAGES, &list), 1);
	CHECK_INT(list.covered, PAGES * PAGE - next);
	/* Keys: the same pieces, and a driver takes them. */
	CHECK_INT(link_list(link, PL_LINK_KEYSG, 0, PAGES * PAGE, PAGES, &list),
		  all);
	CHECK_INT(list.covered, PAGES * PAGE);
	CHECK_INT(link_list(link, PL_LINK_KEYSG, 7, PAGES * PAGE - 9, PAGES,
			    &list), all);
	CHECK_INT(list.covered, PAGES * PAGE - 9);
	CHECK_INT(link_list(link, PL_LINK_KEYSG, 0, PAGES * PAGE, all - 1,
			    &list), -ENOSPC);
	close(link);
	close(region);
	munmap(at, PAGES * PAGE);
}

static void read_only_pages_are_not_writable(void)
{
	char *at = backwards(PAGES), got[16];
	int region = pin_host(-1, at, PAGES * PAGE, PEERLANE_PIN_READ_ONLY);
	int link, i;

	strcpy(at + PAGE - 4, "content");
	for (i = 0; i < 2; i++) {
		link = link_get(region, devices(i));
		CHECK_INT(link_state(link).writable, 0);
		CHECK_INT(link_copy(link, false, PAGE - 4, got, 8), 0);
		CHECK_STR(got, "content");
		close(link);
	}
	close(region);
	munmap(at, PAGES * PAGE);
}

/* ---- sharing ---- */

static void a_device_has_one_map_of_a_region(void)
{
	int region = new_region(LENGTH), other = new_region(UNIT), i;
	int a, b, c;

	for (i = 0; i < 2; i++) {
		a = link_get(region, devices(i));
		b = link_get(region, devices(i));
		c = link_get(other, devices(i));
		CHECK(link_state(a).map == link_state(b).map);
		CHECK(link_state(a).map != link_state(c).map);
		CHECK_INT(region_info(region).out_attachments, 1);
		CHECK_INT(link_put(a), 0);
		CHECK_INT(region_info(region).out_attachments, 1);
		CHECK_INT(link_state(b).length, LENGTH);
		CHECK_INT(link_put(b), 0);
		CHECK_INT(region_info(region).out_attachments, 0);
		close(a);
		close(b);
		close(c);
	}
	close(other);
	close(region);
}

static void each_device_has_its_own(void)
{
	int region = new_region(LENGTH);
	int a = link_get(region, rxe()), b = link_get(region, EDU);

	CHECK(link_state(a).map != link_state(b).map);
	CHECK_INT(region_info(region).out_attachments, 2);
	close(a);
	CHECK_INT(region_info(region).out_attachments, 1);
	close(b);
	CHECK_INT(region_info(region).out_attachments, 0);
	close(region);
}

static int drain(void *link)
{
	return call_raw(*(int *)link, PL_LINK_DRAIN, NULL);
}

static void a_device_that_goes_waits_for_its_maps(void)
{
	int region = new_region(LENGTH), i;
	int keep, links[2];
	struct task task;

	for (i = 0; i < 2; i++) {
		links[0] = link_get(region, devices(i));
		links[1] = link_get(region, devices(i));
		keep = link_get(region, devices(!i));
		task_begin(&task, drain, &links[0]);
		usleep(300000);
		CHECK_INT(link_put(links[0]), 0);
		usleep(300000);
		CHECK(task_runs(&task));
		CHECK_INT(link_put(links[1]), 0);
		CHECK(task_ends(&task, LONG));
		close(links[0]);
		close(links[1]);
		close(keep);
	}
	close(region);
}

/* ---- ways ---- */

static void ways_to_the_memory(void)
{
	int empty = open_device(), region = new_region(UNIT), host;
	char *at = backwards(PAGES);

	host = pin_host(-1, at, PAGES * PAGE, 0);
	CHECK_INT(link_path(region, rxe()).path, PEERLANE_PATH_UNKNOWN);
	CHECK_INT(link_path(region, EDU).path, has_iommu() ?
		  PEERLANE_PATH_IOMMU : PEERLANE_PATH_HOST_BRIDGE);
	CHECK_INT(link_path(empty, EDU).path, link_path(region, EDU).path);
	CHECK_INT(link_path(empty, EDU).bridges,
		  link_path(region, EDU).bridges);
	CHECK(link_path(region, EDU).bridges > 0);
	CHECK_INT(link_path(host, EDU).path, PEERLANE_PATH_UNKNOWN);
	CHECK_INT(region_revoke(region), 0);
	close(host);
	close(region);
	close(empty);
	munmap(at, PAGES * PAGE);
}

static const struct tap_case cases[] = {
	TAP_CASE(moves_at_every_edge),
	TAP_CASE(device_memory_is_one_entry),
	TAP_CASE(entries_beyond_the_end_are_refused),
	TAP_CASE(a_driver_makes_keys_of_any_part),
	TAP_CASE(a_file_without_memory_is_refused),
	TAP_CASE(pinned_pages_move_at_every_edge),
	TAP_CASE(entries_are_as_many_as_pieces),
	TAP_CASE(read_only_pages_are_not_writable),
	TAP_CASE(a_device_has_one_map_of_a_region),
	TAP_CASE(each_device_has_its_own),
	TAP_CASE(a_device_that_goes_waits_for_its_maps),
	TAP_CASE(ways_to_the_memory),
};

int main(void)
{
	return HARNESS_RUN(cases);
}
