// SPDX-License-Identifier: GPL-2.0
/* The bytes: sizes, places, ways, many at once. */
#include "endpoint.h"

#define LENGTH	(8 * MIB)
#define GUARD	64
#define CANARY	0xa5

static uint64_t seed = 1;

/* [at, at + length) is the stream of @seed, with untouched bytes around it. */
static bool arrived(const char *mem, size_t at, size_t length)
{
	size_t i;

	if (fill_differs(mem + at, length, seed) >= 0)
		printf("# byte %lld of %zu at %zu is wrong\n",
		       fill_differs(mem + at, length, seed), length, at);
	for (i = 0; i < GUARD; i++)
		if ((at > i && mem[at - 1 - i] != (char)CANARY) ||
		    mem[at + length + i] != (char)CANARY) {
			printf("# a byte beside %zu at %zu was touched\n", length, at);
			return false;
		}
	return fill_differs(mem + at, length, seed) < 0;
}

static void guard(char *mem, size_t at, size_t length)
{
	size_t begin = at > GUARD ? at - GUARD : 0;

	memset(mem + begin, CANARY, at + length + GUARD - begin);
}

static void check_put(struct pair *pair, uint64_t token, size_t from, size_t to,
		      size_t length)
{
	seed++;
	fill(pair->a.mem + from, length, seed);
	guard(pair->b.mem, to, length);
	CHECK_INT(ep_put(pair->a.ep, OP(PUT, .offset = from, .length = length,
					.token = token, .remote_offset = to)), 0);
	CHECK(arrived(pair->b.mem, to, length));
}

static void check_get(struct pair *pair, uint64_t token, size_t to, size_t from,
		      size_t length)
{
	seed++;
	fill(pair->b.mem + from, length, seed);
	guard(pair->a.mem, to, length);
	CHECK_INT(ep_do(pair->a.ep, OP(GET, .offset = to, .length = length,
				       .token = token, .remote_offset = from)), 0);
	CHECK(arrived(pair->a.mem, to, length));
}

static void all_sizes_arrive(void)
{
	static const size_t sizes[] = {
		0, 1, 2, 7, 8, 1023, 1024, 1025, 4095, 4096, 4097, 8191, 8193,
		65535, 65536, 65537, UNIT - 1, UNIT, UNIT + 1,
	};
	struct pair pair = pair_new(LENGTH);
	uint64_t token = open_all(&pair.b, &pair.a);
	size_t i;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		check_put(&pair, token, 4096, 8192, sizes[i]);
		check_put(&pair, token, 777, 12345, sizes[i]);
		check_get(&pair, token, 8192, 4096, sizes[i]);
		check_get(&pair, token, 4099, 4095, sizes[i]);
	}
	pair_end(&pair);
}

static void units_are_crossed(void)
{
	struct pair pair = pair_new(LENGTH);
	uint64_t token = open_all(&pair.b, &pair.a);
	int d;

	for (d = -2; d <= 2; d++) {
		check_put(&pair, token, UNIT + d, 2 * UNIT - 1, 2);
		check_put(&pair, token, UNIT - 1, 2 * UNIT + d - 1, 3);
		check_get(&pair, token, UNIT + d - 1, UNIT - 1, 2);
		check_get(&pair, token, 100, 3 * UNIT + d - 2, 4);
	}
	check_put(&pair, token, 5, 4096 + 3, 2 * UNIT + 4097);
	check_get(&pair, token, UNIT - 13, 77, 2 * UNIT + 33);
	pair_end(&pair);
}

