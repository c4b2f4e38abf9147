// SPDX-License-Identifier: GPL-2.0
/*
 * One rank that sums for as long as nobody wants to stop, and looks at all of it:
 *   paths RANK RANKS ADDRESS PORT GROUP LANES
 * Each sum has to be that of the ranks in order, bit for bit; and from when it is
 * looked at until it is wanted again its place has a pattern, which is no longer
 * there if a result came once more. A file /tmp/stop.RANK is the wish to stop.
 *
 *   paths aggregator PORT
 * is the aggregator of such groups, on this node's own address.
 *
 *   paths lanes
 * tells of all lanes of this node, one a line: rank's file, aggregator, lane, state,
 * queue pair, messages, replayed, delay in ns.
 */
#include "group.h"

#define PLACES		4
#define COUNT		8192U			/* elements of f32 */
#define BYTES		(COUNT * sizeof(float))
#define LANES		256
#define CANARY		0xc5
#define LINK_MS		6000
#define SETTLED		3			/* seconds */

static struct pages pages;
static uint32_t rank, ranks;
static unsigned long long wrong, late;

static float *place(uint32_t index, bool receive)
{
	return (float *)(pages.mem + (2 * index + receive) * BYTES);
}

/* Whose sum depends on the order. */
static float value_of(uint32_t who, uint64_t seq, uint32_t i)
{
	static const float large[] = { 1e30f, 1.0f, -1e30f };

	return large[(who + i) % 3] * (float)(1 + (seq + i) % 7);
}

static float sum_of(uint64_t seq, uint32_t i)
{
	float sum = value_of(0, seq, i);
	uint32_t who;

	for (who = 1; who < ranks; who++)
		sum += value_of(who, seq, i);
	return sum;
}

/* ---- one operation ---- */

static bool wants_stop(void)
{
	char path[32];

	snprintf(path, sizeof(path), "/tmp/stop.%u", rank);
	return !access(path, F_OK);
}

static void check_canary(uint32_t index)
{
	const unsigned char *bytes = (void *)place(index, true);

	if (bytes[0] != CANARY || memcmp(bytes, bytes + 1, BYTES - 1))
		late++;
}

static int begin(int fd, uint64_t seq)
{
	uint32_t index = seq % PLACES, i;
	struct peerlane_group_op op = GROUP_OP(ALL_REDUCE,
		.type = PEERLANE_TYPE_F32, .op = PEERLANE_REDUCE_SUM,
		.count = COUNT, .cookie = seq,
		.send_offset = 2 * index * BYTES,
		.receive_offset = (2 * index + 1) * BYTES);

	check_canary(index);
	for (i = 1; i < COUNT; i++)
		place(index, false)[i] = value_of(rank, seq, i);
	place(index, false)[0] = wants_stop();
	return group_begin(fd, &op, 1);
}

/* True: somebody wants to stop, which all find in the same operation. */
static bool end(uint64_t seq)
{
	float *result = place(seq % PLACES, true);
	bool stop = result[0] > 0;
	uint32_t i;

	for (i = 1; i < COUNT; i++) {
		float sum = sum_of(seq, i);

		wrong += memcmp(&sum, &result[i], sizeof(sum)) != 0;
	}
	memset(result, CANARY, BYTES);
	return stop;
}

/* ---- all of them ---- */

static int go_on(int fd, uint64_t *count)
{
	struct peerlane_group_record record;
	uint64_t sent = 0, back = 0;
	bool stop = false, done[PLACES] = {};

	while (!stop || back < sent) {
		for (; !stop && sent < back + PLACES; sent++)
			if (begin(fd, sent) != 1)
				return -1;
		record = group_next(fd, PEERLANE_GROUP_RECORD_DONE);
		if (record.type != PEERLANE_GROUP_RECORD_DONE || record.status)
			return -1;
		done[record.cookie % PLACES] = true;
		/* They may end out of order; all begin what began before a stop. */
		for (; done[back % PLACES] && back < sent; *count = ++back) {
			done[back % PLACES] = false;
			stop |= end(back);
		}
	}
	sleep(SETTLED);
	for (back = 0; back < PLACES; back++)
		check_canary(back);
	return 0;
}

static int lanes(void)
{
	struct peerlane_lane_info list[LANES];
	struct peerlane_list args = {
		.array_ptr = (uintptr_t)list, .count = LANES,
		.record_size = sizeof(list[0]),
	};
	int control = open_control(), ret = CALL(control, GROUP_LANES, &args);
	uint32_t i;

	for (i = 0; !ret && i < args.count; i++)
		printf("%llu %u %u %u %u %llu %llu %llu\n",
		       (unsigned long long)list[i].id, list[i].aggregator,
		       list[i].lane, list[i].state, list[i].qpn,
		       (unsigned long long)list[i].messages,
		       (unsigned long long)list[i].replayed,
		       (unsigned long long)list[i].delay_ns);
	return ret ? 1 : 0;
}

static int aggregate(uint16_t port)
{
	struct peerlane_aggregator_create args =
		AGGREGATOR_SETTINGS(.timeout_ms = LINK_MS);
	struct pages pool = pages_new(POOL);

	put_address(args.address, own_address(), port);
	args.pool_fd = pool.region;
	if (aggregator_create(&args) < 0) {
		printf("%s\n", text);
		return 1;
	}
	pause();
	return 0;
}

int main(int argc, char **argv)
{
	struct peerlane_group_create args = GROUP_SETTINGS(.segment = 4096,
		.window = 8, .timeout_ms = LINK_MS, .op_timeout_ms = 60000);
	uint8_t address[PEERLANE_ADDRESS_LEN];
	uint64_t count = 0;
	int fd, ret;

	if (argc == 2 && !strcmp(argv[1], "lanes"))
		return lanes();
	if (argc == 3 && !strcmp(argv[1], "aggregator"))
		return aggregate(atoi(argv[2]));
	if (argc != 7)
		return 2;
	rank = args.rank = atoi(argv[1]);
	ranks = args.ranks = atoi(argv[2]);
	args.group = strtoull(argv[5], NULL, 10);
	args.lanes = atoi(argv[6]);
	put_address(address, argv[3], atoi(argv[4]));
	pages = pages_new(2 * PLACES * BYTES);
	memset(pages.mem, CANARY, pages.length);
	fd = group_create(args);
	ret = group_bind(fd, 0, pages.region, 0);
	if (!ret)
		ret = group_join(fd, address, 1);
	if (!ret) {
		group_next(fd, PEERLANE_GROUP_RECORD_JOINED);
		ret = go_on(fd, &count);
	}
	printf("rank %u operations %llu wrong %llu late %llu left %u ended %s\n",
	       rank, (unsigned long long)count, wrong, late,
	       group_info(fd).lanes_left, ret ? group_info(fd).text : "well");
	return ret || wrong || late;
}
