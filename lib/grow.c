// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/* Arrays whose length is known when all of it has been read. */
#include "private.h"

#include <stdlib.h>

void *pl_grow(void *list, size_t count, size_t *room, size_t size,
	      struct pl_growth growth)
{
	size_t more = *room ? 2 * *room : growth.first;

	if (count < *room)
		return list;
	list = more > growth.most ? NULL : reallocarray(list, more, size);
	if (list)
		*room = more;
	return list;
}
