// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/* Who we are, as our launcher says. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "launch_parse.h"
#include "private.h"

#define SECRET_MOST	1024	/* bytes of a file of words */

static const char *from_environment(void *context, const char *name)
{
	(void)context;
	return getenv(name);
}

static const struct pl_environment environment = { .get = from_environment };

/* Set and not empty */
static const char *look(const char *name)
{
	const char *value = getenv(name);

	return value && *value ? value : NULL;
}

/* ---- files -------------------------------------------------------------------- */

/* Up to @room - 1 bytes, or -E2BIG */
static int read_all(int fd, const char *path, char *text, size_t room)
{
	size_t used = 0;
	ssize_t got;

	do {
		got = read(fd, text + used, room - used);
		if (got < 0 && errno != EINTR)
			return pl_fail(errno, "%s", path);
		used += got > 0 ? (size_t)got : 0;
	} while (got && used < room);
	if (used == room)
		return pl_fail_text(E2BIG, "%s: more than %zu bytes", path,
				    room - 1);
	text[used] = '\0';
	return 0;
}

static int read_file(const char *path, char *text, size_t room)
{
	int fd, ret;

	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return pl_fail(errno, "%s", path);
	ret = read_all(fd, path, text, room);
	pl_close(fd);
	return ret;
}

/* ---- what is said ----------------------------------------------------------------- */

int peerlane_group_number(const char *text, uint64_t *group)
{
	static const char prefix[] = "group of peerlane: ";
	uint8_t hash[PEERLANE_SECRET];
	uint64_t number;
	char *words;
	int ret;

	pl_clear();
	if (text && pl_parse_number(text, UINT64_MAX, &number)) {
		if (!number)
			return pl_fail_text(EINVAL, "0 is no number of a group");
		*group = number;
		return 0;
	}
	if (!text || !*text)
		return pl_fail_text(EINVAL, "a group needs a number, or words to make one of");
	words = malloc(sizeof(prefix) + strlen(text));
	if (!words)
		return pl_fail(ENOMEM, "number of a group");
	memcpy(words, prefix, sizeof(prefix) - 1);
	memcpy(words + sizeof(prefix) - 1, text, strlen(text) + 1);
	ret = peerlane_endpoint_secret(words, hash);
	free(words);
	if (ret)
		return ret;
	memcpy(&number, hash, sizeof(number));
	*group = number ? number : 1;
	return 0;
}

static int read_group(struct peerlane_launch *launch)
{
	const char *words = look("PEERLANE_GROUP");
	char job[PL_LAUNCH_JOB];

	if (words)
		return peerlane_group_number(words, &launch->group);
	pl_launch_job(&environment, launch->launcher, job);
	return *job ? peerlane_group_number(job, &launch->group) : 0;
}

static int read_secret(struct peerlane_launch *launch)
{
	const char *words = look("PEERLANE_SECRET");
	const char *path = look("PEERLANE_SECRET_FILE");
	char text[SECRET_MOST];
	int ret;

	if (words)
		return peerlane_endpoint_secret(words, launch->secret);
	if (!path)
		return 0;
	ret = read_file(path, text, sizeof(text));
	if (ret)
		return ret;
	text[strcspn(text, "\r\n")] = '\0';
	if (!*text)
		return pl_fail_text(EINVAL, "%s: its first line is empty", path);
	return peerlane_endpoint_secret(text, launch->secret);
}

static int read_aggregators(struct peerlane_launch *launch)
{
	const char *words = look("PEERLANE_AGGREGATORS");
	const char *path = look("PEERLANE_AGGREGATORS_FILE");

	if (!words)
		return path ? read_file(path, launch->aggregators,
					sizeof(launch->aggregators)) : 0;
	if (strlen(words) >= sizeof(launch->aggregators))
		return pl_fail_text(E2BIG, "PEERLANE_AGGREGATORS has more than %zu bytes",
				    sizeof(launch->aggregators) - 1);
	strcpy(launch->aggregators, words);
	return 0;
}

static void give(const struct peerlane_launch *launch,
		 struct peerlane_group_options *options)
{
	if (*launch->launcher) {
		options->rank = launch->rank;
		options->ranks = launch->ranks;
	}
	if (launch->group)
		options->group = launch->group;
	if (!pl_is_zero(launch->secret, sizeof(launch->secret)))
		memcpy(options->secret, launch->secret,
		       sizeof(options->secret));
}

int peerlane_launch_read(struct peerlane_launch *launch,
			 struct peerlane_group_options *options)
{
	struct peerlane_launch *own = calloc(1, sizeof(*own));
	char reason[PL_LAUNCH_REASON];
	int ret = 0;

	pl_clear();
	if (!own)
		return pl_fail(ENOMEM, "environment");
	if (!pl_launch_rank(&environment, own, reason))
		ret = pl_fail_text(EINVAL, "%s", reason);
	if (!ret)
		ret = read_group(own);
	if (!ret)
		ret = read_secret(own);
	if (!ret)
		ret = read_aggregators(own);
	if (!ret)
		*launch = *own;
	if (!ret && options)
		give(launch, options);
	free(own);
	return ret;
}
