// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/* What drivers of network interfaces tell by ethtool's ioctl. */
#include <errno.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "attr.h"
#include "ethtool.h"

/* A driver with more rows than that is not believed. */
#define ROWS_MOST	65536
/* Rows come and go with the settings: so often they are asked for again. */
#define TRIES		4

/* Link modes: what bit is how fast. Bits that say no speed are left out. */
static const struct {
	unsigned short first, last;
	unsigned int mbit;
} modes[] = {
	{ 0, 1, 10 }, { 2, 3, 100 }, { 4, 5, 1000 }, { 12, 12, 10000 },
	{ 15, 15, 2500 }, { 17, 17, 1000 }, { 18, 20, 10000 },
	{ 21, 22, 20000 }, { 23, 26, 40000 }, { 27, 30, 56000 },
	{ 31, 33, 25000 }, { 34, 35, 50000 }, { 36, 39, 100000 },
	{ 40, 40, 50000 }, { 41, 41, 1000 }, { 42, 46, 10000 },
	{ 47, 47, 2500 }, { 48, 48, 5000 }, { 52, 56, 50000 },
	{ 57, 61, 100000 }, { 62, 66, 200000 }, { 67, 67, 100 },
	{ 68, 68, 1000 }, { 69, 73, 400000 }, { 75, 79, 100000 },
	{ 80, 84, 200000 }, { 85, 89, 400000 }, { 90, 91, 100 },
	{ 92, 92, 10 }, { 93, 98, 800000 }, { 99, 102, 10 },
	{ 103, 108, 200000 }, { 109, 114, 400000 }, { 115, 120, 800000 },
	{ 121, 124, 1600000 },
};

static int call(const char *name, void *request)
{
	struct ifreq ifr = { .ifr_data = request };
	int fd, ret;

	if (strlen(name) >= sizeof(ifr.ifr_name))
		return -ENODEV;
	pl_copy_text(ifr.ifr_name, name, sizeof(ifr.ifr_name));
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	ret = ioctl(fd, SIOCETHTOOL, &ifr) < 0 ? -errno : 0;
	pl_close(fd);
	return ret;
}

static bool bit(const uint32_t *words, size_t count, unsigned int number)
{
	return number / 32 < count &&
		words[number / 32] >> number % 32 & 1;
}

static unsigned int fastest(const uint32_t *words, size_t count)
{
	unsigned int best = 0, number;
	size_t i;

	for (i = 0; i < sizeof(modes) / sizeof(modes[0]); i++)
		for (number = modes[i].first; number <= modes[i].last; number++)
			if (bit(words, count, number) && modes[i].mbit > best)
				best = modes[i].mbit;
	return best;
}

int pl_ethtool_speeds(const char *name, uint64_t *now, uint64_t *max)
{
	struct {
		struct ethtool_link_settings head;
		uint32_t words[3 * 128];
	} link = { .head.cmd = ETHTOOL_GLINKSETTINGS };
	int ret, words;

	/* The first time the kernel says how many words it has. */
	ret = call(name, &link);
	if (ret)
		return ret;
	words = -link.head.link_mode_masks_nwords;
	if (words <= 0 || words > 127)
		return -EPROTO;
	memset(&link, 0, sizeof(link));
	link.head.cmd = ETHTOOL_GLINKSETTINGS;
	link.head.link_mode_masks_nwords = (int8_t)words;
	ret = call(name, &link);
	if (ret)
		return ret;
	*now = link.head.speed == (uint32_t)SPEED_UNKNOWN ? 0 :
		link.head.speed * UINT64_C(1000000);
	*max = fastest(link.words, (size_t)words) * UINT64_C(1000000);
	return 0;
}

int pl_ethtool_pause(const char *name, bool *autoneg, bool *rx, bool *tx)
{
	struct ethtool_pauseparam param = { .cmd = ETHTOOL_GPAUSEPARAM };
	int ret = call(name, &param);

	if (ret)
		return ret;
	*autoneg = param.autoneg;
	*rx = param.rx_pause;
	*tx = param.tx_pause;
	return 0;
}

