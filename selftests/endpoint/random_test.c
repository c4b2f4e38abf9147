// SPDX-License-Identifier: GPL-2.0
/*
 * Everything at random, for $ENDPOINT_SECONDS (40), with a model of what has
 * to be in memory. $ENDPOINT_SEED begins another walk than the usual one, which
 * is the same again as far as the order of events allows.
 *
 * What is on its way is known: nothing is begun that would read or write what
 * something else is just writing. So each byte has one right value at any time,
 * but for what a failed operation has left, which is written anew.
 */
#include "endpoint.h"

#define PAIRS	3
#define LENGTH	(3 * MIB)
#define FLIGHTS	96
#define TOKENS	12

struct range {
	int side;		/* 0 or 1 */
	uint64_t at, length;
};

/* An operation on its way. */
struct flight {
	bool used;
	uint64_t cookie;
	int side;		/* whose it is */
	struct range from, to;	/* PUT: to is the other's; GET: from is */
};

struct exposure {
	uint64_t token;		/* 0: none */
	uint64_t at, length;
	uint32_t rights;
	bool known;		/* by the other side */
};

struct model {
	struct side sides[2];
	char *shadow[2];
	struct exposure exposures[2][TOKENS];	/* of that side's memory */
	struct flight flights[FLIGHTS];
	uint32_t lanes;
	bool over;		/* a DISCONNECTED was read */
};

static struct model models[PAIRS];
static uint64_t cookies, counts[16];
static const char *const names[] = {
	"put", "get", "refused", "verify", "write", "expose", "withdraw",
	"reconnect", "revoke", "flush", "failed", "done",
};

static uint64_t below(uint64_t n)
{
	return n ? ((uint64_t)random() << 20 ^ random()) % n : 0;
}

/* ---- ranges ---- */

static bool overlap(struct range a, struct range b)
{
	return a.side == b.side && a.at < b.at + b.length && b.at < a.at + a.length;
}

/* Nobody writes it now; and nobody reads it, if it is to be written. */
static bool is_quiet(const struct model *model, struct range range, bool write)
{
	int i;

	for (i = 0; i < FLIGHTS; i++) {
		const struct flight *flight = &model->flights[i];

		if (!flight->used)
			continue;
		if (overlap(flight->to, range) || (write && overlap(flight->from, range)))
			return false;
	}
	return true;
}

static struct range any_range(uint64_t most)
{
	struct range range = { .side = below(2) };

	range.length = below(3) ? below(5000) : below(most);
	range.at = below(LENGTH - range.length + 1);
	return range;
}

static void rewrite(struct model *model, struct range range)
{
	uint64_t seed = random();

	fill(model->shadow[range.side] + range.at, range.length, seed);
	memcpy(model->sides[range.side].mem + range.at,
	       model->shadow[range.side] + range.at, range.length);
}

static void verify(struct model *model, struct range range)
{
	const char *real = model->sides[range.side].mem, *want = model->shadow[range.side];
	uint64_t i;

	if (!memcmp(real + range.at, want + range.at, range.length))
		return;
	for (i = range.at; real[i] == want[i]; i++)
		;
	printf("# side %d of pair %td: byte %llu is %#x, not %#x\n", range.side,
	       model - models, (unsigned long long)i, (unsigned char)real[i],
	       (unsigned char)want[i]);
	tap.bad++;
}

/* ---- records ---- */

static void landed(struct model *model, const struct peerlane_record *record)
{
	int i;

	for (i = 0; i < FLIGHTS; i++)
		if (model->flights[i].used && model->flights[i].cookie == record->cookie)
			break;
	if (i == FLIGHTS) {
		if (record->cookie)
			CHECK(!"a record of no operation");
		return;
	}
	model->flights[i].used = false;
	counts[record->status ? 10 : 11]++;
	if (!record->status)
		return;
	/* Nobody writes there any more, on either side, when all has ended. */
	model->over = true;
	model->flights[i].used = true;
	model->flights[i].cookie = 0;
}

static void told(struct model *model, int side, const struct peerlane_record *record)
{
	int i;

	for (i = 0; i < TOKENS; i++)
		if (model->exposures[!side][i].token == record->token)
			model->exposures[!side][i].known = true;
}

/* @side's; true: there was one. */
static bool take_record(struct model *model, int side, double seconds)
{
	struct peerlane_record record;

	if (ep_read(model->sides[side].ep, &record, seconds) != 1)
		return false;
	switch (record.type) {
	case PEERLANE_RECORD_DONE:
		landed(model, &record);
		break;
	case PEERLANE_RECORD_EXPOSED:
		told(model, side, &record);
		break;
	case PEERLANE_RECORD_DISCONNECTED:
		model->over = true;
		break;
	}
	return true;
}

/* ---- a pair's life ---- */

