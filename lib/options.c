// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/* Options that callers give in a struct that may grow. */
#include <errno.h>

#include "private.h"

int pl_options(void *own, size_t own_size, const void *options, size_t size,
	       size_t least, const char *what)
{
	const char *bytes = options;
	size_t i;

	if (size < least)
		return pl_fail_text(EINVAL, "options of %s: their size is not set",
				    what);
	for (i = own_size; i < size; i++)
		if (bytes[i])
			return pl_fail_text(E2BIG, "options of %s: this library is older than what they ask for",
					    what);
	memset(own, 0, own_size);
	memcpy(own, options, size < own_size ? size : own_size);
	return 0;
}

int pl_options_text(char *to, size_t room, const char *text, const char *part,
		    const char *what)
{
	size_t length = text ? strlen(text) : 0;

	if (length >= room)
		return pl_fail_text(EINVAL, "%s of %s: %zu bytes are too long, %zu is the most",
				    part, what, length, room - 1);
	if (length)
		memcpy(to, text, length);
	return 0;
}

bool pl_is_zero(const uint8_t *bytes, size_t size)
{
	while (size && !bytes[size - 1])
		size--;
	return !size;
}
