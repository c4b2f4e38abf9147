// SPDX-License-Identifier: GPL-2.0
/* Exports through RDMA core's own import, as drivers of NICs use it. */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "dmabuf.h"

static int umem_map(int umem)
{
	return dma_call(umem, PL_UMEM_MAP, NULL);
}

static int umem_unmap(int umem)
{
	return dma_call(umem, PL_UMEM_UNMAP, NULL);
}

static bool has_revocable(void)
{
	return kernel_has("ib_umem_dmabuf_set_revoke_locked");
}

/* All of the export, mapped. */
static int get_and_map(int dmabuf, uint32_t mode)
{
	int umem = umem_get(dmabuf, mode, 0, LENGTH);

	if (CHECK(umem >= 0) && mode == PL_UMEM_DYNAMIC)
		CHECK_INT(umem_map(umem), 0);
	return umem;
}

/* ---- mapping ---- */

static void check_place(uint64_t offset, uint64_t length)
{
	struct pair pair = new_pair(0);
	int umem = umem_get(pair.dmabuf, PL_UMEM_DYNAMIC, offset, length);
	int whole = attach_and_map(pair.dmabuf, PL_DYNAMIC);
	struct pl_umem_state state;

	CHECK_INT(umem_state(umem).mapped, 0);
	CHECK_INT(umem_map(umem), 0);
	state = umem_state(umem);
	CHECK_INT(state.mapped, 1);
	CHECK_INT(state.length, (offset % PAGE + length + PAGE - 1) & -PAGE);
	if (!has_iommu())
		CHECK_INT(state.addr, importer_state(whole).addr + offset);
	close(whole);
	close(umem);
	end(pair);
}

static void all_of_an_export(void)
{
	check_place(0, LENGTH);
}

static void a_part_across_units(void)
{
	check_place(UNIT - PAGE, 2 * PAGE);
}

static void a_part_that_is_no_whole_page(void)
{
	check_place(PAGE + 123, UNIT);
}

static void units_are_pages_for_the_nic(void)
{
	struct pair pair = new_pair(0);
	int umem = get_and_map(pair.dmabuf, PL_UMEM_DYNAMIC);
	struct pl_umem_state state = umem_state(umem);

	CHECK_INT(state.page, UNIT);
	CHECK_INT(state.pages, LENGTH / UNIT);
	close(umem);
	end(pair);
}

/* It trims our entries in place, and must find them whole again. */
static void a_part_is_mapped_again(void)
{
	struct pair pair = new_pair(0);
	int umem = umem_get(pair.dmabuf, PL_UMEM_DYNAMIC, 3 * PAGE, PAGE);
	uint64_t addr;
	int i;

	CHECK_INT(umem_map(umem), 0);
	addr = umem_state(umem).addr;
	for (i = 0; i < 3; i++) {
		CHECK_INT(umem_unmap(umem), 0);
		CHECK_INT(umem_state(umem).mapped, 0);
		CHECK_INT(info_of(pair.region).out_attachments, 0);
		CHECK_INT(umem_map(umem), 0);
		CHECK_INT(umem_state(umem).length, PAGE);
	}
	if (!has_iommu())
		CHECK_INT(umem_state(umem).addr, addr);
	close(umem);
	end(pair);
}

static void a_range_beyond_the_export_is_refused(void)
{
	struct pair pair = new_pair(0);

	CHECK_INT(umem_get(pair.dmabuf, PL_UMEM_DYNAMIC, PAGE, LENGTH), -EINVAL);
	CHECK_INT(umem_get(pair.dmabuf, PL_UMEM_PINNED, LENGTH, PAGE), -EINVAL);
	end(pair);
}

static void the_engine_copies_within_a_part(void)
{
	struct pair pair = new_pair(0);
	char *addr = map(pair.region, LENGTH, 0);
	int umem = umem_get(pair.dmabuf, PL_UMEM_PINNED, UNIT, UNIT);

	memset(addr + UNIT + 5, 'u', 700);
	CHECK_INT(umem_copy(umem, 5, UNIT - 700, 700), 0);
	CHECK(!memcmp(addr + 2 * UNIT - 700, addr + UNIT + 5, 700));
	CHECK_INT(addr[2 * UNIT - 701], 0);
	CHECK_INT(addr[2 * UNIT], 0);
	munmap(addr, LENGTH);
	close(umem);
	end(pair);
}

/* ---- revocation ---- */

static void a_revoked_region_is_refused(void)
{
	struct pair pair = new_pair(0);

	CHECK_INT(region_revoke(pair.region), 0);
	CHECK_INT(umem_get(pair.dmabuf, PL_UMEM_DYNAMIC, 0, LENGTH), -ENODEV);
	CHECK_INT(umem_get(pair.dmabuf, PL_UMEM_PINNED, 0, LENGTH), -ENODEV);
	end(pair);
}

