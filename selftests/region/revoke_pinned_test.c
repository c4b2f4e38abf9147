// SPDX-License-Identifier: GPL-2.0
/*
 * Unbinding a device whose memory somebody has pinned: it waits, says for whom,
 * and ends when the pin does.
 */
#include <infiniband/verbs.h>

#include "lifetime.h"
#include "lifetime_rdma.h"

#define LENGTH (2 * UNIT)

/* Still waiting after a while. */
static void check_waits(void)
{
	usleep(300000);
	CHECK(task_runs(&bound.task));
}

static void check_ends(void)
{
	must_end(unbind_ends(LONG));
	CHECK_INT(bound.task.ret, 0);
}

/* The second line comes at twice the distance of the first. */
static void check_lines(int log, double begin, const char *name)
{
	struct log_line first, second;

	if (!CHECK(log_find(log, "removal waits for", LONG, &first)))
		return;
	printf("# %.2f s: %s\n", first.when - begin, first.text);
	CHECK(first.when - begin >= 1.5 && first.when - begin < SOON);
	CHECK_HAS(first.text, name);
	CHECK_HAS(first.text, "2 units pinned");
	if (!CHECK(log_find(log, "removal waits for", LONG, &second)))
		return;
	printf("# %.2f s: the second\n", second.when - begin);
	CHECK(second.when - first.when >= 3.5);
}

static void memory_region(void)
{
	int fd = new_region(LENGTH), log = log_open();
	uint64_t id = region_info(fd).out_id;
	struct peerlane_region_record record = {};
	char *at = map(fd, LENGTH);
	struct ibv_mr *mr;
	struct rdma rdma;
	double begin;

	rdma_open(&rdma);
	mr = rdma_reg(&rdma, at, LENGTH);
	CHECK(mr);
	fill(at, LENGTH, 0x1000);
	begin = now();
	unbind_begin("gpu0");
	CHECK(wait_state(fd, PEERLANE_STATE_REVOKED));
	CHECK_INT(touch(at, true), SIGBUS);
	check_lines(log, begin, log_name());
	CHECK(task_runs(&bound.task));
	CHECK(!has_node("gpu0"));
	CHECK(region_record(id, &record));
	CHECK_INT(record.state, PEERLANE_STATE_REVOKED);
	CHECK_INT(record.pinned_units, 2);
	CHECK_INT(record.mapper_pid, getpid());
	/* A new fault does not give it back, nor does a new MR. */
	CHECK(!rdma_reg(&rdma, at, LENGTH) && errno == EFAULT);

	CHECK_INT(ibv_dereg_mr(mr), 0);
	check_ends();
	CHECK_INT(touch(at, true), SIGBUS);
	CHECK_INT(state_of(fd), PEERLANE_STATE_RELEASED);
	rdma_close(&rdma);
	rebind();
	check_fresh(LENGTH);
	munmap(at, LENGTH);
	close(fd);
	close(log);
}

/* Who pinned it has neither file nor mapping any more: he is named all the same. */
static void memory_region_alone(void)
{
	int fd = open_device(), log = log_open();
	char *at = map(fd, LENGTH);
	struct log_line line = {};
	struct ibv_mr *mr;
	struct rdma rdma;

	rdma_open(&rdma);
	mr = rdma_reg(&rdma, at, LENGTH);
	CHECK(mr);
	munmap(at, LENGTH);
	close(fd);
	unbind_begin("gpu0");
	CHECK(log_find(log, "removal waits for", LONG, &line));
	CHECK_HAS(line.text, log_name());
	CHECK(task_runs(&bound.task));
	CHECK_INT(ibv_dereg_mr(mr), 0);
	check_ends();
	rdma_close(&rdma);
	rebind();
	check_fresh(LENGTH);
	close(log);
}

/* ---- as many as are remembered ---- */

#define MAPPERS 8

static char *crowd;

static void touches(int sock)
{
	prctl(PR_SET_NAME, "one of many men");
	CHECK_INT(touch(crowd, true), 0);
	stepped(sock);
}

static void names_all_mappers(void)
{
	int fd = new_region(LENGTH), log = log_open(), ends[2], i;
	struct peer peer[MAPPERS - 1];
	struct log_line line = {};
	struct iovec iov;
	char name[32];

	crowd = map(fd, LENGTH);
	iov = (struct iovec) { crowd, PAGE };
	CHECK_INT(pipe2(ends, O_CLOEXEC), 0);
	CHECK_INT(vmsplice(ends[1], &iov, 1, 0), PAGE);
	for (i = 0; i < MAPPERS - 1; i++) {
		peer_start(&peer[i], touches);
		CHECK(hear(peer[i].sock));
	}
	unbind_begin("gpu0");
	CHECK(log_find(log, "removal waits for", LONG, &line));
	CHECK_HAS(line.text, log_name());
	for (i = 0; i < MAPPERS - 1; i++) {
		snprintf(name, sizeof(name), "[%d]", peer[i].pid);
		CHECK_HAS(line.text, name);
		/* fork() handed down the pipe, and so the page. */
		say(peer[i].sock);
		peer_end(&peer[i]);
	}
	close(ends[0]);
	close(ends[1]);
	check_ends();
	rebind();
	munmap(crowd, LENGTH);
	close(fd);
	close(log);
}

