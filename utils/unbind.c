// SPDX-License-Identifier: GPL-2.0
/*
 * Unbinding waits until nobody holds a pin on the device, which can take for
 * ever. So a second thread looks who that may be and says it.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli.h"

#define LOOK_SECONDS	2
#define REPEAT_LOOKS	15	/* say the same thing again after so many */

struct watch {
	const char *device;
	pthread_mutex_t lock;
	pthread_cond_t cond;	/* on CLOCK_MONOTONIC */
	bool done;		/* protected by lock */
};

static bool blocks(const struct peerlane_region_info *region, const char *device)
{
	const char *state = peerlane_state_name(region->state);

	return !strncmp(region->device, device, sizeof(region->device)) &&
	       strcmp(state, "empty") && strcmp(state, "released");
}

/* ", 3 units pinned", or nothing for 0, which also means "not known" */
static char *count_text(uint32_t count, const char *what)
{
	return count ? format_text(", %u %s", count, what) :
		       format_text("%s", "");
}

/* Pins have no owner, so name those who could have made them. */
static char *describe(const struct peerlane_region_info *region)
{
	bool mapped = region->mapper_pid;
	char *pins = count_text(region->pinned_units, "units pinned");
	char *attachments = count_text(region->attachments, "DMA attachments");
	char *text = format_text("region %ju (%s, %s%s%s%s), %s by %.*s (pid %d)",
				 (uintmax_t)region->id,
				 peerlane_state_name(region->state),
				 bytes_text(region->length),
				 options.human ? "" : " bytes",
				 pins, attachments,
				 mapped ? "last mapped" : "opened",
				 (int)sizeof(region->comm),
				 mapped ? region->mapper_comm : region->comm,
				 mapped ? region->mapper_pid : region->pid);

	free(attachments);
	free(pins);
	return text;
}

/* The lines that say what is waited for. */
struct lines {
	char **line;
	size_t count;
};

static void lines_add(struct lines *lines, char *line)
{
	lines->line = must(reallocarray(lines->line, lines->count + 1,
					sizeof(*lines->line)));
	lines->line[lines->count++] = line;
}

static void lines_free(struct lines *lines)
{
	for (size_t i = 0; i < lines->count; i++)
		free(lines->line[i]);
	free(lines->line);
}

static bool lines_equal(const struct lines *a, const struct lines *b)
{
	if (a->count != b->count)
		return false;
	for (size_t i = 0; i < a->count; i++)
		if (strcmp(a->line[i], b->line[i]))
			return false;
	return true;
}

static struct lines describe_all(const char *device)
{
	struct peerlane_region_info *list = NULL;
	struct lines lines = { 0 };
	size_t count = 0;
	int error = peerlane_region_list(&list, &count);

	if (error) {
		char *reason = library_reason(error);

		lines_add(&lines, format_text("users unknown, %s", reason));
		free(reason);
		return lines;
	}
	for (size_t i = 0; i < count; i++)
		if (blocks(&list[i], device))
			lines_add(&lines, describe(&list[i]));
	if (!lines.count)
		lines_add(&lines, format_text("no region on it is listed"));
	free(list);
	return lines;
}

/* False when @LOOK_SECONDS are over before the device is unbound. */
static bool wait_done(struct watch *watch)
{
	struct timespec until;
	int error = 0;
	bool done;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += LOOK_SECONDS;
	pthread_mutex_lock(&watch->lock);
	while (!watch->done && !error)
		error = pthread_cond_timedwait(&watch->cond, &watch->lock,
					       &until);
	done = watch->done;
	pthread_mutex_unlock(&watch->lock);
	return done;
}

static void *watch_users(void *argument)
{
	struct watch *watch = argument;
	struct lines said = { 0 };
	unsigned int silent = 0;

	while (!wait_done(watch)) {
		struct lines now = describe_all(watch->device);

		if (++silent == REPEAT_LOOKS || !lines_equal(&now, &said)) {
			for (size_t i = 0; i < now.count; i++)
				note("%s: waiting: %s", watch->device,
				     now.line[i]);
			silent = 0;
		}
		lines_free(&said);
		said = now;
	}
	lines_free(&said);
	return NULL;
}

static void watch_init(struct watch *watch)
{
	pthread_condattr_t attributes;

	pthread_mutex_init(&watch->lock, NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&watch->cond, &attributes);
	pthread_condattr_destroy(&attributes);
}

static void watch_end(struct watch *watch, pthread_t thread)
{
	pthread_mutex_lock(&watch->lock);
	watch->done = true;
	pthread_cond_signal(&watch->cond);
	pthread_mutex_unlock(&watch->lock);
	pthread_join(thread, NULL);
}

/*
 * The library's text belongs to the calling thread, so the caller can read why
 * it failed. Without a second thread there is silence, but the same result.
 */
int unbind_device(const char *address, const char *name)
{
	struct watch watch = { .device = name };
	pthread_t thread;
	bool watched;
	int error;

	watch_init(&watch);
	watched = !pthread_create(&thread, NULL, watch_users, &watch);
	error = peerlane_device_unbind(address);
	if (watched)
		watch_end(&watch, thread);
	pthread_cond_destroy(&watch.cond);
	pthread_mutex_destroy(&watch.lock);
	return error;
}
