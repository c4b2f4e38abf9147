/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What all processes of a run share: who does what since when, what came of it,
 * and what was wrong. In memory that outlives those who are killed.
 */
#ifndef SELFTESTS_RANDOM_BOARD_H
#define SELFTESTS_RANDOM_BOARD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>

#define BOARD_SEATS	64
#define BOARD_ACTIONS	128
#define BOARD_ERRNOS	134
#define NOTHING		(-1000)		/* there was nothing to do it with */

enum complaint {
	COMPLAINT_HANG,			/* an action took longer than any may */
	COMPLAINT_ERRNO,		/* refused against the contract */
	COMPLAINT_TEXT,			/* a reason that does not fit its buffer */
	COMPLAINT_DIRT,			/* memory given out was not zero */
	COMPLAINT_FOREIGN,		/* bytes of another region */
	COMPLAINT_ALIVE,		/* revoked memory that can be reached */
	COMPLAINT_UNLOADED,		/* the module went while in use */
	COMPLAINT_DEATH,		/* a process ended that nobody killed */
	COMPLAINT_LOST,			/* a device did not come back */
	COMPLAINTS
};

/* One for each thread that acts. */
struct seat {
	atomic_int pid, tid;
	atomic_int action;		/* or -1 */
	atomic_llong since;		/* ms */
};

struct board {
	atomic_bool stop;
	atomic_ulong actions;
	unsigned long most_actions;
	unsigned long long seed;
	atomic_uint complaints[COMPLAINTS];
	atomic_uint shown;
	struct seat seats[BOARD_SEATS];
	atomic_uint counts[BOARD_ACTIONS][BOARD_ERRNOS];	/* 0: success */
	atomic_uint slowest[BOARD_ACTIONS];			/* ms */
};

extern struct board *board;

void board_new(unsigned long long seed, unsigned long most_actions);
void board_delete(void);

long long clock_ms(void);

void seat_begin(struct seat *seat, int action);
/* @ret is 0, -errno or NOTHING. */
void seat_end(struct seat *seat, int ret);

/* Counts, and says so as a comment in TAP, up to a bound. */
__attribute__((format(printf, 2, 3)))
void complain(enum complaint what, const char *format, ...);

bool board_stopped(void);

#endif /* SELFTESTS_RANDOM_BOARD_H */
