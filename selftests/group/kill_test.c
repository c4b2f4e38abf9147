// SPDX-License-Identifier: GPL-2.0
/*
 * Processes are killed, at any moment, $ROUNDS times. Ranks and aggregators are
 * processes of their own; in each round one of them gets SIGKILL, and all others
 * have to say soon who it was and why, and that nothing came into memory which
 * they used anew. Then the next group is made, at once.
 */
#include <sys/socket.h>

#include "group.h"

#define RANKS		8
#define AGGREGATORS	2
#define PROCESSES	(RANKS + AGGREGATORS)
#define LENGTH		(2 * MIB)
#define HALF		(LENGTH / 2)
#define CANARY		0x5a
#define COUNT_MAX	150000		/* elements of an operation */
#define SOON		15.0		/* JOIN's time, and a busy machine's */
#define JOIN_MS		4000
#define JOINING_MS	1000		/* some are killed within it, in JOIN */
#define TOGETHER	5		/* most operations that others do together */
#define WATCH_US	400000

static uint32_t rounds;

/* ---- what is said ---- */

struct order {
	uint64_t group;
	uint8_t addresses[AGGREGATORS][PEERLANE_ADDRESS_LEN];
};

struct report {
	double when;
	int32_t status;
	uint32_t cause;
	uint32_t rank;		/* that is named */
	uint32_t wrong;		/* operations that were done, and are not right */
	uint32_t failed;	/* operations that were not */
	uint64_t done;
	uint64_t late;		/* bytes that came after the end of their operation */
	char text[PEERLANE_GROUP_TEXT_LEN];
};

struct process {
	pid_t pid;
	int socket;		/* to it */
	uint32_t number;	/* ranks come first */
	struct report report;
};

static struct process processes[PROCESSES];
/* Operations that ranks have done in this round: in memory of all processes */
static volatile uint64_t *progress;
static uint8_t addresses[AGGREGATORS][PEERLANE_ADDRESS_LEN];

static bool get(int fd, void *to, size_t length)
{
	return recv(fd, to, length, MSG_WAITALL) == (ssize_t)length;
}

static void put(int fd, const void *from, size_t length)
{
	CHECK_INT(send(fd, from, length, MSG_NOSIGNAL), length);
}

/* ---- a rank ---- */

static int32_t given(uint32_t rank, uint64_t seq, size_t i)
{
	return (int32_t)(rank * 1000003 + seq * 77777 + i * 7);
}

static size_t count_of(uint64_t seq)
{
	return 1 + seq * 75011 % COUNT_MAX;
}

static uint64_t untouched(const char *at, size_t length)
{
	uint64_t same = 0;
	size_t i;

	for (i = 0; i < length; i++)
		same += at[i] == CANARY;
	return same;
}

static bool is_right(const struct pages *pages, uint64_t seq)
{
	const int32_t *got = (const int32_t *)(pages->mem + HALF);
	size_t count = count_of(seq), i;
	uint32_t rank;
	int32_t sum;

	for (i = 0; i < count; i += count / 16 + 1) {
		for (rank = 0, sum = 0; rank < RANKS; rank++)
			sum = (int32_t)((uint32_t)sum + given(rank, seq, i));
		if (got[i] != sum)
			return false;
	}
	return true;
}

static bool begin_next(int fd, struct pages *pages, uint32_t rank, uint64_t seq)
{
	int32_t *give = (int32_t *)pages->mem;
	struct peerlane_group_op op = GROUP_OP(ALL_REDUCE, .type = PEERLANE_TYPE_I32,
		.op = PEERLANE_REDUCE_SUM, .count = count_of(seq),
		.receive_offset = HALF);
	size_t i;

	for (i = 0; i < op.count; i++)
		give[i] = given(rank, seq, i);
	return group_begin(fd, &op, 1) == 1;
}

/* One after the other, until the group ends. */
static void sum_on(int fd, struct pages *pages, uint32_t rank, struct report *report)
{
	struct peerlane_group_record record;

	begin_next(fd, pages, rank, 0);
	while (group_read(fd, &record, 2 * SOON) == 1) {
		if (record.type == PEERLANE_GROUP_RECORD_ENDED) {
			report->status = record.status;
			report->cause = record.cause;
			report->rank = record.rank;
			break;
		}
		if (record.type != PEERLANE_GROUP_RECORD_DONE)
			continue;
		report->failed += record.status != 0;
		if (record.status)
			continue;
		report->wrong += !is_right(pages, report->done);
		progress[rank] = ++report->done;
		begin_next(fd, pages, rank, report->done);
	}
	report->when = now();
}

