// SPDX-License-Identifier: GPL-2.0
/* peerlane events: what happens to flows and groups, as it happens. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "flow.h"
#include "group.h"
#include "units.h"

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

static int64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* The kernel's time since boot as a date, by what the clocks say now. */
static void date_text(uint64_t boot_ns, char to[32])
{
	int64_t real = clock_ns(CLOCK_REALTIME) - clock_ns(CLOCK_BOOTTIME) +
		       (int64_t)boot_ns;
	time_t seconds = (time_t)(real / 1000000000);
	char text[24];
	struct tm parts;

	gmtime_r(&seconds, &parts);
	strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &parts);
	snprintf(to, 32, "%.20s.%03uZ", text,
		 (unsigned int)(real % 1000000000 / 1000000));
}

/* ---- output ------------------------------------------------------------- */

static bool is_flow(const struct peerlane_event *event)
{
	return event->kind != PEERLANE_EVENT_LOST && !event->group.group;
}

/* What of a cause there is in this kind of event, or NULL */
static const char *cause_name(const struct peerlane_event *event)
{
	if (event->kind == PEERLANE_EVENT_GROUP_ENDED)
		return peerlane_ending_name(event->group.cause);
	if (event->kind == PEERLANE_EVENT_LANE_LEFT)
		return peerlane_lane_cause_name(event->group.cause);
	return NULL;
}

static struct json_object *group_json(const struct peerlane_event *event)
{
	const struct peerlane_event_group *group = &event->group;
	struct json_object *object = must(json_object_new_object());
	const char *cause = cause_name(event);

	json_number(object, "group", group->group);
	json_number(object, "id", group->id);
	json_text(object, "by", group->at_aggregator ? "aggregator" : "rank",
		  SIZE_MAX);
	json_number(object, "ranks", group->ranks);
	json_number(object, "rank", group->rank);
	json_number(object, "aggregator", group->aggregator);
	json_number(object, "lane", group->lane);
	json_text(object, "cause", cause ? cause : "", SIZE_MAX);
	json_errno(object, group->status);
	json_rank(object, "fault_rank",
		  event->kind == PEERLANE_EVENT_GROUP_ENDED ?
		  group->fault_rank : PEERLANE_NOBODY);
	json_number(object, "delay", group->delay);
	json_text(object, "label", group->label, sizeof(group->label));
	json_text(object, "reason", group->reason, sizeof(group->reason));
	return object;
}

static void print_json(const struct peerlane_event *event)
{
	static const struct peerlane_flow_qp nobody;
	const struct flow_row row = { .info = &event->flow, .qp = &nobody };
	struct json_object *object = must(json_object_new_object());
	char date[32] = "";

	if (event->time)
		date_text(event->time, date);
	json_text(object, "kind", peerlane_event_name(event->kind), SIZE_MAX);
	json_object_object_add(object, "resync",
			       must(json_object_new_boolean(event->resync)));
	json_number(object, "sequence", event->sequence);
	json_number(object, "time", event->time);
	json_text(object, "date", date, sizeof(date));
	json_number(object, "share", event->share);
	json_number(object, "lost", event->lost);
	json_object_object_add(object, "flow",
			       is_flow(event) ? flow_json(&row, NULL) : NULL);
	json_object_object_add(object, "group",
			       event->group.group ? group_json(event) : NULL);
	json_print(stdout, object, options.pretty);
}

static enum tint tint_of(uint32_t kind)
{
	if (kind == PEERLANE_EVENT_CONGESTION_OFF ||
	    kind == PEERLANE_EVENT_GROUP_FORMED ||
	    kind == PEERLANE_EVENT_RANK_IN_TIME)
		return TINT_GOOD;
	return TINT_BAD;
}

static void print_lost(const struct peerlane_event *event, const char *date)
{
	if (event->lost)
		printf("%s  lost            %ju events\n", date,
		       (uintmax_t)event->lost);
	else
		printf("%s  lost            events, it is not known how many\n",
		       date);
}

static const char *tinted(enum tint tint)
{
	if (!options.color)
		return "";
	return tint == TINT_GOOD ? "\033[32m" : "\033[31m";
}

/* Text of the kernel, made fit for a terminal; empty: nothing. To be freed. */
static char *shown(const char *before, const char *text, size_t room)
{
	char *raw = format_text("%s%.*s", *text ? before : "", (int)room, text);
	char *safe = printable(raw);

	free(raw);
	return safe;
}