/* Keys begin and end where the exposure does, also within pages. */
static void keys_are_crossed(void)
{
	const size_t begin = PAGE + 4000, length = 2 * UNIT + 555;
	struct pair pair = pair_new(LENGTH);
	uint64_t token = open_part(&pair.b, &pair.a, BOTH, begin, length);
	struct pair shifted = pair;
	size_t at, key;
	int d;

	shifted.b.mem += begin;
	/* 512 pages a key, or 256. */
	for (key = UNIT / 2; key < length; key += UNIT / 2) {
		for (d = -2; d <= 2; d++) {
			at = key - begin % PAGE + d;
			check_put(&shifted, token, 9, at, 2);
			check_get(&shifted, token, 9, at, 2);
		}
	}
	check_put(&shifted, token, 3, 0, 1);
	check_put(&shifted, token, 3, length - 1, 1);
	check_put(&shifted, token, 4097, 0, length);
	check_get(&shifted, token, 1, 0, length);
	pair_end(&pair);
}

static void a_slot_may_be_a_part_of_a_region(void)
{
	struct pair pair = pair_new(LENGTH);
	uint64_t token = 0;

	CHECK_INT(ep_bind_part(pair.a.ep, 1, pair.a.region, PAGE, 2 * PAGE, 0), 0);
	CHECK_INT(ep_bind_part(pair.b.ep, 1, pair.b.region, UNIT - PAGE, 0, 0), 0);
	CHECK_INT(ep_expose_as(pair.b.ep, 1, BOTH, 100, 3 * PAGE, 0, &token), 0);
	ep_next(pair.a.ep, PEERLANE_RECORD_EXPOSED);
	guard(pair.b.mem, UNIT - PAGE + 100 + 7, 5000);
	fill(pair.a.mem + PAGE + 11, 5000, ++seed);
	CHECK_INT(ep_put(pair.a.ep, OP(PUT, .slot = 1, .offset = 11, .length = 5000,
				       .token = token, .remote_offset = 7)), 0);
	CHECK(arrived(pair.b.mem, UNIT - PAGE + 100 + 7, 5000));
	CHECK_INT(ep_begin(pair.a.ep, &OP(PUT, .slot = 1, .length = 2 * PAGE + 1,
					  .token = token), 1), -EINVAL);
	pair_end(&pair);
}

