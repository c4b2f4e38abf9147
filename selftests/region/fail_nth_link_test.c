// SPDX-License-Identifier: GPL-2.0
/* Maps of regions for links, of each kind of memory and of device. */
#include "fail_nth.h"
#include "link.h"

#define LENGTH	UNIT
#define PAGES	64

static int behind = -1, dmabuf = -1, region = -1;
static char *pages = MAP_FAILED;
static const char *device;

/* ---- kinds of memory ---- */

static bool begin_device(void)
{
	region = new_region(LENGTH);
	return region >= 0;
}

static bool begin_pages(void)
{
	pages = backwards(PAGES);
	region = pin_host(-1, pages, PAGES * PAGE, 0);
	return region >= 0;
}

static bool begin_own(void)
{
	behind = new_region(LENGTH);
	dmabuf = region_export(behind, 0, LENGTH, 0);
	region = import_dmabuf(-1, dmabuf, PAGE, 0);
	return region >= 0;
}

static bool begin_foreign(void)
{
	dmabuf = new_foreign(PAGES * PAGE, PL_EXPORT_DMA);
	region = import_dmabuf(-1, dmabuf, PAGE, 0);
	return region >= 0;
}

static void close_one(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static void end_all(int link)
{
	if (link >= 0) {
		CHECK_INT(link_state(link).mapped, 1);
		CHECK_INT(region_info(region).out_attachments, 1);
		close(link);
	}
	CHECK_INT(region_info(region).out_attachments, 0);
	if (behind >= 0)
		CHECK_INT(region_info(behind).out_attachments, 0);
	close_one(&region);
	close_one(&dmabuf);
	close_one(&behind);
	if (pages != MAP_FAILED)
		munmap(pages, PAGES * PAGE);
	pages = MAP_FAILED;
}

/* ---- cases ---- */

static int do_get(void)
{
	return link_get_mode(region, device, PL_LINK_KEEP);
}

static void sweep(const char *name, bool (*begin)(void), const char *which)
{
	device = which;
	fail_sweep(&(const struct fail_step) {
		.name = name, .begin = begin, .run = do_get, .end = end_all,
	});
}

static void device_memory_for_rxe(void)
{
	sweep(__func__, begin_device, rxe());
}

static void device_memory_for_dma(void)
{
	sweep(__func__, begin_device, EDU);
}

static void pages_for_rxe(void)
{
	sweep(__func__, begin_pages, rxe());
}

static void pages_for_dma(void)
{
	sweep(__func__, begin_pages, EDU);
}

static void own_dmabuf_for_rxe(void)
{
	sweep(__func__, begin_own, rxe());
}

static void own_dmabuf_for_dma(void)
{
	sweep(__func__, begin_own, EDU);
}

static void anothers_dmabuf_for_dma(void)
{
	sweep(__func__, begin_foreign, EDU);
}

static const struct tap_case cases[] = {
	TAP_CASE(device_memory_for_rxe),
	TAP_CASE(device_memory_for_dma),
	TAP_CASE(pages_for_rxe),
	TAP_CASE(pages_for_dma),
	TAP_CASE(own_dmabuf_for_rxe),
	TAP_CASE(own_dmabuf_for_dma),
	TAP_CASE(anothers_dmabuf_for_dma),
};

int main(void)
{
	fail_open();
	/* Without one the DMA checker switches itself off. */
	fail_spare("radix_tree_node");
	return HARNESS_RUN(cases);
}
