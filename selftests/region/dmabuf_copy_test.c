// SPDX-License-Identifier: GPL-2.0
/*
 * Memory of a device copied by another device's engine. No CPU of this machine
 * sees the data: the host makes it, and looks where it has come to.
 */
#include "dma.h"
#include "lifetime.h"

#define LENGTH	(4 * UNIT)

/* A region of one BAR, and what an importer sees of a part of it. */
struct side {
	int bar, region, dmabuf, importer;
	uint64_t addr;			/* for the engine */
	uint64_t at;			/* of the same byte, in the BAR */
};

static struct side side_new(int bar, uint64_t offset, uint64_t length)
{
	struct side side = { .bar = bar };

	setenv("DEVICE", bar ? "gpu1" : "gpu0", 1);
	side.region = new_region(LENGTH);
	unsetenv("DEVICE");
	side.dmabuf = region_export(side.region, offset, length, 0);
	side.importer = importer_attach(side.dmabuf, PL_DYNAMIC);
	CHECK_INT(importer_map(side.importer), 0);
	side.addr = importer_state(side.importer).addr;
	side.at = region_info(side.region).out_dev_offset + offset;
	return side;
}

static void side_end(struct side *side)
{
	close(side->importer);
	close(side->dmabuf);
	close(side->region);
}

static int host(const char *what, const struct side *side, uint64_t offset,
		uint64_t length, const char *rest)
{
	char command[256];
	int status;

	snprintf(command, sizeof(command), "host %s \"$NODE\" %d %llu %llu %s",
		 what, side->bar, (unsigned long long)(side->at + offset),
		 (unsigned long long)length, rest);
	status = system(command);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void check_copy(const struct side *from, uint64_t source,
		       const struct side *to, uint64_t target, uint32_t length)
{
	uint32_t done, part;

	/* 64 bytes around the target, which must stay. */
	CHECK_INT(host("bar-fill", to, target - 64, length + 128, "0xa5"), 0);
	CHECK_INT(host("pattern-fill", from, source, length, "77"), 0);
	for (done = 0; done < length; done += part) {
		part = length - done < PL_EDU_ROOM ? length - done : PL_EDU_ROOM;
		CHECK_INT(edu_copy(from->addr + source + done,
				   to->addr + target + done, part), 0);
	}
	CHECK_INT(host("pattern-check", to, target, length, "77 64"), 0);
	CHECK_INT(host("pattern-check", to, target, length, "78 64"), 3);
	CHECK_INT(host("pattern-check", from, source, length, "77"), 0);
}

static void from_one_bar_to_another(void)
{
	struct side from = side_new(0, 0, LENGTH), to = side_new(1, 0, LENGTH);

	check_copy(&from, PAGE + 3, &to, 2 * PAGE + 5, 5000);
	side_end(&from);
	side_end(&to);
}

static void across_units(void)
{
	struct side from = side_new(0, 0, LENGTH), to = side_new(1, 0, LENGTH);

	check_copy(&from, UNIT - 700, &to, 3 * UNIT - 1000, 2000);
	side_end(&from);
	side_end(&to);
}

static void to_the_very_end(void)
{
	struct side from = side_new(0, 0, LENGTH), to = side_new(1, 0, LENGTH);

	CHECK_INT(host("pattern-fill", &from, LENGTH - 512, 512, "77"), 0);
	CHECK_INT(edu_copy(from.addr + LENGTH - 512, to.addr + LENGTH - 512,
			   512), 0);
	CHECK_INT(host("pattern-check", &to, LENGTH - 512, 512, "77"), 0);
	side_end(&from);
	side_end(&to);
}

static void between_regions_of_one_bar(void)
{
	struct side from = side_new(0, 0, LENGTH), to = side_new(0, 0, LENGTH);

	CHECK(from.at != to.at);
	check_copy(&from, 100, &to, UNIT, 2048);
	side_end(&from);
	side_end(&to);
}

static void between_parts_of_regions(void)
{
	struct side from = side_new(0, UNIT + PAGE, UNIT);
	struct side to = side_new(1, UNIT - PAGE, 2 * PAGE);

	check_copy(&from, UNIT - 2048, &to, PAGE - 1024, 2048);
	side_end(&from);
	side_end(&to);
}

static const struct tap_case cases[] = {
	TAP_CASE(from_one_bar_to_another),
	TAP_CASE(across_units),
	TAP_CASE(to_the_very_end),
	TAP_CASE(between_regions_of_one_bar),
	TAP_CASE(between_parts_of_regions),
};

int main(void)
{
	return HARNESS_RUN(cases);
}
