// SPDX-License-Identifier: GPL-2.0
/* Exports of device memory: attach, map, pin, CPU mapping, revocation, limbo. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "region.h"
#include "tap.h"

#define LENGTH	(4 * UNIT)
#define PAGE	4096UL

static uint64_t all_free;	/* before the first case */

/* A region and one dma-buf of all of it. */
struct pair {
	int region;
	int dmabuf;
};

static struct pair new_pair(uint32_t flags)
{
	struct pair pair = { new_region(LENGTH), -1 };

	if (CHECK(pair.region >= 0))
		pair.dmabuf = region_export(pair.region, 0, LENGTH, flags);
	CHECK(pair.dmabuf >= 0);
	return pair;
}

static void end(struct pair pair)
{
	close(pair.dmabuf);
	close(pair.region);
	CHECK(wait_free(all_free));
}

static struct peerlane_region_status info_of(int region)
{
	struct peerlane_region_status info;

	CHECK_INT(region_info(region, &info), 0);
	return info;
}

/* ---- export ---- */

static void export_has_the_length_asked_for(void)
{
	int region = new_region(LENGTH);
	int dmabuf = region_export(region, UNIT, 3 * PAGE, 0);

	CHECK(dmabuf >= 0);
	CHECK_INT(lseek(dmabuf, 0, SEEK_END), 3 * PAGE);
	CHECK_INT(fcntl(dmabuf, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
	CHECK_INT(fcntl(dmabuf, F_GETFL) & O_ACCMODE, O_RDWR);
	end((struct pair){ region, dmabuf });
}

static void export_of_an_unaligned_range_is_refused(void)
{
	int region = new_region(LENGTH);

	CHECK_INT(region_export(region, 1, PAGE, 0), -EINVAL);
	CHECK_INT(region_export(region, 0, PAGE - 1, 0), -EINVAL);
	CHECK_INT(region_export(region, 0, 0, 0), -EINVAL);
	CHECK_HAS(why, "page size");
	close(region);
}

static void export_beyond_the_region_is_refused(void)
{
	int region = new_region(LENGTH);

	CHECK_INT(region_export(region, PAGE, LENGTH, 0), -EINVAL);
	CHECK_HAS(why, "beyond");
	CHECK_INT(region_export(region, -PAGE, 2 * PAGE, 0), -EOVERFLOW);
	close(region);
}

static void export_with_an_unknown_flag_is_refused(void)
{
	int region = new_region(LENGTH);

	CHECK_INT(region_export(region, 0, PAGE, 1U << 31), -EOPNOTSUPP);
	close(region);
}

static void export_of_an_empty_region_is_refused(void)
{
	int region = open_node("gpu0");

	CHECK_INT(region_export(region, 0, PAGE, 0), -ENODATA);
	close(region);
}

static void export_of_a_revoked_region_is_refused(void)
{
	int region = new_region(LENGTH);

	CHECK_INT(region_revoke(region), 0);
	CHECK_INT(region_export(region, 0, PAGE, 0), -ENODEV);
	CHECK_HAS(why, "revoked");
	close(region);
}

static void exports_are_counted(void)
{
	struct pair pair = new_pair(0);
	int second = region_export(pair.region, 0, PAGE, 0);

	CHECK_INT(info_of(pair.region).out_exports, 2);
	close(second);
	CHECK(wait_exports(pair.region, 1));
	end(pair);
}

static void export_keeps_the_memory(void)
{
	struct pair pair = new_pair(0);
	char *addr = map(pair.region, PAGE, 0);

	addr[0] = 'k';
	munmap(addr, PAGE);
	close(pair.region);
	sleep_ms(300);
	CHECK_INT(bytes_free(), all_free - LENGTH);
	addr = map(pair.dmabuf, PAGE, 0);
	CHECK(addr && addr[0] == 'k');
	munmap(addr, PAGE);
	close(pair.dmabuf);
	CHECK(wait_free(all_free));
}

/* ---- CPU mapping ---- */

static void mapping_shows_the_region_at_the_offset(void)
{
	int region = new_region(LENGTH);
	int dmabuf = region_export(region, UNIT + PAGE, UNIT, 0);
	char *whole = map(region, LENGTH, 0);
	char *part = map(dmabuf, UNIT - PAGE, PAGE);

	CHECK(whole && part);
	whole[UNIT + 2 * PAGE + 7] = 'x';
	CHECK_INT(part[7], 'x');
	part[UNIT - PAGE - 1] = 'y';
	CHECK_INT(whole[2 * UNIT + PAGE - 1], 'y');
	munmap(whole, LENGTH);
	munmap(part, UNIT - PAGE);
	end((struct pair){ region, dmabuf });
}

static void mapping_is_counted(void)
{
	struct pair pair = new_pair(0);
	char *addr = map(pair.dmabuf, LENGTH, 0);

	CHECK_INT(info_of(pair.region).out_mappings, 1);
	munmap(addr, LENGTH);
	CHECK_INT(info_of(pair.region).out_mappings, 0);
	end(pair);
}

static void mapping_beyond_the_dmabuf_is_refused(void)
{
	int region = new_region(LENGTH);
	int dmabuf = region_export(region, 0, UNIT, 0);

	CHECK_INT(map_error(dmabuf, UNIT, PAGE, PROT_READ, MAP_SHARED), -EINVAL);
	end((struct pair){ region, dmabuf });
}

static void private_mapping_is_refused(void)
{
	struct pair pair = new_pair(0);

	CHECK_INT(map_error(pair.dmabuf, PAGE, 0, PROT_READ, MAP_PRIVATE),
		  -EINVAL);
	end(pair);
}

static void executable_mapping_is_refused(void)
{
	struct pair pair = new_pair(0);
	void *addr = map(pair.dmabuf, PAGE, 0);

	CHECK_INT(map_error(pair.dmabuf, PAGE, 0, PROT_READ | PROT_EXEC,
			    MAP_SHARED), -EPERM);
	CHECK_INT(mprotect(addr, PAGE, PROT_READ | PROT_EXEC), -1);
	munmap(addr, PAGE);
	end(pair);
}

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

static void revocable_only_takes_importers_that_obey(void)
{
	struct pair pair = new_pair(PEERLANE_EXPORT_REVOCABLE_ONLY);
	bool known = kernel_has("dma_buf_attach_revocable");
	int importer = importer_attach(pair.dmabuf, PL_DYNAMIC);

	/* Where the kernel cannot tell, nobody is taken. */
	if (known)
		CHECK(importer >= 0);
	else
		CHECK_INT(importer, -EOPNOTSUPP);
	if (importer >= 0)
		close(importer);
	end(pair);
}

static void revocable_only_refuses_importers_that_keep(void)
{
	struct pair pair = new_pair(PEERLANE_EXPORT_REVOCABLE_ONLY);

	CHECK_INT(importer_attach(pair.dmabuf, PL_PINNED), -EOPNOTSUPP);
	end(pair);
}

/* ---- DMA mapping ---- */

static int attach_and_map(int dmabuf, uint32_t mode)
{
	int importer = importer_attach(dmabuf, mode);

	if (CHECK(importer >= 0))
		CHECK_INT(importer_map(importer), 0);
	return importer;
}

static bool has_iommu(void)
{
	return !access("/sys/class/iommu/dmar0", F_OK);
}

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

/* ---- revocation ---- */

static void revocation_tells_importers(void)
{
	struct pair pair = new_pair(0);
	int importer = attach_and_map(pair.dmabuf, PL_DYNAMIC);

	CHECK_INT(region_revoke(pair.region), 0);
	CHECK_INT(importer_state(importer).notifies, 1);
	CHECK_INT(importer_state(importer).mapped, 0);
	CHECK_INT(info_of(pair.region).out_attachments, 0);
	close(importer);
	end(pair);
}

static void no_mapping_is_made_after_revocation(void)
{
	struct pair pair = new_pair(0);
	int importer = importer_attach(pair.dmabuf, PL_DYNAMIC);

	CHECK_INT(region_revoke(pair.region), 0);
	CHECK_INT(importer_map(importer), -ENODEV);
	close(importer);
	end(pair);
}

static void remap_after_revocation_is_not_answered_from_a_cache(void)
{
	struct pair pair = new_pair(0);
	int importer = attach_and_map(pair.dmabuf, PL_DYNAMIC);

	CHECK_INT(importer_unmap(importer), 0);
	CHECK_INT(importer_map(importer), 0);
	CHECK_INT(region_revoke(pair.region), 0);
	CHECK_INT(importer_map(importer), -ENODEV);
	close(importer);
	end(pair);
}

static void obedient_importer_frees_the_memory_at_once(void)
{
	struct pair pair = new_pair(0);
	int importer = attach_and_map(pair.dmabuf, PL_DYNAMIC);

	CHECK_INT(region_revoke(pair.region), 0);
	/* Region, dma-buf and attachment are all still open. */
	CHECK(wait_free(all_free));
	CHECK(wait_state(pair.region, PEERLANE_STATE_RELEASED));
	close(importer);
	end(pair);
}

static void pinned_obedient_importer_frees_the_memory_at_once(void)
{
	struct pair pair = new_pair(0);
	int importer = attach_and_map(pair.dmabuf, PL_PINNED_REVOCABLE);

	CHECK_INT(region_revoke(pair.region), 0);
	CHECK(wait_free(all_free));
	close(importer);
	end(pair);
}

static void mapping_that_is_kept_holds_the_memory_in_limbo(void)
{
	struct pair pair = new_pair(0);
	int importer = attach_and_map(pair.dmabuf, PL_PINNED);

	CHECK_INT(region_revoke(pair.region), 0);
	sleep_ms(700);
	CHECK_INT(importer_state(importer).mapped, 1);
	CHECK_INT(bytes_free(), all_free - LENGTH);
	CHECK_INT(bytes_limbo(), LENGTH);
	CHECK_INT(info_of(pair.region).out_attachments, 1);
	CHECK_INT(info_of(pair.region).out_state, PEERLANE_STATE_REVOKED);
	close(importer);
	CHECK(wait_free(all_free));
	CHECK_INT(bytes_limbo(), 0);
	end(pair);
}

static void dma_in_limbo_hits_no_other_region(void)
{
	struct pair pair = new_pair(0);
	int importer = attach_and_map(pair.dmabuf, PL_PINNED);
	char data[64], *addr;
	int other;

	CHECK_INT(region_revoke(pair.region), 0);
	sleep_ms(700);	/* were it given back, it would be by then */
	other = new_region(all_free - LENGTH);	/* all that is left */
	CHECK(other >= 0);
	addr = map(other, PAGE, 0);
	memset(data, 'd', sizeof(data));
	CHECK_INT(importer_copy(importer, true, 0, data, sizeof(data)), 0);
	CHECK_INT(addr[0], 0);
	munmap(addr, PAGE);
	close(other);
	close(importer);
	end(pair);
}

static void memory_is_wiped_after_dma_in_limbo(void)
{
	struct pair pair = new_pair(0);
	int importer = attach_and_map(pair.dmabuf, PL_PINNED);
	uint64_t offset = info_of(pair.region).out_dev_offset;
	char data[64], *addr;
	int next;

	memset(data, 's', sizeof(data));
	CHECK_INT(region_revoke(pair.region), 0);
	CHECK_INT(importer_copy(importer, true, 0, data, sizeof(data)), 0);
	close(importer);
	end(pair);
	next = new_region(LENGTH);
	CHECK_INT(info_of(next).out_dev_offset, offset);
	addr = map(next, PAGE, 0);
	CHECK_INT(addr[0], 0);
	munmap(addr, PAGE);
	close(next);
	CHECK(wait_free(all_free));
}

static void importer_alone_keeps_the_memory(void)
{
	struct pair pair = new_pair(0);
	int importer = attach_and_map(pair.dmabuf, PL_PINNED);

	close(pair.dmabuf);
	close(pair.region);
	sleep_ms(300);
	CHECK_INT(bytes_free(), all_free - LENGTH);
	close(importer);
	CHECK(wait_free(all_free));
}

static void revocation_zaps_mappings_of_the_dmabuf(void)
{
	struct pair pair = new_pair(0);
	char *addr = map(pair.dmabuf, LENGTH, 0);

	addr[0] = 'z';
	CHECK_INT(region_revoke(pair.region), 0);
	CHECK(faults(addr));
	CHECK(faults(addr + LENGTH - 1));
	munmap(addr, LENGTH);
	end(pair);
}

static void mapping_of_a_revoked_dmabuf_is_refused(void)
{
	struct pair pair = new_pair(0);

	CHECK_INT(region_revoke(pair.region), 0);
	CHECK_INT(map_error(pair.dmabuf, PAGE, 0, PROT_READ, MAP_SHARED),
		  -ENODEV);
	end(pair);
}

static void revocation_reaches_every_export(void)
{
	struct pair pair = new_pair(0);
	int second = region_export(pair.region, UNIT, UNIT, 0);
	int a = attach_and_map(pair.dmabuf, PL_DYNAMIC);
	int b = attach_and_map(second, PL_DYNAMIC);

	CHECK_INT(region_revoke(pair.region), 0);
	CHECK_INT(importer_state(a).notifies, 1);
	CHECK_INT(importer_state(b).notifies, 1);
	close(a);
	close(b);
	close(second);
	end(pair);
}

/* ---- races: the kernel's log is the judge ---- */

static atomic_bool stop;

static void *export_and_close(void *arg)
{
	int region = *(int *)arg, dmabuf;

	while (!stop) {
		dmabuf = region_export(region, 0, UNIT, 0);
		if (dmabuf >= 0)
			close(dmabuf);
	}
	return NULL;
}

static void *attach_and_detach(void *arg)
{
	int dmabuf = *(int *)arg, importer;

	while (!stop) {
		importer = importer_attach(dmabuf, PL_DYNAMIC);
		if (importer < 0)
			continue;
		importer_map(importer);
		importer_unmap(importer);
		close(importer);
	}
	return NULL;
}

static void *map_and_touch(void *arg)
{
	int dmabuf = *(int *)arg;

	while (!stop) {
		volatile char *addr = map(dmabuf, UNIT, 0);

		if (!addr)
			continue;
		madvise((void *)addr, UNIT, MADV_POPULATE_WRITE);
		munmap((void *)addr, UNIT);
	}
	return NULL;
}

static void revocation_races_with_all_uses(void)
{
	void *(*const uses[])(void *) = {
		export_and_close, attach_and_detach, map_and_touch,
	};
	int round;

	for (round = 0; round < 30; round++) {
		struct pair pair = new_pair(0);
		pthread_t threads[3];
		int i;

		stop = false;
		for (i = 0; i < 3; i++)
			pthread_create(&threads[i], NULL, uses[i],
				       i ? &pair.dmabuf : &pair.region);
		sleep_ms(round % 10);
		CHECK_INT(region_revoke(pair.region), 0);
		CHECK(wait_state(pair.region, PEERLANE_STATE_RELEASED));
		stop = true;
		for (i = 0; i < 3; i++)
			pthread_join(threads[i], NULL);
		end(pair);
	}
}

static void nothing_is_left(void)
{
	CHECK(wait_free(all_free));
	CHECK(wait_regions(0));
	CHECK_INT(bytes_limbo(), 0);
}

static const struct tap_case cases[] = {
	TAP_CASE(export_has_the_length_asked_for),
	TAP_CASE(export_of_an_unaligned_range_is_refused),
	TAP_CASE(export_beyond_the_region_is_refused),
	TAP_CASE(export_with_an_unknown_flag_is_refused),
	TAP_CASE(export_of_an_empty_region_is_refused),
	TAP_CASE(export_of_a_revoked_region_is_refused),
	TAP_CASE(exports_are_counted),
	TAP_CASE(export_keeps_the_memory),
	TAP_CASE(mapping_shows_the_region_at_the_offset),
	TAP_CASE(mapping_is_counted),
	TAP_CASE(mapping_beyond_the_dmabuf_is_refused),
	TAP_CASE(private_mapping_is_refused),
	TAP_CASE(executable_mapping_is_refused),
	TAP_CASE(static_importer_is_refused),
	TAP_CASE(importer_of_system_memory_is_refused),
	TAP_CASE(importer_that_is_no_pci_function_is_refused),
	TAP_CASE(attach_to_a_revoked_region_is_refused),
	TAP_CASE(revocable_only_takes_importers_that_obey),
	TAP_CASE(revocable_only_refuses_importers_that_keep),
	TAP_CASE(mapping_for_dma_is_where_the_memory_is),
	TAP_CASE(mapping_for_dma_has_no_pages),
	TAP_CASE(entries_are_no_longer_than_the_importer_takes),
	TAP_CASE(attachments_are_counted_while_mapped),
	TAP_CASE(engine_reads_the_region),
	TAP_CASE(engine_writes_the_region),
	TAP_CASE(revocation_tells_importers),
	TAP_CASE(no_mapping_is_made_after_revocation),
	TAP_CASE(remap_after_revocation_is_not_answered_from_a_cache),
	TAP_CASE(obedient_importer_frees_the_memory_at_once),
	TAP_CASE(pinned_obedient_importer_frees_the_memory_at_once),
	TAP_CASE(mapping_that_is_kept_holds_the_memory_in_limbo),
	TAP_CASE(dma_in_limbo_hits_no_other_region),
	TAP_CASE(memory_is_wiped_after_dma_in_limbo),
	TAP_CASE(importer_alone_keeps_the_memory),
	TAP_CASE(revocation_zaps_mappings_of_the_dmabuf),
	TAP_CASE(mapping_of_a_revoked_dmabuf_is_refused),
	TAP_CASE(revocation_reaches_every_export),
	TAP_CASE(revocation_races_with_all_uses),
	TAP_CASE(nothing_is_left),
};

int main(void)
{
	all_free = bytes_free();
	return TAP_RUN(cases);
}
