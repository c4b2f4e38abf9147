// SPDX-License-Identifier: GPL-2.0
/* What one user may have of endpoints, at its edge. */
#include <sys/stat.h>

#include "endpoint.h"

#define ALICE	1001

static void one_user_has_so_many(void)
{
	unsigned int before = parameter("user_endpoints");
	int a, b;

	CHECK_INT(before, 1024);
	set_parameter("user_endpoints", 2);
	a = ep_new();
	b = ep_new();
	CHECK(a >= 0 && b >= 0);
	CHECK_INT(ep_new(), -EDQUOT);
	CHECK_HAS(text, "user_endpoints");
	CHECK_HAS(text, "2");
	close(a);
	a = ep_new();
	CHECK(a >= 0);
	close(a);
	close(b);
	set_parameter("user_endpoints", before);
}

static void as_alice(void *arg)
{
	int ep;

	(void)arg;
	become(ALICE, ALICE);
	ep = ep_new();
	CHECK(ep >= 0);
	CHECK_INT(ep_new(), -EDQUOT);
}

static void users_have_their_own_count(void)
{
	unsigned int before = parameter("user_endpoints");
	int ep;

	set_parameter("user_endpoints", 1);
	CHECK_INT(chmod(DEVICES "control", 0666), 0);
	ep = ep_new();
	CHECK(ep >= 0);
	in_child(as_alice, NULL);
	close(ep);
	CHECK_INT(chmod(DEVICES "control", 0660), 0);
	set_parameter("user_endpoints", before);
}

/* Who comes in counts as well, and hears why it does not get in. */
static void the_limit_refuses_callers_too(void)
{
	unsigned int before = parameter("user_endpoints");
	int listener = ep_new(), port = ep_listen(listener), caller = ep_new();

	set_parameter("user_endpoints", 2);
	CHECK_INT(ep_connect(caller, port), -ECONNREFUSED);
	CHECK_HAS(text, "limit");
	set_parameter("user_endpoints", before);
	close(caller);
	close(listener);
}

/* What one endpoint costs, beside its number. */
static unsigned long long cost_of(struct peerlane_endpoint_create args)
{
	unsigned long long before = charged(), cost;
	int ep = ep_create(&args);

	cost = charged() - before - 1;
	CHECK(ep >= 0);
	close(ep);
	CHECK_INT(charged(), before);
	return cost;
}

static void memory_ends_at_the_parameter(void)
{
	unsigned long long before = parameter("user_endpoint_bytes");
	unsigned long long cost = cost_of(SETTINGS());
	int a, b;

	CHECK_INT(before, 4ULL << 30);
	printf("# %llu bytes\n", cost);
	set_parameter("user_endpoint_bytes", 2 * cost);
	a = ep_new();
	b = ep_new();
	CHECK(a >= 0 && b >= 0);
	CHECK_INT(ep_new(), -EDQUOT);
	CHECK_HAS(text, "user_endpoint_bytes");
	close(b);
	set_parameter("user_endpoint_bytes", 2 * cost - 1);
	CHECK_INT(ep_new(), -EDQUOT);
	set_parameter("user_endpoint_bytes", 0);
	b = ep_new();
	CHECK(b >= 0);
	close(a);
	close(b);
	set_parameter("user_endpoint_bytes", before);
}

static void what_is_larger_costs_more(void)
{
	unsigned long long plain = cost_of(SETTINGS());

	CHECK(cost_of(SETTINGS(.lanes = 2)) > plain);
	CHECK(cost_of(SETTINGS(.depth = 256)) > plain);
	CHECK(cost_of(SETTINGS(.notify_depth = 256)) > plain);
	CHECK(cost_of(SETTINGS(.slots = 32)) > plain);
	CHECK(cost_of(SETTINGS(.depth = 1, .notify_depth = 1, .slots = 1)) < plain);
}

