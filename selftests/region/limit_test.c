// SPDX-License-Identifier: GPL-2.0
/* What one user may hold: bytes of a device, and regions. */
#include <sys/resource.h>
#include <sys/stat.h>

#include "harness.h"

#define ALICE	1001
#define BOB	1002
#define REGIONS	"/sys/module/peerlane/parameters/user_regions"

/* For the length of a case anyone may open the node. */
static void open_to_all(bool open)
{
	char path[64];

	snprintf(path, sizeof(path), DEVICES "%s", device_name());
	CHECK_INT(chmod(path, open ? 0666 : 0660), 0);
	CHECK_INT(chmod(DEVICES "control", open ? 0666 : 0660), 0);
}

static void set_limit(uint64_t bytes)
{
	char number[32];

	snprintf(number, sizeof(number), "%llu", (unsigned long long)bytes);
	CHECK_INT(write_text(device_attr("user_limit"), number), 0);
	CHECK_INT(read_number(device_attr("user_limit")), bytes);
}

static void set_regions(unsigned int count)
{
	char number[32];

	snprintf(number, sizeof(number), "%u", count);
	CHECK_INT(write_text(REGIONS, number), 0);
}

/* Run as that user. */
struct actor {
	uid_t uid;
	void (*act)(void);
};

static void act(void *arg)
{
	const struct actor *actor = arg;

	become(actor->uid, actor->uid);
	actor->act();
}

static void as(uid_t uid, void (*what)(void))
{
	struct actor actor = { uid, what };

	in_child(act, &actor);
}

/* ---- bytes ---- */

static void hold_to_the_edge(void)
{
	int a = new_region(UNIT), b = open_device(), c;

	CHECK(a >= 0);
	CHECK_INT(region_alloc(b, UNIT + 1), -EDQUOT);
	CHECK_HAS(text, "user_limit");
	CHECK_HAS(text, device_name());
	CHECK_INT(region_info(b).out_state, PEERLANE_STATE_EMPTY);
	CHECK(map(b, 2 * UNIT) == MAP_FAILED);
	CHECK_INT(errno, EDQUOT);
	CHECK_INT(region_alloc(b, UNIT), 0);
	c = open_device();
	CHECK_INT(region_alloc(c, 1), -EDQUOT);
	close(a);
	/* What is closed counts until it is wiped. */
	CHECK(WAIT_FOR(!region_alloc(c, 1), LIMBO_SECONDS));
	close(b);
	close(c);
}

static void bytes_are_limited_to_the_edge(void)
{
	open_to_all(true);
	set_limit(2 * UNIT);
	as(ALICE, hold_to_the_edge);
	as(0, hold_to_the_edge);	/* root as everybody */
	set_limit(0);
	open_to_all(false);
}

static void hold_all_of_the_limit(void)
{
	int fd = new_region(2 * UNIT);

	CHECK(fd >= 0);
	close(fd);
}

static void hold_while_another_does(void)
{
	int fd = new_region(2 * UNIT), mine = open_device();

	CHECK(fd >= 0);
	CHECK_INT(region_alloc(mine, 1), -EDQUOT);
	close(mine);
	close(fd);
}

static void each_user_has_his_own_limit(void)
{
	int fd;

	open_to_all(true);
	set_limit(2 * UNIT);
	fd = new_region(2 * UNIT);
	CHECK(fd >= 0);
	as(ALICE, hold_while_another_does);
	as(BOB, hold_all_of_the_limit);
	close(fd);
	set_limit(0);
	open_to_all(false);
}

/* Charged is who opened the file, whoever asks for the memory. */
static void fill_what_another_opened(void *arg)
{
	int mine;

	become(ALICE, ALICE);
	CHECK_INT(region_alloc(*(int *)arg, UNIT), -EDQUOT);
	mine = new_region(2 * UNIT);
	CHECK(mine >= 0);
	close(mine);
}

static void the_opener_is_charged(void)
{
	int fd, held;

	open_to_all(true);
	set_limit(2 * UNIT);
	held = new_region(2 * UNIT);
	fd = open_device();
	in_child(fill_what_another_opened, &fd);
	close(fd);
	close(held);
	set_limit(0);
	open_to_all(false);
}

static void a_lower_limit_takes_nothing_away(void)
{
	int held = new_region(4 * UNIT), fd = open_device();

	set_limit(UNIT);
	CHECK_INT(region_alloc(fd, UNIT), -EDQUOT);
	CHECK_INT(region_info(held).out_state, PEERLANE_STATE_ACTIVE);
	set_limit(0);
	CHECK_INT(region_alloc(fd, UNIT), 0);
	close(fd);
	close(held);
}

static void take_what_there_is(void *arg)
{
	int round, fd;

	(void)arg;
	for (round = 0; round < 50; round++) {
		fd = new_region(UNIT);
		CHECK(fd >= 0 || fd == -EDQUOT);
		if (read_number(device_attr("free")) +
		    3 * UNIT < read_number(device_attr("size")))
			CHECK(!"more than the limit is held");
		close(fd);
	}
}

