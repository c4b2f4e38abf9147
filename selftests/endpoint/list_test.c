// SPDX-License-Identifier: GPL-2.0
/* Lists of endpoints: their rules, and what users and namespaces see. */
#include <sched.h>
#include <sys/stat.h>

#include "endpoint.h"

#define ALICE	1001
#define ROOM	64

static struct peerlane_endpoint_record records[ROOM];

/* How many, or -errno. */
static int list(uint32_t room)
{
	struct peerlane_list args = {
		.array_ptr = (uintptr_t)records, .count = room,
		.record_size = sizeof(records[0]),
	};
	int control = open_control(), ret;

	memset(records, 0, sizeof(records));
	ret = CALL(control, ENDPOINT_LIST, &args);
	close(control);
	if (ret == -EMSGSIZE)
		CHECK_HAS(text, "records");
	return ret ? ret : (int)args.count;
}

static void lists_have_their_rules(void)
{
	int a = ep_new(), b = ep_new(), control = open_control();
	struct peerlane_list args = { .array_ptr = (uintptr_t)records, .count = 0,
				      .record_size = sizeof(records[0]) };

	CHECK_INT(CALL(control, ENDPOINT_LIST, &args), -EMSGSIZE);
	CHECK_INT(args.count, 2);
	CHECK_INT(list(1), -EMSGSIZE);
	CHECK_INT(list(2), 2);
	CHECK(records[0].id < records[1].id);
	CHECK_INT(records[0].pid, getpid());
	CHECK_INT(records[0].uid, 0);
	CHECK_STR(records[0].comm, program_invocation_short_name);
	args.count = 0;
	CHECK_INT(CALL(a, ENDPOINT_INFO, &args), -EMSGSIZE);
	CHECK_INT(args.count, 1);
	args.record_size = sizeof(records[0]) - 1;
	CHECK_INT(CALL(a, ENDPOINT_INFO, &args), -EINVAL);
	CHECK_INT(CALL(control, ENDPOINT_LIST, &args), -EINVAL);
	close(a);
	CHECK_INT(list(ROOM), 1);
	close(b);
	CHECK_INT(list(ROOM), 0);
	close(control);
}

static void as_alice(void *arg)
{
	int ep;

	(void)arg;
	become(ALICE, ALICE);
	CHECK_INT(list(ROOM), 0);
	ep = ep_new();
	CHECK(ep >= 0);
	CHECK_INT(list(ROOM), 1);
	CHECK_INT(records[0].uid, ALICE);
}

static void users_see_their_own(void)
{
	int ep = ep_new();

	CHECK_INT(chmod(DEVICES "control", 0666), 0);
	in_child(as_alice, NULL);
	CHECK_INT(chmod(DEVICES "control", 0660), 0);
	CHECK_INT(list(ROOM), 1);
	close(ep);
}

static void elsewhere(void *arg)
{
	int ep, other = *(int *)arg, ret;

	CHECK_INT(unshare(CLONE_NEWNET), 0);
	CHECK_INT(list(ROOM), 0);
	ep = ep_new();
	CHECK(ep >= 0);
	CHECK_INT(list(ROOM), 1);
	/* There is no device, and no way to it. */
	ret = ep_connect(ep, 7);
	CHECK(ret < 0 && text[0]);
	close(ep);
	ep = ep_new();
	CHECK(ep_listen(ep) < 0);
	close(ep);
	/* One of the other namespace stays there. */
	CHECK(ep_listen(other) > 0);
}

static void a_network_namespace_has_its_own(void)
{
	int ep = ep_new();

	in_child(elsewhere, &ep);
	CHECK_INT(list(ROOM), 1);
	CHECK_INT(records[0].state, PEERLANE_ENDPOINT_LISTENING);
	close(ep);
}

int main(void)
{
	static const struct tap_case cases[] = {
		TAP_CASE(lists_have_their_rules),
		TAP_CASE(users_see_their_own),
		TAP_CASE(a_network_namespace_has_its_own),
	};

	return HARNESS_RUN(cases);
}