static void a_dynamic_import_lets_go_when_told(void)
{
	struct pair pair = new_pair(0);
	int umem = get_and_map(pair.dmabuf, PL_UMEM_DYNAMIC);

	CHECK_INT(region_revoke(pair.region), 0);
	CHECK_INT(umem_state(umem).told, 1);
	CHECK_INT(umem_state(umem).mapped, 0);
	CHECK_INT(umem_map(umem), -ENODEV);
	CHECK_INT(umem_copy(umem, 0, PAGE, 64), -ENOENT);
	CHECK(wait_free(all_free));
	close(umem);
	end(pair);
}

static void a_pinned_import_keeps_the_memory_in_limbo(void)
{
	struct pair pair = new_pair(0);
	int umem = get_and_map(pair.dmabuf, PL_UMEM_PINNED);

	CHECK_INT(region_revoke(pair.region), 0);
	sleep_ms(700);
	CHECK_INT(umem_state(umem).mapped, 1);
	CHECK_INT(bytes_limbo(), LENGTH);
	CHECK_INT(info_of(pair.region).out_attachments, 1);
	CHECK_INT(umem_copy(umem, 0, UNIT, 64), 0);
	close(umem);
	end(pair);
}

static void a_revocable_import_is_revoked_at_once(void)
{
	struct pair pair = new_pair(PEERLANE_EXPORT_REVOCABLE_ONLY);
	int umem;

	if (!has_revocable()) {
		CHECK_INT(umem_get(pair.dmabuf, PL_UMEM_REVOCABLE, 0, LENGTH),
			  -EOPNOTSUPP);
		end(pair);
		return;
	}
	umem = get_and_map(pair.dmabuf, PL_UMEM_REVOCABLE);
	CHECK_INT(umem_copy(umem, 0, UNIT, 64), 0);
	CHECK_INT(region_revoke(pair.region), 0);
	CHECK_INT(umem_state(umem).told, 1);
	CHECK_INT(umem_state(umem).mapped, 0);
	CHECK_INT(umem_copy(umem, 0, UNIT, 64), -ENOENT);
	CHECK(wait_free(all_free));
	close(umem);
	end(pair);
}

static void a_pinned_import_of_a_revocable_export_is_refused(void)
{
	struct pair pair = new_pair(PEERLANE_EXPORT_REVOCABLE_ONLY);

	CHECK_INT(umem_get(pair.dmabuf, PL_UMEM_PINNED, 0, LENGTH), -EOPNOTSUPP);
	end(pair);
}

/* As for a NIC that is reset: later, the region's revocation finds nobody. */
static void check_let_go_by_itself(uint32_t mode)
{
	struct pair pair = new_pair(0);
	int umem = get_and_map(pair.dmabuf, mode);
	int ret = dma_call(umem, PL_UMEM_REVOKE, NULL);

	if (kernel_has("ib_umem_dmabuf_revoke")) {
		CHECK_INT(ret, 0);
		CHECK_INT(umem_state(umem).mapped, 0);
		CHECK_INT(info_of(pair.region).out_attachments, 0);
		CHECK_INT(region_revoke(pair.region), 0);
		CHECK(wait_free(all_free));
	} else {
		CHECK_INT(ret, -EOPNOTSUPP);
	}
	close(umem);
	end(pair);
}

static void a_driver_lets_go_by_itself(void)
{
	check_let_go_by_itself(PL_UMEM_PINNED);
	if (has_revocable())
		check_let_go_by_itself(PL_UMEM_REVOCABLE);
}

static void an_import_alone_keeps_the_memory(void)
{
	const uint32_t modes[] = { PL_UMEM_DYNAMIC, PL_UMEM_PINNED };
	size_t i;

	for (i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		struct pair pair = new_pair(0);
		int umem = get_and_map(pair.dmabuf, modes[i]);

		close(pair.dmabuf);
		close(pair.region);
		sleep_ms(300);
		CHECK_INT(bytes_free(), all_free - LENGTH);
		CHECK_INT(umem_copy(umem, 0, UNIT, 64), 0);
		close(umem);
		CHECK(wait_free(all_free));
	}
}

static const struct tap_case cases[] = {
	TAP_CASE(all_of_an_export),
	TAP_CASE(a_part_across_units),
	TAP_CASE(a_part_that_is_no_whole_page),
	TAP_CASE(units_are_pages_for_the_nic),
	TAP_CASE(a_part_is_mapped_again),
	TAP_CASE(a_range_beyond_the_export_is_refused),
	TAP_CASE(the_engine_copies_within_a_part),
	TAP_CASE(a_revoked_region_is_refused),
	TAP_CASE(a_dynamic_import_lets_go_when_told),
	TAP_CASE(a_pinned_import_keeps_the_memory_in_limbo),
	TAP_CASE(a_revocable_import_is_revoked_at_once),
	TAP_CASE(a_pinned_import_of_a_revocable_export_is_refused),
	TAP_CASE(a_driver_lets_go_by_itself),
	TAP_CASE(an_import_alone_keeps_the_memory),
	TAP_CASE(nothing_is_left),
};

int main(void)
{
	all_free = bytes_free();
	return TAP_RUN(cases);
}
