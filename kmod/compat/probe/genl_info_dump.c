// SPDX-License-Identifier: GPL-2.0
/* Added in 6.6, when dumps got a struct genl_info of their own. */
#include <net/genetlink.h>
struct nlattr **probe(struct netlink_callback *cb)
{
	return genl_info_dump(cb)->attrs;
}
