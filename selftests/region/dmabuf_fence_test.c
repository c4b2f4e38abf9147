// SPDX-License-Identifier: GPL-2.0
/*
 * Revocation while an importer's work is in flight, under a fence: as long as
 * the fence says so the engine may write the memory, whatever is mapped.
 */
#include "dma.h"
#include "lifetime.h"

#define LENGTH		(2 * UNIT)
#define SHORT_MS	1500
#define LONG_MS		10000		/* beyond what a revocation waits */

struct work {
	int region, dmabuf, importer;
	uint64_t offset, free;
};

static struct work work_begin(uint32_t ms, bool hasty)
{
	struct work work = { .free = bytes_free() };

	work.region = new_region(LENGTH);
	work.offset = region_info(work.region).out_dev_offset;
	work.dmabuf = region_export(work.region, 0, LENGTH, 0);
	work.importer = importer_attach(work.dmabuf, PL_DYNAMIC);
	CHECK_INT(importer_map(work.importer), 0);
	CHECK_INT(importer_job(work.importer, 'f', ms, hasty), 0);
	CHECK_INT(importer_state(work.importer).busy, 1);
	return work;
}

static void work_end(struct work *work)
{
	close(work->importer);
	close(work->dmabuf);
	close(work->region);
}

static void check_next_owner(const struct work *work)
{
	char *at;
	int fd;

	CHECK(WAIT_FOR(bytes_free() == work->free, LIMBO_SECONDS));
	fd = new_region(LENGTH);
	at = map(fd, LENGTH);
	CHECK_INT(region_info(fd).out_dev_offset, work->offset);
	CHECK(is_zero(at, LENGTH));
	memset(at, 'n', LENGTH);
	usleep(500000);
	CHECK(at[0] == 'n' && !memcmp(at, at + 1, LENGTH - 1));
	munmap(at, LENGTH);
	close(fd);
}

static void revocation_waits_for_work(void)
{
	struct work work = work_begin(SHORT_MS, false);

	CHECK_INT(region_revoke(work.region), 0);
	CHECK_INT(importer_state(work.importer).busy, 0);
	CHECK(wait_state(work.region, PEERLANE_STATE_RELEASED));
	check_next_owner(&work);
	work_end(&work);
}

/* What takes too long is limbo's to wait for. */
static void limbo_waits_for_long_work(bool hasty)
{
	struct work work = work_begin(LONG_MS, hasty);

	CHECK_INT(region_revoke(work.region), 0);
	CHECK_INT(importer_state(work.importer).busy, 1);
	CHECK_INT(importer_state(work.importer).mapped, !hasty);
	usleep(700000);		/* were it given back, it would be by then */
	CHECK_INT(importer_state(work.importer).busy, 1);
	CHECK_INT(state_of(work.region), PEERLANE_STATE_REVOKED);
	CHECK(wait_state(work.region, PEERLANE_STATE_RELEASED));
	CHECK_INT(importer_state(work.importer).busy, 0);
	check_next_owner(&work);
	work_end(&work);
}

static void long_work_that_keeps_its_mapping(void)
{
	limbo_waits_for_long_work(false);
}

static void long_work_whose_mapping_has_gone(void)
{
	limbo_waits_for_long_work(true);
}

static void unbinding_waits_for_long_work(void)
{
	struct work work = work_begin(LONG_MS, true);

	unbind("gpu0");
	CHECK_INT(importer_state(work.importer).busy, 0);
	rebind();
	check_next_owner(&work);
	work_end(&work);
}

static void finished_work_holds_nothing(void)
{
	struct work work = work_begin(0, false);

	CHECK(WAIT_FOR(!importer_state(work.importer).busy, LONG));
	CHECK_INT(region_revoke(work.region), 0);
	CHECK(wait_state(work.region, PEERLANE_STATE_RELEASED));
	work_end(&work);
}

static const struct tap_case cases[] = {
	TAP_CASE(revocation_waits_for_work),
	TAP_CASE(long_work_that_keeps_its_mapping),
	TAP_CASE(long_work_whose_mapping_has_gone),
	TAP_CASE(unbinding_waits_for_long_work),
	TAP_CASE(finished_work_holds_nothing),
};

int main(void)
{
	return HARNESS_RUN(cases);
}
