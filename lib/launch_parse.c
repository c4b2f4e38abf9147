// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/* What launchers put into the environment, and lists of aggregators. */
#include "launch_parse.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RANKS_MOST	1024

/**
 * struct launcher - whose variables say who we are
 * @name: of the launcher
 * @rank: variable
 * @ranks: variables, the first that is set counts
 * @is_generic: others use these names too: half of them is none of them
 */
struct launcher {
	const char *name;
	const char *rank;
	const char *ranks[4];
	bool is_generic;
};

/*
 * What was started by hand comes first, then who is started by the others: a
 * torchrun that srun or mpirun started says more than these do.
 */
static const struct launcher launchers[] = {
	{ "peerlane", "PEERLANE_RANK", { "PEERLANE_SIZE" }, false },
	{ "torchrun", "RANK", { "WORLD_SIZE" }, true },
	{ "mpirun", "OMPI_COMM_WORLD_RANK", { "OMPI_COMM_WORLD_SIZE" }, false },
	{ "mpiexec", "PMI_RANK", { "PMI_SIZE" }, true },
	{ "pmix", "PMIX_RANK",
	  { "PEERLANE_SIZE", "OMPI_COMM_WORLD_SIZE", "SLURM_NTASKS" }, false },
	{ "srun", "SLURM_PROCID", { "SLURM_NTASKS" }, true },
};

/* Set and not empty */
static const char *look(const struct pl_environment *environment,
			const char *name)
{
	const char *value = environment->get(environment->context, name);

	return value && *value ? value : NULL;
}

static const char *look_ranks(const struct pl_environment *environment,
			      const struct launcher *launcher,
			      const char **name)
{
	const char *value = NULL;
	size_t i;

	for (i = 0; !value && launcher->ranks[i]; i++) {
		*name = launcher->ranks[i];
		value = look(environment, *name);
	}
	return value;
}

/* ---- numbers ---------------------------------------------------------------- */

bool pl_parse_number(const char *text, uint64_t most, uint64_t *value)
{
	bool hex = text[0] == '0' && (text[1] | 0x20) == 'x';
	const char *digits = hex ? text + 2 : text;
	char *end;

	if (!*digits || digits[strspn(digits, hex ? "0123456789abcdefABCDEF" :
					    "0123456789")])
		return false;
	errno = 0;
	*value = strtoull(digits, &end, hex ? 16 : 10);
	return !errno && *value <= most;
}

/* ---- rank and size ------------------------------------------------------------ */

static bool refuse(char reason[PL_LAUNCH_REASON], const char *name,
		   const char *value, const char *what)
{
	snprintf(reason, PL_LAUNCH_REASON, "%s is \"%.40s\", which is %s", name,
		 value, what);
	return false;
}

static bool take_rank(const struct launcher *launcher, const char *rank,
		      const char *ranks_name, const char *ranks,
		      struct peerlane_launch *launch,
		      char reason[PL_LAUNCH_REASON])
{
	uint64_t size, own;

	if (!pl_parse_number(ranks, RANKS_MOST, &size) || !size)
		return refuse(reason, ranks_name, ranks,
			      "no number of ranks from 1 to 1024");
	if (!pl_parse_number(rank, size - 1, &own))
		return refuse(reason, launcher->rank, rank,
			      "no rank below the number of ranks");
	launch->rank = (uint32_t)own;
	launch->ranks = (uint32_t)size;
	snprintf(launch->launcher, sizeof(launch->launcher), "%s",
		 launcher->name);
	return true;
}

bool pl_launch_rank(const struct pl_environment *environment,
		    struct peerlane_launch *launch,
		    char reason[PL_LAUNCH_REASON])
{
	const char *rank, *ranks, *name = "";
	size_t i;

	for (i = 0; i < sizeof(launchers) / sizeof(launchers[0]); i++) {
		rank = look(environment, launchers[i].rank);
		ranks = look_ranks(environment, &launchers[i], &name);
		if (rank && ranks)
			return take_rank(&launchers[i], rank, name, ranks,
					 launch, reason);
		if (!rank || launchers[i].is_generic)
			continue;
		snprintf(reason, PL_LAUNCH_REASON, "%s is set, and %s is not",
			 launchers[i].rank, launchers[i].ranks[0]);
		return false;
	}
	return true;
}

