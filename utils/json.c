// SPDX-License-Identifier: GPL-2.0
/*
 * JSON output. Everything is written in ASCII: other characters as \uXXXX, bytes
 * that are no UTF-8 as U+FFFD. So the text is valid whatever a process calls
 * itself, and no terminal sees a control sequence.
 */
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "utf8.h"

void json_text(struct json_object *object, const char *key, const char *text,
	       size_t room)
{
	size_t length = strnlen(text, room);
	struct json_object *value = NULL;

	if (length)
		value = must(json_object_new_string_len(text, (int)length));
	json_object_object_add(object, key, value);
}

void json_number(struct json_object *object, const char *key, uint64_t value)
{
	json_object_object_add(object, key,
			       must(json_object_new_uint64(value)));
}

void json_or_null(struct json_object *object, const char *key, int64_t value,
		  int64_t none)
{
	struct json_object *number = NULL;

	if (value != none)
		number = must(json_object_new_int64(value));
	json_object_object_add(object, key, number);
}

static void print_escaped(FILE *stream, uint32_t character)
{
	if (character < 0x10000) {
		fprintf(stream, "\\u%04x", character);
		return;
	}
	character -= 0x10000;
	fprintf(stream, "\\u%04x\\u%04x", 0xd800 | character >> 10,
		0xdc00 | (character & 0x3ff));
}

/* json-c has escaped what is below a space, so the rest lies within strings. */
static void print_ascii(FILE *stream, const char *json)
{
	const unsigned char *at = (const unsigned char *)json;
	size_t length;

	for (; *at; at += length) {
		int32_t character = utf8_decode(at, &length);

		if (character < 0)
			print_escaped(stream, 0xfffd);
		else if (character >= 0x7f)
			print_escaped(stream, (uint32_t)character);
		else
			fputc(character, stream);
	}
}

void json_print(FILE *stream, struct json_object *value, bool pretty)
{
	int flags = JSON_C_TO_STRING_NOSLASHESCAPE;
	const char *text;

	if (pretty)
		flags |= JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED;
	text = json_object_to_json_string_ext(value, flags);
	if (!text) {
		fputs("peerlane: out of memory\n", stderr);
		exit(STATUS_ERROR);
	}
	print_ascii(stream, text);
	fputc('\n', stream);
	json_object_put(value);
}
