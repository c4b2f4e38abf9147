/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the files of the peerlane command share. Data goes to stdout, all else
 * to stderr; every string that comes from outside passes through print.c or
 * json.c, which let no control character through.
 */
#ifndef PEERLANE_CLI_H
#define PEERLANE_CLI_H

#include <json-c/json.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <peerlane.h>

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))
#define PRINTF(f, a)	__attribute__((format(printf, f, a)))

/* Exit status, as documented in peerlane(8). */
enum status {
	STATUS_OK = 0,
	STATUS_ERROR = 1,	/* usage, or the call was refused */
	STATUS_FINDING = 2,	/* the answer is no */
	STATUS_INCOMPLETE = 3,	/* data are missing from the answer */
	STATUS_ABSENT = 4,	/* the module is not loaded */
};

struct options {
	bool json;
	bool pretty;
	bool human;
	bool numeric;
	bool color;
};

extern struct options options;

/* ---- commands (main.c, cmd_*.c) ----------------------------------------- */

struct command {
	const char *name;	/* first: match_table() relies on it */
	int (*run)(int argc, char **argv);
	const char *args;	/* as in the usage line */
	const char *what;	/* one line */
};

extern const struct command device_commands[];
extern const size_t device_command_count;
extern const struct command region_commands[];
extern const size_t region_command_count;
extern const struct command flow_commands[];
extern const size_t flow_command_count;
extern const struct command metrics_commands[];
extern const size_t metrics_command_count;
extern const struct command endpoint_commands[];
extern const size_t endpoint_command_count;
extern const struct command group_commands[];
extern const size_t group_command_count;
extern const struct command aggregator_command;
extern const struct command bench_commands[];
extern const size_t bench_command_count;
extern const struct command events_command;
extern const struct command doctor_command;
extern const struct command why_command;

/* The options of all of bench's commands, on stdout */
void bench_print_options(void);
/* Those of aggregator */
void aggregator_print_options(void);

/* As peerlane_device_unbind(); says on stderr whom it waits for. */
int unbind_device(const char *address, const char *name);

/* ---- words (match.c) ---------------------------------------------------- */

enum { MATCH_NONE = -1, MATCH_AMBIGUOUS = -2 };

/*
 * Which of @count elements of @table is meant by @word: the one of that name,
 * or the only one whose name begins so. The first member of an element is its
 * name. A word that fits none or several is reported as an unknown or
 * ambiguous @noun.
 */
int match_table(const char *noun, const char *word, const void *table,
		size_t count, size_t stride);
bool match_prefix(const char *word, const char *name);

/* ---- messages on stderr (message.c) ------------------------------------- */

/* A wrong command line. Returns STATUS_ERROR. */
int usage_error(const char *format, ...) PRINTF(1, 2);
/*
 * A library call returned @error (negative errno); prints the library's reason,
 * which names what was asked for. Returns the exit status that fits.
 */
int library_error(int error);
/* Something to know that is no error. */
void note(const char *format, ...) PRINTF(1, 2);
/* The line that explains a refusal; a copy, freed by the caller. */
char *library_reason(int error);

/* ---- tables on stdout (print.c) ----------------------------------------- */

enum tint { TINT_NONE, TINT_BOLD, TINT_GOOD, TINT_WARN, TINT_BAD };

struct column {
	const char *title;
	bool right;
};

struct table;

struct table *table_new(const struct column *columns, size_t count);
void table_cell(struct table *table, enum tint tint, const char *format, ...)
	PRINTF(3, 4);
void table_print(const struct table *table);
void table_free(struct table *table);

/* "key  value", for one object in full; 12 characters are kept for keys. */
void property_width(int width);
void property(const char *key, enum tint tint, const char *format, ...)
	PRINTF(3, 4);

/* A copy of @text in printable ASCII, other bytes as \xNN; freed by the caller. */
char *printable(const char *text);
/* A number of bytes as the options want it, in one of a few static buffers. */
const char *bytes_text(uint64_t bytes);

void *must(void *allocated);
char *format_text(const char *format, ...) PRINTF(1, 2);
char *format_args(const char *format, va_list args) PRINTF(1, 0);

/* ---- JSON (json.c) ------------------------------------------------------ */

void json_text(struct json_object *object, const char *key, const char *text,
	       size_t room);
void json_number(struct json_object *object, const char *key, uint64_t value);
/* @value, or null if it is @none */
void json_or_null(struct json_object *object, const char *key, int64_t value,
		  int64_t none);
/* Print @value with a newline and free it. */
void json_print(FILE *stream, struct json_object *value, bool pretty);

#pragma GCC poison u8 u16 u32 u64

#endif /* PEERLANE_CLI_H */
