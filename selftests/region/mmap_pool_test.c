// SPDX-License-Identifier: GPL-2.0
/* What of the device is given out, and what it holds when it is. */
#include <sys/stat.h>

#include "harness.h"

#define DIRT	0xa5

static uint64_t device_size(void)
{
	return read_number(device_attr("size"));
}

static bool all_free(void)
{
	return read_number(device_attr("free")) == device_size();
}

/* Offset of the first byte that is not @want, or -1. */
static long find_other(const char *at, uint64_t length, char want)
{
	const uint64_t word = 0x0101010101010101ULL * (unsigned char)want;
	uint64_t i;

	for (i = 0; i < length; i += sizeof(word))
		if (*(volatile const uint64_t *)(at + i) != word)
			return i;
	return -1;
}

static void all_of_it_can_be_had(void)
{
	uint64_t size = device_size();
	int fd = new_region(size), other = open_device();
	struct peerlane_region_status info = region_info(fd);

	CHECK_INT(info.out_length, size);
	CHECK_INT(info.out_dev_offset, 0);
	CHECK_INT(read_number(device_attr("free")), 0);
	CHECK_INT(region_alloc(other, 1), -ENOSPC);
	CHECK_HAS(text, "no free range");
	CHECK(map(other, PAGE) == MAP_FAILED);
	CHECK_INT(errno, ENOSPC);
	close(fd);
	/* The refusal left nothing behind. */
	CHECK(WAIT_FOR(!region_alloc(other, size), LIMBO_SECONDS));
	close(other);
}

static void one_byte_more_is_too_much(void)
{
	uint64_t size = device_size();
	int fd = new_region(size - UNIT), other = open_device();

	CHECK_INT(region_alloc(other, UNIT + 1), -ENOSPC);
	CHECK_INT(region_alloc(other, UNIT), 0);
	close(fd);
	close(other);
}

static void it_is_given_in_units_of_2_mib(void)
{
	static const uint64_t lengths[] = { 1, PAGE, UNIT - 1, UNIT, UNIT + 1 };
	uint64_t free = read_number(device_attr("free"));
	size_t i;

	for (i = 0; i < ARRAY_SIZE(lengths); i++) {
		uint64_t units = lengths[i] > UNIT ? 2 : 1;
		int fd = new_region(lengths[i]);

		CHECK_INT(region_info(fd).out_dev_offset % UNIT, 0);
		CHECK_INT(read_number(device_attr("free")),
			  free - units * UNIT);
		close(fd);
		CHECK(WAIT_FOR(all_free(), LIMBO_SECONDS));
	}
}

/* Every second unit taken: much is free, and nothing of two units. */
static void a_range_has_to_be_in_one_piece(void)
{
	const int units = device_size() / UNIT;
	int fds[units], i, fd = open_device();

	for (i = 0; i < units; i++) {
		fds[i] = new_region(UNIT);
		CHECK(fds[i] >= 0);
	}
	for (i = 0; i < units; i += 2)
		close(fds[i]);
	CHECK(WAIT_FOR(read_number(device_attr("free")) ==
		       (uint64_t)(units + 1) / 2 * UNIT, LIMBO_SECONDS));
	CHECK_INT(region_alloc(fd, UNIT + 1), -ENOSPC);
	CHECK_HAS(text, "in pieces");
	CHECK_INT(region_alloc(fd, UNIT), 0);
	CHECK_INT(region_info(fd).out_dev_offset, 0);	/* first fit */
	for (i = 1; i < units; i += 2)
		close(fds[i]);
	close(fd);
}

/* What was closed comes back a little later. */
static bool has_region(int *fd, uint64_t length)
{
	return CHECK(WAIT_FOR((*fd = new_region(length)) >= 0, LIMBO_SECONDS));
}

static void regions_never_overlap(void)
{
	enum { N = 12 };
	static const int sizes[] = { 1, 3, 2, 1, 3 };
	struct peerlane_region_status info[N] = {};
	int fds[N], round, i, j;

	for (i = 0; i < N; i++)
		fds[i] = -1;
	for (round = 0; round < 3 * N; round++) {
		i = round * 7 % N;
		if (fds[i] >= 0)
			close(fds[i]);
		if (!has_region(&fds[i], sizes[round % 5] * UNIT))
			continue;
		info[i] = region_info(fds[i]);
		for (j = 0; j < N; j++)
			if (j != i && fds[j] >= 0)
				CHECK(info[j].out_dev_offset >=
				      info[i].out_dev_offset + info[i].out_length ||
				      info[i].out_dev_offset >=
				      info[j].out_dev_offset + info[j].out_length);
	}
	for (i = 0; i < N; i++)
		close(fds[i]);
}

/* ---- content ---- */

static void check_zero(void)
{
	uint64_t size = device_size();
	int fd = new_region(size);
	char *at = map(fd, size);

	if (CHECK(at != MAP_FAILED)) {
		CHECK_INT(find_other(at, size, 0), -1);
		munmap(at, size);
	}
	close(fd);
}

