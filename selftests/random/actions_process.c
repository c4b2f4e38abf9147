// SPDX-License-Identifier: GPL-2.0
/* fork(), exec(), and files that go from process to process. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "actions.h"
#include "arena.h"
#include "call.h"
#include "files.h"
#include "process.h"
#include "tag.h"

static int mailboxes[WORKERS][2];

void mailboxes_new(void)
{
	int i;

	for (i = 0; i < WORKERS; i++)
		if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC |
			       SOCK_NONBLOCK, 0, mailboxes[i]))
			perror("socketpair");
}

void mailboxes_delete(void)
{
	int i;

	for (i = 0; i < WORKERS; i++) {
		close(mailboxes[i][0]);
		close(mailboxes[i][1]);
	}
}

pid_t some_worker(struct actor *actor)
{
	return board->seats[dice(actor, WORKERS) * THREADS].pid;
}

/* ---- files by mail ---- */

union control {
	char bytes[CMSG_SPACE(sizeof(int))];
	struct cmsghdr align;
};

static int send_thing(struct actor *actor)
{
	union control control = {};
	struct thing thing;
	struct iovec iov = { &thing, sizeof(thing) };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = &control, .msg_controllen = sizeof(control),
	};
	struct cmsghdr *cmsg = CMSG_FIRSTHDR(&msg);
	int ret;

	if (!files_take(actor, THING_PASSABLE, &thing))
		return NOTHING;
	cmsg->cmsg_level = SOL_SOCKET;
	cmsg->cmsg_type = SCM_RIGHTS;
	cmsg->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(cmsg), &thing.fd, sizeof(int));
	ret = sendmsg(mailboxes[dice(actor, WORKERS)][1], &msg, 0) < 0 ?
	      -errno : 0;
	files_put(actor, &thing);
	return ret;
}

static int receive_thing(struct actor *actor)
{
	union control control = {};
	struct thing thing;
	struct iovec iov = { &thing, sizeof(thing) };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = &control, .msg_controllen = sizeof(control),
	};
	struct cmsghdr *cmsg;

	if (recvmsg(mailboxes[actor->worker][0], &msg, MSG_CMSG_CLOEXEC) < 0)
		return errno == EAGAIN ? NOTHING : -errno;
	cmsg = CMSG_FIRSTHDR(&msg);
	if (!cmsg)
		return -EBADMSG;
	memcpy(&thing.fd, CMSG_DATA(cmsg), sizeof(int));
	files_put(actor, &thing);
	return 0;
}

/* ---- children ---- */

static void check_line(void *arg)
{
	const struct place *place = arg;

	tag_check(place->at, TAG_LINE, place->region, place->offset, "a child");
}

static void touch_all(void *arg)
{
	const struct place *place = arg;
	uint64_t done;

	for (done = 0; done < place->length; done += PAGE)
		__atomic_fetch_or(place->at + done, 0, __ATOMIC_RELAXED);
}

/* @place is held by our thread in the parent, and so is what we see of it. */
static void child(struct place *place)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	guarded(touch_all, place);
	if (place->region)
		guarded(check_line, place);
	munmap(place->at, place->length);
	_exit(0);
}

static int wait_for(pid_t pid)
{
	int status = 0;

	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (WIFSIGNALED(status) && WTERMSIG(status) != SIGKILL)
		complain(COMPLAINT_DEATH, "a child died of signal %d",
			 WTERMSIG(status));
	return 0;
}

static int fork_and_touch(struct actor *actor)
{
	struct place *place = place_get(actor);
	pid_t pid;
	int ret;

	if (!place)
		return NOTHING;
	pid = fork();
	if (!pid)
		child(place);
	ret = pid < 0 ? -errno : wait_for(pid);
	place_put(place);
	return ret;
}

int executed_main(int fd)
{
	struct peerlane_region_status info = {
		.size = sizeof(info),
	};

	ioctl(fd, PEERLANE_IOC_REGION_INFO, &info);
	mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	return 0;
}

static void become_another(int fd)
{
	char number[16];
	char *const argv[] = { "random_test", "--executed", number, NULL };

	snprintf(number, sizeof(number), "%d", fd);
	fcntl(fd, F_SETFD, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	execv("/proc/self/exe", argv);
	_exit(1);
}

static int fork_and_exec(struct actor *actor)
{
	struct loan loan;
	pid_t pid;

	if (!files_borrow(actor, THING_REGIONS, &loan))
		return NOTHING;
	pid = fork();
	if (!pid)
		become_another(loan.thing.fd);
	return pid < 0 ? -errno : wait_for(pid);
}

const struct action process_actions[] = {
	{ "send a file", send_thing, 12, { EAGAIN, ETOOMANYREFS } },
	{ "receive a file", receive_thing, 25 },
	{ "fork and touch", fork_and_touch, 5, { EAGAIN } },
	{ "fork and exec", fork_and_exec, 1, { EAGAIN } },
	{}
};
