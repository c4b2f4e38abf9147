// SPDX-License-Identifier: GPL-2.0
/*
 * Exports in the hands of an importer, step by step: attach, map, DMA, unmap,
 * detach. By pl_importer, which has its own allocations; they may fail too.
 */
#include "fail_nth.h"
#include "pl_importer.h"

#define LENGTH	UNIT
#define PIECE	4096U		/* so that the table of LENGTH is many pages */

static int region = -1, dmabuf = -1, importer = -1;
static uint64_t dma_entries;
static uint32_t mode;
static uint32_t max_segment;

/* ---- the importer ---- */

static int order(unsigned int cmd, void *args)
{
	return ioctl(importer, cmd, args) < 0 ? -errno : 0;
}

static struct pl_state importer_state(void)
{
	struct pl_state state = {};

	CHECK_INT(order(PL_STATE, &state), 0);
	return state;
}

static unsigned int attachments(void)
{
	return region_info(region).out_attachments;
}

static int do_attach(void)
{
	struct pl_attach args = {
		.fd = dmabuf, .mode = mode, .max_segment = max_segment,
	};

	return order(PL_ATTACH, &args);
}

static int do_map(void)
{
	return order(PL_MAP, NULL);
}

static int do_unmap(void)
{
	return order(PL_UNMAP, NULL);
}

static int do_detach(void)
{
	return order(PL_DETACH, NULL);
}

static int do_revoke(void)
{
	return region_revoke(region);
}

/* What the kernel's DMA checker has left goes down with each DMA mapping. */
static uint64_t free_dma_entries(void)
{
	return read_number(DEBUGFS "dma-api/num_free_entries");
}

/* ---- what steps need, and its end ---- */

static bool begin_export(void)
{
	dma_entries = free_dma_entries();
	region = new_region(LENGTH);
	importer = open("/dev/pl_importer", O_RDWR | O_CLOEXEC);
	if (region < 0 || importer < 0)
		return false;
	dmabuf = region_export(region, 0, LENGTH, 0);
	return dmabuf >= 0;
}

static bool begin_attached(void)
{
	return begin_export() && !do_attach();
}

static bool begin_mapped(void)
{
	return begin_attached() && !do_map();
}

static void end_all(void)
{
	close(importer);
	close(dmabuf);
	CHECK_INT(attachments(), 0);
	CHECK(read_text(DEBUGFS "dma-api/disabled")[0] != 'Y');
	CHECK_INT(free_dma_entries(), dma_entries);
	CHECK(WAIT_FOR(!region_info(region).out_exports, LIMBO_SECONDS));
	close(region);
}

/* What was refused once works then. */
static void end_attach(int ret)
{
	if (ret)
		CHECK_INT(do_attach(), 0);
	CHECK_INT(do_map(), 0);
	CHECK_INT(importer_state().length, LENGTH);
	end_all();
}

static void end_map(int ret)
{
	CHECK_INT(attachments(), ret ? 0 : 1);
	CHECK_INT(importer_state().mapped, ret ? 0 : 1);
	if (ret)
		CHECK_INT(do_map(), 0);
	CHECK_INT(importer_state().length, LENGTH);
	end_all();
}

static void end_revoke(int ret)
{
	CHECK_INT(importer_state().notifies, ret ? 0 : 1);
	CHECK_INT(attachments(), ret || mode == PL_PINNED ? 1 : 0);
	end_all();
}

static void end_revoke_pinned(int ret)
{
	CHECK((ret < 0) ==
	      (region_info(region).out_state == PEERLANE_STATE_ACTIVE));
	CHECK_INT(attachments(), 1);
	end_all();
}

/* ---- cases ---- */

static void attaching(void)
{
	mode = PL_DYNAMIC;
	FAIL_SWEEP(.begin = begin_export, .run = do_attach, .end = end_attach);
}

static void attaching_and_pinning(void)
{
	mode = PL_PINNED_REVOCABLE;
	FAIL_SWEEP(.begin = begin_export, .run = do_attach, .end = end_attach);
}

static void mapping(void)
{
	mode = PL_DYNAMIC;
	FAIL_SWEEP(.begin = begin_attached, .run = do_map, .end = end_map);
}

static void mapping_in_pieces(void)
{
	mode = PL_DYNAMIC;
	max_segment = PIECE;
	FAIL_SWEEP(.begin = begin_attached, .run = do_map, .end = end_map);
	/* The function keeps what it was told last. */
	max_segment = UINT32_MAX;
	if (tap.skip || !CHECK(begin_attached()))
		return;
	max_segment = 0;
	end_all();
}

static void mapping_pinned(void)
{
	mode = PL_PINNED;
	FAIL_SWEEP(.begin = begin_attached, .run = do_map, .end = end_map);
}

/* Without an allocation, unless the IOMMU makes some. */
static void unmapping_has_nothing_to_fail(void)
{
	int ret;

	if (fail_file < 0) {
		SKIP(FAIL_UNAVAILABLE);
		return;
	}
	mode = PL_DYNAMIC;
	CHECK(begin_mapped());
	CHECK_INT(fail_points(do_unmap, &ret), 0);
	CHECK_INT(ret, 0);
	CHECK_INT(fail_points(do_detach, &ret), 0);
	CHECK_INT(ret, 0);
	end_all();
}

static void revoking_what_an_importer_has(void)
{
	mode = PL_DYNAMIC;
	FAIL_SWEEP(.begin = begin_mapped, .run = do_revoke, .end = end_revoke);
}

static void revoking_what_an_importer_pinned(void)
{
	mode = PL_PINNED;
	FAIL_SWEEP(.begin = begin_mapped, .run = do_revoke,
		   .end = end_revoke_pinned);
}

/* ---- all of it at once, and the bytes ---- */

static char bytes[512];

static int copy(bool write, void *data)
{
	struct pl_copy args = {
		.data_ptr = (uintptr_t)data, .length = sizeof(bytes),
		.write = write,
	};

	return order(PL_COPY, &args);
}

static int do_everything(void)
{
	int ret = do_attach();

	if (!ret)
		ret = do_map();
	if (!ret)
		ret = copy(true, bytes);
	if (!ret)
		ret = do_unmap();
	if (!ret)
		ret = do_detach();
	return ret;
}

static bool begin_everything(void)
{
	memset(bytes, 'e', sizeof(bytes));
	mode = PL_DYNAMIC;
	return begin_export();
}

static void end_everything(int ret)
{
	char *at = map(region, LENGTH);

	if (!ret)
		CHECK(!memcmp(at, bytes, sizeof(bytes)));
	munmap(at, LENGTH);
	end_all();
}

static void dma_by_an_engine(void)
{
	FAIL_SWEEP(.begin = begin_everything, .run = do_everything,
		   .end = end_everything);
}

static const struct tap_case cases[] = {
	TAP_CASE(attaching),
	TAP_CASE(attaching_and_pinning),
	TAP_CASE(mapping),
	TAP_CASE(mapping_in_pieces),
	TAP_CASE(mapping_pinned),
	TAP_CASE(unmapping_has_nothing_to_fail),
	TAP_CASE(revoking_what_an_importer_has),
	TAP_CASE(revoking_what_an_importer_pinned),
	TAP_CASE(dma_by_an_engine),
};

int main(void)
{
	fail_open();
	/* Without one the DMA checker switches itself off. */
	fail_spare("radix_tree_node");
	return HARNESS_RUN(cases);
}
