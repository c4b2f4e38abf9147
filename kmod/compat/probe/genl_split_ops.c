// SPDX-License-Identifier: GPL-2.0
/* Added in 6.2. */
#include <net/genetlink.h>
const struct genl_split_ops probe = { .cmd = 1 };
