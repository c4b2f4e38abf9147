/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * Regions: memory that peers can reach, and what moves bytes of it.
 * The rules of <peerlane.h> hold.
 */
#ifndef LIBPEERLANE_REGION_H
#define LIBPEERLANE_REGION_H

#include <peerlane/base.h>

#ifdef __cplusplus
extern "C" {
#endif

struct ibv_pd;
struct ibv_mr;
struct peerlane_region;

#define PEERLANE_CAN_MMAP	(1U << 0)
#define PEERLANE_CAN_REG_MR	(1U << 1)
#define PEERLANE_CAN_EXPORT	(1U << 2)
#define PEERLANE_CAN_HW_DMA	(1U << 3)
#define PEERLANE_CAN_VIRT_DMA	(1U << 4)
#define PEERLANE_CAN_DIRECT_IO	(1U << 5)
#define PEERLANE_CAN_REVOKE	(1U << 6)

/**
 * struct peerlane_region_info - one region
 * @id: its number on this node
 * @length: bytes
 * @dev_offset: where it lies in its device
 * @uid: who opened it (lists only)
 * @pid: process that opened it (lists only), 0 unknown
 * @mapper_pid: a process that maps or last mapped it (lists only), 0 none
 * @kind: see peerlane_kind_name()
 * @state: see peerlane_state_name()
 * @caps: PEERLANE_CAN_* (peerlane_region_query() only)
 * @memtype: see peerlane_memtype_name() (peerlane_region_query() only, "none"
 *	in lists)
 * @exports: dma-bufs of it that are open
 * @attachments: DMA mappings held by importing devices
 * @mappings: CPU mappings
 * @pinned_units: in limbo: allocation units still pinned
 * @numa_node: of its device, or -1 (peerlane_region_query() only, -1 in lists)
 * @comm: command name of @pid
 * @mapper_comm: command name of @mapper_pid
 * @device: its device, empty for imports and host pages
 */
struct peerlane_region_info {
	uint64_t id;
	uint64_t length;
	uint64_t dev_offset;
	uint32_t uid;
	int32_t pid;
	int32_t mapper_pid;
	uint32_t kind;
	uint32_t state;
	uint32_t caps;
	uint32_t memtype;
	uint32_t exports;
	uint32_t attachments;
	uint32_t mappings;
	uint32_t pinned_units;
	int32_t numa_node;
	char comm[16];
	char mapper_comm[16];
	char device[32];
};

/**
 * peerlane_region_list() - regions on this node
 * @list: set to an array, freed by the caller with free()
 * @count: set to its length
 *
 * Without CAP_SYS_ADMIN only the caller's own. Return: as
 * peerlane_device_list().
 */
PEERLANE_API int peerlane_region_list(struct peerlane_region_info **list,
				      size_t *count);

/**
 * peerlane_region_alloc() - memory of a device
 * @device: device name
 * @length: bytes, > 0
 * @region: set; released with peerlane_region_free()
 *
 * The memory is zero. Return: 0; -ENODEV no such device, or module not loaded;
 * -EINVAL @length is 0; -EACCES; -ENOSPC; -EDQUOT; -ENOMEM.
 */
PEERLANE_API int peerlane_region_alloc(const char *device, size_t length,
				       struct peerlane_region **region);

/**
 * peerlane_region_import() - a region of a dma-buf (of a GPU driver, ...)
 * @dmabuf_fd: stays the caller's
 * @offset: page-aligned
 * @length: page-aligned; 0 = to the end
 * @region: set
 *
 * Return: 0; -EBADF @dmabuf_fd is not a dma-buf; -EINVAL alignment or range;
 * -ENOENT module not loaded; -EACCES.
 */
PEERLANE_API int peerlane_region_import(int dmabuf_fd, uint64_t offset,
					size_t length,
					struct peerlane_region **region);

/**
 * peerlane_region_host() - a region of the caller's own pages
 * @addr: page-aligned; must stay mapped until the region is freed
 * @length: page-aligned
 * @read_only: peers may only read
 * @region: set
 *
 * Charged to RLIMIT_MEMLOCK. Return: 0; -ENOMEM over that limit; -EINVAL
 * alignment; -EFAULT not mapped, or not writable and not @read_only; -ENOENT
 * module not loaded; -EACCES.
 */
PEERLANE_API int peerlane_region_host(void *addr, size_t length, bool read_only,
				      struct peerlane_region **region);

/**
 * peerlane_region_gpu() - a region of CUDA or HIP memory
 * @ptr: device pointer from cudaMalloc(), hipMalloc(), ... ; any alignment
 * @length: bytes
 * @region: set
 *
 * Asks the vendor's driver library that this process has loaded (libcuda.so.1,
 * then libamdhip64.so and libhsa-runtime64.so.1; none is loaded by this call,
 * as a pointer can only come from one that is) for a dma-buf of the pages
 * around [@ptr, @ptr + @length). The bytes asked for begin at
 * peerlane_region_gpu_offset() in the region. On CUDA memory that has it,
 * CU_POINTER_ATTRIBUTE_SYNC_MEMOPS is set (cuMemCreate() memory has not). The
 * vendor's library has to be initialised by the caller. Return: 0; -ENOSYS no
 * vendor library in this process; -EFAULT no library knows the pointer;
 * -EOPNOTSUPP the driver cannot export it; -EINVAL @length is 0; -EOVERFLOW;
 * else as peerlane_region_import().
 */
PEERLANE_API int peerlane_region_gpu(const void *ptr, size_t length,
				     struct peerlane_region **region);

/** peerlane_region_gpu_offset() - where the pointer lies in its region, bytes. */
PEERLANE_API uint64_t
peerlane_region_gpu_offset(const struct peerlane_region *region);

/**
 * peerlane_region_from_fd() - a region received from another process
 * @fd: region file; owned by the region from then on (not on failure), and
 *	made close-on-exec
 * @region: set
 *
 * Return: 0; -EBADF not a region.
 */
PEERLANE_API int peerlane_region_from_fd(int fd,
					 struct peerlane_region **region);

/** peerlane_region_fd() - the region file, for SCM_RIGHTS or poll; stays owned by @region. */
PEERLANE_API int peerlane_region_fd(const struct peerlane_region *region);

/**
 * peerlane_region_free() - unmap, deregister nothing, close
 * @region: may be NULL
 *
 * MRs made with peerlane_region_reg_mr() may outlive it: the module keeps the
 * memory from others until they are gone.
 */
PEERLANE_API void peerlane_region_free(struct peerlane_region *region);

/** peerlane_region_query() - kind, state, capabilities of @region. */
PEERLANE_API int peerlane_region_query(const struct peerlane_region *region,
				       struct peerlane_region_info *info);

/**
 * peerlane_region_map() - CPU mapping of the whole region
 * @region: mapped once; a second call gives the same address
 * @addr: set
 *
 * Write-combining where the device is: read it with peerlane_copy_from(). For
 * host pages in the process that made the region it is their own address.
 * Return: 0; -EOPNOTSUPP the kind has no CPU mapping; -ENODEV revoked;
 * -ENODATA the region is empty.
 */
PEERLANE_API int peerlane_region_map(struct peerlane_region *region,
				     void **addr);

/**
 * peerlane_region_unmap() - end the mapping; 0 also when there is none
 * @region: stays usable
 *
 * Host pages stay mapped.
 */
PEERLANE_API int peerlane_region_unmap(struct peerlane_region *region);

/**
 * peerlane_region_export() - a dma-buf of a part of the region
 * @region: stays usable
 * @offset: page-aligned
 * @length: page-aligned
 * @revocable_only: refuse importers that cannot let go
 * @fd: set, O_CLOEXEC, the caller closes it
 *
 * An imported dma-buf is handed on as it came: @offset must be 0 and @length
 * that of the region, and @fd is the whole dma-buf. Return: 0; -EINVAL
 * alignment or range; -EOPNOTSUPP the kind has none; -ENODEV revoked; -ENODATA
 * empty.
 */
PEERLANE_API int peerlane_region_export(const struct peerlane_region *region,
					uint64_t offset, size_t length,
					bool revocable_only, int *fd);

/**
 * peerlane_region_revoke() - cut every user of the region, this one too
 * @region: is still to be freed
 *
 * The mapping stays where it is and gives SIGBUS. Return: 0; -EBUSY revoked
 * already; -ENODATA empty.
 */
PEERLANE_API int peerlane_region_revoke(struct peerlane_region *region);

/**
 * peerlane_region_reg_mr() - register a part of the region with a NIC
 * @region: stays usable
 * @pd: protection domain
 * @offset: bytes
 * @length: bytes, > 0
 * @access: IBV_ACCESS_*
 * @mr: set; ended with ibv_dereg_mr(). Its addr is the CPU address of the first
 *	byte where the region can be mapped, else @offset: that is the address
 *	for peers and for scatter entries
 *
 * Tries ibv_reg_dmabuf_mr() for a NIC that has it, then ibv_reg_mr() on the CPU
 * mapping (which is made if there is none), as the region's capabilities allow.
 * Host regions register the caller's own pages. libibverbs is looked up when
 * this is called; programs need not link it for this library. Return: 0;
 * -EOPNOTSUPP no way with this NIC; -EINVAL out of range; -ENODEV revoked;
 * -ENODATA empty; -EACCES @access writes to a region made @read_only; else the
 * errno of the first way that was refused for another reason than not being
 * supported. The text lists each way and why it failed.
 */
PEERLANE_API int peerlane_region_reg_mr(struct peerlane_region *region,
					struct ibv_pd *pd, uint64_t offset,
					size_t length, int access,
					struct ibv_mr **mr);

/* ---- moving bytes by CPU and by file ------------------------------------ */

/**
 * peerlane_copy_to() - CPU copy into device memory
 * @dst: in a region's mapping
 * @src: host memory; must not overlap
 * @length: bytes, of any alignment; may be 0
 *
 * Wide non-temporal stores; a store fence has been issued on return, so a later
 * doorbell write is ordered after the data.
 */
PEERLANE_API void peerlane_copy_to(void *dst, const void *src, size_t length);

/**
 * peerlane_copy_from() - CPU copy out of device memory
 * @dst: host memory; must not overlap
 * @src: in a region's mapping
 * @length: bytes, of any alignment; may be 0
 *
 * Wide streaming loads, as write-combining memory is uncached for loads. A load
 * fence is issued first: what the device has now is read.
 */
PEERLANE_API void peerlane_copy_from(void *dst, const void *src, size_t length);

/**
 * peerlane_region_read_file() - file content straight into the region
 * @region: has PEERLANE_CAN_DIRECT_IO
 * @offset: in the region; multiple of the file's block size
 * @fd: opened with O_DIRECT: the disk writes the device's memory, no CPU copy
 * @file_offset: multiple of the block size
 * @length: bytes
 * @done: set to the bytes read, less than @length at the end of the file
 *
 * Return: 0; -EINVAL alignment, range, or @fd without O_DIRECT; -EOVERFLOW;
 * -EOPNOTSUPP the region has no direct I/O; -ENODEV revoked; -EIO and others
 * of pread(). On failure part of the range may have been written.
 */
PEERLANE_API int peerlane_region_read_file(struct peerlane_region *region,
					   uint64_t offset, int fd,
					   uint64_t file_offset, size_t length,
					   size_t *done);

/**
 * peerlane_region_write_file() - the region's bytes straight into a file
 * @region: has PEERLANE_CAN_DIRECT_IO
 * @offset: in the region; multiple of the file's block size
 * @fd: opened with O_DIRECT
 * @file_offset: multiple of the block size
 * @length: bytes
 * @done: set to the bytes written, less than @length when the file system is
 *	full
 *
 * Return: as peerlane_region_read_file().
 */
PEERLANE_API int peerlane_region_write_file(struct peerlane_region *region,
					    uint64_t offset, int fd,
					    uint64_t file_offset, size_t length,
					    size_t *done);

#ifdef __cplusplus
}
#endif

#endif /* LIBPEERLANE_REGION_H */
