// SPDX-License-Identifier: GPL-2.0
/*
 * Memory regions of the NIC over a mapping. What fails may be the RDMA core's
 * or the pinning's, with any errno; what it had pinned is let go all the same,
 * else the region would stay in limbo.
 */
#include <infiniband/verbs.h>

#include "fail_nth.h"
#include "lifetime_rdma.h"

#define LENGTH	UNIT

static struct rdma rdma;
static struct ibv_mr *mr;
static int file = -1;
static char *at = MAP_FAILED;

static bool begin_mapping(void)
{
	file = new_region(LENGTH);
	at = map(file, LENGTH);
	return at != MAP_FAILED;
}

static bool begin_touched(void)
{
	return begin_mapping() && !touch(at, true);
}

static int do_register(void)
{
	mr = rdma_reg(&rdma, at, LENGTH);
	return mr ? 0 : -errno;
}

static bool begin_registered(void)
{
	return begin_touched() && !do_register();
}

static int do_deregister(void)
{
	int err = ibv_dereg_mr(mr);

	if (!err)
		mr = NULL;
	return -err;
}

static void end_all(int ret)
{
	(void)ret;
	if (mr)
		CHECK_INT(ibv_dereg_mr(mr), 0);
	mr = NULL;
	munmap(at, LENGTH);
	close(file);
}

static void registering_what_was_not_touched(void)
{
	FAIL_SWEEP(.begin = begin_mapping, .run = do_register, .end = end_all,
		   .foreign = true);
}

static void registering_what_was_touched(void)
{
	FAIL_SWEEP(.begin = begin_touched, .run = do_register, .end = end_all,
		   .foreign = true);
}

static void deregistering(void)
{
	FAIL_SWEEP(.begin = begin_registered, .run = do_deregister,
		   .end = end_all, .foreign = true);
}

static const struct tap_case cases[] = {
	TAP_CASE(registering_what_was_not_touched),
	TAP_CASE(registering_what_was_touched),
	TAP_CASE(deregistering),
};

int main(void)
{
	int ret;

	if (!rdma_open(&rdma))
		return 1;
	ret = FAIL_RUN(cases);
	rdma_close(&rdma);
	return ret;
}