int pl_ethtool_driver(const char *name, char *driver, size_t size)
{
	struct ethtool_drvinfo info = { .cmd = ETHTOOL_GDRVINFO };
	int ret = call(name, &info);

	if (ret)
		return ret;
	info.driver[sizeof(info.driver) - 1] = '\0';
	pl_copy_text(driver, info.driver, size);
	return 0;
}

static int count_rows(const char *name, size_t *count)
{
	struct {
		struct ethtool_sset_info head;
		uint32_t count;
	} info = { .head.cmd = ETHTOOL_GSSET_INFO,
		   .head.sset_mask = 1ULL << ETH_SS_STATS };
	int ret = call(name, &info);

	if (ret)
		return ret;
	*count = info.head.sset_mask ? info.count : 0;
	return *count > ROWS_MOST ? -EPROTO : 0;
}

/*
 * The kernel writes as many rows as there are when it is called, whatever it is
 * told: so there is room for many more.
 */
static size_t room_for(size_t count)
{
	return 2 * count + 4096;
}

/* Some drivers fill names up with blanks. */
static void trim(char name[32])
{
	size_t length;

	name[31] = '\0';
	length = strlen(name);
	while (length && name[length - 1] == ' ')
		name[--length] = '\0';
}

static int read_names(const char *name, size_t count, struct pl_stats *stats)
{
	struct ethtool_gstrings *strings;
	size_t i;
	int ret;

	strings = calloc(1, sizeof(*strings) + room_for(count) * 32);
	if (!strings)
		return -ENOMEM;
	strings->cmd = ETHTOOL_GSTRINGS;
	strings->string_set = ETH_SS_STATS;
	strings->len = (uint32_t)count;
	ret = call(name, strings);
	if (!ret && strings->len != count)
		ret = -EAGAIN;
	if (!ret) {
		memcpy(stats->names, strings->data, count * 32);
		for (i = 0; i < count; i++)
			trim(stats->names[i]);
	}
	free(strings);
	return ret;
}

static int read_values(const char *name, size_t count, struct pl_stats *stats)
{
	struct ethtool_stats *values;
	int ret;

	values = calloc(1, sizeof(*values) + room_for(count) * 8);
	if (!values)
		return -ENOMEM;
	values->cmd = ETHTOOL_GSTATS;
	values->n_stats = (uint32_t)count;
	ret = call(name, values);
	if (!ret && values->n_stats != count)
		ret = -EAGAIN;
	if (!ret)
		memcpy(stats->values, values->data, count * 8);
	free(values);
	return ret;
}

static int try_stats(const char *name, struct pl_stats *stats)
{
	size_t count, again;
	int ret;

	ret = count_rows(name, &count);
	if (ret)
		return ret;
	stats->names = calloc(count + 1, sizeof(*stats->names));
	stats->values = calloc(count + 1, sizeof(*stats->values));
	stats->count = count;
	if (!stats->names || !stats->values)
		return -ENOMEM;
	if (!count)
		return 0;
	ret = read_names(name, count, stats);
	if (!ret)
		ret = read_values(name, count, stats);
	/* One may have gone and another come: then names are others' */
	if (!ret)
		ret = count_rows(name, &again);
	if (!ret && again != count)
		ret = -EAGAIN;
	return ret;
}

int pl_ethtool_stats(const char *name, struct pl_stats *stats)
{
	int ret = -EAGAIN, i;

	for (i = 0; i < TRIES && ret == -EAGAIN; i++) {
		memset(stats, 0, sizeof(*stats));
		ret = try_stats(name, stats);
		if (ret)
			pl_ethtool_stats_free(stats);
	}
	return ret;
}

void pl_ethtool_stats_free(struct pl_stats *stats)
{
	free(stats->names);
	free(stats->values);
	memset(stats, 0, sizeof(*stats));
}