static void processes_that_compete_stay_below(void)
{
	pid_t pids[3];
	int i;

	set_limit(3 * UNIT);
	for (i = 0; i < 3; i++)
		pids[i] = spawn(take_what_there_is, NULL);
	for (i = 0; i < 3; i++)
		CHECK_INT(reap(pids[i], 60), 0);
	set_limit(0);
}

/* A request that fails for another reason is not charged. */
static void a_refusal_is_not_charged(void)
{
	uint64_t size = read_number(device_attr("size"));
	int all = new_region(size), fd = open_device(), i;

	set_limit(size + 2 * UNIT);
	for (i = 0; i < 3; i++)
		CHECK_INT(region_alloc(fd, 2 * UNIT), -ENOSPC);
	close(all);
	CHECK(WAIT_FOR(!region_alloc(fd, size), LIMBO_SECONDS));
	close(fd);
	set_limit(0);
}

static void nonsense_is_no_limit(void)
{
	static const char *const nonsense[] = {
		"", "\n", "x", "-1", "1x", "18446744073709551616", "2M", " 1",
	};
	size_t i;

	set_limit(UNIT);
	for (i = 0; i < ARRAY_SIZE(nonsense); i++) {
		int ret = write_text(device_attr("user_limit"), nonsense[i]);

		if (!CHECK(ret < 0 || !nonsense[i][0]))
			printf("# \"%s\" was taken\n", nonsense[i]);
		CHECK_INT(read_number(device_attr("user_limit")), UNIT);
	}
	CHECK_INT(write_text(device_attr("user_limit"), "0x200000\n"), 0);
	CHECK_INT(read_number(device_attr("user_limit")), UNIT);
	set_limit(0);
}

/* ---- regions ---- */

static void open_to_the_edge(void)
{
	void *page = aligned_alloc(PAGE, PAGE);
	int control = open_control(), a, b, c;

	a = open_device();
	b = pin_host(control, page, PAGE, 0);
	CHECK(a >= 0);
	CHECK(b >= 0);
	CHECK_INT(open_device(), -EDQUOT);
	CHECK_INT(pin_host(control, page, PAGE, 0), -EDQUOT);
	CHECK_HAS(text, "user_regions");
	close(a);
	c = open_device();
	CHECK(c >= 0);
	CHECK_INT(open_device(), -EDQUOT);
	close(b);
	close(c);
	close(control);
	free(page);
}

static void regions_are_limited_to_the_edge(void)
{
	unsigned int usual = read_number(REGIONS);
	int held;

	CHECK_INT(usual, 65536);
	open_to_all(true);
	set_regions(2);
	held = open_device();
	as(ALICE, open_to_the_edge);
	as(BOB, open_to_the_edge);
	close(held);
	set_regions(usual);
	open_to_all(false);
}

static void no_limit_of_regions(void)
{
	unsigned int usual = read_number(REGIONS);
	int fds[40], i;

	set_regions(1);
	set_regions(0);
	for (i = 0; i < 40; i++) {
		fds[i] = open_device();
		CHECK(fds[i] >= 0);
	}
	for (i = 0; i < 40; i++)
		close(fds[i]);
	set_regions(usual);
}

/* ---- pinned pages ---- */

static void pin_to_the_edge(void *arg)
{
	const struct rlimit limit = { 4 * PAGE, 4 * PAGE };
	char *at = arg;
	int control = open_control(), a, b;

	CHECK_INT(setrlimit(RLIMIT_MEMLOCK, &limit), 0);
	become(ALICE, ALICE);
	a = pin_host(control, at, 3 * PAGE, 0);
	CHECK(a >= 0);
	CHECK_INT(pin_host(control, at, 2 * PAGE, 0), -ENOMEM);
	CHECK_HAS(text, "RLIMIT_MEMLOCK");
	b = pin_host(control, at + 3 * PAGE, PAGE, 0);
	CHECK(b >= 0);
	close(a);
	CHECK(WAIT_FOR((a = pin_host(control, at, 3 * PAGE, 0)) >= 0,
		       LIMBO_SECONDS));
	close(a);
	close(b);
	close(control);
}

static void pinned_pages_are_limited_to_the_edge(void)
{
	void *at = aligned_alloc(PAGE, 4 * PAGE);

	in_child(pin_to_the_edge, at);
	free(at);
}

int main(void)
{
	static const struct tap_case cases[] = {
		TAP_CASE(bytes_are_limited_to_the_edge),
		TAP_CASE(each_user_has_his_own_limit),
		TAP_CASE(the_opener_is_charged),
		TAP_CASE(a_lower_limit_takes_nothing_away),
		TAP_CASE(processes_that_compete_stay_below),
		TAP_CASE(a_refusal_is_not_charged),
		TAP_CASE(nonsense_is_no_limit),
		TAP_CASE(regions_are_limited_to_the_edge),
		TAP_CASE(no_limit_of_regions),
		TAP_CASE(pinned_pages_are_limited_to_the_edge),
	};

	return HARNESS_RUN(cases);
}
