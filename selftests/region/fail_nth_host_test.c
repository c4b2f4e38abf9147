// SPDX-License-Identifier: GPL-2.0
/* Host pages: pinned and charged all, or none. */
#include "fail_nth.h"

#define PAGES	1100UL		/* three batches of the module's */

static int control = -1;
static char *memory;
static uint64_t length;
static uint32_t flags;

static bool begin_memory(uint64_t pages)
{
	length = pages * PAGE;
	flags = 0;
	control = open_control();
	memory = mmap(NULL, length, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	madvise(memory, length, MADV_NOHUGEPAGE);
	return control >= 0 && memory != MAP_FAILED;
}

static bool begin_untouched(void)
{
	return begin_memory(8);
}

static bool begin_touched(void)
{
	return begin_memory(8) && memset(memory, 'h', length);
}

static bool begin_read_only(void)
{
	bool good = begin_touched();

	flags = PEERLANE_PIN_READ_ONLY;
	return good && !mprotect(memory, length, PROT_READ);
}

/*
 * Pages that are no neighbours, so that the list has as many entries and is
 * itself made in several pieces: every other one is touched first.
 */
static bool begin_scattered(void)
{
	unsigned long start, i;

	if (!begin_memory(PAGES))
		return false;
	for (start = 0; start < 2; start++)
		for (i = start; i < PAGES; i += 2)
			memory[i * PAGE] = 'h';
	return true;
}

static int do_pin(void)
{
	return pin_host(control, memory, length, flags);
}

static void end_pin(int ret)
{
	if (ret >= 0) {
		CHECK_INT(fail_pinned() * 1024, length);
		CHECK_INT(region_info(ret).out_length, length);
		close(ret);
	} else {
		/* Limbo's work, if it had become a region. */
		CHECK(WAIT_FOR(!fail_pinned(), LIMBO_SECONDS));
	}
	close(control);
	munmap(memory, length);
}

static void pin_touched(void)
{
	FAIL_SWEEP(.begin = begin_touched, .run = do_pin, .end = end_pin);
}

static void pin_untouched(void)
{
	FAIL_SWEEP(.begin = begin_untouched, .run = do_pin, .end = end_pin);
}

static void pin_read_only(void)
{
	FAIL_SWEEP(.begin = begin_read_only, .run = do_pin, .end = end_pin);
}

static void pin_scattered(void)
{
	FAIL_SWEEP(.begin = begin_scattered, .run = do_pin, .end = end_pin);
}

/* ---- what is pinned already ---- */

static int region = -1;

static bool begin_region(void)
{
	if (!begin_touched())
		return false;
	region = do_pin();
	return region >= 0;
}

static int do_revoke(void)
{
	return region_revoke(region);
}

static void end_revoke(int ret)
{
	uint32_t state = region_info(region).out_state;

	CHECK((ret < 0) == (state == PEERLANE_STATE_ACTIVE));
	close(region);
	close(control);
	munmap(memory, length);
}

static void revoke_pinned(void)
{
	FAIL_SWEEP(.begin = begin_region, .run = do_revoke, .end = end_revoke);
}

static const struct tap_case cases[] = {
	TAP_CASE(pin_touched),
	TAP_CASE(pin_untouched),
	TAP_CASE(pin_read_only),
	TAP_CASE(pin_scattered),
	TAP_CASE(revoke_pinned),
};

int main(void)
{
	return FAIL_RUN(cases);
}
