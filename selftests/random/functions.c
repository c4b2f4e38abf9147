// SPDX-License-Identifier: GPL-2.0
#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "functions.h"

#define MOST 32

static char names[MOST][16] = { "00ff:ff:1f.7", "", "0:0.0" };
static unsigned int count = 3;
static char bars[BARS][16];

static void find_bar(unsigned int bar)
{
	char path[64], target[256] = "", *slash;

	snprintf(path, sizeof(path), "/sys/class/peerlane/gpu%u/device", bar);
	if (readlink(path, target, sizeof(target) - 1) < 0)
		return;
	slash = strrchr(target, '/');
	snprintf(bars[bar], sizeof(bars[bar]), "%.15s", slash ? slash + 1 : "");
}

void functions_init(void)
{
	DIR *dir = opendir("/sys/bus/pci/devices");
	struct dirent *entry;
	unsigned int bar;

	while (dir && count < MOST && (entry = readdir(dir)))
		if (entry->d_name[0] != '.')
			snprintf(names[count++], sizeof(names[0]), "%.15s",
				 entry->d_name);
	if (dir)
		closedir(dir);
	for (bar = 0; bar < BARS; bar++)
		find_bar(bar);
}

const char *some_function(struct actor *actor)
{
	if (one_in(actor, 2))
		return bars[dice(actor, BARS)];
	return names[dice(actor, count)];
}

const char *bar_function(unsigned int bar)
{
	return bars[bar];
}
