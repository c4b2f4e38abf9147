// SPDX-License-Identifier: GPL-2.0
/* Records: read(), poll, waits, and what a batch does. */
#include <pthread.h>
#include <sys/epoll.h>

#include "endpoint.h"

#define LENGTH	(64 * PAGE)
#define RECORD	sizeof(struct peerlane_record)

static void nothing(int number)
{
	(void)number;
}

/* A thread that does something to @ep after 0.3 s. */
struct later {
	int ep;
	pthread_t waiter;
	uint32_t flags;		/* of sigaction */
	pthread_t thread;
};

static void *notify_later(void *arg)
{
	struct later *later = arg;

	usleep(300000);
	ep_begin(later->ep, &OP(NOTIFY, .flags = PEERLANE_OP_F_QUIET, .value = 9), 1);
	return NULL;
}

static void *signal_later(void *arg)
{
	struct later *later = arg;

	usleep(300000);
	pthread_kill(later->waiter, SIGUSR1);
	usleep(300000);
	ep_begin(later->ep, &OP(NOTIFY, .flags = PEERLANE_OP_F_QUIET, .value = 9), 1);
	return NULL;
}

static void begin_later(struct later *later, void *(*run)(void *arg))
{
	struct sigaction action = { .sa_handler = nothing, .sa_flags = later->flags };

	sigaction(SIGUSR1, &action, NULL);
	later->waiter = pthread_self();
	CHECK_INT(pthread_create(&later->thread, NULL, run, later), 0);
}

static bool is_readable(int ep)
{
	struct pollfd pollfd = { .fd = ep, .events = POLLIN };

	return poll(&pollfd, 1, 0) == 1 && (pollfd.revents & POLLIN);
}

static short polled(int ep)
{
	struct pollfd pollfd = { .fd = ep, .events = POLLIN | POLLOUT | POLLRDHUP };

	poll(&pollfd, 1, 0);
	return pollfd.revents;
}

/* @count NOTIFYs are with @b. */
static void notify_many(struct pair *pair, int count)
{
	int i;

	for (i = 0; i < count; i++)
		CHECK_INT(ep_do(pair->a.ep, OP(NOTIFY, .value = i)), 0);
	CHECK(WAIT_FOR(is_readable(pair->b.ep), PATIENCE));
	usleep(200000);
}

/* ---- read() ---- */

static void read_gives_whole_records(void)
{
	struct pair pair = pair_new(0);
	char room[8 * RECORD];
	struct peerlane_record *records = (void *)room;

	notify_many(&pair, 5);
	CHECK(read(pair.b.ep, room, RECORD - 1) == -1 && errno == EINVAL);
	CHECK(read(pair.b.ep, room, 0) == -1 && errno == EINVAL);
	memset(room, 0x5a, sizeof(room));
	CHECK_INT(read(pair.b.ep, room, 2 * RECORD - 1), RECORD);
	CHECK_INT(room[RECORD], 0x5a);
	CHECK_INT(records[0].size, RECORD);
	CHECK_INT(records[0].type, PEERLANE_RECORD_NOTIFY);
	CHECK_INT(records[0].value, 0);
	CHECK_INT(read(pair.b.ep, room, 2 * RECORD), 2 * RECORD);
	CHECK_INT(records[1].value, 2);
	CHECK_INT(read(pair.b.ep, room, sizeof(room)), 2 * RECORD);
	CHECK_INT(records[1].value, 4);
	pair_end(&pair);
}

static void a_bad_buffer_loses_no_record(void)
{
	struct pair pair = pair_new(0);
	void *volatile bad = (void *)8;

	notify_many(&pair, 2);
	CHECK(read(pair.b.ep, bad, 2 * RECORD) == -1 && errno == EFAULT);
	CHECK_INT(ep_next(pair.b.ep, PEERLANE_RECORD_NOTIFY).value, 0);
	CHECK_INT(ep_next(pair.b.ep, PEERLANE_RECORD_NOTIFY).value, 1);
	pair_end(&pair);
}

