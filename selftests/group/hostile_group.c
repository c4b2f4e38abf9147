// SPDX-License-Identifier: GPL-2.0
/* What groups say, by the module's own code. */
#include <stdio.h>

#include "hostile.h"
#include "tap.h"

#define U32_MAX UINT32_MAX
#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/* Of 64 bits, but not the same type as in the kernel. */
#pragma GCC diagnostic ignored "-Wformat"
#include "group_wire.c"
