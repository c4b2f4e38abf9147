// SPDX-License-Identifier: GPL-2.0
#include <dirent.h>

#include "actions.h"
#include "harness.h"
#include "watchdog.h"

/*
 * A worker never waits for anybody but the kernel. Who takes a device away
 * waits for pins, which workers keep for seconds, and for the machine's host.
 */
#define WORKER_MS	200000
#define OWNER_MS	(WATCHDOG_SECONDS * 1000)

static void show_file(const char *task, const char *name)
{
	char path[640], line[128];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", task, name);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file))
		printf("#   %s: %.*s\n", name, (int)strcspn(line, "\n"), line);
	if (file)
		fclose(file);
}

void watchdog_show(int pid)
{
	char path[64], task[512];
	struct dirent *entry;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	dir = opendir(path);
	while (dir && (entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		printf("# thread %s of %d\n", entry->d_name, pid);
		snprintf(task, sizeof(task), "%s/%s", path, entry->d_name);
		show_file(task, "wchan");
		show_file(task, "syscall");
		show_file(task, "stack");
	}
	if (dir)
		closedir(dir);
}

static bool is_stuck(const struct seat *seat)
{
	int number = seat->action;
	const struct action *action = number < 0 ? NULL : action_by_number(number);
	long long limit = WORKER_MS;

	if (!action)
		return false;
	if (action_is_of(action, &owner_deck))
		limit = OWNER_MS;
	return clock_ms() - seat->since > limit;
}

bool watchdog_barks(void)
{
	bool barks = false;
	int i;

	for (i = 0; i < BOARD_SEATS; i++) {
		struct seat *seat = &board->seats[i];

		if (!is_stuck(seat))
			continue;
		barks = true;
		complain(COMPLAINT_HANG, "thread %d of %d hangs in: %s",
			 seat->tid, seat->pid, action_name(seat->action));
		watchdog_show(seat->pid);
	}
	if (barks)
		printf("# %s", read_text("/sys/kernel/debug/peerlane/regions"));
	return barks;
}