static void connect_pair(struct model *model)
{
	struct peerlane_endpoint_create a = SETTINGS(.lanes = 1 + below(4),
		.depth = 1 + below(64), .notify_depth = 1 + below(8)), b = a;
	int i;

	b.lanes = 1 + below(4);
	if (!connect_two(&a, &b, own_address(), &model->sides[0].ep, &model->sides[1].ep)) {
		tap.bad++;
		return;
	}
	for (i = 0; i < 2; i++) {
		ep_next(model->sides[i].ep, PEERLANE_RECORD_CONNECTED);
		CHECK_INT(ep_bind(model->sides[i].ep, 0, model->sides[i].region), 0);
	}
	model->lanes = ep_info(model->sides[0].ep).lanes;
	memset(model->exposures, 0, sizeof(model->exposures));
	model->over = false;
}

static void make_memory(struct model *model, int side)
{
	struct side *own = &model->sides[side];

	own->region = open(side ? second_device() : DEVICES "gpu0", O_RDWR | O_CLOEXEC);
	CHECK(WAIT_FOR(!region_alloc(own->region, LENGTH), PATIENCE));
	own->mem = map(own->region, LENGTH);
	own->length = LENGTH;
	rewrite(model, (struct range){ side, 0, LENGTH });
}

/*
 * Each operation has its record by then. @gone: the side whose memory is going to
 * be another, or -1.
 */
static void end_connection(struct model *model, int gone)
{
	int side, i;

	for (side = 0; side < 2; side++)
		CHECK_INT(ep_disconnect(model->sides[side].ep), 0);
	for (side = 0; side < 2; side++) {
		while (take_record(model, side, 0.01))
			;
		CHECK_INT(ep_info(model->sides[side].ep).outstanding, 0);
		close(model->sides[side].ep);
	}
	for (i = 0; i < FLIGHTS; i++) {
		struct flight *flight = &model->flights[i];

		if (!flight->used)
			continue;
		CHECK_INT(flight->cookie, 0);	/* it was told, as failed */
		flight->used = false;
		if (flight->to.side != gone)
			rewrite(model, flight->to);
	}
}

static void reconnect(struct model *model)
{
	end_connection(model, -1);
	connect_pair(model);
	counts[7]++;
}

static void revoke_memory(struct model *model)
{
	int side = below(2);
	struct side *own = &model->sides[side];

	CHECK_INT(region_revoke(own->region), 0);
	/* What is on its way fails; what it reads or writes is gone. */
	end_connection(model, side);
	munmap(own->mem, LENGTH);
	close(own->region);
	make_memory(model, side);
	connect_pair(model);
	counts[8]++;
}

/* ---- actions ---- */

static struct exposure *any_exposure(struct model *model, int side, bool used)
{
	struct exposure *exposure = &model->exposures[side][below(TOKENS)];

	return !!exposure->token == used ? exposure : NULL;
}

static void expose(struct model *model)
{
	int side = below(2);
	struct exposure *exposure = any_exposure(model, side, false);
	struct range range = any_range(LENGTH);

	if (!exposure || !range.length)
		return;
	exposure->at = range.at;
	exposure->length = range.length;
	exposure->rights = 1 + below(3);
	exposure->known = false;
	if (ep_expose_as(model->sides[side].ep, 0, exposure->rights, range.at, range.length,
			 0, &exposure->token))
		exposure->token = 0;
	counts[5]++;
}

static bool is_in_use(const struct model *model, int side, const struct exposure *exposure)
{
	struct range range = { side, exposure->at, exposure->length };

	return !is_quiet(model, range, true);
}

static void withdraw(struct model *model)
{
	int side = below(2), ret;
	struct exposure *exposure = any_exposure(model, side, true);

	if (!exposure || (is_in_use(model, side, exposure) && below(20)))
		return;
	ret = ep_withdraw(model->sides[side].ep, exposure->token);
	CHECK(!ret || ret == -ENOTCONN || ret == -ENOKEY);
	exposure->token = 0;
	counts[6]++;
}

static struct flight *free_flight(struct model *model)
{
	int i;

	for (i = 0; i < FLIGHTS; i++)
		if (!model->flights[i].used)
			return &model->flights[i];
	return NULL;
}

static void copy(struct model *model, const struct flight *flight)
{
	memcpy(model->shadow[flight->to.side] + flight->to.at,
	       model->shadow[flight->from.side] + flight->from.at, flight->to.length);
}

