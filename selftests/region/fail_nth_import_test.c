// SPDX-License-Identifier: GPL-2.0
/* dma-bufs of others, of ours and of udmabuf, as regions. */
#include <linux/udmabuf.h>

#include "fail_nth.h"
#include "pl_exporter.h"

#define LENGTH	UNIT

static int control = -1, region = -1, dmabuf = -1, import = -1;
static char *at = MAP_FAILED;

/* ---- who makes the dma-buf ---- */

static bool make_own(void)
{
	region = new_region(LENGTH);
	dmabuf = region_export(region, 0, LENGTH, 0);
	return dmabuf >= 0;
}

static bool make_foreign(void)
{
	struct pl_export args = { .size = LENGTH, .flags = PL_EXPORT_MMAP };
	int fd = open("/dev/pl_exporter", O_RDWR | O_CLOEXEC);

	dmabuf = ioctl(fd, PL_EXPORT, &args);
	close(fd);
	return dmabuf >= 0;
}

static bool make_udmabuf(void)
{
	struct udmabuf_create args = { .flags = UDMABUF_FLAGS_CLOEXEC };
	int fd = open("/dev/udmabuf", O_RDWR | O_CLOEXEC);
	int memfd = memfd_create("fail_nth", MFD_ALLOW_SEALING | MFD_CLOEXEC);

	args.memfd = memfd;
	args.size = LENGTH;
	if (!ftruncate(memfd, LENGTH) &&
	    !fcntl(memfd, F_ADD_SEALS, F_SEAL_SHRINK))
		dmabuf = ioctl(fd, UDMABUF_CREATE, &args);
	close(memfd);
	close(fd);
	return dmabuf >= 0;
}

/* ---- what steps need, and its end ---- */

static bool begin_own(void)
{
	control = open_control();
	return control >= 0 && make_own();
}

static bool begin_foreign(void)
{
	control = open_control();
	return control >= 0 && make_foreign();
}

static bool begin_udmabuf(void)
{
	control = open_control();
	return control >= 0 && make_udmabuf();
}

static int do_import(void)
{
	import = import_dmabuf(control, dmabuf, 0, 0);
	return import;
}

static int do_import_part(void)
{
	import = import_dmabuf(control, dmabuf, PAGE, PAGE);
	return import;
}

static bool begin_import(void)
{
	return begin_foreign() && do_import() >= 0;
}

static bool begin_own_import(void)
{
	return begin_own() && do_import() >= 0;
}

static void close_one(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static void end_all(void)
{
	if (at != MAP_FAILED)
		munmap(at, LENGTH);
	at = MAP_FAILED;
	close_one(&import);
	close_one(&dmabuf);
	close_one(&region);
	close_one(&control);
}

static void end_import(int ret)
{
	if (ret >= 0)
		CHECK_INT(region_info(import).out_state, PEERLANE_STATE_ACTIVE);
	end_all();
}

/* ---- cases ---- */

static void importing_our_own(void)
{
	FAIL_SWEEP(.begin = begin_own, .run = do_import, .end = end_import);
}

static void importing_of_another(void)
{
	FAIL_SWEEP(.begin = begin_foreign, .run = do_import, .end = end_import);
}

static void importing_a_part(void)
{
	FAIL_SWEEP(.begin = begin_foreign, .run = do_import_part,
		   .end = end_import);
}

static void importing_a_udmabuf(void)
{
	if (access("/dev/udmabuf", F_OK)) {
		SKIP("the kernel has no udmabuf");
		return;
	}
	FAIL_SWEEP(.begin = begin_udmabuf, .run = do_import, .end = end_import);
}

static int do_export(void)
{
	return region_export(import, 0, LENGTH, 0);
}

static void end_export(int ret)
{
	if (ret >= 0)
		close(ret);
	end_all();
}

static void handing_it_on(void)
{
	FAIL_SWEEP(.begin = begin_import, .run = do_export, .end = end_export);
}

static int do_mmap(void)
{
	at = map(import, LENGTH);
	return at == MAP_FAILED ? -errno : 0;
}

static void end_mmap(int ret)
{
	if (!ret)
		CHECK_INT(touch(at, true), 0);
	end_all();
}

static void mmap_of_our_own(void)
{
	FAIL_SWEEP(.begin = begin_own_import, .run = do_mmap, .end = end_mmap);
}

static void mmap_of_anothers(void)
{
	FAIL_SWEEP(.begin = begin_import, .run = do_mmap, .end = end_mmap);
}

static int do_revoke(void)
{
	return region_revoke(import);
}

static void end_revoke(int ret)
{
	uint32_t state = region_info(import).out_state;

	CHECK((ret < 0) == (state == PEERLANE_STATE_ACTIVE));
	end_all();
}

static void revoking(void)
{
	FAIL_SWEEP(.begin = begin_import, .run = do_revoke, .end = end_revoke);
}

static const struct tap_case cases[] = {
	TAP_CASE(importing_our_own),
	TAP_CASE(importing_of_another),
	TAP_CASE(importing_a_part),
	TAP_CASE(importing_a_udmabuf),
	TAP_CASE(handing_it_on),
	TAP_CASE(mmap_of_our_own),
	TAP_CASE(mmap_of_anothers),
	TAP_CASE(revoking),
};

int main(void)
{
	return FAIL_RUN(cases);
}