/* All operations are over: their memory is used for other things. */
static void reuse(struct pages *pages, struct report *report)
{
	memset(pages->mem, CANARY, pages->length);
	usleep(WATCH_US);
	report->late = pages->length - untouched(pages->mem, pages->length);
}

static void take_part(const struct order *order, uint32_t rank, struct pages *pages,
		      struct report *report)
{
	int fd = group_create(GROUP_SETTINGS(.group = order->group, .rank = rank,
		.ranks = RANKS, .timeout_ms = 5000, .op_timeout_ms = 10000,
		.join_timeout_ms = 2 * JOIN_MS, .segment = 16384));

	group_bind(fd, 0, pages->region, 0);
	group_join(fd, order->addresses, AGGREGATORS);
	sum_on(fd, pages, rank, report);
	snprintf(report->text, sizeof(report->text), "%s", group_info(fd).text);
	reuse(pages, report);
	close(fd);
}

static void be_rank(struct process *process, int socket)
{
	struct pages pages = pages_new(LENGTH);
	struct order order;

	while (get(socket, &order, sizeof(order))) {
		struct report report = {};

		take_part(&order, process->number, &pages, &report);
		put(socket, &report, sizeof(report));
	}
}

/* ---- an aggregator ---- */

static void be_aggregator(int socket)
{
	struct aggregator aggregator =
		aggregator_of(AGGREGATOR_SETTINGS(.join_timeout_ms = JOIN_MS), POOL);
	char word;

	put(socket, aggregator.address, sizeof(aggregator.address));
	get(socket, &word, 1);
}

/* ---- all of them ---- */

static void be(void *arg)
{
	struct process *process = arg;
	uint32_t i;

	for (i = 0; i < PROCESSES; i++)
		if (i != process->number && processes[i].socket >= 0)
			close(processes[i].socket);
	if (process->number < RANKS)
		be_rank(process, process->socket);
	else
		be_aggregator(process->socket);
}

