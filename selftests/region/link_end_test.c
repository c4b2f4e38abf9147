// SPDX-License-Identifier: GPL-2.0
/* Maps of regions for links: revocation, removal, close, and many at once. */
#include "link.h"

#define LENGTH	(2 * UNIT)

static bool in_state(int region, uint32_t state)
{
	return region_info(region).out_state == state;
}

static void revocation_is_told_and_limbo_waits(void)
{
	int region = new_region(LENGTH), link = link_get(region, rxe());
	char sent[64], got[64];

	put_text(sent, sizeof(sent), 1);
	CHECK_INT(region_revoke(region), 0);
	CHECK_INT(link_state(link).told, 1);
	/* What began before may go on, in memory that is still its own. */
	usleep(700000);
	CHECK_INT(region_info(region).out_attachments, 1);
	CHECK(in_state(region, PEERLANE_STATE_REVOKED));
	CHECK_INT(link_copy(link, true, LENGTH - 64, sent, 64), 0);
	CHECK_INT(link_copy(link, false, LENGTH - 64, got, 64), 0);
	CHECK(!memcmp(sent, got, 64));
	CHECK_INT(link_put(link), 0);
	CHECK(WAIT_FOR(in_state(region, PEERLANE_STATE_RELEASED),
		       LIMBO_SECONDS));
	CHECK_INT(link_state(link).told, 1);
	close(link);
	close(region);
}

static void who_obeys_is_not_waited_for(void)
{
	int region = new_region(LENGTH);
	int a = link_get_mode(region, rxe(), PL_LINK_OBEY);
	int b = link_get_mode(region, rxe(), PL_LINK_OBEY);
	int c = link_get_mode(region, EDU, PL_LINK_OBEY);

	CHECK(a >= 0 && b >= 0 && c >= 0);
	CHECK_INT(region_revoke(region), 0);
	CHECK_INT(link_state(a).told, 1);
	CHECK_INT(link_state(b).told, 1);
	CHECK_INT(link_state(c).mapped, 0);
	CHECK(WAIT_FOR(in_state(region, PEERLANE_STATE_RELEASED),
		       LIMBO_SECONDS));
	close(a);
	close(b);
	close(c);
	close(region);
}

static void a_revoked_region_is_refused(void)
{
	int region = new_region(LENGTH), link = link_get(region, rxe());

	CHECK_INT(region_revoke(region), 0);
	/* Also where there is a map to share. */
	CHECK_INT(link_get_mode(region, rxe(), PL_LINK_KEEP), -ENODEV);
	CHECK_HAS(text, "is revoked");
	CHECK_INT(link_get_mode(region, EDU, PL_LINK_KEEP), -ENODEV);
	close(link);
	CHECK(WAIT_FOR(in_state(region, PEERLANE_STATE_RELEASED),
		       LIMBO_SECONDS));
	CHECK_INT(link_get_mode(region, rxe(), PL_LINK_KEEP), -ENODEV);
	close(region);
}

static void a_map_keeps_a_closed_region(void)
{
	int region = new_region(LENGTH), link, i;
	char sent[8] = "content", got[8];

	link = link_get(region, rxe());
	close(region);
	for (i = 0; i < 3; i++) {
		usleep(100000);
		CHECK_INT(link_copy(link, true, UNIT - 4, sent, 8), 0);
		CHECK_INT(link_copy(link, false, UNIT - 4, got, 8), 0);
		CHECK_STR(got, sent);
	}
	CHECK_INT(link_state(link).told, 0);
	close(link);
}

/* RLIMIT_MEMLOCK's account too is held until the map is put. */
static void a_map_keeps_pinned_pages(void)
{
	char *at = mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int region, link;
	char got[8] = "";

	strcpy(at, "content");
	region = pin_host(-1, at, 4 * PAGE, 0);
	link = link_get(region, EDU);
	close(region);
	munmap(at, 4 * PAGE);
	CHECK_INT(link_copy(link, false, 0, got, 8), 0);
	CHECK_STR(got, "content");
	close(link);
}

static void removal_of_the_memory_waits_for_maps(void)
{
	int region = new_region(LENGTH);
	int obeys = link_get_mode(region, EDU, PL_LINK_OBEY);
	int keeps = link_get(region, rxe());

	unbind_begin(device_name());
	CHECK(WAIT_FOR(link_state(keeps).told, LONG));
	CHECK(WAIT_FOR(!link_state(obeys).mapped, LONG));
	usleep(500000);
	CHECK(task_runs(&bound.task));
	CHECK_INT(link_put(keeps), 0);
	must_end(unbind_ends(LONG));
	CHECK_INT(bound.task.ret, 0);
	close(keeps);
	close(obeys);
	close(region);
	rebind();
}

/* ---- many at once ---- */

static atomic_bool enough;
static atomic_int shared;

static int get_and_put(void *device)
{
	unsigned int n;
	int link;

	for (n = 0; !atomic_load(&enough); n++) {
		link = link_get_mode(atomic_load(&shared), device,
				     n % 2 ? PL_LINK_OBEY : PL_LINK_KEEP);
		if (link < 0)
			continue;
		link_state(link);
		close(link);
	}
	return n;
}

static void getting_putting_and_revoking(void)
{
	struct task tasks[4];
	int region, round;
	size_t i;

	atomic_store(&enough, false);
	atomic_store(&shared, new_region(UNIT));
	for (i = 0; i < ARRAY_SIZE(tasks); i++)
		task_begin(&tasks[i], get_and_put,
			   i < 3 ? (void *)rxe() : (void *)EDU);
	for (round = 0; round < 30; round++) {
		usleep(30000);
		region = atomic_exchange(&shared, new_region(UNIT));
		CHECK_INT(region_revoke(region), 0);
		CHECK(WAIT_FOR(!region_info(region).out_attachments, LONG));
		close(region);
	}
	atomic_store(&enough, true);
	for (i = 0; i < ARRAY_SIZE(tasks); i++)
		CHECK(task_ends(&tasks[i], LONG));
	close(atomic_load(&shared));
}

static const struct tap_case cases[] = {
	TAP_CASE(revocation_is_told_and_limbo_waits),
	TAP_CASE(who_obeys_is_not_waited_for),
	TAP_CASE(a_revoked_region_is_refused),
	TAP_CASE(a_map_keeps_a_closed_region),
	TAP_CASE(a_map_keeps_pinned_pages),
	TAP_CASE(removal_of_the_memory_waits_for_maps),
	TAP_CASE(getting_putting_and_revoking),
};

int main(void)
{
	return HARNESS_RUN(cases);
}