static void touches_and_ends(int sock)
{
	CHECK_INT(touch(crowd, true), 0);
	say(sock);
}

/* Workers come and go; who started and outlives them is the one to ask. */
static void names_parent_of_many(void)
{
	int fd = new_region(LENGTH), log = log_open(), ends[2], i;
	uint64_t id = region_info(fd).out_id;
	struct peerlane_region_record record = {};
	struct log_line line = {};
	struct peer peer;
	struct iovec iov;

	crowd = map(fd, LENGTH);
	iov = (struct iovec) { crowd, PAGE };
	CHECK_INT(pipe2(ends, O_CLOEXEC), 0);
	CHECK_INT(vmsplice(ends[1], &iov, 1, 0), PAGE);
	for (i = 0; i < 2 * MAPPERS; i++) {
		peer_start(&peer, touches_and_ends);
		CHECK(hear(peer.sock));
		CHECK(region_record(id, &record));
		CHECK_INT(record.mapper_pid, peer.pid);
		peer_end(&peer);
	}
	unbind_begin("gpu0");
	CHECK(log_find(log, "removal waits for", LONG, &line));
	CHECK_HAS(line.text, log_name());
	close(ends[0]);
	close(ends[1]);
	check_ends();
	rebind();
	munmap(crowd, LENGTH);
	close(fd);
	close(log);
}

/* Without RDMA: a page of it lies in a pipe. */
static void page_in_a_pipe(void)
{
	int fd = new_region(LENGTH), log = log_open(), ends[2];
	char *at = map(fd, LENGTH), byte = 0;
	struct iovec iov = { at + UNIT, PAGE };
	struct log_line line = {};

	CHECK_INT(pipe2(ends, O_CLOEXEC), 0);
	at[UNIT] = 'x';
	CHECK_INT(vmsplice(ends[1], &iov, 1, 0), PAGE);
	unbind_begin("gpu0");
	CHECK(log_find(log, "1 units pinned", LONG, &line));
	CHECK_HAS(line.text, log_name());
	check_waits();
	CHECK_INT(read(ends[0], &byte, 1), 1);
	CHECK_INT(byte, 'x');
	close(ends[0]);
	close(ends[1]);
	check_ends();
	rebind();
	munmap(at, LENGTH);
	close(fd);
	close(log);
}

static int ask_for_a_path(void *unused)
{
	struct peerlane_preflight args = {};
	int fd = open_control(), ret;
	char target[32] = "";

	(void)unused;
	CHECK(pci_of("gpu1", target));
	snprintf(args.target, sizeof(args.target), "%.15s", target);
	snprintf(args.initiator, sizeof(args.initiator), "%.15s", bound.pci);
	ret = CALL(fd, PREFLIGHT, &args);
	close(fd);
	return ret;
}

/* Who asks may be who holds the page: he must not wait for himself. */
static void preflight_of_what_waits(void)
{
	static struct task asking;
	int fd = new_region(UNIT), ends[2];
	char *at = map(fd, UNIT);
	struct iovec iov = { at, PAGE };

	CHECK_INT(pipe2(ends, O_CLOEXEC), 0);
	CHECK_INT(vmsplice(ends[1], &iov, 1, 0), PAGE);
	unbind_begin("gpu0");
	CHECK(wait_state(fd, PEERLANE_STATE_REVOKED));
	task_begin(&asking, ask_for_a_path, NULL);
	if (CHECK(task_ends(&asking, LONG)))
		CHECK_INT(asking.ret, -EBUSY);
	CHECK(task_runs(&bound.task));
	close(ends[0]);
	close(ends[1]);
	check_ends();
	rebind();
	munmap(at, UNIT);
	close(fd);
}

/* ---- another process holds it ---- */

static void holds_memory_region(int sock)
{
	int fd = new_region(LENGTH);
	char *at = map(fd, LENGTH);
	struct rdma rdma;

	prctl(PR_SET_NAME, "a holder]%s");
	rdma_open(&rdma);
	CHECK(rdma_reg(&rdma, at, LENGTH));
	CHECK(region_export(fd, 0, UNIT, 0) >= 0);
	stepped(sock);
	CHECK(!"should have been killed");
}