static void host_memory_goes_both_ways(void)
{
	struct pair pair = pair_new(LENGTH);
	uint64_t token = open_all(&pair.b, &pair.a);
	char *mem = mmap(NULL, MIB, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	int host = pin_host(-1, mem, MIB, 0);

	CHECK_INT(ep_bind(pair.a.ep, 1, host), 0);
	fill(mem, MIB, ++seed);
	CHECK_INT(ep_put(pair.a.ep, OP(PUT, .slot = 1, .offset = 3, .length = MIB - 3,
				       .token = token, .remote_offset = 99)), 0);
	CHECK(!memcmp(mem + 3, pair.b.mem + 99, MIB - 3));
	guard(mem, 4095, 70001);
	fill(pair.b.mem + 55, 70001, ++seed);
	CHECK_INT(ep_do(pair.a.ep, OP(GET, .slot = 1, .offset = 4095, .length = 70001,
				      .token = token, .remote_offset = 55)), 0);
	CHECK(arrived(mem, 4095, 70001));
	close(host);
	pair_end(&pair);
	munmap(mem, MIB);
}

/* Host memory that is exposed; nobody needs an accelerator for it. */
static void host_memory_is_reached(void)
{
	struct pair pair = pair_new(LENGTH);
	char *mem = mmap(NULL, MIB, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	int host = pin_host(-1, mem, MIB, 0);
	struct pair other = pair;
	uint64_t token = 0;

	CHECK_INT(ep_bind(pair.b.ep, 1, host), 0);
	CHECK_INT(ep_expose_as(pair.b.ep, 1, BOTH, 0, MIB, 0, &token), 0);
	ep_next(pair.a.ep, PEERLANE_RECORD_EXPOSED);
	other.b.mem = mem;
	check_put(&other, token, 5, 4093, 70001);
	check_get(&other, token, 4093, 5, 70001);
	close(host);
	pair_end(&pair);
	munmap(mem, MIB);
}

/* What has the same lane is in order. */
static void a_lane_keeps_the_order(void)
{
	struct pair pair = pair_of(SETTINGS(.lanes = 4), SETTINGS(.lanes = 4), LENGTH);
	uint64_t token = open_all(&pair.b, &pair.a);
	struct peerlane_op ops[65];
	int round, i, lanes = lanes_for(4);

	for (round = 0; round < 8; round++) {
		for (i = 0; i < 64; i++) {
			memset(pair.a.mem + i * PAGE, i + round, PAGE);
			ops[i] = OP(PUT, .flags = PEERLANE_OP_F_LANE | PEERLANE_OP_F_QUIET,
				    .offset = i * PAGE, .length = PAGE - i,
				    .token = token, .lane = round % lanes);
		}
		/* And what is read by it is what was written before. */
		ops[64] = OP(GET, .flags = PEERLANE_OP_F_LANE, .offset = MIB,
			     .length = PAGE, .token = token, .lane = round % lanes);
		CHECK_INT(ep_begin(pair.a.ep, ops, 65), 65);
		CHECK_INT(ep_find(pair.a.ep, PEERLANE_RECORD_DONE).status, 0);
		for (i = 0; i < 64; i++)
			if (pair.a.mem[MIB + PAGE - 1 - i] != (char)(i + round))
				break;
		CHECK_INT(i, 64);
	}
	pair_end(&pair);
}

/* ---- many ---- */

#define PIECES	512

struct piece {
	uint32_t at, length;	/* in both memories the same */
};

/* Disjoint, at odd places; the last byte of memory is within. */
static void cut(struct piece *pieces)
{
	uint32_t i, step = LENGTH / PIECES;

	for (i = 0; i < PIECES; i++) {
		pieces[i].at = i * step + rand() % 100;
		pieces[i].length = rand() % 4 ? 1 + rand() % (step - 200) :
				   (uint32_t)(rand() % 3);
	}
}

static void begin_pieces(struct pair *pair, const struct piece *pieces,
			 uint64_t token, uint16_t op)
{
	struct peerlane_record records[64];
	uint32_t next = 0, done = 0, i;
	char seen[PIECES] = {};

	while (done < PIECES) {
		struct peerlane_op ops[32];
		struct batch batch = { .ops = ops, .records = records,
			.room = ARRAY_SIZE(records), .wait = 1, .seconds = PATIENCE };

		for (i = 0; i < 32 && next + i < PIECES; i++)
			ops[i] = (struct peerlane_op){ .op = op,
				.offset = pieces[next + i].at,
				.length = pieces[next + i].length, .token = token,
				.remote_offset = pieces[next + i].at,
				.cookie = next + i };
		batch.count = i;
		if (ep_submit(pair->a.ep, &batch) == -EAGAIN) {
			batch.count = 0;
			CHECK_INT(ep_submit(pair->a.ep, &batch), 0);
		}
		next += batch.begun;
		if (!CHECK(batch.begun || batch.got))
			return;
		for (i = 0; i < batch.got; i++) {
			CHECK_INT(records[i].type, PEERLANE_RECORD_DONE);
			CHECK_INT(records[i].status, 0);
			if (records[i].cookie < PIECES)
				CHECK_INT(seen[records[i].cookie]++, 0);
			done++;
		}
	}
}

static void many(uint32_t lanes)
{
	struct pair pair = pair_of(SETTINGS(.lanes = lanes, .depth = 100),
				   SETTINGS(.lanes = 16), LENGTH);
	uint64_t token = open_all(&pair.b, &pair.a);
	struct piece pieces[PIECES];
	char *want = malloc(LENGTH);
	uint32_t i;

	CHECK_INT(ep_info(pair.a.ep).lanes, lanes_for(lanes));
	CHECK_INT(ep_info(pair.b.ep).lanes, lanes_for(lanes));
	cut(pieces);
	memset(pair.b.mem, CANARY, LENGTH);
	fill(pair.a.mem, LENGTH, ++seed);
	begin_pieces(&pair, pieces, token, PEERLANE_OP_PUT);
	CHECK_INT(ep_do(pair.a.ep, OP(FLUSH)), 0);
	memset(want, CANARY, LENGTH);
	for (i = 0; i < PIECES; i++)
		memcpy(want + pieces[i].at, pair.a.mem + pieces[i].at, pieces[i].length);
	CHECK(!memcmp(want, pair.b.mem, LENGTH));
	memset(pair.a.mem, CANARY, LENGTH);
	begin_pieces(&pair, pieces, token, PEERLANE_OP_GET);
	CHECK(!memcmp(want, pair.a.mem, LENGTH));
	free(want);
	pair_end(&pair);
}

static void many_at_once_by_one_lane(void)
{
	many(1);
}

static void many_at_once_by_3_lanes(void)
{
	many(3);
}

static void many_at_once_by_16_lanes(void)
{
	many(16);
}

/* Both sides put and get at the same time, and neither waits for ever. */
static void both_sides_at_once(void)
{
	struct pair pair = pair_new(LENGTH);
	uint64_t of_b = open_all(&pair.b, &pair.a), of_a = open_all(&pair.a, &pair.b);
	struct peerlane_op ops[128];
	int i, k;

	fill(pair.a.mem, MIB, 100);
	fill(pair.b.mem, MIB, 200);
	for (k = 0; k < 2; k++) {
		for (i = 0; i < 128; i++)
			ops[i] = (struct peerlane_op){
				.op = i % 2 ? PEERLANE_OP_PUT : PEERLANE_OP_GET,
				.offset = (i % 2 ? 0 : 2 * MIB) + i * 8000,
				.remote_offset = (i % 2 ? 4 * MIB : 0) + i * 8000,
				.length = 7999, .token = k ? of_a : of_b };
		CHECK_INT(ep_begin(k ? pair.b.ep : pair.a.ep, ops, 128), 128);
	}
	for (i = 0; i < 128 && !tap.bad; i++) {
		CHECK_INT(ep_next(pair.a.ep, PEERLANE_RECORD_DONE).status, 0);
		CHECK_INT(ep_next(pair.b.ep, PEERLANE_RECORD_DONE).status, 0);
	}
	CHECK_INT(ep_do(pair.a.ep, OP(FLUSH)), 0);
	CHECK_INT(ep_do(pair.b.ep, OP(FLUSH)), 0);
	for (i = 0; i < 128 && !tap.bad; i++) {
		size_t from = i * 8000, to = (i % 2 ? 4 : 2) * MIB + i * 8000;

		CHECK(!memcmp(pair.a.mem + from, pair.b.mem + to, 7999));
		CHECK(!memcmp(pair.b.mem + from, pair.a.mem + to, 7999));
	}
	pair_end(&pair);
}

/* Only reads, more than a device answers at once: neither waits for the other. */
static void both_sides_get_at_once(void)
{
	struct pair pair = pair_new(LENGTH);
	uint64_t of_b = open_all(&pair.b, &pair.a), of_a = open_all(&pair.a, &pair.b);
	struct peerlane_op ops[128];
	int round, i, k;

	fill(pair.a.mem, 4 * MIB, 300);
	fill(pair.b.mem, 4 * MIB, 400);
	for (round = 0; round < 4 && !tap.bad; round++) {
		memset(pair.a.mem + 4 * MIB, 0, 4 * MIB);
		memset(pair.b.mem + 4 * MIB, 0, 4 * MIB);
		for (k = 0; k < 2; k++) {
			for (i = 0; i < 128; i++)
				ops[i] = OP(GET, .offset = 4 * MIB + i * 32000,
					    .remote_offset = i * 32000,
					    .length = 31999,
					    .token = k ? of_a : of_b);
			CHECK_INT(ep_begin(k ? pair.b.ep : pair.a.ep, ops, 128), 128);
		}
		for (i = 0; i < 128 && !tap.bad; i++) {
			CHECK_INT(ep_next(pair.a.ep, PEERLANE_RECORD_DONE).status, 0);
			CHECK_INT(ep_next(pair.b.ep, PEERLANE_RECORD_DONE).status, 0);
		}
		for (i = 0; i < 128 && !tap.bad; i++) {
			size_t from = i * 32000, to = 4 * MIB + from;

			CHECK(!memcmp(pair.a.mem + to, pair.b.mem + from, 31999));
			CHECK(!memcmp(pair.b.mem + to, pair.a.mem + from, 31999));
		}
	}
	pair_end(&pair);
}

/* What was read by a lane is from before what is put by it afterwards. */
static void a_put_does_not_overtake_a_get(void)
{
	struct pair pair = pair_new(LENGTH);
	uint64_t token = open_all(&pair.b, &pair.a);
	struct peerlane_op ops[3];
	int i;

	for (i = 1; i < 100 && !tap.bad; i++) {
		memset(pair.b.mem, i, MIB);
		memset(pair.a.mem + MIB, i + 1, 64);
		ops[0] = OP(GET, .length = MIB, .token = token);
		ops[1] = OP(PUT, .offset = MIB, .length = 64, .token = token,
			    .remote_offset = MIB - 64);
		ops[2] = OP(NOTIFY, .flags = PEERLANE_OP_F_QUIET, .value = i);
		CHECK_INT(ep_begin(pair.a.ep, ops, 3), 3);
		CHECK_INT(ep_next(pair.b.ep, PEERLANE_RECORD_NOTIFY).value, i);
		CHECK_INT(ep_next(pair.a.ep, PEERLANE_RECORD_DONE).status, 0);
		CHECK_INT(ep_next(pair.a.ep, PEERLANE_RECORD_DONE).status, 0);
		CHECK_INT(pair.a.mem[0], i);
		CHECK_INT(pair.a.mem[MIB - 1], i);
		CHECK_INT(pair.b.mem[MIB - 1], i + 1);
	}
	pair_end(&pair);
}

/* Nobody has to be told that the slot was looked at only now. */
static void a_slot_is_bound_before_or_after_connecting(void)
{
	struct peerlane_endpoint_create args = SETTINGS();
	int listener = ep_new(), port = ep_listen(listener), region = new_region(PAGE);
	struct pair pair = { { ep_create(&args), -1 }, { -1, -1 } };
	char *mem = map(region, PAGE);

	CHECK_INT(ep_bind(pair.a.ep, 0, region), 0);
	CHECK_INT(ep_connect(pair.a.ep, port), 0);
	pair.b.ep = ep_accept(listener);
	side_memory(&pair.b, second_device(), PAGE);
	memset(mem, 7, PAGE);
	CHECK_INT(ep_put(pair.a.ep, OP(PUT, .length = PAGE,
				       .token = open_all(&pair.b, &pair.a))), 0);
	CHECK(!memcmp(mem, pair.b.mem, PAGE));
	munmap(mem, PAGE);
	close(region);
	close(listener);
	pair_end(&pair);
}

int main(void)
{
	static const struct tap_case cases[] = {
		TAP_CASE(all_sizes_arrive),
		TAP_CASE(units_are_crossed),
		TAP_CASE(keys_are_crossed),
		TAP_CASE(a_slot_may_be_a_part_of_a_region),
		TAP_CASE(host_memory_goes_both_ways),
		TAP_CASE(host_memory_is_reached),
		TAP_CASE(a_lane_keeps_the_order),
		TAP_CASE(many_at_once_by_one_lane),
		TAP_CASE(many_at_once_by_3_lanes),
		TAP_CASE(many_at_once_by_16_lanes),
		TAP_CASE(both_sides_at_once),
		TAP_CASE(both_sides_get_at_once),
		TAP_CASE(a_put_does_not_overtake_a_get),
		TAP_CASE(a_slot_is_bound_before_or_after_connecting),
	};

	srand(20);
	return HARNESS_RUN(cases);
}
