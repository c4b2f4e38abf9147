/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What tests of lifetimes share: the kernel's log, binding and unbinding, work
 * in the background, and other processes to which one can talk.
 */
#ifndef SELFTESTS_REGION_LIFETIME_H
#define SELFTESTS_REGION_LIFETIME_H

#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "harness.h"

#define DRIVER		"/sys/bus/pci/drivers/peerlane/"
#define PARAMETERS	"/sys/module/peerlane/parameters/"
/* Machines under emulation on busy hosts are slow; nothing waits this long. */
#define LONG		60.0
/* For what must come in two seconds of the machine's own clock. */
#define SOON		4.0

/* ---- the kernel's log ---- */

struct log_line {
	double when;			/* seconds since the machine started */
	char text[1024];
};

/* What is said from here on. */
static inline int log_open(void)
{
	int fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);

	if (fd >= 0)
		lseek(fd, 0, SEEK_END);
	return fd;
}

static inline bool log_next(int fd, struct log_line *line)
{
	char record[2048], *said;
	unsigned long long usec;
	ssize_t n;

	do
		n = read(fd, record, sizeof(record) - 1);
	while (n < 0 && errno == EPIPE);	/* older ones were overwritten */
	if (n <= 0)
		return false;
	record[n] = '\0';
	said = strchr(record, ';');
	if (!said || sscanf(record, "%*u,%*u,%llu", &usec) != 1)
		return false;
	line->when = usec / 1e6;
	snprintf(line->text, sizeof(line->text), "%.*s",
		 (int)strcspn(said + 1, "\n"), said + 1);
	return true;
}

static inline bool log_has(int fd, const char *part, struct log_line *line)
{
	while (log_next(fd, line))
		if (strstr(line->text, part))
			return true;
	return false;
}

/* The next line that holds @part; lines before it are lost. */
static inline bool log_find(int fd, const char *part, double seconds,
			    struct log_line *line)
{
	return WAIT_FOR(log_has(fd, part, line), seconds);
}

/* "comm[pid]" of this process, as the module prints it. */
static inline const char *log_name(void)
{
	static char name[64];
	char comm[17] = "";

	prctl(PR_GET_NAME, comm);
	snprintf(name, sizeof(name), "%s[%d]", comm, getpid());
	return name;
}

static inline void say_of_splat(const char *what, const char *pattern)
{
	FILE *log = fopen("/dev/kmsg", "we");

	if (!CHECK(log))
		return;
	fprintf(log, "peerlane-%s: %s\n", what, pattern);
	fclose(log);
}

/* A line that is a splat elsewhere: here it is none, and must come. */
static inline void expect_splat(const char *pattern)
{
	say_of_splat("expect", pattern);
}

/* The same, but it may come or not. */
static inline void allow_splat(const char *pattern)
{
	say_of_splat("allow", pattern);
}

/* ---- work in the background: a thread of this process ---- */

struct task {
	pthread_t thread;
	int (*run)(void *arg);
	void *arg;
	atomic_bool done;
	int ret;
};

static inline void *task_main(void *arg)
{
	struct task *task = arg;

	task->ret = task->run(task->arg);
	atomic_store(&task->done, true);
	return NULL;
}

static inline void task_begin(struct task *task, int (*run)(void *arg),
			      void *arg)
{
	task->run = run;
	task->arg = arg;
	atomic_store(&task->done, false);
	CHECK_INT(pthread_create(&task->thread, NULL, task_main, task), 0);
}

static inline bool task_runs(struct task *task)
{
	return !atomic_load(&task->done);
}

/* Whether it ended in time; then its result is in task->ret. */
static inline bool task_ends(struct task *task, double seconds)
{
	if (!WAIT_FOR(atomic_load(&task->done), seconds))
		return false;
	pthread_join(task->thread, NULL);
	return true;
}

/* ---- binding ---- */

struct bound {
	char device[32];
	char pci[32];
	struct task task;
};