/* Also one of which a part can be written. */
static void a_buffer_that_ends_too_early_loses_no_record(void)
{
	char *hole = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct pair pair = pair_new(0);
	ssize_t got;
	int i;

	munmap(hole + PAGE, PAGE);
	notify_many(&pair, 40);
	got = read(pair.b.ep, hole + PAGE - 20 * RECORD, 40 * RECORD);
	if (got < 0)
		got = 0;
	for (i = (int)(got / (ssize_t)RECORD); i < 40; i++)
		CHECK_INT(ep_next(pair.b.ep, PEERLANE_RECORD_NOTIFY).value, i);
	munmap(hole, PAGE);
	pair_end(&pair);
}

static void read_waits(void)
{
	struct pair pair = pair_new(0);
	struct later later = { .ep = pair.a.ep };
	struct peerlane_record record;
	double begin = now();

	begin_later(&later, notify_later);
	CHECK_INT(read(pair.b.ep, &record, RECORD), RECORD);
	CHECK_INT(record.value, 9);
	CHECK(now() - begin > 0.25);
	pthread_join(later.thread, NULL);
	pair_end(&pair);
}

static void a_nonblocking_read_does_not(void)
{
	struct pair pair = pair_new(0);
	struct peerlane_record record;

	set_nonblock(pair.b.ep, true);
	CHECK(read(pair.b.ep, &record, RECORD) == -1 && errno == EAGAIN);
	notify_many(&pair, 1);
	CHECK_INT(read(pair.b.ep, &record, RECORD), RECORD);
	CHECK(read(pair.b.ep, &record, RECORD) == -1 && errno == EAGAIN);
	pair_end(&pair);
}

static void a_signal_ends_read(void)
{
	struct pair pair = pair_new(0);
	struct later later = { .ep = pair.a.ep };
	struct peerlane_record record;

	begin_later(&later, signal_later);
	CHECK(read(pair.b.ep, &record, RECORD) == -1 && errno == EINTR);
	pthread_join(later.thread, NULL);
	CHECK_INT(ep_next(pair.b.ep, PEERLANE_RECORD_NOTIFY).value, 9);
	pair_end(&pair);
}

static void read_goes_on_after_a_signal_with_sa_restart(void)
{
	struct pair pair = pair_new(0);
	struct later later = { .ep = pair.a.ep, .flags = SA_RESTART };
	struct peerlane_record record;

	begin_later(&later, signal_later);
	CHECK_INT(read(pair.b.ep, &record, RECORD), RECORD);
	CHECK_INT(record.value, 9);
	pthread_join(later.thread, NULL);
	pair_end(&pair);
}

/* ---- poll ---- */

static void poll_tells_what_can_be_done(void)
{
	struct pair pair = pair_of(SETTINGS(.depth = 1), SETTINGS(), 0);
	int ep = ep_new();

	CHECK_INT(polled(ep), 0);
	close(ep);
	CHECK_INT(polled(pair.a.ep), POLLOUT);
	CHECK_INT(ep_begin(pair.a.ep, &OP(NOTIFY), 1), 1);
	CHECK(WAIT_FOR(is_readable(pair.a.ep), PATIENCE));
	CHECK_INT(polled(pair.a.ep), POLLIN);	/* depth is used up */
	ep_next(pair.a.ep, PEERLANE_RECORD_DONE);
	CHECK_INT(polled(pair.a.ep), POLLOUT);
	ep_next(pair.b.ep, PEERLANE_RECORD_NOTIFY);
	CHECK_INT(polled(pair.b.ep), POLLOUT);
	CHECK_INT(ep_disconnect(pair.a.ep), 0);
	CHECK_INT(polled(pair.a.ep), POLLIN | POLLHUP | POLLRDHUP);
	CHECK(WAIT_FOR(polled(pair.b.ep) & POLLHUP, PATIENCE));
	CHECK_INT(ep_end(pair.b.ep), -ECONNRESET);
	/* read() gives 0 at once: that is "readable". */
	CHECK_INT(polled(pair.b.ep), POLLIN | POLLHUP | POLLRDHUP);
	pair_end(&pair);
}

