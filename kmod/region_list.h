/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PEERLANE_REGION_LIST_H
#define PEERLANE_REGION_LIST_H

struct peerlane_region;

void peerlane_region_publish(struct peerlane_region *region);
void peerlane_region_unpublish(struct peerlane_region *region);

#endif /* PEERLANE_REGION_LIST_H */
