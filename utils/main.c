// SPDX-License-Identifier: GPL-2.0
/* peerlane: the command. OBJECT and COMMAND are looked up in tables. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

#ifndef PEERLANE_VERSION
#error "PEERLANE_VERSION comes from the Makefile"
#endif

struct options options;

struct object {
	const char *name;	/* first: match_table() relies on it */
	const struct command *commands;
	const size_t *command_count;
	const struct command *single;	/* for an object without commands */
	const char *what;
};

static int help(int argc, char **argv);
static int version(int argc, char **argv);

static const struct command help_command = { "help", help, "", "this text" };
static const struct command version_command = {
	"version", version, "", "of the command and library"
};

static const struct object objects[] = {
	{ "device", device_commands, &device_command_count, NULL,
	  "memory devices: GPUs and accelerators with a BAR" },
	{ "region", region_commands, &region_command_count, NULL,
	  "memory that processes hold" },
	{ "endpoint", endpoint_commands, &endpoint_command_count, NULL,
	  "connections between memory of two nodes" },
	{ "group", group_commands, &group_command_count, NULL,
	  "sums and copies among many nodes, and who is late" },
	{ "aggregator", NULL, NULL, &aggregator_command,
	  "memory of this node in which groups are summed up" },
	{ "bench", bench_commands, &bench_command_count, NULL,
	  "how fast another node's memory is reached" },
	{ "flow", flow_commands, &flow_command_count, NULL,
	  "RDMA flows, and which of them are congested" },
	{ "events", NULL, NULL, &events_command,
	  "congestion, and what becomes of groups, as it happens" },
	{ "metrics", metrics_commands, &metrics_command_count, NULL,
	  "counters for monitoring systems" },
	{ "doctor", NULL, NULL, &doctor_command,
	  "is this node fit for lossless RDMA?" },
	{ "why", NULL, NULL, &why_command,
	  "why are the operations of a group slow?" },
	{ "help", NULL, NULL, &help_command, "this text" },
	{ "version", NULL, NULL, &version_command,
	  "of the command and library" },
};

/* ---- help --------------------------------------------------------------- */

static void print_usage(FILE *stream)
{
	fputs("Usage: peerlane [OPTIONS] OBJECT [COMMAND [ARGUMENTS]]\n"
	      "       peerlane OBJECT help\n"
	      "\n"
	      "OBJECT := {", stream);
	for (size_t i = 0; i < ARRAY_SIZE(objects); i++)
		fprintf(stream, "%s %s", i ? " |" : "", objects[i].name);
	fputs(" }\n"
	      "OPTIONS := { -j[son] | -p[retty] | -h[uman] | -N[umeric] |\n"
	      "             -c[olor][={auto|always|never}] | -V[ersion] | -help }\n"
	      "\n", stream);
	for (size_t i = 0; i < ARRAY_SIZE(objects); i++)
		fprintf(stream, "  %-10s %s\n", objects[i].name,
			objects[i].what);
	fputs("\nWords may be shortened as long as they stay unambiguous.\n",
	      stream);
}

static int print_help(void)
{
	print_usage(stdout);
	return STATUS_OK;
}

static void print_command(const struct object *object,
			  const struct command *command, bool first)
{
	printf("%s peerlane %s%s%s%s%s\n", first ? "Usage:" : "      ",
	       object->name, object->single ? "" : " ",
	       object->single ? "" : command->name, *command->args ? " " : "",
	       command->args);
}

static int name_width(const struct object *object)
{
	size_t width = 8, length;

	for (size_t i = 0; i < *object->command_count; i++) {
		length = strlen(object->commands[i].name);
		width = length > width ? length : width;
	}
	return (int)width;
}

static int print_object_help(const struct object *object)
{
	int width = name_width(object);

	for (size_t i = 0; i < *object->command_count; i++)
		print_command(object, &object->commands[i], !i);
	putchar('\n');
	for (size_t i = 0; i < *object->command_count; i++)
		printf("  %-*s %s\n", width, object->commands[i].name,
		       object->commands[i].what);
	if (object->commands == bench_commands)
		bench_print_options();
	return STATUS_OK;
}

