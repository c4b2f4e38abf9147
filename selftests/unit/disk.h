/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SELFTESTS_UNIT_DISK_H
#define SELFTESTS_UNIT_DISK_H

#include <stdbool.h>
#include <unistd.h>

/*
 * With CONFIG_DMA_API_DEBUG, dma_map_page() warns at and refuses every page of
 * a device (7.2 kernel/dma/mapping.c:199): it means those of P2PDMA, which have
 * a call of their own, and cannot tell ours from them.
 */
static inline bool disk_takes_device_pages(void)
{
	return access("/sys/kernel/debug/dma-api", F_OK) < 0;
}

#define SKIP_DISK()	SKIP("DMA_API_DEBUG refuses O_DIRECT into device pages")

#endif /* SELFTESTS_UNIT_DISK_H */
