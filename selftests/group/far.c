// SPDX-License-Identifier: GPL-2.0
/*
 * far serve PORT...		aggregators at this node, until it is killed
 * far [-n OPS] [-c COUNT] [-w COMMAND] [-l] [-b] call PORT...	eight ranks here, theirs at node 1
 *
 * Ranks sum f32 whose sum has other bits in another order, and come in any order;
 * what is counted is what came out. -w: what crossed the wire, too, as the kernel's
 * network device counts it: the tensor once up and once down per rank, and what
 * packets and messages have of heads. What was sent again, which a busy machine does
 * of itself, is not in it: COMMAND prints bytes that were sent, sent again, and came
 * again, by the table of flows. -l: packets are lost behind the table and before the
 * device, so the table says what was sent. -b: with each operation under way a slot
 * is bound, so that its memory is told behind packets which may be lost.
 */
#include <getopt.h>

#include "group.h"
#include "values.h"

#define RANKS		8
#define LENGTH		(2 * MIB)
#define HALF		(LENGTH / 2)
/* Few bytes on their way: a slow node would have them sent again. */
#define CUT		16384

/* Ethernet, IPv4, UDP, BTH and ICRC; AETH and RETH beside it */
#define PACKET_HEAD	(14 + 20 + 8 + 12 + 4)
#define ACK		(PACKET_HEAD + 4)
#define WRITE_HEAD	16
#define MESSAGE_MOST	(PACKET_HEAD + 128)

static struct world world = { .ranks = RANKS };
static struct values values;
static uint32_t ops = 3, count = 20000;
static const char *weigh;
static bool lossy, bind_more;

/* ---- aggregators ---- */

static int serve(char **ports, int many)
{
	struct peerlane_aggregator_create args;
	int i;

	for (i = 0; i < many; i++) {
		struct pages pool = pages_new(POOL);

		args = AGGREGATOR_SETTINGS(.pool_fd = pool.region, .timeout_ms = 10000,
					   .join_timeout_ms = 100000);
		put_address(args.address, own_address(), (uint16_t)atoi(ports[i]));
		CHECK(aggregator_create(&args) >= 0);
	}
	printf("serving\n");
	pause();
	return tap.bad != 0;
}

/* ---- the wire ---- */

/* Bytes of the network device, and of flows to node 1 and from it. */
struct crossed {
	uint64_t out, in;
	uint64_t sent, sent_again, got_again;
};

static struct crossed crossed_now(void)
{
	struct crossed crossed = {
		.out = read_number("/sys/class/net/eth0/statistics/tx_bytes"),
		.in = read_number("/sys/class/net/eth0/statistics/rx_bytes"),
	};
	unsigned long long sent = 0, sent_again = 0, got_again = 0;
	FILE *flows = popen(weigh, "r");

	CHECK(flows && fscanf(flows, "%llu %llu %llu", &sent, &sent_again,
			      &got_again) == 3);
	if (flows)
		CHECK_INT(pclose(flows), 0);
	crossed.sent = sent;
	crossed.sent_again = sent_again;
	crossed.got_again = got_again;
	return crossed;
}

/* Payload of a packet: the largest size that RDMA has and that fits */
static uint32_t packet_payload(void)
{
	uint32_t mtu = (uint32_t)read_number("/sys/class/net/eth0/mtu"), size = 4096;

	while (size > 256 && size + 80 > mtu)
		size /= 2;
	return size;
}

/*
 * One way, of all ranks: the tensor, at least. At most also a head for each packet,
 * a message for each segment, and an ACK for either of what came the other way.
 */
static uint64_t most_bytes(uint64_t payload)
{
	uint64_t packets = payload / packet_payload() + 1;
	uint64_t segments = payload / CUT + RANKS * (uint64_t)ops;
	uint64_t most = payload + packets * PACKET_HEAD +
			segments * (WRITE_HEAD + MESSAGE_MOST + PACKET_HEAD + 2 * ACK);

	return most + most / 50;	/* pings, credits, ARP */
}

static bool is_tensor_once(struct crossed before)
{
	struct crossed after = crossed_now();
	uint64_t payload = (uint64_t)RANKS * ops * count * 4, most = most_bytes(payload);
	uint64_t sent_again = after.sent_again - before.sent_again;
	uint64_t got_again = after.got_again - before.got_again;
	uint64_t out = after.out - before.out, in = after.in - before.in;

	if (lossy)
		out = after.sent - before.sent;
	out -= sent_again;
	in -= got_again;
	printf("# tensors %llu bytes, first sent %.4f, again %.4f; first got %.4f, again %.4f; at most %.4f; a ring has %.4f\n",
	       (unsigned long long)payload, (double)out / payload,
	       (double)sent_again / payload, (double)in / payload,
	       (double)got_again / payload, (double)most / payload,
	       2.0 * (RANKS - 1) / RANKS);
	/* What was lost on its way here counts as sent again. */
	return out >= payload && out <= most && in + (lossy ? got_again : 0) >= payload &&
	       in <= most && (!lossy || sent_again);
}