static int print_command_help(const struct object *object,
			      const struct command *command)
{
	print_command(object, command, true);
	printf("\n  %s\n", command->what);
	if (object->commands == bench_commands)
		bench_print_options();
	if (command == &aggregator_command)
		aggregator_print_options();
	return STATUS_OK;
}

static int no_arguments(const char *name, int argc, char **argv)
{
	if (argc)
		return usage_error("%s takes no argument, got \"%s\"", name,
				   argv[0]);
	return STATUS_OK;
}

static int help(int argc, char **argv)
{
	return no_arguments("help", argc, argv) ? STATUS_ERROR : print_help();
}

static int print_version(void)
{
	if (options.json) {
		struct json_object *array = must(json_object_new_array());
		struct json_object *object = must(json_object_new_object());

		json_text(object, "command", PEERLANE_VERSION, SIZE_MAX);
		json_text(object, "library", peerlane_version(), SIZE_MAX);
		json_object_array_add(array, object);
		json_print(stdout, array, options.pretty);
	} else {
		printf("peerlane %s, libpeerlane %s\n", PEERLANE_VERSION,
		       peerlane_version());
	}
	return STATUS_OK;
}

static int version(int argc, char **argv)
{
	return no_arguments("version", argc, argv) ? STATUS_ERROR :
						     print_version();
}

/* One command a line, for shell completion. */
static int print_commands(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(objects); i++) {
		if (!objects[i].commands) {
			puts(objects[i].name);
			continue;
		}
		for (size_t k = 0; k < *objects[i].command_count; k++)
			printf("%s %s\n", objects[i].name,
			       objects[i].commands[k].name);
		printf("%s help\n", objects[i].name);
	}
	return STATUS_OK;
}

/* ---- options ------------------------------------------------------------ */

static bool color_wanted(void)
{
	const char *no_color = getenv("NO_COLOR");
	const char *term = getenv("TERM");

	return isatty(STDOUT_FILENO) && !(no_color && *no_color) && term &&
	       strcmp(term, "dumb");
}

static int parse_color(const char *value)
{
	if (!value || !strcmp(value, "always"))
		options.color = true;
	else if (!strcmp(value, "never"))
		options.color = false;
	else if (!strcmp(value, "auto"))
		options.color = color_wanted();
	else
		return usage_error("-color is auto, always or never, not \"%s\"",
				   value);
	return STATUS_OK;
}

enum option_id {
	OPTION_JSON, OPTION_PRETTY, OPTION_HUMAN, OPTION_NUMERIC, OPTION_COLOR,
	OPTION_VERSION, OPTION_HELP, OPTION_LIST,
};

/* In the order of precedence of their prefixes, as iproute2 has it: -h is -human. */
static const char *const option_names[] = {
	[OPTION_JSON] = "json",
	[OPTION_PRETTY] = "pretty",
	[OPTION_HUMAN] = "human",
	[OPTION_NUMERIC] = "Numeric",
	[OPTION_COLOR] = "color",
	[OPTION_VERSION] = "Version",
	[OPTION_HELP] = "help",
	[OPTION_LIST] = "list-cmds",
};

/*
 * Arguments of some commands that habit spells with a dash (-i 2, --count 5);
 * NULL if @name begins none.
 */
static char *dashed_argument(const char *name)
{
	static char words[][9] = { "interval", "count", "once", "timeout" };

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (match_prefix(name, words[i]))
			return words[i];
	return NULL;
}

static int find_option(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(option_names); i++)
		if (match_prefix(name, option_names[i]))
			return (int)i;
	return strcmp(name, "version") ? -1 : OPTION_VERSION;
}

/* What to do instead of a command, if an option says so. */
typedef int (*action_fn)(void);