static void start(struct process *process)
{
	int pair[2];

	CHECK_INT(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
	process->socket = pair[1];
	process->pid = spawn(be, process);
	close(pair[1]);
	process->socket = pair[0];
	if (process->number >= RANKS)
		CHECK(get(pair[0], addresses[process->number - RANKS],
			  PEERLANE_ADDRESS_LEN));
}

static void stop(struct process *process)
{
	kill(process->pid, SIGKILL);
	reap(process->pid, PATIENCE);
	close(process->socket);
	process->socket = -1;
}

static void start_all(void)
{
	uint32_t i;

	for (i = 0; i < PROCESSES; i++)
		processes[i] = (struct process){ .number = i, .socket = -1 };
	for (i = 0; i < PROCESSES; i++)
		start(&processes[i]);
}

static void stop_all(void)
{
	uint32_t i;

	for (i = 0; i < PROCESSES; i++)
		stop(&processes[i]);
}

/* ---- a round ---- */

/*
 * Of a rank that had not joined only the aggregator's time for that tells, which
 * names it if it is the first that is missing: those whom an end met in JOIN are
 * missing too.
 */
static bool is_named(const struct report *report, uint32_t victim)
{
	switch (report->cause) {
	case PEERLANE_GROUP_CAUSE_LEFT:
	case PEERLANE_GROUP_CAUSE_DEAD:
		return report->rank == victim || (victim >= RANKS &&
						  report->rank == PEERLANE_RANK_NONE);
	case PEERLANE_GROUP_CAUSE_CLOSED:
		return victim >= RANKS;
	case PEERLANE_GROUP_CAUSE_JOIN:
		return report->status == -ETIMEDOUT;
	}
	return false;
}

static void check_report(const struct report *report, uint32_t number,
			 uint32_t victim, double killed)
{
	bool good = is_named(report, victim) && report->status < 0 &&
		    report->when - killed < SOON && !report->late && !report->wrong &&
		    report->failed <= 1;

	if (!good)
		printf("# rank %u, %u killed: %.2f s, status %d, cause %u, rank %u, %u wrong, %u failed, %llu late: %s\n",
		       number, victim, report->when - killed, report->status,
		       report->cause, report->rank, report->wrong, report->failed,
		       (unsigned long long)report->late, report->text);
	CHECK(good);
}

static uint32_t dice(uint32_t sides)
{
	static uint64_t state = 0x9e3779b97f4a7c15;

	state = state * 6364136223846793005 + 1442695040888963407;
	return (uint32_t)(state >> 33) % sides;
}

struct tally {
	double longest;
	uint64_t done;		/* operations */
	uint32_t causes[PEERLANE_GROUP_CAUSE_UNABLE + 1];
};

static void hear(uint32_t victim, double killed, struct tally *tally)
{
	struct report *report;
	uint32_t i;

	for (i = 0; i < RANKS; i++) {
		report = &processes[i].report;
		if (i == victim)
			continue;
		if (!CHECK(get(processes[i].socket, report, sizeof(*report))))
			return;
		check_report(report, i, victim, killed);
		tally->causes[report->cause % ARRAY_SIZE(tally->causes)]++;
		tally->done += report->done;
		if (report->when - killed > tally->longest)
			tally->longest = report->when - killed;
	}
}

static bool have_done(uint64_t done)
{
	uint32_t i;

	for (i = 0; i < RANKS; i++)
		if (progress[i] < done)
			return false;
	return true;
}

/* While they join, or between any two operations, or in the middle of one */
static void wait_for_moment(void)
{
	uint32_t done = dice(TOGETHER + 1);

	if (!done)
		usleep(1000 * dice(JOINING_MS));
	else if (CHECK(WAIT_FOR(have_done(done), PATIENCE)))
		usleep(1000 * dice(100));
}

static void kill_one(uint32_t victim, struct tally *tally)
{
	static uint64_t group = 1000;
	struct order order = { .group = group++ };
	double killed;
	uint32_t i;

	memcpy(order.addresses, addresses, sizeof(addresses));
	for (i = 0; i < RANKS; i++) {
		progress[i] = 0;
		put(processes[i].socket, &order, sizeof(order));
	}
	wait_for_moment();
	killed = now();
	stop(&processes[victim]);
	hear(victim, killed, tally);
	start(&processes[victim]);
}

/* What the RDMA core has, by its own account. */
static const char *rdma_resources(void)
{
	static char line[512];
	FILE *pipe = popen("rdma resource show", "r");

	line[0] = '\0';
	if (pipe && !fgets(line, sizeof(line), pipe))
		line[0] = '\0';
	if (pipe)
		pclose(pipe);
	return line;
}

static void kill_many(uint32_t first, uint32_t count)
{
	struct tally tally = {};
	char before[512];
	uint32_t i;

	snprintf(before, sizeof(before), "%s", rdma_resources());
	start_all();
	for (i = 0; i < rounds && !tap.bad; i++)
		kill_one(first + dice(count), &tally);
	stop_all();
	printf("# %u rounds, %llu operations were done; at most %.1f s to the end; left %u, dead %u, closed %u, join %u\n",
	       i, (unsigned long long)tally.done, tally.longest,
	       tally.causes[PEERLANE_GROUP_CAUSE_LEFT],
	       tally.causes[PEERLANE_GROUP_CAUSE_DEAD],
	       tally.causes[PEERLANE_GROUP_CAUSE_CLOSED],
	       tally.causes[PEERLANE_GROUP_CAUSE_JOIN]);
	CHECK(tally.done > 0);
	if (!CHECK(WAIT_FOR(!strcmp(before, rdma_resources()), PATIENCE)))
		printf("# before: %s# after: %s", before, rdma_resources());
}

static void ranks_are_killed_at_any_moment(void) { kill_many(0, RANKS); }
static void aggregators_are_killed_at_any_moment(void) { kill_many(RANKS, AGGREGATORS); }

/* ---- the control ---- */

#define SUM(_count) GROUP_OP(ALL_REDUCE, .type = PEERLANE_TYPE_I32,	\
	.op = PEERLANE_REDUCE_SUM, .count = _count, .receive_offset = HALF)

/* Of an operation that is not over yet what comes is seen. */
static void a_result_in_reused_memory_would_be_noticed(void)
{
	struct peerlane_group_op op = SUM(20000);
	struct report report = {};
	struct world world;

	if (world_new(&world, 2, 1, LENGTH)) {
		memset(world.pages[1].mem, 1, LENGTH);
		CHECK_INT(group_begin(world.rank[0], &op, 1), 1);
		memset(world.pages[0].mem, CANARY, LENGTH);
		CHECK_INT(group_begin(world.rank[1], &op, 1), 1);
		group_next(world.rank[1], PEERLANE_GROUP_RECORD_DONE);
		usleep(WATCH_US);
		report.late = LENGTH - untouched(world.pages[0].mem, LENGTH);
		CHECK(report.late > 0);
	}
	world_end(&world);
}

int main(void)
{
	static const struct tap_case cases[] = {
		TAP_CASE(a_result_in_reused_memory_would_be_noticed),
		TAP_CASE(ranks_are_killed_at_any_moment),
		TAP_CASE(aggregators_are_killed_at_any_moment),
	};

	progress = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
			-1, 0);
	rounds = (uint32_t)atoi(getenv("ROUNDS") ?: "12");
	return HARNESS_RUN(cases);
}