/* ---- ranks ---- */

static bool meet(char **ports, int many)
{
	struct peerlane_group_create settings = GROUP_SETTINGS(
		.group = 0x1234 + getpid(), .segment = CUT, .window = 2,
		.timeout_ms = 10000,
		.op_timeout_ms = 100000, .join_timeout_ms = 100000);
	const char *ip = getenv("NODE_IP_1");
	int i;

	world.aggregators = many;
	for (i = 0; i < many; i++)
		put_address(world.addresses[i], ip, (uint16_t)atoi(ports[i]));
	if (!world_join(&world, settings, LENGTH))
		return false;
	world.aggregators = 0;	/* none is ours to end */
	return true;
}

static void tell_ends(double seconds)
{
	uint32_t i;

	for (i = 0; i < RANKS; i++)
		printf("# %.1f s, rank %u: %s\n", seconds, i,
		       group_info(world.rank[i]).text);
}

/* Another slot each time, as long as there are some. */
static void bind_next(uint32_t rank, uint32_t turn)
{
	if (bind_more && turn + 1 < 16)
		CHECK_INT(group_bind(world.rank[rank], turn + 1,
				     world.pages[rank].region, 0), 0);
}

static uint64_t wrong_once(uint32_t turn)
{
	struct peerlane_group_op op = GROUP_OP(ALL_REDUCE,
		.type = PEERLANE_TYPE_F32, .op = PEERLANE_REDUCE_SUM,
		.count = count, .receive_offset = HALF);
	struct peerlane_group_record record;
	uint64_t wrong = 0;
	double began = now();
	uint32_t i, rank;

	for (i = 0; i < RANKS; i++) {
		rank = (3 * i + turn) % RANKS;
		usleep(rand() % 3000);
		CHECK_INT(group_begin(world.rank[rank], &op, 1), 1);
		bind_next(rank, turn);
	}
	for (i = 0; i < RANKS; i++) {
		if (group_read(world.rank[i], &record, 100) != 1 || record.status ||
		    record.type != PEERLANE_GROUP_RECORD_DONE) {
			tell_ends(now() - began);
			return RANKS;
		}
		wrong += values_sum_differs(&values, world.pages[i].mem + HALF, 0,
					    count) >= 0;
	}
	return wrong;
}

static bool once(void)
{
	struct crossed before = weigh ? crossed_now() : (struct crossed){};
	uint64_t wrong = 0;
	uint32_t i;

	for (i = 0; i < ops && !wrong; i++)
		wrong = wrong_once(i + 1);
	if (wrong)
		printf("# %llu of %u are wrong\n", (unsigned long long)wrong, RANKS);
	CHECK(!wrong);
	return !wrong && (!weigh || is_tensor_once(before));
}

static int call_all(char **ports, int many)
{
	uint32_t rank;
	bool good;

	if (!meet(ports, many))
		return 1;
	CHECK(values_make(&values, PEERLANE_TYPE_F32, PEERLANE_REDUCE_SUM, RANKS, RANKS));
	for (rank = 0; rank < RANKS; rank++)
		values_give(&values, rank, world.pages[rank].mem, 0, count);
	/* Slots are told with the first one. */
	good = CHECK(!wrong_once(0)) && once();
	world_end(&world);
	return !good || tap.bad;
}

int main(int argc, char **argv)
{
	int option;

	setvbuf(stdout, NULL, _IOLBF, 0);
	while ((option = getopt(argc, argv, "n:c:w:lb")) > 0) {
		if (option == 'n')
			ops = (uint32_t)atoi(optarg);
		else if (option == 'c')
			count = (uint32_t)atoi(optarg);
		else if (option == 'w')
			weigh = optarg;
		else if (option == 'l')
			lossy = true;
		else if (option == 'b')
			bind_more = true;
		else
			return 2;
	}
	argv += optind;
	argc -= optind;
	if (argc < 2 || argc - 1 > AGGREGATORS_MAX || count > HALF / 4 || !ops)
		return 2;
	return strcmp(argv[0], "serve") ? call_all(argv + 1, argc - 1) :
					  serve(argv + 1, argc - 1);
}
