// SPDX-License-Identifier: GPL-2.0
/* Who may attach to an export, and what it maps. */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "dmabuf.h"

/* ---- attaching ---- */

static void static_importer_is_refused(void)
{
	struct pair pair = new_pair(0);

	CHECK_INT(importer_attach(pair.dmabuf, PL_STATIC), -EOPNOTSUPP);
	end(pair);
}

static void importer_of_system_memory_is_refused(void)
{
	struct pair pair = new_pair(0);

	CHECK_INT(importer_attach(pair.dmabuf, PL_SYSTEM_ONLY), -EOPNOTSUPP);
	end(pair);
}

static void importer_that_is_no_pci_function_is_refused(void)
{
	struct pair pair = new_pair(0);

	CHECK_INT(importer_attach(pair.dmabuf, PL_NOT_PCI), -EOPNOTSUPP);
	end(pair);
}

static void attach_to_a_revoked_region_is_refused(void)
{
	struct pair pair = new_pair(0);

	CHECK_INT(region_revoke(pair.region), 0);
	CHECK_INT(importer_attach(pair.dmabuf, PL_DYNAMIC), -ENODEV);
	CHECK_INT(importer_attach(pair.dmabuf, PL_PINNED), -ENODEV);
	end(pair);
}

/* Where the kernel cannot tell who obeys, nobody is taken. */
static void check_revocable(uint32_t mode)
{
	struct pair pair = new_pair(PEERLANE_EXPORT_REVOCABLE_ONLY);
	int importer;

	if (!kernel_has("dma_buf_attach_revocable")) {
		CHECK_INT(importer_attach(pair.dmabuf, mode), -EOPNOTSUPP);
		CHECK_INT(region_revoke(pair.region), 0);
		end(pair);
		return;
	}
	importer = attach_and_map(pair.dmabuf, mode);
	CHECK_INT(region_revoke(pair.region), 0);
	CHECK_INT(importer_state(importer).mapped, 0);
	/* As the export was promised: with the importer still attached. */
	CHECK(wait_free(all_free));
	close(importer);
	end(pair);
}

static void revocable_only_takes_importers_that_obey(void)
{
	check_revocable(PL_DYNAMIC);
}

static void revocable_only_takes_pinned_importers_that_obey(void)
{
	check_revocable(PL_PINNED_REVOCABLE);
}

static void revocable_only_refuses_importers_that_keep(void)
{
	struct pair pair = new_pair(PEERLANE_EXPORT_REVOCABLE_ONLY);

	CHECK_INT(importer_attach(pair.dmabuf, PL_PINNED), -EOPNOTSUPP);
	end(pair);
}

/* ---- DMA mapping ---- */

static void mapping_for_dma_is_where_the_memory_is(void)
{
	int region = new_region(LENGTH);
	int dmabuf = region_export(region, UNIT, UNIT, 0);
	int importer = attach_and_map(dmabuf, PL_DYNAMIC);
	struct pl_state state = importer_state(importer);

	if (!has_iommu())
		CHECK_INT(state.addr, device_phys() + UNIT +
			  info_of(region).out_dev_offset);
	CHECK_INT(state.length, UNIT);
	CHECK_INT(state.contiguous, 1);
	close(importer);
	end((struct pair){ region, dmabuf });
}

static void mapping_for_dma_has_no_pages(void)
{
	struct pair pair = new_pair(0);
	int importer = attach_and_map(pair.dmabuf, PL_DYNAMIC);

	CHECK_INT(importer_state(importer).pages, 0);
	close(importer);
	end(pair);
}

static void entries_are_no_longer_than_the_importer_takes(void)
{
	struct pair pair = new_pair(0);
	int importer = importer_attach_max(pair.dmabuf, PL_DYNAMIC, 100000);
	struct pl_state state;

	CHECK_INT(importer_map(importer), 0);
	state = importer_state(importer);
	CHECK_INT(state.longest, 24 * PAGE);	/* whole pages of 100000 */
	CHECK_INT(state.entries, (LENGTH + 24 * PAGE - 1) / (24 * PAGE));
	CHECK_INT(state.length, LENGTH);
	CHECK_INT(state.contiguous, 1);
	close(importer);
	importer = importer_attach_max(pair.dmabuf, PL_DYNAMIC, 1U << 31);
	CHECK_INT(importer_map(importer), 0);
	CHECK_INT(importer_state(importer).entries, 1);
	close(importer);
	end(pair);
}

static void attachments_are_counted_while_mapped(void)
{
	struct pair pair = new_pair(0);
	int importer = importer_attach(pair.dmabuf, PL_DYNAMIC);

	CHECK_INT(info_of(pair.region).out_attachments, 0);
	CHECK_INT(importer_map(importer), 0);
	CHECK_INT(info_of(pair.region).out_attachments, 1);
	CHECK_INT(importer_unmap(importer), 0);
	CHECK_INT(info_of(pair.region).out_attachments, 0);
	close(importer);
	end(pair);
}

static void engine_reads_the_region(void)
{
	struct pair pair = new_pair(0);
	char *addr = map(pair.region, LENGTH, 0);
	int importer = attach_and_map(pair.dmabuf, PL_DYNAMIC);
	char data[512] = "";

	memset(addr + PAGE, 'r', sizeof(data));
	CHECK_INT(importer_copy(importer, false, PAGE, data, sizeof(data)), 0);
	CHECK(!memcmp(data, addr + PAGE, sizeof(data)));
	munmap(addr, LENGTH);
	close(importer);
	end(pair);
}

static void engine_writes_the_region(void)
{
	struct pair pair = new_pair(0);
	char *addr = map(pair.region, LENGTH, 0);
	int importer = attach_and_map(pair.dmabuf, PL_DYNAMIC);
	char data[512];

	memset(data, 'w', sizeof(data));
	CHECK_INT(importer_copy(importer, true, LENGTH - sizeof(data), data,
				sizeof(data)), 0);
	CHECK(!memcmp(addr + LENGTH - sizeof(data), data, sizeof(data)));
	CHECK_INT(addr[LENGTH - sizeof(data) - 1], 0);
	munmap(addr, LENGTH);
	close(importer);
	end(pair);
}

static const struct tap_case cases[] = {
	TAP_CASE(static_importer_is_refused),
	TAP_CASE(importer_of_system_memory_is_refused),
	TAP_CASE(importer_that_is_no_pci_function_is_refused),
	TAP_CASE(attach_to_a_revoked_region_is_refused),
	TAP_CASE(revocable_only_takes_importers_that_obey),
	TAP_CASE(revocable_only_takes_pinned_importers_that_obey),
	TAP_CASE(revocable_only_refuses_importers_that_keep),
	TAP_CASE(mapping_for_dma_is_where_the_memory_is),
	TAP_CASE(mapping_for_dma_has_no_pages),
	TAP_CASE(entries_are_no_longer_than_the_importer_takes),
	TAP_CASE(attachments_are_counted_while_mapped),
	TAP_CASE(engine_reads_the_region),
	TAP_CASE(engine_writes_the_region),
	TAP_CASE(nothing_is_left),
};

int main(void)
{
	all_free = bytes_free();
	return TAP_RUN(cases);
}