static inline bool pci_of(const char *device, char *pci)
{
	char path[256], target[256] = "", *slash;

	snprintf(path, sizeof(path), "/sys/class/peerlane/%s/device", device);
	if (readlink(path, target, sizeof(target) - 1) < 0)
		return false;
	slash = strrchr(target, '/');
	snprintf(pci, 32, "%.31s", slash ? slash + 1 : target);
	return true;
}

static inline int unbind_pci(void *pci)
{
	return write_text(DRIVER "unbind", pci);
}

static inline int bind_pci(const char *pci)
{
	char path[256];

	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/driver_override",
		 pci);
	write_text(path, "peerlane");
	return write_text(DRIVER "bind", pci);
}

/*
 * Static: a thread that never comes back must not write into a stack that is
 * gone.
 */
static struct bound bound;

static inline void unbind_begin(const char *device)
{
	snprintf(bound.device, sizeof(bound.device), "%s", device);
	if (!CHECK(pci_of(device, bound.pci)))
		return;
	task_begin(&bound.task, unbind_pci, bound.pci);
}

static inline bool unbind_ends(double seconds)
{
	return task_ends(&bound.task, seconds);
}

/* All cases behind one that hangs would only hang too. */
static inline void must_end(bool ended)
{
	if (CHECK(ended))
		return;
	printf("# %s", read_text("/sys/kernel/debug/peerlane/regions"));
	printf("Bail out! an unbind or unplug does not end\n");
	fflush(stdout);
	_exit(1);
}

static inline void unbind(const char *device)
{
	unbind_begin(device);
	must_end(unbind_ends(LONG));
	CHECK_INT(bound.task.ret, 0);
}

static inline bool has_node(const char *device)
{
	char path[64];

	snprintf(path, sizeof(path), DEVICES "%s", device);
	return !access(path, F_OK);
}

/* Bind what was unbound last; it has its old name again. */
static inline void rebind(void)
{
	char pci[32] = "";

	CHECK_INT(bind_pci(bound.pci), 0);
	CHECK(WAIT_FOR(has_node(bound.device), LONG));
	CHECK(pci_of(bound.device, pci));
	CHECK_STR(pci, bound.pci);
}

/* ---- other processes ---- */

struct peer {
	pid_t pid;
	int sock;
};

static inline void peer_start(struct peer *peer, void (*run)(int sock))
{
	int pair[2];

	CHECK_INT(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
	fflush(stdout);
	peer->pid = fork();
	if (!peer->pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(pair[0]);
		tap.bad = 0;
		run(pair[1]);
		fflush(stdout);
		_exit(tap.bad ? 1 : 0);
	}
	close(pair[1]);
	peer->sock = pair[0];
}

static inline void say(int sock)
{
	CHECK_INT(send(sock, "", 1, MSG_NOSIGNAL), 1);
}

/* Whether the other side said something. */
static inline bool hear(int sock)
{
	struct pollfd wait = { .fd = sock, .events = POLLIN };
	char byte;

	return poll(&wait, 1, LONG * 1000) == 1 && recv(sock, &byte, 1, 0) == 1;
}

/* The other side takes its next step, and has taken it. */
static inline void step(struct peer *peer)
{
	say(peer->sock);
	CHECK(hear(peer->sock));
}

/* In the peer: this step is done, wait for the next. */
static inline void stepped(int sock)
{
	say(sock);
	hear(sock);
}

static inline void send_file(int sock, int fd)
{
	char control[CMSG_SPACE(sizeof(int))] = {}, byte = 0;
	struct iovec iov = { &byte, 1 };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = control, .msg_controllen = sizeof(control),
	};
	struct cmsghdr *cmsg = CMSG_FIRSTHDR(&msg);

	cmsg->cmsg_level = SOL_SOCKET;
	cmsg->cmsg_type = SCM_RIGHTS;
	cmsg->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(cmsg), &fd, sizeof(fd));
	CHECK_INT(sendmsg(sock, &msg, 0), 1);
}