static void group_words(const struct peerlane_event *event, char to[160])
{
	const struct peerlane_event_group *group = &event->group;
	char delay[UNITS_ROOM], share[UNITS_ROOM], error[48] = "";

	units_ns(delay, group->delay);
	units_percent(share, event->share / 100);
	if (group->status)
		snprintf(error, sizeof(error), " (%s)", errno_text(group->status));
	switch (event->kind) {
	case PEERLANE_EVENT_GROUP_FORMED:
		snprintf(to, 160, "%u ranks", group->ranks);
		break;
	case PEERLANE_EVENT_GROUP_ENDED:
		snprintf(to, 160, "%s%s", cause_name(event), error);
		break;
	case PEERLANE_EVENT_RANK_LATE:
		snprintf(to, 160, "rank %u by %s, which costs %s of the time",
			 group->rank, delay, share);
		break;
	case PEERLANE_EVENT_RANK_IN_TIME:
		snprintf(to, 160, "rank %u", group->rank);
		break;
	case PEERLANE_EVENT_LANE_LEFT:
		snprintf(to, 160, "lane %u between rank %u and aggregator %u: %s",
			 group->lane, group->rank, group->aggregator,
			 cause_name(event));
		break;
	default:
		*to = '\0';
	}
}

static void print_group(const struct peerlane_event *event, const char *date)
{
	const struct peerlane_event_group *group = &event->group;
	char *label = shown("  ", group->label, sizeof(group->label));
	char *reason = shown(": ", group->reason, sizeof(group->reason));
	char words[160];

	group_words(event, words);
	printf("%s  %s%-14s%s  group %ju  %s%s%s\n", date,
	       tinted(tint_of(event->kind)), peerlane_event_name(event->kind),
	       options.color ? "\033[0m" : "", (uintmax_t)group->group, words,
	       reason, label);
	free(reason);
	free(label);
}

static void print_text(const struct peerlane_event *event)
{
	const struct peerlane_flow_info *flow = &event->flow;
	char date[32] = "-";
	char from[64];
	char to[64];
	char share[UNITS_ROOM] = "-";
	char *label;

	if (event->time)
		date_text(event->time, date);
	if (event->kind == PEERLANE_EVENT_LOST) {
		print_lost(event, date);
		return;
	}
	if (event->group.group) {
		print_group(event, date);
		return;
	}
	flow_end_text(flow->key.saddr, flow->peer_qpn, from);
	flow_end_text(flow->key.daddr, flow->key.qpn, to);
	if (!event->resync)
		units_percent(share, event->share / 100);
	label = shown("  ", flow->label, sizeof(flow->label));
	printf("%s  %s%-14s%s  %7s  %s > %s  %s%s%s\n", date,
	       tinted(tint_of(event->kind)), peerlane_event_name(event->kind),
	       options.color ? "\033[0m" : "", share, from, to,
	       peerlane_flow_transport_name(flow->key.transport),
	       label, event->resync ? "  (since before)" : "");
	free(label);
}

/* ---- following ---------------------------------------------------------- */

struct follow {
	const struct flow_query *query;
	uint64_t end;		/* CLOCK_MONOTONIC, ns; 0 none */
	uint64_t printed;
	bool lost;
};

/* What is left of the time, in ms; -1 for ever. */
static int time_left(const struct follow *follow)
{
	uint64_t now = monotonic_ns();

	if (!follow->end)
		return -1;
	return now >= follow->end ? 0 :
	       (int)((follow->end - now + 999999) / 1000000);
}

static bool is_done(const struct follow *follow)
{
	return stopped || ferror(stdout) ||
	       (follow->query->count && follow->printed >= follow->query->count);
}

static int print_events(struct follow *follow, struct peerlane_events *events)
{
	while (!is_done(follow)) {
		struct peerlane_event event;
		int error = peerlane_event_next(events, time_left(follow),
						&event);

		if (error == -EINTR)
			continue;
		if (error)
			return error;
		if (options.json)
			print_json(&event);
		else
			print_text(&event);
		fflush(stdout);
		follow->lost |= event.kind == PEERLANE_EVENT_LOST;
		follow->printed++;
	}
	return 0;
}

static int status_of(const struct follow *follow, int error)
{
	if (error == -ENODEV) {		/* there will be no more */
		library_error(error);
		return STATUS_ABSENT;
	}
	if (error && error != -EAGAIN)
		return library_error(error);
	if (follow->lost)
		return STATUS_INCOMPLETE;
	/* Fewer came than were waited for: the answer is no. */
	return error && follow->query->count ? STATUS_FINDING : STATUS_OK;
}

static int events_run(int argc, char **argv)
{
	struct flow_query query;
	struct follow follow = { .query = &query };
	struct peerlane_events *events;
	int status = flow_query_parse(argc, argv,
				      WORDS_COUNT | WORDS_TIMEOUT |
				      WORDS_CURRENT, &query);
	int error;

	if (status)
		return status;
	catch_signals();
	error = peerlane_event_open(query.current, &events);
	if (error)
		return library_error(error);
	if (!peerlane_event_has_groups(events))
		note("events of groups are for those with CAP_NET_ADMIN");
	if (query.timeout_ns)
		follow.end = monotonic_ns() + query.timeout_ns;
	status = status_of(&follow, print_events(&follow, events));
	peerlane_event_close(events);
	return status;
}

const struct command events_command = {
	"events", events_run, "[current] [count N] [timeout SECONDS]",
	"congestion, groups that form and end, late ranks: as it happens"
};
