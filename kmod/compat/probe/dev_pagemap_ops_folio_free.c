// SPDX-License-Identifier: GPL-2.0
/* page_free() became folio_free() in 6.19. */
#include <linux/memremap.h>
static void callback(struct folio *folio) { }
const struct dev_pagemap_ops probe = { .folio_free = callback };
