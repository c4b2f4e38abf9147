// SPDX-License-Identifier: GPL-2.0
/* The words that say which flows are meant, in which order, and how often. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "flow.h"

enum key {
	KEY_DEV, KEY_POINT, KEY_ADDRESS, KEY_SRC, KEY_DST, KEY_QPN,
	KEY_TRANSPORT, KEY_LABEL, KEY_PID, KEY_MIN, KEY_CONGESTED, KEY_SORT,
	KEY_TOP, KEY_INTERVAL, KEY_COUNT, KEY_ONCE, KEY_TIMEOUT, KEY_ALL,
	KEY_CURRENT,
	KEYS,
};

static const struct key_info {
	const char *name;	/* first: match_table() relies on it */
	unsigned int words;
	bool bare;		/* has no value */
} keys[] = {
	[KEY_DEV] = { "dev", WORDS_FILTER, false },
	[KEY_POINT] = { "point", WORDS_FILTER, false },
	[KEY_ADDRESS] = { "address", WORDS_FILTER, false },
	[KEY_SRC] = { "src", WORDS_FILTER, false },
	[KEY_DST] = { "dst", WORDS_FILTER, false },
	[KEY_QPN] = { "qpn", WORDS_FILTER, false },
	[KEY_TRANSPORT] = { "transport", WORDS_FILTER, false },
	[KEY_LABEL] = { "label", WORDS_FILTER, false },
	[KEY_PID] = { "pid", WORDS_LOCAL, false },
	[KEY_MIN] = { "min", WORDS_FILTER, false },
	[KEY_CONGESTED] = { "congested", WORDS_FILTER, true },
	[KEY_SORT] = { "sort", WORDS_ORDER, false },
	[KEY_TOP] = { "top", WORDS_ORDER, false },
	[KEY_INTERVAL] = { "interval", WORDS_TIME, false },
	[KEY_COUNT] = { "count", WORDS_TIME | WORDS_COUNT, false },
	[KEY_ONCE] = { "once", WORDS_TIME, true },
	[KEY_TIMEOUT] = { "timeout", WORDS_TIMEOUT, false },
	[KEY_ALL] = { "all", WORDS_ALL, true },
	[KEY_CURRENT] = { "current", WORDS_CURRENT, true },
};

/* What is left of the command line. */
struct words {
	int count;
	char **at;
	unsigned int groups;	/* that the command takes */
};

static const char *next(struct words *words)
{
	if (!words->count)
		return NULL;
	words->count--;
	return *words->at++;
}

/* ---- values ------------------------------------------------------------- */

int parse_number(const char *what, const char *word, uint64_t least,
		 uint64_t most, uint64_t *number)
{
	char *end;
	unsigned long long value;

	errno = 0;
	value = strtoull(word, &end, 0);
	if (errno || end == word || *end || strchr(word, '-') || value < least ||
	    value > most)
		return usage_error("%s is a number from %ju to %ju, not \"%s\"",
				   what, (uintmax_t)least, (uintmax_t)most,
				   word);
	*number = value;
	return STATUS_OK;
}

static int parse_number32(const char *what, const char *word, uint64_t least,
			  uint64_t most, uint32_t *number)
{
	uint64_t value = 0;
	int status = parse_number(what, word, least, most, &value);

	if (!status)
		*number = (uint32_t)value;
	return status;
}

int parse_seconds(const char *word, uint64_t *ns)
{
	char *end;
	double value;

	errno = 0;
	value = strtod(word, &end);
	if (errno || end == word || *end || !(value >= 0.01 && value <= 86400))
		return usage_error("\"%s\" is no number of seconds from 0.01 to 86400",
				   word);
	*ns = (uint64_t)(value * 1e9);
	return STATUS_OK;
}

static int parse_address(const char *word, uint8_t address[16])
{
	if (peerlane_address_parse(word, address))
		return usage_error("\"%s\" is no IP address", word);
	return STATUS_OK;
}

static int parse_label(const char *word, char label[PEERLANE_FLOW_LABEL])
{
	if (!*word || strlen(word) >= PEERLANE_FLOW_LABEL)
		return usage_error("a label has 1 to %d bytes, not \"%s\"",
				   PEERLANE_FLOW_LABEL - 1, word);
	strcpy(label, word);
	return STATUS_OK;
}

