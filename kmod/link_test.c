// SPDX-License-Identifier: GPL-2.0
#include <linux/export.h>

#include "link_test.h"

const struct link_test peerlane_link_test = {
	.region_of		= peerlane_region_of,
	.region_put_user	= peerlane_region_put_user,
	.watch			= peerlane_region_watch,
	.unwatch		= peerlane_region_unwatch,
	.get			= link_map_get,
	.get_for		= link_map_get_for,
	.put			= link_map_put,
	.drain			= link_map_drain,
	.length			= link_map_length,
	.writable		= link_map_writable,
	.sges			= link_map_sges,
	.keysg			= link_map_keysg,
	.path_of		= link_path_of,
	.path_of_device		= link_path_of_device,
};
EXPORT_SYMBOL_GPL(peerlane_link_test);