/* ---- the job -------------------------------------------------------------------- */

struct job {
	const char *launcher;
	const char *parts[3];
};

static const struct job jobs[] = {
	{ "torchrun", { "TORCHELASTIC_RUN_ID", "MASTER_ADDR", "MASTER_PORT" } },
	{ "mpirun", { "PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid" } },
	{ "pmix", { "PMIX_NAMESPACE", "SLURM_JOB_ID", "SLURM_STEP_ID" } },
	{ "srun", { "SLURM_JOB_ID", "SLURM_STEP_ID" } },
};

static void join_parts(const struct pl_environment *environment,
		       const struct job *of, char job[PL_LAUNCH_JOB])
{
	const char *part;
	size_t used = 0, i;

	for (i = 0; i < 3 && of->parts[i]; i++) {
		part = look(environment, of->parts[i]);
		if (!part)
			continue;
		used += (size_t)snprintf(job + used, PL_LAUNCH_JOB - used,
					 "%s%.150s", used ? " " : "", part);
	}
}

void pl_launch_job(const struct pl_environment *environment,
		   const char *launcher, char job[PL_LAUNCH_JOB])
{
	size_t i;

	job[0] = '\0';
	for (i = 0; i < sizeof(jobs) / sizeof(jobs[0]); i++)
		if (!strcmp(jobs[i].launcher, launcher))
			join_parts(environment, &jobs[i], job);
}

/* ---- aggregators ------------------------------------------------------------------ */

size_t pl_list_word(const char **at, const char **word)
{
	static const char between[] = ", \t\r\n";
	const char *from = *at;
	size_t length;

	from += strspn(from, between);
	while (*from == '#') {
		from += strcspn(from, "\n");
		from += strspn(from, between);
	}
	length = strcspn(from, ", \t\r\n#");
	*word = from;
	*at = from + length;
	return length;
}

static bool take_port(const char *text, size_t length, uint16_t *port)
{
	char digits[8];
	uint64_t value;

	if (length >= sizeof(digits))
		return false;
	memcpy(digits, text, length);
	digits[length] = '\0';
	if (strspn(digits, "0123456789") != length ||
	    !pl_parse_number(digits, UINT16_MAX, &value))
		return false;
	*port = (uint16_t)value;
	return true;
}

static bool take_host(const char *text, size_t length, char host[PL_HOST_MAX])
{
	if (length >= PL_HOST_MAX || memchr(text, '[', length) ||
	    memchr(text, ']', length))
		return false;
	memcpy(host, text, length);
	host[length] = '\0';
	return true;
}

static bool parse_brackets(const char *word, size_t length,
			   char host[PL_HOST_MAX], uint16_t *port)
{
	const char *close = memchr(word, ']', length);
	size_t inner, rest;

	if (!close || close == word + 1)
		return false;
	inner = (size_t)(close - word) - 1;
	rest = length - inner - 2;
	if (rest && (close[1] != ':' || !take_port(close + 2, rest - 1, port)))
		return false;
	return take_host(word + 1, inner, host);
}

bool pl_parse_address(const char *word, size_t length, char host[PL_HOST_MAX],
		      uint16_t *port)
{
	const char *colon;

	if (!length)
		return false;
	if (*word == '[')
		return parse_brackets(word, length, host, port);
	colon = memchr(word, ':', length);
	if (!colon)
		return take_host(word, length, host);
	/* Two of them: an address of IPv6 */
	if (memchr(colon + 1, ':', length - (size_t)(colon - word) - 1))
		return take_host(word, length, host);
	return take_port(colon + 1, length - (size_t)(colon - word) - 1, port) &&
	       take_host(word, (size_t)(colon - word), host);
}
