// SPDX-License-Identifier: GPL-2.0
#include <net/genetlink.h>

u8 conftest(void);
u8 conftest(void)
{
	return GENL_MCAST_CAP_NET_ADMIN;
}
