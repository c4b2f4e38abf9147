/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SELFTESTS_SIZES_H
#define SELFTESTS_SIZES_H

#define SZ_1G	0x40000000

#endif /* SELFTESTS_SIZES_H */
