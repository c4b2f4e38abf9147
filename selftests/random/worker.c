// SPDX-License-Identifier: GPL-2.0
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "actions.h"
#include "files.h"
#include "process.h"
#include "watchdog.h"
#include "worker.h"

#define CREW (WORKERS + 2)

/* Behind the workers: who takes devices away, and who administers. */
#define OWNER	WORKERS
#define ADMIN	(WORKERS + 1)

struct member {
	pid_t pid;			/* 0: has ended */
	unsigned int life;
};

struct crew {
	struct member members[CREW];
};

/* ---- in the process ---- */

static struct actor actors[THREADS];

static void *worker_thread(void *arg)
{
	while (!board_stopped())
		act(arg, &worker_deck);
	return NULL;
}

static void work(unsigned int number, unsigned int life)
{
	pthread_t threads[THREADS];
	int i;

	for (i = 0; i < THREADS; i++)
		actor_init(&actors[i], number, number * THREADS + i, life);
	guard_init();
	disk_init();
	pins_init(&actors[0]);
	for (i = 1; i < THREADS; i++)
		pthread_create(&threads[i], NULL, worker_thread, &actors[i]);
	worker_thread(&actors[0]);
	for (i = 1; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	if (one_in(&actors[0], 2))
		files_close_all();
}

static void operate(unsigned int number, const struct deck *deck)
{
	struct actor actor;

	actor_init(&actor, number, WORKERS * THREADS + number - OWNER, 0);
	while (!board_stopped())
		act(&actor, deck);
}

static void member_main(unsigned int number, unsigned int life)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (number == OWNER)
		operate(number, &owner_deck);
	else if (number == ADMIN)
		operate(number, &admin_deck);
	else
		work(number, life);
	fflush(stdout);
	_exit(0);
}

/* ---- in the parent ---- */

static void vacate(unsigned int number)
{
	int i;

	for (i = 0; number < WORKERS && i < THREADS; i++)
		board->seats[number * THREADS + i].action = -1;
}

static void member_start(struct member *member, unsigned int number)
{
	fflush(stdout);
	vacate(number);
	member->pid = fork();
	if (!member->pid)
		member_main(number, member->life);
	if (member->pid < 0)	/* another time */
		member->pid = 0;
	member->life++;
}

struct crew *crew_start(void)
{
	struct crew *crew = calloc(1, sizeof(*crew));
	unsigned int i;

	for (i = 0; i < CREW; i++)
		member_start(&crew->members[i], i);
	return crew;
}

/* SIGKILL may be revoke_kill's. */
static void judge_death(unsigned int number, int status)
{
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
		return;
	if (status)
		complain(COMPLAINT_DEATH, "process %u ended with %#x", number,
			 status);
}

static void reap(struct member *member, unsigned int number)
{
	int status;

	if (!member->pid || waitpid(member->pid, &status, WNOHANG) != member->pid)
		return;
	member->pid = 0;
	vacate(number);
	judge_death(number, status);
}

void crew_tend(struct crew *crew, struct actor *actor)
{
	struct member *victim = &crew->members[dice(actor, WORKERS)];
	unsigned int i;

	if (one_in(actor, 20) && victim->pid)
		kill(victim->pid, SIGKILL);
	for (i = 0; i < CREW; i++) {
		reap(&crew->members[i], i);
		if (!crew->members[i].pid && !board_stopped())
			member_start(&crew->members[i], i);
	}
}

bool crew_ended(struct crew *crew)
{
	bool ended = true;
	unsigned int i;

	for (i = 0; i < CREW; i++) {
		reap(&crew->members[i], i);
		ended &= !crew->members[i].pid;
	}
	return ended;
}

void crew_show(struct crew *crew)
{
	unsigned int i;

	for (i = 0; i < CREW; i++) {
		if (!crew->members[i].pid)
			continue;
		complain(COMPLAINT_HANG, "process %d, number %u, does not end",
			 crew->members[i].pid, i);
		watchdog_show(crew->members[i].pid);
	}
}

void crew_kill(struct crew *crew)
{
	unsigned int i;

	for (i = 0; i < CREW; i++)
		if (crew->members[i].pid)
			kill(crew->members[i].pid, SIGKILL);
}

void crew_delete(struct crew *crew)
{
	free(crew);
}
