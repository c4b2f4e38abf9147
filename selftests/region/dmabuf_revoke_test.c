// SPDX-License-Identifier: GPL-2.0
/* Exports that are revoked: importers, limbo, races. */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "dmabuf.h"

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

static const struct tap_case cases[] = {
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