static inline int recv_file(int sock)
{
	char control[CMSG_SPACE(sizeof(int))] = {}, byte;
	struct iovec iov = { &byte, 1 };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = control, .msg_controllen = sizeof(control),
	};
	struct pollfd wait = { .fd = sock, .events = POLLIN };
	struct cmsghdr *cmsg;
	int fd = -1;

	if (poll(&wait, 1, LONG * 1000) == 1 &&
	    recvmsg(sock, &msg, MSG_CMSG_CLOEXEC) == 1) {
		cmsg = CMSG_FIRSTHDR(&msg);
		if (cmsg)
			memcpy(&fd, CMSG_DATA(cmsg), sizeof(fd));
	}
	CHECK(fd >= 0);
	return fd;
}

/* It ended by itself and its checks were good. */
static inline void peer_end(struct peer *peer)
{
	close(peer->sock);
	CHECK_INT(reap(peer->pid, LONG), 0);
}

static inline void peer_kill(struct peer *peer)
{
	kill(peer->pid, SIGKILL);
	close(peer->sock);
	reap(peer->pid, LONG);
}

/* ---- records ---- */

static inline bool device_record(const char *name,
				 struct peerlane_device_record *record)
{
	struct peerlane_device_record records[HARNESS_DEVICES];
	struct peerlane_list args = {
		.array_ptr = (uintptr_t)records, .count = HARNESS_DEVICES,
		.record_size = sizeof(records[0]),
	};
	int fd = open_control(), ret;
	uint32_t i;

	if (fd < 0)
		return false;
	ret = CALL(fd, DEVICE_LIST, &args);
	close(fd);
	for (i = 0; !ret && i < args.count; i++) {
		if (strcmp(records[i].name, name))
			continue;
		*record = records[i];
		return true;
	}
	return false;
}

static inline uint64_t bytes_free(void)
{
	struct peerlane_device_record record;

	return device_record(device_name(), &record) ? record.bytes_free : 0;
}

#define LIST_ROOM 256

static inline bool region_record(uint64_t id,
				 struct peerlane_region_record *record)
{
	static struct peerlane_region_record records[LIST_ROOM];
	struct peerlane_list args = {
		.array_ptr = (uintptr_t)records, .count = LIST_ROOM,
		.record_size = sizeof(records[0]),
	};
	int fd = open_control(), ret;
	uint32_t i;

	if (fd < 0)
		return false;
	ret = CALL(fd, REGION_LIST, &args);
	close(fd);
	for (i = 0; !ret && i < args.count; i++) {
		if (records[i].id != id)
			continue;
		*record = records[i];
		return true;
	}
	return false;
}

static inline uint32_t state_of(int fd)
{
	return region_info(fd).out_state;
}

static inline bool wait_state(int fd, uint32_t state)
{
	return WAIT_FOR(state_of(fd) == state, LIMBO_SECONDS);
}

/* ---- content ---- */

static inline void fill(void *at, uint64_t length, uint64_t seed)
{
	uint64_t *word = at, i;

	for (i = 0; i < length / sizeof(*word); i++)
		word[i] = seed + i;
}

/* The first word that is not as fill() made it, or -1. */
static inline long differs(const void *at, uint64_t length, uint64_t seed)
{
	const uint64_t *word = at;
	uint64_t i;

	for (i = 0; i < length / sizeof(*word); i++)
		if (word[i] != seed + i)
			return i;
	return -1;
}

static inline bool is_zero(const void *at, uint64_t length)
{
	const uint64_t *word = at;
	uint64_t i;

	for (i = 0; i < length / sizeof(*word); i++)
		if (word[i])
			return false;
	return true;
}

/* A new region of this length is zero from end to end; and where it lies. */
static inline uint64_t check_fresh(uint64_t length)
{
	int fd = new_region(length);
	uint64_t offset = 0;
	void *at;

	if (!CHECK(fd >= 0))
		return 0;
	at = map(fd, length);
	if (CHECK(at != MAP_FAILED)) {
		CHECK(is_zero(at, length));
		munmap(at, length);
	}
	offset = region_info(fd).out_dev_offset;
	close(fd);
	return offset;
}

#endif /* SELFTESTS_REGION_LIFETIME_H */
