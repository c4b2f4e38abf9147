/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/* What this node lets RDMA programs do. The rules of <peerlane.h> hold. */
#ifndef LIBPEERLANE_NODE_H
#define LIBPEERLANE_NODE_H

#include <peerlane/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * struct peerlane_node_info - what this node lets RDMA programs do
 * @kernel: its release
 * @config: file that @p2pdma and the next come from, or empty
 * @memlock: bytes this process may pin, UINT64_MAX no limit
 * @memlock_max: what it may raise that to
 * @p2pdma: of the kernel's configuration: 'y', 'm', 'n', 0 unknown
 * @dmabuf: DMA_SHARED_BUFFER, like it
 * @device_pages: ZONE_DEVICE, like it
 * @ingress: NETFILTER_INGRESS, like it
 * @dcb: DCB, like it
 * @memlock_free: the limit does not apply (CAP_IPC_LOCK)
 * @module: the peerlane module is loaded
 * @rdma: RDMA core is loaded
 * @rdma_shared: RDMA devices are seen in all network namespaces: 1 yes, 0 no,
 *	-1 not told
 */
struct peerlane_node_info {
	char kernel[72];
	char config[96];
	uint64_t memlock;
	uint64_t memlock_max;
	char p2pdma;
	char dmabuf;
	char device_pages;
	char ingress;
	char dcb;
	bool memlock_free;
	bool module;
	bool rdma;
	int32_t rdma_shared;
};

/**
 * peerlane_node_query() - what this node lets RDMA programs do
 * @info: filled
 *
 * Return: 0.
 */
PEERLANE_API int peerlane_node_query(struct peerlane_node_info *info);

#ifdef __cplusplus
}
#endif

#endif /* LIBPEERLANE_NODE_H */