/* What a connection costs when it begins, as the refusal of one says. */
static unsigned long long cost_of_link(int ep, int port)
{
	unsigned long long before = parameter("user_endpoint_bytes"), cost = 0;
	const char *at;

	set_parameter("user_endpoint_bytes", 1);
	CHECK_INT(ep_connect(ep, port), -EDQUOT);
	CHECK_HAS(text, "user_endpoint_bytes");
	set_parameter("user_endpoint_bytes", before);
	at = strstr(text, "asks for ");
	if (CHECK(at))
		cost = strtoull(at + 9, NULL, 0);
	return cost;
}

static void a_connection_costs_as_long_as_it_lives(void)
{
	unsigned long long none = charged(), alone, cost;
	int listener = ep_new(), port = ep_listen(listener), caller = ep_new();
	int i;

	alone = charged();
	cost = cost_of_link(caller, port);
	printf("# %llu bytes\n", cost);
	CHECK_INT(charged(), alone);
	CHECK_INT(ep_info(caller).state, PEERLANE_ENDPOINT_NEW);
	CHECK_INT(ep_connect(caller, port), 0);
	CHECK(charged() > alone);
	CHECK_INT(ep_disconnect(caller), 0);
	close(caller);
	caller = ep_new();
	for (i = 0; i < 20; i++)
		CHECK_INT(ep_connect(caller, 1), -ECONNREFUSED);
	close(caller);
	close(listener);
	/* They go when their links have left the device. */
	CHECK(WAIT_FOR(charged() == none, PATIENCE));
}

/* There would be memory for the caller's connection, and for no other. */
static void who_listens_pays_for_who_comes(void)
{
	unsigned long long before = parameter("user_endpoint_bytes");
	int listener = ep_new(), port = ep_listen(listener), caller = ep_new();
	unsigned long long alone = charged(), cost = cost_of_link(caller, port);

	set_parameter("user_endpoint_bytes", alone + cost);
	CHECK_INT(ep_connect(caller, port), -ECONNREFUSED);
	CHECK_HAS(text, "limit");
	CHECK(WAIT_FOR(charged() == alone, PATIENCE));
	set_parameter("user_endpoint_bytes", 2 * (alone + cost));
	CHECK_INT(ep_connect(caller, port), 0);
	set_parameter("user_endpoint_bytes", before);
	close(caller);
	close(listener);
}

/* Of both ends, as both are this user's. */
static void keys_of_a_user_end_at_the_parameter(void)
{
	unsigned long long before = parameter("user_keys");
	struct pair pair = pair_new(8 * MIB);
	uint64_t token, other;

	CHECK_INT(before, 262144);
	set_parameter("user_keys", 5);
	CHECK_INT(ep_expose_as(pair.a.ep, 0, BOTH, 0, 8 * MIB, 0, &token), 0);
	CHECK_INT(ep_info(pair.a.ep).keys, 4);
	CHECK_INT(ep_expose_as(pair.b.ep, 0, BOTH, 0, 4 * MIB, 0, &other), -EDQUOT);
	CHECK_HAS(text, "user_keys");
	CHECK_INT(ep_info(pair.b.ep).exposed, 0);
	CHECK_INT(ep_info(pair.b.ep).keys, 0);
	CHECK_INT(ep_expose_as(pair.b.ep, 0, BOTH, 0, 1, 0, &other), 0);
	CHECK_INT(ep_expose_as(pair.b.ep, 0, BOTH, 0, 1, 0, &other), -EDQUOT);
	CHECK_INT(ep_withdraw(pair.a.ep, token), 0);
	CHECK_INT(ep_expose_as(pair.b.ep, 0, BOTH, 0, 8 * MIB, 0, &other), 0);
	set_parameter("user_keys", before);
	pair_end(&pair);
}

int main(void)
{
	static const struct tap_case cases[] = {
		TAP_CASE(one_user_has_so_many),
		TAP_CASE(users_have_their_own_count),
		TAP_CASE(the_limit_refuses_callers_too),
		TAP_CASE(memory_ends_at_the_parameter),
		TAP_CASE(what_is_larger_costs_more),
		TAP_CASE(a_connection_costs_as_long_as_it_lives),
		TAP_CASE(who_listens_pays_for_who_comes),
		TAP_CASE(keys_of_a_user_end_at_the_parameter),
	};

	return HARNESS_RUN(cases);
}
