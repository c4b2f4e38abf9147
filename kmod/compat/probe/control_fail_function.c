// SPDX-License-Identifier: GPL-2.0
/* Control: an undeclared function must not compile. */
#include <linux/module.h>
int probe(void) { return peerlane_no_such_function(); }
