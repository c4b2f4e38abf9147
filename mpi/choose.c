// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/* What a group can do of what MPI asks for. */
#include "choose.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <peerlane.h>

static bool is_open_mpi(const char *version)
{
	static const char words[] = "Open MPI";

	return !strncmp(version, words, sizeof(words) - 1);
}

bool shim_is_alike(const char *built, const char *version)
{
	return is_open_mpi(built) == is_open_mpi(version);
}

/* ---- types and operations --------------------------------------------------- */

static int power(int size)
{
	return size == 1 ? 0 : size == 2 ? 1 : size == 4 ? 2 :
	       size == 8 ? 3 : -1;
}

uint8_t shim_element(enum shim_class class, int size)
{
	static const uint8_t elements[][4] = {
		[SHIM_SIGNED] = { PEERLANE_I8, PEERLANE_I16, PEERLANE_I32,
				  PEERLANE_I64 },
		[SHIM_UNSIGNED] = { PEERLANE_U8, PEERLANE_U16, PEERLANE_U32,
				    PEERLANE_U64 },
		/* MPI does not say which of the two a float of 2 bytes is. */
		[SHIM_FLOAT] = { 0, 0, PEERLANE_F32, PEERLANE_F64 },
		[SHIM_BYTE] = { PEERLANE_U8, 0, 0, 0 },
	};
	int at = power(size);

	if (class == SHIM_OTHER || class > SHIM_BYTE || at < 0)
		return 0;
	return elements[class][at];
}

static bool is_of_bits(uint8_t op)
{
	return op == PEERLANE_BAND || op == PEERLANE_BOR ||
	       op == PEERLANE_BXOR;
}

bool shim_reduces(enum shim_class class, int size, uint8_t op)
{
	if (!op || op == PEERLANE_AVG || op > PEERLANE_BXOR ||
	    !shim_element(class, size))
		return false;
	if (is_of_bits(op))
		return class != SHIM_FLOAT;
	return class != SHIM_BYTE;
}

uint64_t shim_bytes(int count, int size)
{
	uint64_t bytes;

	if (count <= 0 || size <= 0)
		return 0;
	bytes = (uint64_t)count * (uint64_t)size;
	return bytes > INT_MAX ? 0 : bytes;
}

bool shim_gathers(uint64_t bytes, int ranks)
{
	return bytes && ranks > 0 && bytes <= SHIM_GATHERED / (uint64_t)ranks;
}

/* ---- the environment ----------------------------------------------------------- */

bool shim_is_asked(char *const *environment)
{
	static const char prefix[] = "PEERLANE_";

	for (; *environment; environment++)
		if (!strncmp(*environment, prefix, sizeof(prefix) - 1))
			return true;
	return false;
}

struct setting {
	const char *name;
	size_t at;
	bool is_size;
	uint64_t usual;
	uint64_t low;
	uint64_t high;
};

#define AT(member) offsetof(struct shim_settings, member)

/*
 * MPI sets no time in which a rank has to come to a collective, so the longest
 * that a group knows is the usual one: who is dead is found out by other means.
 */
static const struct setting list[] = {
	{ "PEERLANE_MPI_BUFFER", AT(buffer), true, 16 << 20, 64 << 10,
	  UINT64_C(1) << 40 },
	{ "PEERLANE_MPI_VERBOSE", AT(verbose), false, 0, 0, 9 },
	{ "PEERLANE_MPI_TIMEOUT", AT(timeout), false, 5000, 100, 600000 },
	{ "PEERLANE_MPI_OP_TIMEOUT", AT(operation_timeout), false, 86400000,
	  100, 86400000 },
	{ "PEERLANE_MPI_JOIN_TIMEOUT", AT(join_timeout), false, 60000, 100,
	  86400000 },
};

/* The shift of "k", "m", "g", or of nothing; -1: it is another word. */
static int shift_of(const char *unit)
{
	static const char units[] = "kmg";
	const char *found;

	if (!*unit)
		return 0;
	found = strchr(units, *unit | 0x20);
	return found && *found && !unit[1] ? 10 * (int)(found - units + 1) : -1;
}

static bool parse(const struct setting *setting, const char *text,
		  uint64_t *value)
{
	char *end;
	int shift;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	*value = strtoull(text, &end, 10);
	shift = shift_of(end);
	if (errno || shift < 0 || (shift && !setting->is_size) ||
	    *value > setting->high >> shift)
		return false;
	*value <<= shift;
	return *value >= setting->low;
}

static uint64_t usual(const struct setting *setting, uint64_t limit)
{
	if (!setting->is_size || setting->usual <= limit / 2)
		return setting->usual;
	return limit / 2 > setting->low ? limit / 2 : setting->low;
}

bool shim_settings(struct shim_settings *settings,
		   char *(*get)(const char *name), uint64_t limit,
		   char reason[SHIM_REASON])
{
	const size_t count = sizeof(list) / sizeof(list[0]);
	bool good = true;

	for (size_t i = 0; i < count; i++) {
		const char *text = get(list[i].name);
		uint64_t value = usual(&list[i], limit);

		if (text && *text && !parse(&list[i], text, &value)) {
			snprintf(reason, SHIM_REASON,
				 "%s is \"%.40s\", and not a number from %ju to %ju",
				 list[i].name, text, (uintmax_t)list[i].low,
				 (uintmax_t)list[i].high);
			value = usual(&list[i], limit);
			good = false;
		}
		memcpy((char *)settings + list[i].at, &value, sizeof(value));
	}
	return good;
}
