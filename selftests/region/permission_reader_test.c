// SPDX-License-Identifier: GPL-2.0
/* What a region file that is open for reading only does not allow. */
#include "harness.h"

static int reader(void)
{
	int fd = open(DEVICES "gpu0", O_RDONLY | O_CLOEXEC);

	CHECK(fd >= 0);
	CHECK_INT(region_alloc(fd, PAGE), 0);
	return fd;
}

static void a_reader_makes_no_dmabuf(void)
{
	int fd = reader();

	/* It would be open for writing. */
	CHECK_INT(region_export(fd, 0, PAGE, 0), -EPERM);
	CHECK_HAS(text, "reading only");
	close(fd);
}

static void a_reader_revokes_nothing(void)
{
	int fd = reader();

	CHECK_INT(region_revoke(fd), -EPERM);
	CHECK_HAS(text, "reading only");
	CHECK_INT(region_info(fd).out_state, PEERLANE_STATE_ACTIVE);
	close(fd);
}

int main(void)
{
	static const struct tap_case cases[] = {
		TAP_CASE(a_reader_makes_no_dmabuf),
		TAP_CASE(a_reader_revokes_nothing),
	};

	return HARNESS_RUN(cases);
}