static void killed_holder(void)
{
	int log = log_open();
	struct log_line line = {};
	struct peer peer;
	char name[32];

	peer_start(&peer, holds_memory_region);
	CHECK(hear(peer.sock));
	unbind_begin("gpu0");
	CHECK(log_find(log, "removal waits for", LONG, &line));
	snprintf(name, sizeof(name), "[%d]", peer.pid);
	CHECK_HAS(line.text, name);
	CHECK(task_runs(&bound.task));
	peer_kill(&peer);
	check_ends();
	rebind();
	check_fresh(LENGTH);
	close(log);
}

static void pins_inherited(int sock)
{
	struct rdma rdma;

	prctl(PR_SET_PDEATHSIG, 0);	/* it outlives its parent */
	rdma_open(&rdma);
	CHECK(rdma_reg(&rdma, crowd, LENGTH));
	say(sock);
	for (;;)
		pause();
}

static void makes_child_that_pins(int sock)
{
	int fd = new_region(LENGTH);
	struct peer peer;

	crowd = map(fd, LENGTH);
	fill(crowd, LENGTH, 0x4000);	/* every page is there to inherit */
	peer_start(&peer, pins_inherited);
	CHECK(hear(peer.sock));
	say(sock);
}

static void set_kill(const char *seconds)
{
	CHECK_INT(write_text(PARAMETERS "revoke_kill", seconds), 0);
}

/* Of two that map it the one is gone, and the other need not fault to pin. */
static void kills_child_that_pins(void)
{
	struct peer peer;
	int status = 0;

	prctl(PR_SET_CHILD_SUBREAPER, 1);
	peer_start(&peer, makes_child_that_pins);
	CHECK(hear(peer.sock));
	peer_end(&peer);
	set_kill("1");
	unbind_begin("gpu0");
	check_ends();
	set_kill("0");
	CHECK(WAIT_FOR(waitpid(-1, &status, WNOHANG) > 0, LONG));
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	prctl(PR_SET_CHILD_SUBREAPER, 0);
	rebind();
	check_fresh(LENGTH);
}

static void holds_other_device(int sock)
{
	char *at;
	int fd;

	setenv("DEVICE", "gpu1", 1);
	fd = new_region(UNIT);
	at = map(fd, UNIT);
	fill(at, UNIT, 7);
	stepped(sock);
	CHECK_INT(differs(at, UNIT, 7), -1);
}

/* The parameter ends who holds it, and nobody else. */
static void kills_holder(void)
{
	struct peer holder, bystander;
	int status;

	peer_start(&bystander, holds_other_device);
	CHECK(hear(bystander.sock));
	peer_start(&holder, holds_memory_region);
	CHECK(hear(holder.sock));
	set_kill("1");
	unbind_begin("gpu0");
	check_ends();
	set_kill("0");
	status = reap(holder.pid, LONG);
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	close(holder.sock);
	say(bystander.sock);
	peer_end(&bystander);
	rebind();
	check_fresh(LENGTH);
}

/* Lines at 2 and 6 s, not each second, also while there is a deadline. */
static void kill_does_not_flood(void)
{
	int log = log_open(), lines = 0;
	struct log_line line;
	struct peer holder;

	peer_start(&holder, holds_memory_region);
	CHECK(hear(holder.sock));
	set_kill("12");
	unbind_begin("gpu0");
	check_ends();
	set_kill("0");
	close(holder.sock);
	reap(holder.pid, LONG);
	while (log_has(log, "removal waits for", &line))
		lines++;
	printf("# %d lines in 12 s\n", lines);
	CHECK(lines >= 2 && lines <= 4);
	rebind();
	close(log);
}

/* A pin on one device does not hold up the other. */
static void other_device_goes(void)
{
	int fd = new_region(LENGTH);
	char *at = map(fd, LENGTH);
	struct ibv_mr *mr;
	struct rdma rdma;

	rdma_open(&rdma);
	mr = rdma_reg(&rdma, at, LENGTH);
	CHECK(mr);
	unbind("gpu1");
	CHECK_INT(touch(at, true), 0);
	CHECK_INT(state_of(fd), PEERLANE_STATE_ACTIVE);
	rebind();
	CHECK_INT(ibv_dereg_mr(mr), 0);
	rdma_close(&rdma);
	munmap(at, LENGTH);
	close(fd);
}

static const struct tap_case cases[] = {
	TAP_CASE(memory_region),
	TAP_CASE(memory_region_alone),
	TAP_CASE(names_all_mappers),
	TAP_CASE(names_parent_of_many),
	TAP_CASE(page_in_a_pipe),
	TAP_CASE(preflight_of_what_waits),
	TAP_CASE(killed_holder),
	TAP_CASE(kills_holder),
	TAP_CASE(kills_child_that_pins),
	TAP_CASE(kill_does_not_flood),
	TAP_CASE(other_device_goes),
};

int main(void)
{
	rdma_device();	/* before the first case counts open files */
	return HARNESS_RUN(cases);
}
