// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/* Pause frames of an interface, by the names that drivers have for them. */
#include <errno.h>
#include <string.h>

#include "ethtool.h"

enum kind { RX_FRAMES, TX_FRAMES, RX_TIME, RX_GLOBAL, TX_GLOBAL };

/*
 * '#' stands for the priority. On and off frames of ice and i40e are counted
 * apart: those that pause are taken.
 */
static const struct {
	const char *pattern;
	enum kind kind;
} patterns[] = {
	{ "rx_prio#_pause", RX_FRAMES },		/* mlx5 */
	{ "tx_prio#_pause", TX_FRAMES },
	{ "rx_prio#_pause_duration", RX_TIME },
	{ "rx_pause_prio_#", RX_FRAMES },		/* mlx4 */
	{ "tx_pause_prio_#", TX_FRAMES },
	{ "rx_pause_duration_prio_#", RX_TIME },
	{ "rx_pfc_ena_frames_pri#", RX_FRAMES },	/* bnxt_en */
	{ "tx_pfc_ena_frames_pri#", TX_FRAMES },
	{ "rx_priority_#_xoff.nic", RX_FRAMES },	/* ice */
	{ "tx_priority_#_xoff.nic", TX_FRAMES },
	{ "port.rx_priority_#_xoff_rx", RX_FRAMES },	/* i40e */
	{ "port.tx_priority_#_xoff_tx", TX_FRAMES },
	{ "rx_pb_#_pxoff", RX_FRAMES },			/* ixgbe */
	{ "tx_pb_#_pxoff", TX_FRAMES },
	{ "rx_ppp#_frames", RX_FRAMES },		/* cxgb4 */
	{ "tx_ppp#_frames", TX_FRAMES },
	{ "mac_rx_pfc_pri#_pkt_num", RX_FRAMES },	/* hns3 */
	{ "mac_tx_pfc_pri#_pkt_num", TX_FRAMES },
	{ "rx_pause_ctrl_phy", RX_GLOBAL },		/* mlx5 */
	{ "tx_pause_ctrl_phy", TX_GLOBAL },
	{ "rx_pause_frames", RX_GLOBAL },		/* bnxt_en, cxgb4 */
	{ "tx_pause_frames", TX_GLOBAL },
	{ "rx_pause", RX_GLOBAL },			/* mlx4 */
	{ "tx_pause", TX_GLOBAL },
	{ "link_xoff_rx.nic", RX_GLOBAL },		/* ice */
	{ "link_xoff_tx.nic", TX_GLOBAL },
	{ "port.link_xoff_rx", RX_GLOBAL },		/* i40e */
	{ "port.link_xoff_tx", TX_GLOBAL },
};

/* Does @name fit, and for which priority? -1 without one */
static bool fits(const char *pattern, const char *name, int *prio)
{
	const char *mark = strchr(pattern, '#');
	size_t before = mark ? (size_t)(mark - pattern) : strlen(pattern);

	*prio = -1;
	if (strncmp(pattern, name, before))
		return false;
	if (!mark)
		return !name[before];
	if (name[before] < '0' || name[before] > '7')
		return false;
	*prio = name[before] - '0';
	return !strcmp(mark + 1, name + before + 1);
}

static void put(struct peerlane_pause_info *info, enum kind kind, int prio,
		uint64_t value)
{
	switch (kind) {
	case RX_FRAMES:
		info->rx_frames[prio] = value;
		info->rx_have |= 1U << prio;
		break;
	case TX_FRAMES:
		info->tx_frames[prio] = value;
		info->tx_have |= 1U << prio;
		break;
	case RX_TIME:
		info->rx_usec[prio] = value;
		info->usec_have |= 1U << prio;
		break;
	case RX_GLOBAL:
		info->rx_global = value;
		info->have_global = true;
		break;
	case TX_GLOBAL:
		info->tx_global = value;
		info->have_global = true;
		break;
	}
}

static void sort_in(struct peerlane_pause_info *info, const char *name,
		    uint64_t value)
{
	size_t i;
	int prio;

	for (i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++)
		if (fits(patterns[i].pattern, name, &prio)) {
			put(info, patterns[i].kind, prio, value);
			return;
		}
}

int peerlane_pause_query(const char *netdev, struct peerlane_pause_info *info)
{
	struct peerlane_pause_info found = { 0 };
	struct peerlane_netdev_info device;
	struct pl_stats stats = { 0 };
	size_t i;
	int ret;

	pl_clear();
	ret = pl_netdev_get(netdev, &device);
	if (ret)
		return ret;
	ret = pl_ethtool_stats(netdev, &stats);
	if (ret == -ENOMEM)
		return pl_fail(ENOMEM, "statistics of %s", netdev);
	for (i = 0; !ret && i < stats.count; i++)
		sort_in(&found, stats.names[i], stats.values[i]);
	pl_ethtool_stats_free(&stats);
	found.have_param = !pl_ethtool_pause(netdev, &found.autoneg, &found.rx,
					     &found.tx);
	*info = found;
	return 0;
}