static void move(struct model *model)
{
	int side = below(2), ret;
	struct exposure *exposure = any_exposure(model, !side, true);
	struct flight *flight = free_flight(model);
	bool put = below(2);
	struct range here, there;
	struct peerlane_op op;

	if (!exposure || !exposure->known || !flight)
		return;
	here = any_range(exposure->length);
	here.side = side;
	here.length = here.length < exposure->length ? here.length : exposure->length;
	there = (struct range){ !side, exposure->at + below(exposure->length - here.length + 1),
				here.length };
	if (!is_quiet(model, put ? here : there, false) ||
	    !is_quiet(model, put ? there : here, true))
		return;
	op = (struct peerlane_op){
		.op = put ? PEERLANE_OP_PUT : PEERLANE_OP_GET,
		.flags = put && !below(8) ? PEERLANE_OP_F_NOTIFY : 0,
		.offset = here.at, .length = here.length, .token = exposure->token,
		.remote_offset = there.at - exposure->at, .cookie = ++cookies,
	};
	if (!below(3)) {
		op.flags |= PEERLANE_OP_F_LANE;
		op.lane = below(model->lanes);
	}
	*flight = (struct flight){ false, op.cookie, side, put ? here : there,
				   put ? there : here };
	ret = ep_begin(model->sides[side].ep, &op, 1);
	if (ret == 1) {
		CHECK(exposure->rights & (put ? PEERLANE_RIGHT_WRITE : PEERLANE_RIGHT_READ));
		flight->used = true;
		copy(model, flight);
		counts[put ? 0 : 1]++;
	} else {
		CHECK(ret == -EAGAIN || ret == -ENOTCONN || ret == -EACCES ||
		      ret == -ENOKEY);
		if (ret == -EACCES)
			CHECK(!(exposure->rights & (put ? PEERLANE_RIGHT_WRITE :
						    PEERLANE_RIGHT_READ)));
		counts[2]++;
	}
}

/* Bits that mean nothing: no other error than those of the header. */
static void garbage(struct model *model)
{
	struct peerlane_op op;
	uint32_t i;
	int ret;

	for (i = 0; i < sizeof(op); i++)
		((unsigned char *)&op)[i] = below(3) ? 0 : random();
	op.cookie = 0;
	/* Only what cannot do anything to memory. */
	if (op.op == PEERLANE_OP_PUT || op.op == PEERLANE_OP_GET)
		op.token = random();
	op.flags &= ~PEERLANE_OP_F_QUIET;
	ret = ep_begin(model->sides[below(2)].ep, &op, 1);
	CHECK(ret == 1 || ret == -EOPNOTSUPP || ret == -EINVAL || ret == -EOVERFLOW ||
	      ret == -EACCES || ret == -EAGAIN || ret == -ENOTCONN);
}

static void flush(struct model *model)
{
	ep_begin(model->sides[below(2)].ep, &OP(FLUSH), 1);
	counts[9]++;
}

static void touch_memory(struct model *model)
{
	struct range range = any_range(100000);

	if (!is_quiet(model, range, true))
		return;
	rewrite(model, range);
	counts[4]++;
}

static void look(struct model *model)
{
	struct range range = any_range(LENGTH);

	if (!is_quiet(model, range, false))
		return;
	verify(model, range);
	counts[3]++;
}

static void act(struct model *model)
{
	uint64_t dice = below(1000);

	if (dice < 600)
		move(model);
	else if (dice < 700)
		look(model);
	else if (dice < 770)
		touch_memory(model);
	else if (dice < 850)
		expose(model);
	else if (dice < 890)
		withdraw(model);
	else if (dice < 920)
		flush(model);
	else if (dice < 960)
		garbage(model);
	else if (dice == 998)
		revoke_memory(model);
	else if (dice == 999)
		reconnect(model);
	while (take_record(model, 0, 0) || take_record(model, 1, 0))
		;
	if (model->over)
		reconnect(model);
}

/* ---- all ---- */

static void begin(struct model *model)
{
	int side;

	memset(model, 0, sizeof(*model));
	for (side = 0; side < 2; side++) {
		model->shadow[side] = malloc(LENGTH);
		make_memory(model, side);
	}
	connect_pair(model);
}

static void end(struct model *model)
{
	int side;

	end_connection(model, -1);
	for (side = 0; side < 2; side++) {
		verify(model, (struct range){ side, 0, LENGTH });
		munmap(model->sides[side].mem, LENGTH);
		close(model->sides[side].region);
		free(model->shadow[side]);
	}
}

static unsigned int number(const char *name, unsigned int fallback)
{
	const char *value = getenv(name);

	return value ? strtoul(value, NULL, 0) : fallback;
}

static void memory_is_what_it_should_be(void)
{
	unsigned int seed = number("ENDPOINT_SEED", 20261130);
	double until = now() + number("ENDPOINT_SECONDS", 40);
	size_t i;

	printf("# seed %u\n", seed);
	srandom(seed);
	for (i = 0; i < PAIRS; i++)
		begin(&models[i]);
	while (now() < until && !tap.bad)
		act(&models[below(PAIRS)]);
	for (i = 0; i < PAIRS; i++)
		end(&models[i]);
	for (i = 0; i < ARRAY_SIZE(names); i++)
		printf("# %s: %llu\n", names[i], (unsigned long long)counts[i]);
	CHECK(counts[0] > 10 && counts[1] > 10 && counts[3] > 10);
}

int main(void)
{
	static const struct tap_case cases[] = {
		TAP_CASE(memory_is_what_it_should_be),
	};

	return HARNESS_RUN(cases);
}
