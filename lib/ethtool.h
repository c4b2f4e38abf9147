/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/* Network interfaces, inside the library. */
#ifndef PEERLANE_ETHTOOL_H
#define PEERLANE_ETHTOOL_H

#include "private.h"

/**
 * struct pl_stats - an interface's statistics as its driver has them
 * @count: rows
 * @names: 32 bytes each, ended in NUL
 * @values: one each
 */
struct pl_stats {
	size_t count;
	char (*names)[32];
	uint64_t *values;
};

/* netdev.c: -ENODEV and a text if it is not in this network namespace */
int pl_netdev_get(const char *name, struct peerlane_netdev_info *info);

/* ethtool.c: 0 or a negative errno, no text */
int pl_ethtool_speeds(const char *name, uint64_t *now, uint64_t *max);
int pl_ethtool_pause(const char *name, bool *autoneg, bool *rx, bool *tx);
int pl_ethtool_driver(const char *name, char *driver, size_t size);
int pl_ethtool_stats(const char *name, struct pl_stats *stats);
void pl_ethtool_stats_free(struct pl_stats *stats);

#endif /* PEERLANE_ETHTOOL_H */
