// SPDX-License-Identifier: GPL-2.0
/* Maps of imported dma-bufs for links: peerlane's own, and another driver's. */
#include "link.h"

#define LENGTH	(2 * UNIT)
#define SIZE	(16 * PAGE)

/* A region, a dma-buf of its second unit, and an import of all but a page. */
struct chain {
	int region, dmabuf, import;
	char *at;			/* of the import's first byte */
	void *mapping;
};

#define IMPORTED	(UNIT - PAGE)

static struct chain chain_new(void)
{
	struct chain chain = { .region = new_region(LENGTH) };

	chain.dmabuf = region_export(chain.region, UNIT, UNIT, 0);
	chain.import = import_dmabuf(-1, chain.dmabuf, PAGE, 0);
	CHECK(chain.import >= 0);
	chain.mapping = map(chain.region, LENGTH);
	chain.at = (char *)chain.mapping + UNIT + PAGE;
	return chain;
}

static void chain_end(struct chain *chain)
{
	munmap(chain->mapping, LENGTH);
	close(chain->import);
	close(chain->dmabuf);
	close(chain->region);
}

static bool is_revoked(int region)
{
	return region_info(region).out_state != PEERLANE_STATE_ACTIVE;
}

static bool is_released(int region)
{
	return region_info(region).out_state == PEERLANE_STATE_RELEASED;
}

/* ---- peerlane's own ---- */

static void own_is_the_memory_behind_it(void)
{
	const char *const devices[] = { rxe(), EDU };
	struct chain chain = chain_new();
	size_t i;
	int link;

	for (i = 0; i < 2; i++) {
		link = link_get(chain.import, devices[i]);
		CHECK_INT(link_state(link).length, IMPORTED);
		CHECK_INT(link_state(link).writable, 1);
		check_moves(link, chain.at, 0, 100);
		check_moves(link, chain.at, IMPORTED - 1, 1);
		/* Both wait for it. */
		CHECK_INT(region_info(chain.import).out_attachments, 1);
		CHECK_INT(region_info(chain.region).out_attachments, 1);
		close(link);
		CHECK_INT(region_info(chain.import).out_attachments, 0);
		CHECK_INT(region_info(chain.region).out_attachments, 0);
	}
	chain_end(&chain);
}

static void own_is_as_far_as_the_memory_behind_it(void)
{
	struct chain chain = chain_new();

	CHECK_INT(link_path(chain.import, EDU).path,
		  link_path(chain.region, EDU).path);
	CHECK_INT(link_path(chain.import, EDU).bridges,
		  link_path(chain.region, EDU).bridges);
	chain_end(&chain);
}

static void own_goes_with_the_memory_behind_it(void)
{
	struct chain chain = chain_new();
	int link = link_get(chain.import, rxe());

	CHECK_INT(region_revoke(chain.region), 0);
	CHECK(is_revoked(chain.import));
	CHECK_INT(link_state(link).told, 1);
	usleep(500000);
	CHECK(!is_released(chain.region));
	CHECK(!is_released(chain.import));
	CHECK_INT(link_put(link), 0);
	CHECK(WAIT_FOR(is_released(chain.region), LIMBO_SECONDS));
	CHECK(WAIT_FOR(is_released(chain.import), LIMBO_SECONDS));
	close(link);
	chain_end(&chain);
}

static void own_goes_at_once_if_obeyed(void)
{
	struct chain chain = chain_new();
	int a = link_get_mode(chain.import, rxe(), PL_LINK_OBEY);
	int b = link_get_mode(chain.import, EDU, PL_LINK_OBEY);
	int c = link_get_mode(chain.region, rxe(), PL_LINK_OBEY);

	CHECK_INT(region_revoke(chain.region), 0);
	CHECK_INT(link_state(a).told + link_state(b).told + link_state(c).told,
		  3);
	CHECK(WAIT_FOR(is_released(chain.region), LIMBO_SECONDS));
	close(a);
	close(b);
	close(c);
	chain_end(&chain);
}

static void the_memory_stays_when_its_import_goes(void)
{
	struct chain chain = chain_new();
	int link = link_get(chain.import, rxe());

	CHECK_INT(region_revoke(chain.import), 0);
	CHECK_INT(link_state(link).told, 1);
	CHECK(!is_revoked(chain.region));
	CHECK_INT(link_put(link), 0);
	CHECK(WAIT_FOR(is_released(chain.import), LIMBO_SECONDS));
	CHECK_INT(region_info(chain.region).out_attachments, 0);
	close(link);
	/* Nobody is told of it any more. */
	CHECK_INT(region_revoke(chain.region), 0);
	chain_end(&chain);
}

static void own_of_revoked_memory_is_refused(void)
{
	struct chain chain = chain_new();

	CHECK_INT(region_revoke(chain.region), 0);
	CHECK_INT(link_get_mode(chain.import, rxe(), PL_LINK_KEEP), -ENODEV);
	CHECK_HAS(text, "is revoked");
	CHECK_INT(region_info(chain.import).out_attachments, 0);
	chain_end(&chain);
}

static void files_may_be_closed_first(void)
{
	struct chain chain = chain_new();
	int link = link_get(chain.import, rxe());

	close(chain.import);
	close(chain.dmabuf);
	check_moves(link, chain.at, 0, 16);
	CHECK_INT(region_revoke(chain.region), 0);
	CHECK_INT(link_state(link).told, 1);
	munmap(chain.mapping, LENGTH);
	close(chain.region);
	close(link);
}

/* ---- another driver's ---- */

struct foreign {
	int dmabuf, import;
	char *at;
};

