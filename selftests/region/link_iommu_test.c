// SPDX-License-Identifier: GPL-2.0
/* Maps of regions for links behind an IOMMU: what is stale leads nowhere. */
#include "link.h"

#define PAGES	4

static void check_refused(int log)
{
	struct log_line line;

	CHECK(log_find(log, "DMAR: [DMA Write", LONG, &line));
	/* The kernel tells of three in five seconds, no more. */
	sleep(2);
}

/* It is not a matter of asking only. */
static void read_only_pages_cannot_be_written(void)
{
	char *at = backwards(PAGES);
	int region = pin_host(-1, at, PAGES * PAGE, PEERLANE_PIN_READ_ONLY);
	int link = link_get(region, EDU), log = log_open();

	strcpy(at, "content");
	expect_splat("DMAR: \\[DMA Write");
	CHECK_INT(link_copy(link, true, 0, "written", 8), 0);
	check_refused(log);
	CHECK_STR(at, "content");
	close(log);
	close(link);
	close(region);
	munmap(at, PAGES * PAGE);
}

/* @source is where the engine finds what it tries to write. */
static void check_stale(int region, char *at, uint64_t source)
{
	int link = link_get(region, EDU), log = log_open();
	struct pl_link_list list;

	CHECK_INT(link_list(link, PL_LINK_SGES, 0, PAGE, 1, &list), 1);
	strcpy(at, "content");
	CHECK_INT(edu_copy(list.addr[0], source, 64), 0);
	CHECK_INT(link_put(link), 0);
	memset(at, 0, 64);
	expect_splat("DMAR: \\[DMA Write");
	CHECK_INT(edu_copy(source, list.addr[0], 64), 0);
	check_refused(log);
	CHECK_STR(at, "");
	close(log);
	close(link);
}

static void addresses_end_with_the_map(void)
{
	int scratch = new_region(UNIT), region = new_region(UNIT), host;
	int link = link_get(scratch, EDU);
	struct pl_link_list list;
	char *at;

	CHECK_INT(link_list(link, PL_LINK_SGES, 0, PAGE, 1, &list), 1);
	at = map(region, UNIT);
	check_stale(region, at, list.addr[0]);
	munmap(at, UNIT);
	at = backwards(PAGES);
	host = pin_host(-1, at, PAGES * PAGE, 0);
	check_stale(host, at, list.addr[0]);
	munmap(at, PAGES * PAGE);
	close(host);
	close(link);
	close(region);
	close(scratch);
}

static const struct tap_case cases[] = {
	TAP_CASE(read_only_pages_cannot_be_written),
	TAP_CASE(addresses_end_with_the_map),
};

int main(void)
{
	return HARNESS_RUN(cases);
}
