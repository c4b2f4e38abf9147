// SPDX-License-Identifier: GPL-2.0
/*
 * preflight_test PATH DISTANCE: between the BAR device and the edu function,
 * as the machine was made.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "frame.h"
#include "pl_link.h"
#include "region.h"
#include "tap.h"

static char gpu[PEERLANE_PCI_LEN], edu[PEERLANE_PCI_LEN];
static unsigned int want_path, want_distance;

static const char *const path_words[] = {
	[PEERLANE_PATH_SWITCH]		= "directly below switch",
	[PEERLANE_PATH_ROOT_PORT]	= "directly below root port",
	[PEERLANE_PATH_HOST_BRIDGE]	= "through the host bridge",
	[PEERLANE_PATH_IOMMU]		= "through the IOMMU",
};

/* ---- the answer ---- */

static void path_is_as_the_machine_was_made(void)
{
	struct peerlane_preflight answer;

	CHECK_INT(preflight(gpu, edu, 0, &answer), 0);
	CHECK_INT(answer.out_path, want_path);
	CHECK_INT(answer.out_distance, want_distance);
	CHECK_HAS(why, path_words[want_path]);
	CHECK_HAS(why, gpu);
	CHECK_HAS(why, edu);
}

static void path_is_the_same_both_ways(void)
{
	struct peerlane_preflight answer;

	CHECK_INT(preflight(edu, gpu, 0, &answer), 0);
	CHECK_INT(answer.out_path, want_path);
	CHECK_INT(answer.out_distance, want_distance);
}

static void a_function_reaches_itself(void)
{
	struct peerlane_preflight answer;

	CHECK_INT(preflight(gpu, gpu, 0, &answer), 0);
	CHECK_INT(answer.out_path, PEERLANE_PATH_SWITCH);
	CHECK_INT(answer.out_distance, 0);
	CHECK_HAS(why, "its own memory");
}

static void a_function_without_memory_is_no_target(void)
{
	struct peerlane_preflight answer;

	/* The host bridge of q35. */
	CHECK_INT(preflight("0000:00:00.0", edu, 0, &answer), -EREMOTEIO);
	CHECK_HAS(why, "no memory BAR");
}

/* ---- addresses ---- */

static void domain_0_can_be_left_out(void)
{
	struct peerlane_preflight answer;

	CHECK_INT(preflight(gpu + 5, edu + 5, 0, &answer), 0);
	CHECK_INT(answer.out_distance, want_distance);
}

static void malformed_addresses_are_refused(void)
{
	static const char *const texts[] = {
		"", "0", ":", "00:00", "00:00.", "0:00.0", "00:0.0", "000:00.0",
		"00:000.0", "00:00.00", "00:00.8", "00:20.0", "0x:00.0",
		"000:00:00.0", "00000000:00:0.0", "0000:00:00.0 ", " 00:00.0",
		"00:00.0\n", "+0:00.0", "-1:00.0", "0000-00-00.0", "0000:00:00:0",
		"gggg:00:00.0", "0000:00:00.g",
	};
	struct peerlane_preflight answer;
	size_t i;

	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		if (!CHECK_INT(preflight(texts[i], edu, 0, &answer), -EINVAL) ||
		    !CHECK_INT(preflight(gpu, texts[i], 0, &answer), -EINVAL))
			printf("# \"%s\"\n", texts[i]);
		CHECK_HAS(why, "PCI address");
	}
}

static void address_without_an_end_is_refused(void)
{
	char text[] = "0000000000000000";	/* fills the field */
	struct peerlane_preflight answer;

	CHECK_INT(preflight(text, edu, 0, &answer), -EINVAL);
}

static void address_of_nothing_is_refused(void)
{
	struct peerlane_preflight answer;

	CHECK_INT(preflight("0000:ff:1f.7", edu, 0, &answer), -ENOENT);
	CHECK_HAS(why, "0000:ff:1f.7");
	CHECK_INT(preflight(gpu, "12345:00:00.0", 0, &answer), -ENOENT);
}

/* ---- what else is asked ---- */

static void bind_tells_the_bar(void)
{
	struct peerlane_preflight answer;

	CHECK_INT(preflight(gpu, "", PEERLANE_PREFLIGHT_BIND, &answer), 0);
	CHECK_INT(answer.out_bar, 2);
}

static void bind_of_registers_is_refused(void)
{
	struct peerlane_preflight answer;

	CHECK_INT(preflight(edu, "", PEERLANE_PREFLIGHT_BIND, &answer), -EINVAL);
	CHECK(why[0]);
}