static struct foreign foreign_new(uint32_t flags)
{
	struct foreign foreign;

	foreign.dmabuf = new_foreign(SIZE, flags | PL_EXPORT_MMAP);
	foreign.import = import_dmabuf(-1, foreign.dmabuf, PAGE, 0);
	CHECK(foreign.import >= 0);
	foreign.at = mmap(NULL, SIZE, PROT_READ | (flags & PL_EXPORT_READ_ONLY ?
						   0 : PROT_WRITE),
			  MAP_SHARED, foreign.dmabuf, 0);
	CHECK(foreign.at != MAP_FAILED);
	return foreign;
}

static void foreign_end(struct foreign *foreign)
{
	munmap(foreign->at, SIZE);
	close(foreign->import);
	close(foreign->dmabuf);
	CHECK(WAIT_FOR(!exporter_count("live"), LIMBO_SECONDS));
	CHECK_INT(exporter_count("mapped"), 0);
	CHECK_INT(exporter_count("pinned"), 0);
}

static void foreign_is_refused_by_a_cpu_that_copies(void)
{
	struct foreign foreign = foreign_new(PL_EXPORT_DMA);

	CHECK_INT(link_get_mode(foreign.import, rxe(), PL_LINK_KEEP),
		  -EOPNOTSUPP);
	CHECK_HAS(text, "copies by the CPU");
	CHECK_HAS(text, "dma-buf of pl_exporter");
	foreign_end(&foreign);
}

static void foreign_moves(void)
{
	struct foreign foreign = foreign_new(PL_EXPORT_DMA);
	int link = link_get(foreign.import, EDU);

	CHECK_INT(link_state(link).length, SIZE - PAGE);
	CHECK_INT(link_state(link).writable, 1);
	CHECK(exporter_count("pinned") >= 1);
	check_moves(link, foreign.at + PAGE, 0, 100);
	check_moves(link, foreign.at + PAGE, 3 * PAGE - 10, 20);
	check_moves(link, foreign.at + PAGE, SIZE - PAGE - 1, 1);
	close(link);
	CHECK_INT(exporter_count("mapped"), 0);
	foreign_end(&foreign);
}

static void foreign_for_reading_is_not_writable(void)
{
	struct foreign foreign = foreign_new(PL_EXPORT_DMA |
					     PL_EXPORT_READ_ONLY);
	int link = link_get(foreign.import, EDU);

	CHECK_INT(link_state(link).writable, 0);
	close(link);
	foreign_end(&foreign);
}

static void foreign_that_refuses(void)
{
	struct foreign foreign = foreign_new(0);

	CHECK_INT(link_get_mode(foreign.import, EDU, PL_LINK_KEEP),
		  -EOPNOTSUPP);
	CHECK_HAS(text, "pl_exporter");
	CHECK_HAS(text, "does not ");
	foreign_end(&foreign);
}

static void foreign_of_no_whole_pages_is_refused(void)
{
	struct foreign foreign = foreign_new(PL_EXPORT_DMA | PL_EXPORT_ODD);
	int whole = import_dmabuf(-1, foreign.dmabuf, 0, 0);

	CHECK_INT(link_get_mode(whole, EDU, PL_LINK_KEEP), -EOPNOTSUPP);
	CHECK_HAS(text, "not whole pages");
	close(whole);
	foreign_end(&foreign);
}

static void foreign_that_is_taken_away_revokes(void)
{
	struct foreign foreign = foreign_new(PL_EXPORT_DMA);
	int link = link_get(foreign.import, EDU);

	foreign_take(foreign.dmabuf);
	CHECK(WAIT_FOR(link_state(link).told == 1, LONG));
	CHECK(is_revoked(foreign.import));
	/* Again: it is told once. */
	foreign_take(foreign.dmabuf);
	CHECK_INT(exporter_count("mapped"), 1);
	CHECK_INT(link_put(link), 0);
	CHECK_INT(exporter_count("mapped"), 0);
	CHECK(WAIT_FOR(is_released(foreign.import), LIMBO_SECONDS));
	CHECK_INT(link_state(link).told, 1);
	close(link);
	foreign_end(&foreign);
}

static void foreign_goes_at_once_if_obeyed(void)
{
	struct foreign foreign = foreign_new(PL_EXPORT_DMA);
	int link = link_get_mode(foreign.import, EDU, PL_LINK_OBEY);

	CHECK(link >= 0);
	foreign_take(foreign.dmabuf);
	CHECK(WAIT_FOR(!exporter_count("mapped"), LONG));
	CHECK(WAIT_FOR(is_released(foreign.import), LIMBO_SECONDS));
	close(link);
	foreign_end(&foreign);
}

static const struct tap_case cases[] = {
	TAP_CASE(own_is_the_memory_behind_it),
	TAP_CASE(own_is_as_far_as_the_memory_behind_it),
	TAP_CASE(own_goes_with_the_memory_behind_it),
	TAP_CASE(own_goes_at_once_if_obeyed),
	TAP_CASE(the_memory_stays_when_its_import_goes),
	TAP_CASE(own_of_revoked_memory_is_refused),
	TAP_CASE(files_may_be_closed_first),
	TAP_CASE(foreign_is_refused_by_a_cpu_that_copies),
	TAP_CASE(foreign_moves),
	TAP_CASE(foreign_for_reading_is_not_writable),
	TAP_CASE(foreign_that_refuses),
	TAP_CASE(foreign_of_no_whole_pages_is_refused),
	TAP_CASE(foreign_that_is_taken_away_revokes),
	TAP_CASE(foreign_goes_at_once_if_obeyed),
};

int main(void)
{
	return HARNESS_RUN(cases);
}
