// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/* Network interfaces below RDMA ports. */
#include <errno.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>

#include "ethtool.h"
#include "port.h"

int pl_netdev_get(const char *name, struct peerlane_netdev_info *info)
{
	uint64_t number;
	char text[32];

	memset(info, 0, sizeof(*info));
	if (!*name || strchr(name, '/') || strlen(name) >= sizeof(info->name))
		return pl_fail_text(ENODEV, "no network interface \"%s\"",
				    name);
	if (pl_attr_number(&number, PL_NET "/%s/ifindex", name))
		return pl_fail_text(ENODEV, "no network interface %s in this network namespace",
				    name);
	info->ifindex = (int32_t)number;
	pl_copy_text(info->name, name, sizeof(info->name));
	if (!pl_attr_number(&number, PL_NET "/%s/mtu", name))
		info->mtu = (uint32_t)number;
	if (!pl_attr_text(text, sizeof(text), PL_NET "/%s/operstate", name))
		/* Virtual ones may not tell */
		info->up = !strcmp(text, "up") || !strcmp(text, "unknown");
	if (pl_attr_link(info->driver, sizeof(info->driver),
			 PL_NET "/%s/device/driver", name))
		pl_ethtool_driver(name, info->driver, sizeof(info->driver));
	pl_ethtool_speeds(name, &info->speed, &info->speed_max);
	return 0;
}

/* "eth0 eth1": cut off the next one */
static char *next_word(char **text)
{
	char *word = *text + strspn(*text, " ");
	size_t length = strcspn(word, " ");

	*text = word + length;
	if (**text)
		*(*text)++ = '\0';
	return *word ? word : NULL;
}

int peerlane_netdev_members(const char *netdev,
			    struct peerlane_netdev_info **list, size_t *count)
{
	struct peerlane_netdev_info *infos;
	char text[1024] = "", *rest = text, *word;
	size_t n = 0, room = 1, i;
	int ret;

	pl_clear();
	if (!strchr(netdev, '/'))
		pl_attr_text(text, sizeof(text), PL_NET "/%s/bonding/slaves",
			     netdev);
	for (i = 0; text[i]; i++)
		room += text[i] == ' ';
	infos = calloc(room, sizeof(*infos));
	if (!infos)
		return pl_fail(ENOMEM, "interfaces of %s", netdev);
	/* A member that goes meanwhile is one no more. */
	while ((word = next_word(&rest)))
		if (!pl_netdev_get(word, &infos[n]))
			n++;
	if (!n) {
		ret = pl_netdev_get(netdev, &infos[n++]);
		if (ret) {
			free(infos);
			return ret;
		}
	}
	pl_clear();
	*list = infos;
	*count = n;
	return 0;
}