static void epoll_tells_of_each_new_record(void)
{
	struct pair pair = pair_new(0);
	struct epoll_event event = { .events = EPOLLIN | EPOLLET };
	int epoll = epoll_create1(EPOLL_CLOEXEC), i;

	CHECK_INT(epoll_ctl(epoll, EPOLL_CTL_ADD, pair.b.ep, &event), 0);
	CHECK_INT(epoll_wait(epoll, &event, 1, 0), 0);
	for (i = 0; i < 5; i++) {
		CHECK_INT(ep_do(pair.a.ep, OP(NOTIFY)), 0);
		CHECK_INT(epoll_wait(epoll, &event, 1, PATIENCE * 1000), 1);
		CHECK(event.events & EPOLLIN);
	}
	/* Nobody has read: they are all there. */
	for (i = 0; i < 5; i++)
		ep_next(pair.b.ep, PEERLANE_RECORD_NOTIFY);
	close(epoll);
	pair_end(&pair);
}

static void poll_for_room_wakes_up(void)
{
	struct pair pair = pair_of(SETTINGS(.depth = 1), SETTINGS(), LENGTH);
	uint64_t token = open_all(&pair.b, &pair.a);
	struct pollfd pollfd = { .fd = pair.a.ep, .events = POLLOUT };

	CHECK_INT(ep_begin(pair.a.ep, &OP(GET, .flags = PEERLANE_OP_F_QUIET,
					  .length = LENGTH, .token = token), 1), 1);
	CHECK_INT(poll(&pollfd, 1, PATIENCE * 1000), 1);
	CHECK_INT(pollfd.revents, POLLOUT);
	pair_end(&pair);
}

/* ---- SUBMIT that waits ---- */

static void a_wait_ends_with_its_timeout(void)
{
	struct pair pair = pair_new(0);
	struct peerlane_record records[4];
	struct batch batch = { .records = records, .room = 4, .wait = 1,
			       .seconds = 0.4 };
	double begin = now();

	CHECK_INT(ep_submit(pair.a.ep, &batch), 0);
	CHECK_INT(batch.got, 0);
	CHECK(now() - begin >= 0.39 && now() - begin < 5);
	batch.flags = PEERLANE_SUBMIT_BUSY_POLL;
	begin = now();
	CHECK_INT(ep_submit(pair.a.ep, &batch), 0);
	CHECK_INT(batch.got, 0);
	CHECK(now() - begin >= 0.39 && now() - begin < 5);
	batch.seconds = 0;
	batch.flags = 0;
	begin = now();
	CHECK_INT(ep_submit(pair.a.ep, &batch), 0);
	CHECK(now() - begin < 0.3);
	pair_end(&pair);
}

static void a_wait_is_for_all_that_it_names(void)
{
	struct pair pair = pair_new(LENGTH);
	uint64_t token = open_all(&pair.b, &pair.a);
	struct peerlane_op ops[8];
	struct peerlane_record records[16];
	struct batch batch = { .ops = ops, .count = 8, .records = records,
			       .room = 16, .wait = 8, .seconds = PATIENCE };
	uint32_t i, seen = 0;
	int busy;

	for (i = 0; i < 8; i++)
		ops[i] = OP(PUT, .length = 5000, .token = token, .cookie = i);
	for (busy = 0; busy < 2; busy++) {
		batch.flags = busy ? PEERLANE_SUBMIT_BUSY_POLL : 0;
		CHECK_INT(ep_submit(pair.a.ep, &batch), 0);
		CHECK_INT(batch.begun, 8);
		CHECK_INT(batch.got, 8);
		for (i = 0, seen = 0; i < batch.got; i++)
			seen |= 1U << records[i].cookie;
		CHECK_INT(seen, 0xff);
	}
	pair_end(&pair);
}

