// SPDX-License-Identifier: GPL-2.0
/* peerlane aggregator: memory of this node in which groups are summed up. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "aggregator_options.h"
#include "group.h"
#include "lateness.h"

/* A group that ended cannot be looked at any more: what was seen last is told. */
#define LOOK_MS		100
#define GROUPS_MOST	65536

/* A group that has formed, and its ranks as they were seen last */
struct watched {
	uint64_t group;
	struct peerlane_rank_status *ranks;
	size_t count;
};

struct aggregator {
	struct peerlane_aggregator *own;
	struct watched *groups;
	size_t count;
	bool closed;
	bool lost;
};

static volatile sig_atomic_t stopped;

static void stop(int signal)
{
	(void)signal;
	stopped = 1;
}

/* No SA_RESTART: waiting has to end. */
static void catch_signals(void)
{
	const struct sigaction action = { .sa_handler = stop };

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
}

void aggregator_print_options(void)
{
	fputs("\n  -l, --listen ADDRESS[:PORT]  where; all addresses, port 18517\n"
	      "  -m, --memory SIZE            for all groups, as 256m or 4g; a group of n ranks\n"
	      "                               takes (n + 1) * window * segment: (n + 1) * 512k\n"
	      "  -d, --rdma-device NAME       the one to use; any\n"
	      "      --max-groups N           at once; 64\n"
	      "      --backlog N              connections that have not joined yet; 64\n"
	      "      --timeout MS             after which a rank that does not answer is dead; 5000\n"
	      "      --join-timeout MS        in which all ranks of a group have to come; 60000\n"
	      "      --parent ADDRESS[:PORT]  the aggregator above, for groups placed as a tree\n"
	      "      --parent-lanes N         queue pairs to it; 1\n"
	      "      --secret WORDS           the same as of the groups; also PEERLANE_SECRET and\n"
	      "                               PEERLANE_SECRET_FILE\n"
	      "  -j, --json, --pretty         as JSON, one object a line\n",
	      stdout);
}

/* ---- output --------------------------------------------------------------------- */

static struct json_object *event_json(const char *event)
{
	struct json_object *object = must(json_object_new_object());
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	json_text(object, "event", event, SIZE_MAX);
	json_number(object, "time", (uint64_t)now.tv_sec * 1000000000 +
		    (uint64_t)now.tv_nsec);
	return object;
}

static void emit(struct json_object *object)
{
	json_print(stdout, object, options.pretty);
	fflush(stdout);
}

static void say_listening(const struct peerlane_aggregator_status *status,
			  const char *made)
{
	struct json_object *object;

	if (made)
		note("the secret is %s", made);
	if (!options.json) {
		printf("listening at %s, with %s bytes for groups%s%s\n",
		       status->address, bytes_text(status->pool_bytes),
		       *status->parent ? ", below " : "", status->parent);
		fflush(stdout);
		return;
	}
	object = event_json("listening");
	json_number(object, "id", status->id);
	json_text(object, "address", status->address, sizeof(status->address));
	json_number(object, "memory", status->pool_bytes);
	if (*status->parent)
		json_text(object, "parent", status->parent,
			  sizeof(status->parent));
	emit(object);
}

static void say_formed(const struct peerlane_aggregator_event *event)
{
	struct json_object *object;

	if (!options.json) {
		printf("group %ju: formed, %u ranks\n", (uintmax_t)event->group,
		       event->ranks);
		fflush(stdout);
		return;
	}
	object = event_json("formed");
	json_number(object, "group", event->group);
	json_number(object, "ranks", event->ranks);
	emit(object);
}

static void print_ended(const struct peerlane_aggregator_event *event,
			const char *words, const struct watched *watched)
{
	const char *name = errno_text(event->status);

	printf("group %ju: ended, %s%s%s%s\n", (uintmax_t)event->group, words,
	       *name ? " (" : "", name, *name ? ")" : "");
	if (watched && watched->count)
		ranks_print(watched->ranks, watched->count);
	fflush(stdout);
}

