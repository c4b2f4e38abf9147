// SPDX-License-Identifier: GPL-2.0
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "board.h"

#define MOST_SHOWN 60

struct board *board;

void board_new(unsigned long long seed, unsigned long most_actions)
{
	int i;

	board = mmap(NULL, sizeof(*board), PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	board->seed = seed;
	board->most_actions = most_actions;
	for (i = 0; i < BOARD_SEATS; i++)
		board->seats[i].action = -1;
}

void board_delete(void)
{
	munmap(board, sizeof(*board));
}

long long clock_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000LL + t.tv_nsec / 1000000;
}

void seat_begin(struct seat *seat, int action)
{
	seat->tid = syscall(SYS_gettid);
	seat->since = clock_ms();
	seat->action = action;
}

void seat_end(struct seat *seat, int ret)
{
	unsigned int ms = clock_ms() - seat->since;
	int action = seat->action;

	seat->action = -1;
	if (ms > board->slowest[action])
		board->slowest[action] = ms;
	if (ret == NOTHING)
		return;
	atomic_fetch_add(&board->actions, 1);
	if (ret > 0 || -ret >= BOARD_ERRNOS)
		ret = 0;
	atomic_fetch_add(&board->counts[action][-ret], 1);
}

void complain(enum complaint what, const char *format, ...)
{
	char line[512] = "# ";
	va_list args;
	int n;

	atomic_fetch_add(&board->complaints[what], 1);
	if (atomic_fetch_add(&board->shown, 1) >= MOST_SHOWN)
		return;
	va_start(args, format);
	n = vsnprintf(line + 2, sizeof(line) - 3, format, args) + 2;
	va_end(args);
	if (n > (int)sizeof(line) - 2)
		n = sizeof(line) - 2;
	line[n] = '\n';
	/* One write: lines of several processes do not mix. */
	if (write(STDOUT_FILENO, line, n + 1) < 0)
		return;
}

bool board_stopped(void)
{
	return board->stop || board->actions >= board->most_actions;
}