/* More than fits cannot come: what fits is enough. */
static void a_wait_is_for_what_fits(void)
{
	struct pair pair = pair_new(0);
	struct peerlane_op ops[3] = { OP(NOTIFY), OP(NOTIFY), OP(NOTIFY) };
	struct peerlane_record records[2];
	struct batch batch = { .ops = ops, .count = 3, .records = records,
			       .room = 2, .wait = 1000, .seconds = PATIENCE };
	double begin = now();

	CHECK_INT(ep_submit(pair.a.ep, &batch), 0);
	CHECK_INT(batch.got, 2);
	CHECK(now() - begin < PATIENCE - 1);
	pair_end(&pair);
}

static void a_wait_without_operations_is_for_the_peer(void)
{
	struct pair pair = pair_new(0);
	struct later later = { .ep = pair.a.ep };
	struct peerlane_record record;
	struct batch batch = { .records = &record, .room = 1, .wait = 1,
			       .seconds = NO_TIMEOUT };
	int busy;

	for (busy = 0; busy < 2; busy++) {
		batch.flags = busy ? PEERLANE_SUBMIT_BUSY_POLL : 0;
		/* Whatever O_NONBLOCK says. */
		set_nonblock(pair.b.ep, busy);
		begin_later(&later, notify_later);
		CHECK_INT(ep_submit(pair.b.ep, &batch), 0);
		CHECK_INT(batch.got, 1);
		CHECK_INT(record.value, 9);
		pthread_join(later.thread, NULL);
	}
	pair_end(&pair);
}

/* What was begun is told, and goes on. */
static void a_signal_ends_only_the_wait(void)
{
	struct pair pair = pair_new(0);
	struct later later = { .ep = pair.a.ep, .flags = SA_RESTART };
	struct peerlane_op op = OP(NOTIFY, .flags = PEERLANE_OP_F_QUIET, .value = 1);
	struct peerlane_record record;
	struct batch batch = { .ops = &op, .count = 1, .records = &record,
			       .room = 1, .wait = 1, .seconds = NO_TIMEOUT };
	int busy;

	for (busy = 0; busy < 2; busy++) {
		batch.flags = busy ? PEERLANE_SUBMIT_BUSY_POLL : 0;
		begin_later(&later, signal_later);
		CHECK_INT(ep_submit(pair.b.ep, &batch), 0);
		CHECK_INT(batch.begun, 1);
		CHECK_INT(batch.got, 0);
		pthread_join(later.thread, NULL);
		CHECK_INT(ep_next(pair.a.ep, PEERLANE_RECORD_NOTIFY).value, 1);
		CHECK_INT(ep_next(pair.b.ep, PEERLANE_RECORD_NOTIFY).value, 9);
	}
	pair_end(&pair);
}

static void a_wait_ends_with_the_connection(void)
{
	struct pair pair = pair_new(0);
	struct peerlane_record records[4];
	struct batch batch = { .records = records, .room = 4, .wait = 4,
			       .seconds = PATIENCE };
	double begin = now();

	close(pair.a.ep);
	pair.a.ep = -1;
	CHECK_INT(ep_submit(pair.b.ep, &batch), 0);
	CHECK_INT(batch.got, 1);
	CHECK_INT(records[0].type, PEERLANE_RECORD_DISCONNECTED);
	CHECK(now() - begin < PATIENCE - 1);
	/* And once more: nothing comes, at once. */
	CHECK_INT(ep_submit(pair.b.ep, &batch), 0);
	CHECK_INT(batch.got, 0);
	pair_end(&pair);
}

/* ---- batches ---- */

