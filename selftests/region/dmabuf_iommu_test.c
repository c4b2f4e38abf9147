// SPDX-License-Identifier: GPL-2.0
/*
 * Behind an IOMMU: importers get I/O addresses, and those that are stale lead
 * nowhere. The refusal shows in the kernel's log.
 */
#include "dma.h"
#include "lifetime.h"

#define LENGTH	(2 * UNIT)
#define SIZE	512

static int log_fd = -1;
static int scratch = -1, scratch_dmabuf, scratch_importer;
static char *scratch_at;
static uint64_t scratch_addr;

/* Where BAR 2 lies: the third line. */
static uint64_t bar_phys(void)
{
	const char *line = read_text(device_attr("device/resource"));
	int i;

	for (i = 0; i < 2; i++)
		line = strchr(line, '\n') + 1;
	return strtoull(line, NULL, 0);
}

/* Memory that the engine may use all the time. */
static void scratch_begin(void)
{
	scratch = new_region(UNIT);
	scratch_dmabuf = region_export(scratch, 0, UNIT, 0);
	scratch_importer = importer_attach(scratch_dmabuf, PL_DYNAMIC);
	CHECK_INT(importer_map(scratch_importer), 0);
	scratch_addr = importer_state(scratch_importer).addr;
	scratch_at = map(scratch, UNIT);
	memset(scratch_at, 's', SIZE);
	log_fd = log_open();
}

static void scratch_end(void)
{
	munmap(scratch_at, UNIT);
	close(scratch_importer);
	close(scratch_dmabuf);
	close(scratch);
	close(log_fd);
}

struct victim {
	int region, dmabuf, importer;
	uint64_t addr, offset, free;
};

static struct victim victim_new(uint32_t mode)
{
	struct victim victim = { .free = bytes_free() };

	victim.region = new_region(LENGTH);
	victim.dmabuf = region_export(victim.region, 0, LENGTH, 0);
	victim.importer = importer_attach(victim.dmabuf, mode);
	CHECK_INT(importer_map(victim.importer), 0);
	victim.addr = importer_state(victim.importer).addr;
	victim.offset = region_info(victim.region).out_dev_offset;
	return victim;
}

static void victim_end(struct victim *victim)
{
	close(victim->importer);
	close(victim->dmabuf);
	close(victim->region);
}

/* The next owner of the victim's memory, which it has filled with 'n'. */
static char *next_owner(const struct victim *victim, int *region)
{
	char *at;

	CHECK(WAIT_FOR(bytes_free() == victim->free, LIMBO_SECONDS));
	*region = new_region(LENGTH);
	CHECK_INT(region_info(*region).out_dev_offset, victim->offset);
	at = map(*region, LENGTH);
	CHECK(is_zero(at, LENGTH));
	memset(at, 'n', LENGTH);
	return at;
}

static bool is_all(const char *at, char byte, size_t length)
{
	return at[0] == byte && !memcmp(at, at + 1, length - 1);
}

/* The kernel tells of three in five seconds, no more. */
static void check_refused(const char *access)
{
	struct log_line line;

	sleep(2);
	CHECK(log_find(log_fd, "DMAR: [DMA ", LONG, &line));
	CHECK_HAS(line.text, access);
}

static void write_to(uint64_t addr)
{
	expect_splat("DMAR: \\[DMA Write");
	CHECK_INT(edu_copy(scratch_addr, addr, SIZE), 0);
	check_refused("DMA Write");
}

static void addresses_are_the_iommus(void)
{
	struct victim victim;

	scratch_begin();
	victim = victim_new(PL_DYNAMIC);
	CHECK(victim.addr != bar_phys() + victim.offset);
	CHECK_INT(edu_copy(scratch_addr, victim.addr, SIZE), 0);
	victim_end(&victim);
	scratch_end();
}

static void bare_memory_is_out_of_reach(void)
{
	struct victim victim;
	char *at;

	scratch_begin();
	victim = victim_new(PL_DYNAMIC);
	at = map(victim.region, LENGTH);
	memset(at, 'v', SIZE);
	write_to(bar_phys() + victim.offset);
	CHECK(is_all(at, 'v', SIZE));
	munmap(at, LENGTH);
	victim_end(&victim);
	scratch_end();
}

static void an_unmapped_address_is_refused(void)
{
	struct victim victim;
	char *at;

	scratch_begin();
	victim = victim_new(PL_DYNAMIC);
	at = map(victim.region, LENGTH);
	memset(at, 'v', SIZE);
	CHECK_INT(importer_unmap(victim.importer), 0);
	write_to(victim.addr);
	CHECK(is_all(at, 'v', SIZE));
	munmap(at, LENGTH);
	victim_end(&victim);
	scratch_end();
}

static void a_revoked_address_is_refused(void)
{
	struct victim victim;
	int region;
	char *at;

	scratch_begin();
	victim = victim_new(PL_DYNAMIC);
	CHECK_INT(region_revoke(victim.region), 0);
	at = next_owner(&victim, &region);
	write_to(victim.addr);
	write_to(victim.addr + LENGTH - SIZE);
	CHECK(is_all(at, 'n', LENGTH));
	munmap(at, LENGTH);
	close(region);
	victim_end(&victim);
	scratch_end();
}

static void a_revoked_address_tells_nothing(void)
{
	struct victim victim;
	int region;
	char *at;

	scratch_begin();
	victim = victim_new(PL_DYNAMIC);
	CHECK_INT(region_revoke(victim.region), 0);
	at = next_owner(&victim, &region);
	expect_splat("DMAR: \\[DMA Read");
	CHECK_INT(edu_copy(victim.addr, scratch_addr, SIZE), 0);
	check_refused("DMA Read");
	CHECK(!memchr(scratch_at, 'n', SIZE));
	munmap(at, LENGTH);
	close(region);
	victim_end(&victim);
	scratch_end();
}

static void a_pinned_address_ends_with_its_attachment(void)
{
	struct victim victim;
	int region;
	char *at;

	scratch_begin();
	victim = victim_new(PL_PINNED);
	CHECK_INT(region_revoke(victim.region), 0);
	/* In limbo it is as good as before. */
	CHECK_INT(edu_copy(scratch_addr, victim.addr, SIZE), 0);
	close(victim.importer);
	at = next_owner(&victim, &region);
	write_to(victim.addr);
	CHECK(is_all(at, 'n', LENGTH));
	munmap(at, LENGTH);
	close(region);
	close(victim.dmabuf);
	close(victim.region);
	scratch_end();
}

static const struct tap_case cases[] = {
	TAP_CASE(addresses_are_the_iommus),
	TAP_CASE(bare_memory_is_out_of_reach),
	TAP_CASE(an_unmapped_address_is_refused),
	TAP_CASE(a_revoked_address_is_refused),
	TAP_CASE(a_revoked_address_tells_nothing),
	TAP_CASE(a_pinned_address_ends_with_its_attachment),
};

int main(void)
{
	return HARNESS_RUN(cases);
}