static void say_ended(const struct peerlane_aggregator_event *event,
		      const struct watched *watched)
{
	char words[LATENESS_WORDS], late[LATENESS_WORDS];
	size_t count = watched ? watched->count : 0;
	struct json_object *object;

	ending_words(event->cause, event->rank, words);
	if (!options.json) {
		print_ended(event, words, watched);
		return;
	}
	object = event_json("ended");
	json_number(object, "group", event->group);
	json_number(object, "ranks", event->ranks);
	json_errno(object, event->status);
	json_text(object, "cause", peerlane_ending_name(event->cause), SIZE_MAX);
	json_rank(object, "rank", event->rank);
	json_text(object, "reason", words, SIZE_MAX);
	json_object_object_add(object, "lateness",
			       ranks_json(count ? watched->ranks : NULL, count));
	if (count) {
		lateness_words(watched->ranks, count, late);
		json_text(object, "late", late, SIZE_MAX);
	}
	emit(object);
}

static void say_closed(const struct peerlane_aggregator_event *event)
{
	struct json_object *object;

	if (!options.json) {
		usage_error("closed: its RDMA device or its memory is gone (%s)",
			    errno_text(event->status));
		return;
	}
	object = event_json("closed");
	json_errno(object, event->status);
	emit(object);
}

/* ---- groups ------------------------------------------------------------------------ */

static struct watched *find(const struct aggregator *aggregator, uint64_t group)
{
	for (size_t i = 0; i < aggregator->count; i++)
		if (aggregator->groups[i].group == group)
			return &aggregator->groups[i];
	return NULL;
}

/* What is known stays if the group has gone already. */
static void look(const struct aggregator *aggregator, struct watched *watched)
{
	struct peerlane_rank_status *ranks;
	size_t count;

	if (peerlane_aggregator_ranks(aggregator->own, watched->group, &ranks,
				      &count))
		return;
	free(watched->ranks);
	watched->ranks = ranks;
	watched->count = count;
}

static void look_at_all(const struct aggregator *aggregator)
{
	for (size_t i = 0; i < aggregator->count; i++)
		look(aggregator, &aggregator->groups[i]);
}

static void watch(struct aggregator *aggregator, uint64_t group)
{
	struct watched *watched = find(aggregator, group);

	if (watched || aggregator->count == GROUPS_MOST)
		return;
	aggregator->groups = must(reallocarray(aggregator->groups,
					       aggregator->count + 1,
					       sizeof(*aggregator->groups)));
	watched = &aggregator->groups[aggregator->count++];
	*watched = (struct watched){ .group = group };
	look(aggregator, watched);
}

static void forget(struct aggregator *aggregator, struct watched *watched)
{
	if (!watched)
		return;
	free(watched->ranks);
	*watched = aggregator->groups[--aggregator->count];
}

/* ---- the loop ------------------------------------------------------------------------ */

static void take(struct aggregator *aggregator,
		 const struct peerlane_aggregator_event *event)
{
	struct watched *watched = find(aggregator, event->group);

	if (event->lost)
		note("%u events were not taken in time", event->lost);
	aggregator->lost |= event->lost;
	switch (event->type) {
	case PEERLANE_AGGREGATOR_FORMED:
		say_formed(event);
		watch(aggregator, event->group);
		break;
	case PEERLANE_AGGREGATOR_ENDED:
		if (watched)
			look(aggregator, watched);
		say_ended(event, watched);
		forget(aggregator, watched);
		break;
	case PEERLANE_AGGREGATOR_CLOSED:
		say_closed(event);
		aggregator->closed = true;
		break;
	}
}