static void new_memory_is_zero(void)
{
	check_zero();
}

static void fill(int fd, uint64_t size)
{
	char *at = map(fd, size);

	if (CHECK(at != MAP_FAILED))
		memset(at, DIRT, size);
	CHECK_INT(find_other(at, size, (char)DIRT), -1);
	munmap(at, size);
}

/* What the host finds in the BAR's memory: all zero? */
static bool host_sees_zero(uint64_t size)
{
	char command[128];
	static char content[65536];
	FILE *host;
	size_t n, i, got = 0;
	bool zero = true;

	snprintf(command, sizeof(command), "host bar-read 1 0 0 %llu",
		 (unsigned long long)size);
	host = popen(command, "r");
	while ((n = fread(content, 1, sizeof(content), host)) > 0)
		for (i = 0, got += n; i < n; i++)
			zero = zero && !content[i];
	CHECK_INT(pclose(host), 0);
	CHECK_INT(got, size);
	return zero;
}

static void memory_given_back_is_wiped(void)
{
	const uint64_t size = 4 * UNIT;
	int fd = new_region(size);

	CHECK_INT(region_info(fd).out_dev_offset, 0);
	fill(fd, size);
	CHECK(!host_sees_zero(size));
	close(fd);
	CHECK(WAIT_FOR(all_free(), LIMBO_SECONDS));
	/* Not only when it is given out again: now. */
	CHECK(host_sees_zero(size));
}

static void the_next_user_finds_zeroes(void)
{
	uint64_t size = device_size();
	int fd = new_region(size);

	fill(fd, size);
	close(fd);
	CHECK(WAIT_FOR(all_free(), LIMBO_SECONDS));
	check_zero();
}

static void memory_of_a_revoked_region_is_wiped(void)
{
	const uint64_t size = 2 * UNIT;
	int fd = new_region(size);

	fill(fd, size);
	region_revoke(fd);
	CHECK(WAIT_FOR(all_free(), LIMBO_SECONDS));
	CHECK(host_sees_zero(size));
	close(fd);
}

/* A region shorter than its unit: the rest of the unit is nobody's. */
static void the_rest_of_a_unit_is_wiped_too(void)
{
	int fd = new_region(PAGE);
	char *at = map(fd, PAGE);

	memset(at, DIRT, PAGE);
	munmap(at, PAGE);
	CHECK_INT(system("host bar-fill 1 0 4096 4096 0x5a"), 0);
	close(fd);
	CHECK(WAIT_FOR(all_free(), LIMBO_SECONDS));
	check_zero();
}

static void what_was_there_before_the_bind_is_wiped(void)
{
	char path[PATH_MAX] = "", *name;

	if (!CHECK(realpath(device_attr("device"), path)))
		return;
	name = strrchr(path, '/') + 1;
	CHECK_INT(write_text("/sys/bus/pci/drivers/peerlane/unbind", name), 0);
	CHECK_INT(system("host bar-fill 1 0 0 16M 0xa5"), 0);
	CHECK_INT(write_text("/sys/bus/pci/drivers/peerlane/bind", name), 0);
	CHECK(WAIT_FOR(all_free(), LIMBO_SECONDS));
	check_zero();
}

/* ---- how the CPU maps it ---- */

static void it_is_reserved_write_combining(void)
{
	char want[128];
	unsigned long long start = 0, end = 0;
	const char *line;
	int bar;

	bar = read_number(device_attr("bar"));
	line = read_text(device_attr("device/resource"));
	while (bar--)
		line = strchr(line, '\n') + 1;
	CHECK_INT(sscanf(line, "%llx %llx", &start, &end), 2);
	CHECK_INT(end - start + 1, device_size());
	snprintf(want, sizeof(want), "[mem %#018llx-%#018llx] write-combining",
		 start, end + 1);
	CHECK_HAS(read_text("/sys/kernel/debug/x86/pat_memtype_list"), want);
}

int main(void)
{
	static const struct tap_case cases[] = {
		TAP_CASE(new_memory_is_zero),
		TAP_CASE(all_of_it_can_be_had),
		TAP_CASE(one_byte_more_is_too_much),
		TAP_CASE(it_is_given_in_units_of_2_mib),
		TAP_CASE(a_range_has_to_be_in_one_piece),
		TAP_CASE(regions_never_overlap),
		TAP_CASE(memory_given_back_is_wiped),
		TAP_CASE(the_next_user_finds_zeroes),
		TAP_CASE(memory_of_a_revoked_region_is_wiped),
		TAP_CASE(the_rest_of_a_unit_is_wiped_too),
		TAP_CASE(what_was_there_before_the_bind_is_wiped),
		TAP_CASE(it_is_reserved_write_combining),
	};

	return HARNESS_RUN(cases);
}