/* Names of counters in a table that match_table() can search. */
static const char *const *counter_names(size_t *count)
{
	static const char *names[PEERLANE_COUNTERS_END];
	static size_t filled;

	for (uint32_t i = 0; !filled && i < PEERLANE_COUNTERS; i++)
		names[i] = peerlane_flow_counter_name(i);
	for (uint32_t i = PEERLANE_COUNT_MISSING;
	     !filled && i < PEERLANE_COUNTERS_END; i++)
		names[PEERLANE_COUNTERS + i - PEERLANE_COUNT_MISSING] =
			peerlane_flow_counter_name(i);
	filled = PEERLANE_COUNTERS + PEERLANE_COUNTERS_END -
		 PEERLANE_COUNT_MISSING;
	*count = filled;
	return names;
}

int flow_parse_counter(const char *word, uint32_t *counter)
{
	size_t count;
	const char *const *names = counter_names(&count);
	int found = match_table("counter", word, names, count,
				sizeof(names[0]));

	if (found < 0)
		return STATUS_ERROR;
	*counter = found < PEERLANE_COUNTERS ? (uint32_t)found :
		   (uint32_t)(found - PEERLANE_COUNTERS + PEERLANE_COUNT_MISSING);
	return STATUS_OK;
}

static bool have_rdma_device(const char *name)
{
	struct peerlane_port_info *ports = NULL;
	size_t count = 0;
	bool found = false;

	if (peerlane_port_list(&ports, &count))
		return false;
	for (size_t i = 0; i < count && !found; i++)
		found = !strcmp(ports[i].device, name);
	free(ports);
	return found;
}

/* A network device where packets are observed, or an RDMA device. */
static int parse_device(const char *word, const struct words *words,
			struct flow_query *query)
{
	int error;

	if (words->groups & WORDS_LOCAL && have_rdma_device(word)) {
		query->rdma = word;
		return STATUS_OK;
	}
	error = peerlane_netdev_index(word, &query->filter.ifindex);
	return error ? library_error(error) : STATUS_OK;
}

/* ---- words -------------------------------------------------------------- */

static int parse_min(const char *word, struct words *words,
		     struct flow_query *query)
{
	struct peerlane_flow_filter *filter = &query->filter;
	struct peerlane_flow_min *min = &filter->min[filter->min_count];
	const char *value = next(words);
	int status;

	if (filter->min_count == PEERLANE_FLOW_MINS)
		return usage_error("there are at most %d filters \"min\"",
				   PEERLANE_FLOW_MINS);
	status = flow_parse_counter(word, &min->counter);
	if (status)
		return status;
	if (min->counter >= PEERLANE_COUNTERS)
		return usage_error("flows cannot be selected by %s",
				   peerlane_flow_counter_name(min->counter));
	if (!value)
		return usage_error("filter \"min\" needs a counter and a value");
	filter->min_count++;
	return parse_number("the smallest value", value, 0, UINT64_MAX,
			    &min->value);
}

/* "by" may be left out. */
static int parse_sort(const char *word, struct words *words,
		      struct flow_query *query)
{
	if (!strcmp(word, "by"))
		word = next(words);
	if (!word)
		return usage_error("\"sort by\" needs a counter");
	query->sorted = true;
	return flow_parse_counter(word, &query->sort);
}

static int parse_top(const char *word, struct words *words,
		     struct flow_query *query)
{
	int status = parse_number32("top", word, 1, UINT32_MAX, &query->top);

	if (status || !words->count || strcmp(*words->at, "by"))
		return status;
	next(words);
	if (query->given & 1U << KEY_SORT)
		return usage_error("\"sort by\" and \"top N by\" are one too many");
	query->given |= 1U << KEY_SORT;
	word = next(words);
	if (!word)
		return usage_error("\"top N by\" needs a counter");
	return parse_sort(word, words, query);
}

static int parse_transport(const char *word, struct flow_query *query)
{
	query->filter.has_transport = true;
	if (peerlane_flow_transport_find(word, &query->filter.transport))
		return usage_error("\"%s\" is no transport: rc, uc, rd, ud, xrc or cnp",
				   word);
	return STATUS_OK;
}

