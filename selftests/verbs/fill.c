// SPDX-License-Identifier: GPL-2.0
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "fill.h"

/* splitmix64 of the number of the 8-byte word */
static uint64_t word(uint64_t seed, uint64_t index)
{
	uint64_t z = seed + (index + 1) * 0x9e3779b97f4a7c15ULL;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

static unsigned char byte(uint64_t seed, size_t at)
{
	return (unsigned char)(word(seed, at / 8) >> (at % 8 * 8));
}

void fill(void *to, size_t length, uint64_t seed)
{
	unsigned char *p = to;
	size_t i;

	for (i = 0; i < length; i++)
		p[i] = byte(seed, i);
}

long long fill_differs(const void *at, size_t length, uint64_t seed)
{
	const unsigned char *p = at;
	size_t i;

	for (i = 0; i < length; i++)
		if (p[i] != byte(seed, i))
			return (long long)i;
	return -1;
}

static void command_line(char *to, size_t size, const char *fmt, va_list ap)
{
	int n = snprintf(to, size, "host ");

	vsnprintf(to + n, size - (size_t)n, fmt, ap);
	fflush(stdout);
}

int host_says(const char *fmt, ...)
{
	char command[512];
	va_list ap;
	int status;

	va_start(ap, fmt);
	command_line(command, sizeof(command), fmt, ap);
	va_end(ap);
	status = system(command);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

long long host_number(const char *fmt, ...)
{
	char command[512];
	long long value;
	va_list ap;
	FILE *pipe;
	int n;

	va_start(ap, fmt);
	command_line(command, sizeof(command), fmt, ap);
	va_end(ap);
	pipe = popen(command, "r");
	if (!pipe)
		return -1;
	n = fscanf(pipe, "%lli", &value);
	return pclose(pipe) || n != 1 ? -1 : value;
}