static int parse_option(const char *word, action_fn *action)
{
	const char *dashless = word + (word[1] == '-' ? 2 : 1);
	size_t length = strcspn(dashless, "=");
	const char *value = dashless[length] ? dashless + length + 1 : NULL;
	char *name = must(strndup(dashless, length));
	int option = find_option(name);

	free(name);
	if (option < 0 || (value && option != OPTION_COLOR))
		return usage_error("option \"%s\" is unknown, try \"peerlane help\"",
				   word);
	switch (option) {
	case OPTION_JSON:
		options.json = true;
		break;
	case OPTION_PRETTY:
		options.pretty = true;
		break;
	case OPTION_HUMAN:
		options.human = true;
		break;
	case OPTION_NUMERIC:
		options.numeric = true;
		break;
	case OPTION_COLOR:
		return parse_color(value);
	case OPTION_VERSION:
		*action = print_version;
		break;
	case OPTION_HELP:
		*action = print_help;
		break;
	default:
		*action = print_commands;
	}
	return STATUS_OK;
}

/* Before all else, so that -json decides how a complaint about others looks. */
static void find_json(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (argv[i][0] == '-' &&
		    match_prefix(argv[i] + 1 + (argv[i][1] == '-'), "json"))
			options.json = true;
}

/* The argument that @word spells with a dash, or NULL. */
static char *as_argument(const char *word)
{
	const char *name = word + 1 + (word[1] == '-');

	return find_option(name) < 0 ? dashed_argument(name) : NULL;
}

/* Does @word name the object whose options, with dashes, are its own? */
static bool has_own_options(const char *word)
{
	size_t count = 0;
	bool own = false;

	for (size_t i = 0; i < ARRAY_SIZE(objects); i++)
		if (match_prefix(word, objects[i].name)) {
			own = objects[i].commands == bench_commands ||
			      objects[i].single == &aggregator_command;
			count++;
		}
	return own && count == 1;
}

/*
 * Options may stand anywhere, as no argument begins with a dash, but for those
 * of an object that has its own; what is left moves to the front of @argv.
 */
static int parse_options(int *argc, char **argv, action_fn *action)
{
	bool own = false;
	int left = 1;

	find_json(*argc, argv);
	options.color = color_wanted();
	for (int i = 1; i < *argc; i++) {
		char *argument = argv[i];

		if (left == 2 && !own)
			own = has_own_options(argv[1]);
		if (argv[i][0] == '-' && !own)
			argument = as_argument(argv[i]);
		if (argument)
			argv[left++] = argument;
		else if (parse_option(argv[i], action))
			return STATUS_ERROR;
	}
	*argc = left;
	return STATUS_OK;
}

/* ---- dispatch ----------------------------------------------------------- */

static int run_object(const struct object *object, int argc, char **argv)
{
	const char *word = argc ? argv[0] : object->commands[0].name;
	const struct command *command;
	int found;

	/* With dashes where these are not taken for options of all commands */
	if (match_prefix(word + strspn(word, "-"), "help"))
		return print_object_help(object);
	found = match_table("command", word, object->commands,
			    *object->command_count, sizeof(*command));
	if (found < 0)
		return STATUS_ERROR;
	command = &object->commands[found];
	if (argc > 1 && !strcmp(argv[1], "help"))
		return print_command_help(object, command);
	return command->run(argc ? argc - 1 : 0, argv + 1);
}

static int run(int argc, char **argv)
{
	const struct object *object;
	int found;

	if (argc < 2) {
		print_usage(stderr);
		return STATUS_ERROR;
	}
	found = match_table("object", argv[1], objects, ARRAY_SIZE(objects),
			    sizeof(*object));
	if (found < 0)
		return STATUS_ERROR;
	object = &objects[found];
	if (object->commands)
		return run_object(object, argc - 2, argv + 2);
	if (argc > 2 && !strcmp(argv[2], "help"))
		return print_command_help(object, object->single);
	return object->single->run(argc - 2, argv + 2);
}

/* A full disk must not look like an empty list. */
static int finish(int status)
{
	if (fflush(stdout) || ferror(stdout)) {
		usage_error("stdout: %s", strerror(errno));
		return STATUS_ERROR;
	}
	return status;
}

int main(int argc, char **argv)
{
	action_fn action = NULL;

	if (parse_options(&argc, argv, &action))
		return STATUS_ERROR;
	return finish(action ? action() : run(argc, argv));
}