static void bind_with_an_initiator_is_refused(void)
{
	struct peerlane_preflight answer;

	CHECK_INT(preflight(gpu, edu, PEERLANE_PREFLIGHT_BIND, &answer), -EINVAL);
}

/* ---- at attach, and for a link; edu says that it has 28 address bits ---- */

static void engine_that_cannot_address_the_memory_is_refused(void)
{
	int region = new_region(UNIT);
	int dmabuf = region_export(region, 0, UNIT, 0);
	int importer = importer_attach(dmabuf, PL_DYNAMIC);

	if (want_path == PEERLANE_PATH_IOMMU)
		CHECK(importer >= 0);	/* gets addresses that it can */
	else
		CHECK_INT(importer, -EREMOTEIO);
	if (importer >= 0) {
		CHECK_INT(importer_map(importer), 0);
		CHECK(importer_state(importer).addr < 1UL << 28);
		close(importer);
	}
	close(dmabuf);
	close(region);
	CHECK(wait_regions(0));
}

static void check_link(int region)
{
	int link = open("/dev/pl_link", O_RDWR | O_CLOEXEC);
	struct pl_link_get args = { .fd = region };
	int ret = dma_call(link, PL_LINK_GET, &args);

	if (want_path == PEERLANE_PATH_IOMMU) {
		CHECK_INT(ret, 0);
	} else {
		CHECK_INT(ret, -EREMOTEIO);
		CHECK_HAS(args.text, "addresses 28 bits");
	}
	close(link);
	close(region);
	CHECK(wait_regions(0));
}

static void link_that_cannot_address_the_memory_is_refused(void)
{
	check_link(new_region(UNIT));
}

#define LOW_BYTES	(1UL << 28)
#define UNIT_FRAMES	(UNIT / FRAME_BYTES)

/* How many frames of @at are written when the first one does not lie low. */
static size_t write_until_high(char *at, size_t frames)
{
	size_t i;

	for (i = 0; i < frames; i++) {
		at[i * FRAME_BYTES] = 1;
		if (frame_of(at + i * FRAME_BYTES) * FRAME_BYTES >= LOW_BYTES)
			break;
	}
	return i;
}

/* In more memory than lies low there is a page that does not. */
static void link_that_cannot_address_all_pages_is_refused(void)
{
	size_t frames = LOW_BYTES / FRAME_BYTES + UNIT_FRAMES, high;
	char *at = mmap(NULL, frames * FRAME_BYTES, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	CHECK(at != MAP_FAILED);
	high = write_until_high(at, frames);
	CHECK(high < frames);
	high -= high % UNIT_FRAMES;
	check_link(pin_host(at + high * FRAME_BYTES, UNIT, 0));
	munmap(at, frames * FRAME_BYTES);
}

static const struct tap_case cases[] = {
	TAP_CASE(path_is_as_the_machine_was_made),
	TAP_CASE(path_is_the_same_both_ways),
	TAP_CASE(a_function_reaches_itself),
	TAP_CASE(a_function_without_memory_is_no_target),
	TAP_CASE(domain_0_can_be_left_out),
	TAP_CASE(malformed_addresses_are_refused),
	TAP_CASE(address_without_an_end_is_refused),
	TAP_CASE(address_of_nothing_is_refused),
	TAP_CASE(bind_tells_the_bar),
	TAP_CASE(bind_of_registers_is_refused),
	TAP_CASE(bind_with_an_initiator_is_refused),
	TAP_CASE(engine_that_cannot_address_the_memory_is_refused),
	TAP_CASE(link_that_cannot_address_the_memory_is_refused),
	TAP_CASE(link_that_cannot_address_all_pages_is_refused),
};

static bool has_ids(const char *address, const char *ids)
{
	char path[384], text[64] = "";
	FILE *file;

	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/uevent", address);
	file = fopen(path, "r");
	while (file && fgets(text, sizeof(text), file))
		if (!strncmp(text, "PCI_ID=", 7))
			break;
	if (file)
		fclose(file);
	return !strncmp(text + 7, ids, strlen(ids));
}

static void find(const char *ids, char *address)
{
	DIR *dir = opendir("/sys/bus/pci/devices");
	struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		if (entry->d_name[0] != '.' && has_ids(entry->d_name, ids))
			snprintf(address, PEERLANE_PCI_LEN, "%.15s",
				 entry->d_name);
	if (dir)
		closedir(dir);
}

int main(int argc, char **argv)
{
	if (argc != 3)
		return 2;
	want_path = atoi(argv[1]);
	want_distance = atoi(argv[2]);
	find("1AF4:1110", gpu);
	find("1234:11E8", edu);
	return TAP_RUN(cases);
}