static int serve(struct aggregator *aggregator)
{
	struct peerlane_aggregator_event event;
	int error;

	while (!stopped && !aggregator->closed && !ferror(stdout)) {
		error = peerlane_aggregator_next(aggregator->own,
						 aggregator->count ? LOOK_MS :
						 -1, &event);
		if (error == -EAGAIN)
			look_at_all(aggregator);
		else if (!error)
			take(aggregator, &event);
		else if (error != -EINTR)
			return library_error(error);
	}
	if (aggregator->closed)
		return STATUS_ERROR;
	return aggregator->lost ? STATUS_INCOMPLETE : STATUS_OK;
}

/* ---- beginning ---------------------------------------------------------------------- */

static bool is_zero(const uint8_t secret[PEERLANE_SECRET])
{
	static const uint8_t zero[PEERLANE_SECRET];

	return !memcmp(secret, zero, PEERLANE_SECRET);
}

/*
 * From the command line, where other users see it, from the environment, or
 * made up; then @made has it.
 */
static int find_secret(const struct aggregator_options *wanted,
		       uint8_t secret[PEERLANE_SECRET], const char **made)
{
	struct peerlane_launch launch;
	int error;

	*made = NULL;
	if (wanted->secret) {
		error = peerlane_endpoint_secret(wanted->secret, secret);
		return error ? library_error(error) : STATUS_OK;
	}
	error = peerlane_launch_read(&launch, NULL);
	if (error)
		return library_error(error);
	memcpy(secret, launch.secret, PEERLANE_SECRET);
	if (!is_zero(secret))
		return STATUS_OK;
	*made = secret_random();
	if (!*made)
		return usage_error("no random numbers for a secret: %s",
				   strerror(errno));
	error = peerlane_endpoint_secret(*made, secret);
	return error ? library_error(error) : STATUS_OK;
}

static int begin(const struct aggregator_options *wanted,
		 struct aggregator *aggregator)
{
	struct peerlane_aggregator_options own = {
		.size = sizeof(own), .memory = wanted->memory,
		.address = wanted->listen, .backlog = wanted->backlog,
		.max_groups = wanted->max_groups, .timeout = wanted->timeout,
		.join_timeout = wanted->join_timeout,
		.rdma_device = wanted->rdma_device,
		.parent = wanted->parent, .parent_lanes = wanted->parent_lanes,
	};
	struct peerlane_aggregator_status status;
	const char *made;
	int error, found = find_secret(wanted, own.secret, &made);

	if (found)
		return found;
	error = peerlane_aggregator_create(&own, &aggregator->own);
	if (!error)
		error = peerlane_aggregator_query(aggregator->own, &status);
	if (error)
		return library_error(error);
	say_listening(&status, made);
	return STATUS_OK;
}

static int run(const struct aggregator_options *wanted)
{
	struct aggregator aggregator = { .own = NULL };
	int status;

	catch_signals();
	status = begin(wanted, &aggregator);
	if (!status)
		status = serve(&aggregator);
	while (aggregator.count)
		forget(&aggregator, aggregator.groups);
	free(aggregator.groups);
	peerlane_aggregator_close(aggregator.own);
	return status;
}

static int aggregator_run(int argc, char **argv)
{
	char **words = must(calloc((size_t)argc + 2, sizeof(*words)));
	struct aggregator_options wanted;
	char reason[AGGREGATOR_REASON];
	int status = STATUS_OK;

	words[0] = (char []){ "aggregator" };
	if (argc)
		memcpy(words + 1, argv, (size_t)argc * sizeof(*words));
	if (!aggregator_options_parse(&wanted, argc + 1, words, reason)) {
		status = usage_error("%s", reason);
	} else if (wanted.help) {
		aggregator_print_options();
	} else {
		options.json |= wanted.json;
		options.pretty |= wanted.pretty;
		options.human |= wanted.human;
		status = run(&wanted);
	}
	free(words);
	return status;
}

const struct command aggregator_command = {
	"aggregator", aggregator_run, "--memory SIZE [OPTIONS]",
	"sum up in this node's memory what groups give, until interrupted"
};