static void a_batch_stops_at_the_first_wrong_one(void)
{
	struct pair pair = pair_new(LENGTH);
	uint64_t token = open_all(&pair.b, &pair.a);
	struct peerlane_op ops[20];
	int i, at;

	for (at = 0; at < 20; at += 6) {
		for (i = 0; i < 20; i++)
			ops[i] = OP(PUT, .length = 1, .token = token, .cookie = i);
		ops[at].token = token ^ 1;
		CHECK_INT(ep_begin(pair.a.ep, ops, 20), at ? at : -EACCES);
		for (i = 0; i < at; i++) {
			struct peerlane_record record =
				ep_next(pair.a.ep, PEERLANE_RECORD_DONE);

			CHECK_INT(record.status, 0);
			CHECK_INT(record.cookie, i);
		}
		CHECK_INT(ep_begin(pair.a.ep, ops + at, 20 - at), -EACCES);
		CHECK_HAS(text, "token");
	}
	CHECK(!is_readable(pair.a.ep));
	CHECK_INT(ep_info(pair.a.ep).outstanding, 0);
	pair_end(&pair);
}

static void a_batch_that_cannot_be_read_begins_what_can(void)
{
	char *hole = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct pair pair = pair_new(0);
	struct peerlane_op *ops = (void *)(hole + PAGE);
	int i, begun;

	munmap(hole + PAGE, PAGE);
	CHECK_INT(ep_begin(pair.a.ep, ops, 1), -EFAULT);
	CHECK_INT(ep_begin(pair.a.ep, NULL, 1), -EFAULT);
	for (i = 1; i <= 20; i++)
		ops[-i] = OP(NOTIFY);
	begun = ep_begin(pair.a.ep, ops - 20, 40);
	CHECK(begun > 0 && begun <= 20);
	for (i = 0; i < begun; i++)
		CHECK_INT(ep_next(pair.a.ep, PEERLANE_RECORD_DONE).status, 0);
	munmap(hole, PAGE);
	pair_end(&pair);
}

static void records_that_cannot_be_written_stay(void)
{
	struct pair pair = pair_new(0);
	struct peerlane_op op = OP(NOTIFY, .cookie = 5);
	struct batch batch = { .ops = &op, .count = 1, .records = (void *)8,
			       .room = 4, .wait = 1, .seconds = PATIENCE };

	CHECK_INT(ep_submit(pair.a.ep, &batch), 0);
	CHECK_INT(batch.begun, 1);
	CHECK_INT(batch.got, 0);
	batch.count = 0;
	CHECK_INT(ep_submit(pair.a.ep, &batch), -EFAULT);
	CHECK_INT(ep_next(pair.a.ep, PEERLANE_RECORD_DONE).cookie, 5);
	pair_end(&pair);
}

int main(void)
{
	static const struct tap_case cases[] = {
		TAP_CASE(read_gives_whole_records),
		TAP_CASE(a_bad_buffer_loses_no_record),
		TAP_CASE(a_buffer_that_ends_too_early_loses_no_record),
		TAP_CASE(read_waits),
		TAP_CASE(a_nonblocking_read_does_not),
		TAP_CASE(a_signal_ends_read),
		TAP_CASE(read_goes_on_after_a_signal_with_sa_restart),
		TAP_CASE(poll_tells_what_can_be_done),
		TAP_CASE(epoll_tells_of_each_new_record),
		TAP_CASE(poll_for_room_wakes_up),
		TAP_CASE(a_wait_ends_with_its_timeout),
		TAP_CASE(a_wait_is_for_all_that_it_names),
		TAP_CASE(a_wait_is_for_what_fits),
		TAP_CASE(a_wait_without_operations_is_for_the_peer),
		TAP_CASE(a_signal_ends_only_the_wait),
		TAP_CASE(a_wait_ends_with_the_connection),
		TAP_CASE(a_batch_stops_at_the_first_wrong_one),
		TAP_CASE(a_batch_that_cannot_be_read_begins_what_can),
		TAP_CASE(records_that_cannot_be_written_stay),
	};

	return HARNESS_RUN(cases);
}
