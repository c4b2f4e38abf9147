// SPDX-License-Identifier: GPL-2.0
/* Memory that another driver lends: it comes back once, or was never taken. */
#include "fail_nth.h"
#include "pl_sample.h"

#define COUNTERS	DEBUGFS "pl_sample/"

static int sample = -1, region = -1;

static bool all_came_back(void)
{
	uint64_t created = read_number(COUNTERS "created");

	return read_number(COUNTERS "released") == created;
}

static bool begin_sample(void)
{
	sample = open("/dev/pl_sample", O_RDWR | O_CLOEXEC);
	return sample >= 0;
}

static int do_create(void)
{
	struct pl_sample_create args = { .length = UNIT };
	int fd = ioctl(sample, PL_SAMPLE_CREATE, &args);

	return fd < 0 ? -errno : fd;
}

static void end_create(int ret)
{
	if (ret >= 0) {
		CHECK_INT(region_info(ret).out_state, PEERLANE_STATE_ACTIVE);
		close(ret);
	}
	CHECK(WAIT_FOR(all_came_back(), LIMBO_SECONDS));
	/* The same range, so that one that was not given back is missed. */
	region = do_create();
	CHECK(region >= 0);
	close(region);
	CHECK(WAIT_FOR(all_came_back(), LIMBO_SECONDS));
	close(sample);
}

static void lending(void)
{
	FAIL_SWEEP(.begin = begin_sample, .run = do_create, .end = end_create);
}

static bool begin_lent(void)
{
	if (!begin_sample())
		return false;
	region = do_create();
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
	CHECK(WAIT_FOR(all_came_back(), LIMBO_SECONDS));
	close(sample);
}

static void revoking(void)
{
	FAIL_SWEEP(.begin = begin_lent, .run = do_revoke, .end = end_revoke);
}

static const struct tap_case cases[] = {
	TAP_CASE(lending),
	TAP_CASE(revoking),
};

int main(void)
{
	return FAIL_RUN(cases);
}