static int parse_point(const char *word, struct flow_query *query)
{
	static const char *const points[] = {
		[PEERLANE_AT_LOCAL_OUT] = "local-out",
		[PEERLANE_AT_LOCAL_IN] = "local-in",
		[PEERLANE_AT_DEVICE] = "device",
	};
	int found = match_table("point", word, points + 1,
				ARRAY_SIZE(points) - 1, sizeof(points[0]));

	if (found < 0)
		return STATUS_ERROR;
	query->filter.point = (uint32_t)found + 1;
	return STATUS_OK;
}

static int parse_pid(const char *word, struct flow_query *query)
{
	uint64_t pid = 0;
	int status = parse_number("a process id", word, 1, INT32_MAX, &pid);

	query->pid = (int32_t)pid;
	return status;
}

static int parse_value(enum key key, const char *word, struct words *words,
		       struct flow_query *query)
{
	struct peerlane_flow_filter *filter = &query->filter;

	switch (key) {
	case KEY_DEV:
		return parse_device(word, words, query);
	case KEY_POINT:
		return parse_point(word, query);
	case KEY_ADDRESS:
		return parse_address(word, filter->address);
	case KEY_SRC:
		return parse_address(word, filter->saddr);
	case KEY_DST:
		return parse_address(word, filter->daddr);
	case KEY_QPN:
		return parse_number32("qpn", word, 1, 0xffffff, &filter->qpn);
	case KEY_TRANSPORT:
		return parse_transport(word, query);
	case KEY_LABEL:
		return parse_label(word, filter->label);
	case KEY_PID:
		return parse_pid(word, query);
	case KEY_MIN:
		return parse_min(word, words, query);
	case KEY_SORT:
		return parse_sort(word, words, query);
	case KEY_TOP:
		return parse_top(word, words, query);
	case KEY_INTERVAL:
		return parse_seconds(word, &query->interval_ns);
	case KEY_COUNT:
		return parse_number("count", word, 1, UINT64_MAX, &query->count);
	default:
		return parse_seconds(word, &query->timeout_ns);
	}
}

static void set_bare(enum key key, struct flow_query *query)
{
	if (key == KEY_CONGESTED)
		query->filter.congested = true;
	if (key == KEY_ONCE)
		query->once = true;
	if (key == KEY_CURRENT)
		query->current = true;
}

/* The keys that the command takes, so that no other is offered. */
static int find_key(const char *word, unsigned int groups, enum key *key)
{
	struct key_info table[KEYS];
	size_t count = 0;
	int found;

	for (size_t i = 0; i < KEYS; i++)
		if (keys[i].words & groups)
			table[count++] = keys[i];
	found = match_table("filter", word, table, count, sizeof(table[0]));
	if (found < 0)
		return STATUS_ERROR;
	for (size_t i = 0; i < KEYS; i++)
		if (keys[i].name == table[found].name)
			*key = (enum key)i;
	return STATUS_OK;
}

static int parse_word(const char *word, struct words *words,
		      struct flow_query *query)
{
	enum key key = KEYS;
	const char *value;

	if (find_key(word, words->groups, &key))
		return STATUS_ERROR;
	if (query->given & 1U << key && key != KEY_MIN)
		return usage_error("filter \"%s\" is given twice",
				   keys[key].name);
	query->given |= 1U << key;
	if (keys[key].bare) {
		set_bare(key, query);
		return STATUS_OK;
	}
	value = next(words);
	if (!value)
		return usage_error("filter \"%s\" needs a value",
				   keys[key].name);
	return parse_value(key, value, words, query);
}

int flow_query_parse(int argc, char **argv, unsigned int words,
		     struct flow_query *query)
{
	struct words left = { .count = argc, .at = argv, .groups = words };
	const char *word;

	memset(query, 0, sizeof(*query));
	query->interval_ns = 2000000000;
	query->sort = PEERLANE_COUNT_RATE_BYTES;
	while ((word = next(&left))) {
		int status = parse_word(word, &left, query);

		if (status)
			return status;
	}
	query->sorted |= !!query->top;
	return STATUS_OK;
}

bool flow_query_selects(const struct flow_query *query)
{
	for (size_t i = 0; i < KEYS; i++)
		if (query->given & 1U << i &&
		    keys[i].words & (WORDS_FILTER | WORDS_LOCAL | WORDS_ALL))
			return true;
	return false;
}
