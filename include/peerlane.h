/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * libpeerlane: accelerator memory on the RDMA fabric.
 *
 * Every function that can fail returns 0 or a negative errno and leaves its
 * out parameters untouched on failure; peerlane_strerror() then tells, for the
 * calling thread, in one line what was refused and why. The library prints
 * nothing, keeps no global state beside that line, and may be used from any
 * thread; one object is used by one thread at a time unless said otherwise.
 * All lengths and offsets are bytes. Pointers that are not said to take NULL
 * do not take it.
 */
#ifndef PEERLANE_H
#define PEERLANE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PEERLANE_API __attribute__((visibility("default")))

struct ibv_pd;
struct ibv_mr;
struct peerlane_region;

/* ---- errors and version ------------------------------------------------ */

/**
 * peerlane_strerror() - why the last call of this thread failed
 *
 * Return: one line without newline, which ends with the errno in brackets. It
 * is valid until this thread's next call of a function that can fail; an empty
 * string after one that succeeded. Functions that cannot fail leave it, so
 * peerlane_region_free() may come first.
 */
PEERLANE_API const char *peerlane_strerror(void);

/** peerlane_version() - "major.minor.patch" of the library. */
PEERLANE_API const char *peerlane_version(void);

/* ---- devices ----------------------------------------------------------- */

enum peerlane_kind_id {
	PEERLANE_REGION_BAR = 1,
	PEERLANE_REGION_DRIVER = 2,
	PEERLANE_REGION_DMABUF = 3,
	PEERLANE_REGION_HOST = 4,
};

/** peerlane_kind_name() - "bar", "driver", "dmabuf", "host", "unknown". */
PEERLANE_API const char *peerlane_kind_name(uint32_t kind);
/** peerlane_state_name() - "empty", "active", "revoked", "limbo", "released". */
PEERLANE_API const char *peerlane_state_name(uint32_t state);
/** peerlane_memtype_name() - "wb", "wc", "uc", "none". */
PEERLANE_API const char *peerlane_memtype_name(uint32_t memtype);
/** peerlane_path_name() - "unknown", "switch", "root-port", "host-bridge", "iommu", "none". */
PEERLANE_API const char *peerlane_path_name(uint32_t path);

/**
 * struct peerlane_device_info - one memory device
 * @name: node in /dev/peerlane
 * @pci: "dddd:bb:dd.f" of the function behind it, or empty
 * @bytes_total: its memory
 * @bytes_free: not given to a region
 * @bytes_limbo: held back until pins on it end
 * @user_limit: bytes one user may hold, 0 = no limit
 * @unit: allocation unit
 * @kind: see peerlane_kind_name()
 * @memtype: see peerlane_memtype_name()
 * @regions: regions that hold memory
 * @numa_node: or -1
 * @bar: number of the BAR, or -1
 */
struct peerlane_device_info {
	char name[32];
	char pci[16];
	uint64_t bytes_total;
	uint64_t bytes_free;
	uint64_t bytes_limbo;
	uint64_t user_limit;
	uint64_t unit;
	uint32_t kind;
	uint32_t memtype;
	uint32_t regions;
	int32_t numa_node;
	int32_t bar;
};

/**
 * peerlane_device_list() - all memory devices of this node
 * @list: set to an array, freed by the caller with free(); NULL when @count is 0
 * @count: set to its length
 *
 * Return: 0; -ENOENT the module is not loaded; -EACCES no permission on
 * /dev/peerlane/control; -ENOMEM.
 */
PEERLANE_API int peerlane_device_list(struct peerlane_device_info **list,
				      size_t *count);

/**
 * peerlane_device_get() - one memory device
 * @name: "gpu0", or a PCI address in full or short form
 * @info: filled
 *
 * Return: as peerlane_device_list(); -ENODEV no such device.
 */
PEERLANE_API int peerlane_device_get(const char *name,
				     struct peerlane_device_info *info);

/**
 * peerlane_device_bind() - give a PCI function to the peerlane driver
 * @pci: "dddd:bb:dd.f" or "bb:dd.f"
 * @force: also take it from the driver that has it now
 * @info: filled with the new device; may be NULL
 *
 * Needs root. On failure the function is as it was before: with its driver, if
 * it had one, and its driver_override. Return: 0; -ENOENT no such function or
 * module not loaded; -EBUSY another driver has it (its name is in the text), or
 * peerlane has it already; -EINVAL not a PCI address; -EINVAL, -EOPNOTSUPP no
 * usable BAR, see the text; -EIO the driver did not take it, the kernel log
 * says why; -EACCES not root.
 */
PEERLANE_API int peerlane_device_bind(const char *pci, bool force,
				      struct peerlane_device_info *info);

/**
 * peerlane_device_unbind() - take it back
 * @name: device name or PCI address
 *
 * Revokes every region on it and waits until no pin is held. Clears
 * driver_override, so that the kernel's own driver may take it again.
 * Return: 0; -ENODEV no such device, or not one that this driver has; -EACCES
 * not root; -ENOENT by device name and the module is not loaded.
 */
PEERLANE_API int peerlane_device_unbind(const char *name);

/**
 * struct peerlane_preflight_info - how two PCI functions reach each other
 * @path: see peerlane_path_name()
 * @distance: bridges on the way
 * @text: one line that says what was found
 */
struct peerlane_preflight_info {
	uint32_t path;
	uint32_t distance;
	char text[256];
};

/**
 * peerlane_preflight() - may @initiator access the memory of @target directly?
 * @target: device name or PCI address that owns the memory
 * @initiator: PCI address of a NIC, SSD, ...
 * @info: filled
 *
 * Return: 0; -EREMOTEIO they cannot, the reason is in peerlane_strerror();
 * -ENOENT no such device or function, or module not loaded; -EINVAL
 * @initiator is not a PCI address.
 */
PEERLANE_API int peerlane_preflight(const char *target, const char *initiator,
				    struct peerlane_preflight_info *info);

/* ---- regions ----------------------------------------------------------- */

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

/* ---- RDMA ports --------------------------------------------------------- */

enum peerlane_transport_id {
	PEERLANE_TRANSPORT_UNKNOWN = 0,
	PEERLANE_TRANSPORT_IB = 1,
	PEERLANE_TRANSPORT_ROCE = 2,
	PEERLANE_TRANSPORT_IWARP = 3,
	PEERLANE_TRANSPORT_OTHER = 4,
};

/** peerlane_transport_name() - "unknown", "ib", "roce", "iwarp", "other". */
PEERLANE_API const char *peerlane_transport_name(uint32_t transport);
/** peerlane_port_state_name() - "nop", "down", "init", "armed", "active", "defer", "unknown". */
PEERLANE_API const char *peerlane_port_state_name(uint32_t state);

/**
 * struct peerlane_port_info - one port of an RDMA device
 * @device: as in /sys/class/infiniband
 * @driver: kernel driver of the device: "mlx5_core", "rdma_rxe", "siw", ...
 * @node_type: "CA", "RNIC", ... as the kernel says it
 * @link_layer: "InfiniBand" or "Ethernet"
 * @firmware: version of the device
 * @pci: "dddd:bb:dd.f" of the function behind it, or empty
 * @iommu: kind of its IOMMU domain: "DMA", "DMA-FQ", "identity"; empty: none
 * @netdev: network interface of the port, or empty
 * @reason: what could not be read and why, or empty
 * @rate: bits per second, 0 unknown
 * @rate_max: of the fastest link mode that interface and NIC know, 0 unknown
 * @port: from 1 on; 0 if the device's ports cannot be read (see @reason)
 * @state: see peerlane_port_state_name()
 * @phys_state: 5 is "link up"
 * @transport: see peerlane_transport_name()
 * @width: lanes, 0 unknown
 * @mtu: largest RDMA payload of a packet that fits the interface; 0 unknown.
 *	By rule; peerlane_port_mtu() asks the driver
 * @netdev_mtu: of the interface, 0 unknown
 * @pci_speed: mega-transfers per second and lane that the PCI link runs at
 * @pci_speed_max: that the function is capable of; 0 unknown, as the rest
 * @pci_width: lanes that the PCI link has
 * @pci_width_max: that the function is capable of
 * @ifindex: of @netdev; 0 if that is not in this network namespace
 * @software: rxe or siw: no hardware moves the data
 */
struct peerlane_port_info {
	char device[64];
	char driver[32];
	char node_type[16];
	char link_layer[16];
	char firmware[64];
	char pci[16];
	char iommu[16];
	char netdev[16];
	char reason[128];
	uint64_t rate;
	uint64_t rate_max;
	uint32_t port;
	uint32_t state;
	uint32_t phys_state;
	uint32_t transport;
	uint32_t width;
	uint32_t mtu;
	uint32_t netdev_mtu;
	uint32_t pci_speed;
	uint32_t pci_speed_max;
	uint32_t pci_width;
	uint32_t pci_width_max;
	int32_t ifindex;
	bool software;
};

/**
 * peerlane_port_list() - RDMA ports of this node
 * @list: set to an array, freed by the caller with free(); NULL when @count is 0
 * @count: set to its length
 *
 * From sysfs, rdma netlink and ethtool; the module is not needed. A node
 * without RDMA has none. A device of which less can be read than usual (in a
 * container, say) is told with what there is and @reason. Return: 0; -EACCES;
 * -ENOMEM.
 */
PEERLANE_API int peerlane_port_list(struct peerlane_port_info **list,
				    size_t *count);

/**
 * peerlane_port_mtu() - packet size of a port, as its driver says
 * @device: RDMA device
 * @port: of it
 * @active: set to bytes of payload
 * @max: set to the most it can
 *
 * Opens the device by libibverbs, which is looked up when this is called.
 * Return: 0; -ENODEV no such device for verbs; -ENOSYS no libibverbs; -EACCES
 * and others of opening it.
 */
PEERLANE_API int peerlane_port_mtu(const char *device, uint32_t port,
				   uint32_t *active, uint32_t *max);

enum peerlane_gid_type_id {
	PEERLANE_GID_UNKNOWN = 0,
	PEERLANE_GID_IB = 1,
	PEERLANE_GID_ROCE_V1 = 2,
	PEERLANE_GID_ROCE_V2 = 3,
};

/** peerlane_gid_type_name() - "unknown", "ib", "roce-v1", "roce-v2". */
PEERLANE_API const char *peerlane_gid_type_name(uint32_t type);

/**
 * struct peerlane_gid_info - one address of an RDMA port
 * @device: RDMA device
 * @address: as text: IPv4 if it is one, else IPv6
 * @netdev: network interface it comes from, or empty
 * @raw: the 16 bytes
 * @port: of the device
 * @index: in the port's table, which has gaps
 * @type: see peerlane_gid_type_name()
 * @ipv4: an IPv4 address
 * @link_local: cannot be routed
 */
struct peerlane_gid_info {
	char device[64];
	char address[48];
	char netdev[16];
	uint8_t raw[16];
	uint32_t port;
	uint32_t index;
	uint32_t type;
	bool ipv4;
	bool link_local;
};

/**
 * peerlane_gid_list() - addresses of RDMA ports
 * @device: RDMA device; NULL for all of this node
 * @port: of it; 0 for all
 * @list: set to an array, freed by the caller with free(); NULL when @count is 0
 * @count: set to its length
 *
 * Empty slots are left out. Return: 0; -ENODEV no such device; -ENOMEM.
 */
PEERLANE_API int peerlane_gid_list(const char *device, uint32_t port,
				   struct peerlane_gid_info **list,
				   size_t *count);

enum peerlane_unit_id {
	PEERLANE_UNIT_COUNT = 0,
	PEERLANE_UNIT_BYTES = 1,
	PEERLANE_UNIT_TICKS = 2,
};

/** peerlane_unit_name() - "count", "bytes", "ticks" (of the device's own clock). */
PEERLANE_API const char *peerlane_unit_name(uint32_t unit);

/**
 * struct peerlane_port_counter - one hardware counter of an RDMA port
 * @name: as the driver says it
 * @common: what other drivers' counters of the same kind are called here too
 *	("cnp_sent", ...: libpeerlane(3)), or empty
 * @value: since the device came up or somebody cleared it; bytes where the
 *	hardware counts in units of four bytes
 * @unit: see peerlane_unit_name()
 * @valid: @value is a number; else the device has the name only
 * @saturated: at the end of a counter of 32 bits that does not wrap
 * @standard: of the counters that InfiniBand defines, else of the driver's
 */
struct peerlane_port_counter {
	char name[64];
	char common[32];
	uint64_t value;
	uint32_t unit;
	bool valid;
	bool saturated;
	bool standard;
};

/**
 * peerlane_port_counters() - hardware counters of a port
 * @device: RDMA device
 * @port: of it
 * @list: set to an array, freed by the caller with free(); NULL when @count is 0
 * @count: set to its length
 *
 * Nothing is reset. Counters of the whole device follow those of the port. A
 * device without counters has none. Return: 0; -ENODEV no such port; -ENOMEM.
 */
PEERLANE_API int peerlane_port_counters(const char *device, uint32_t port,
					struct peerlane_port_counter **list,
					size_t *count);

/**
 * peerlane_counter_common() - the common name of a driver's counter
 * @name: as the driver says it
 *
 * Return: the name, or an empty string if it has none.
 */
PEERLANE_API const char *peerlane_counter_common(const char *name);

/**
 * struct peerlane_netdev_info - one network interface
 * @name: of it
 * @driver: kernel driver, or empty for virtual ones
 * @speed: bits per second, 0 unknown
 * @speed_max: of its fastest link mode, 0 unknown
 * @mtu: bytes, 0 unknown
 * @ifindex: of it
 * @up: the link is up
 */
struct peerlane_netdev_info {
	char name[16];
	char driver[32];
	uint64_t speed;
	uint64_t speed_max;
	uint32_t mtu;
	int32_t ifindex;
	bool up;
};

/**
 * peerlane_netdev_members() - the interfaces that a port's packets leave by
 * @netdev: network interface
 * @list: set to an array, freed by the caller with free()
 * @count: set to its length, > 0
 *
 * The members of a bond, else @netdev itself. PFC is set up for each of them.
 * Return: 0; -ENODEV not in this network namespace; -ENOMEM.
 */
PEERLANE_API int peerlane_netdev_members(const char *netdev,
					 struct peerlane_netdev_info **list,
					 size_t *count);

#define PEERLANE_PRIORITIES	8

enum peerlane_trust_id {
	PEERLANE_TRUST_UNKNOWN = 0,
	PEERLANE_TRUST_PCP = 1,
	PEERLANE_TRUST_DSCP = 2,
};

/**
 * struct peerlane_dcb_info - how an interface treats priorities
 * @requests: PFC frames sent, by priority
 * @indications: PFC frames received, by priority
 * @pfc_enabled: bit for each priority that PFC is on for
 * @pfc_max: priorities that may have PFC at once
 * @delay: allowance for the cable, bit times
 * @trust: what decides the priority of a received packet first; unknown on
 *	kernels and drivers that do not tell (they come after 6.1)
 * @dscp_prio: priority of each DSCP by the table, -1 it says nothing
 * @prio_tc: traffic class of each priority
 * @tc_bandwidth: percent that ETS gives each traffic class
 * @tc_tsa: how each is scheduled: 0 strict, 1 credit shaper, 2 ETS, 255 vendor
 * @default_prio: of packets that nothing else decides, -1 not told
 * @have_pfc: the driver tells PFC
 * @have_ets: the driver tells ETS
 * @have_dscp: the table says something about some DSCP
 */
struct peerlane_dcb_info {
	uint64_t requests[PEERLANE_PRIORITIES];
	uint64_t indications[PEERLANE_PRIORITIES];
	uint32_t pfc_enabled;
	uint32_t pfc_max;
	uint32_t delay;
	uint32_t trust;
	int8_t dscp_prio[64];
	uint8_t prio_tc[PEERLANE_PRIORITIES];
	uint8_t tc_bandwidth[PEERLANE_PRIORITIES];
	uint8_t tc_tsa[PEERLANE_PRIORITIES];
	int32_t default_prio;
	bool have_pfc;
	bool have_ets;
	bool have_dscp;
};

/**
 * peerlane_dcb_query() - how an interface treats priorities
 * @netdev: network interface
 * @info: filled
 *
 * Return: 0; -EOPNOTSUPP kernel or driver know no DCB; -ENODEV no such
 * interface.
 */
PEERLANE_API int peerlane_dcb_query(const char *netdev,
				    struct peerlane_dcb_info *info);

/**
 * struct peerlane_pause_info - pause frames of an interface
 * @rx_frames: PFC frames received, by priority
 * @tx_frames: PFC frames sent, by priority
 * @rx_usec: time that sending was paused by them, microseconds, by priority
 * @rx_global: global pause frames received
 * @tx_global: global pause frames sent
 * @rx_have: bit for each priority that has @rx_frames: drivers may show it
 *	only while PFC is on
 * @tx_have: the same of @tx_frames
 * @usec_have: the same of @rx_usec
 * @have_global: @rx_global and @tx_global are told
 * @have_param: the next three are told
 * @autoneg: global pause is negotiated
 * @rx: global pause frames are obeyed
 * @tx: global pause frames are sent
 */
struct peerlane_pause_info {
	uint64_t rx_frames[PEERLANE_PRIORITIES];
	uint64_t tx_frames[PEERLANE_PRIORITIES];
	uint64_t rx_usec[PEERLANE_PRIORITIES];
	uint64_t rx_global;
	uint64_t tx_global;
	uint32_t rx_have;
	uint32_t tx_have;
	uint32_t usec_have;
	bool have_global;
	bool have_param;
	bool autoneg;
	bool rx;
	bool tx;
};

/**
 * peerlane_pause_query() - pause frames of an interface
 * @netdev: network interface
 * @info: filled; empty for an interface that has none
 *
 * From ethtool statistics, by the names that drivers have for them. Also makes
 * those drivers refresh what peerlane_dcb_query() tells that do so only then.
 * Return: 0; -ENODEV no such interface; -ENOMEM.
 */
PEERLANE_API int peerlane_pause_query(const char *netdev,
				      struct peerlane_pause_info *info);

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

/**
 * struct peerlane_qp_info - one queue pair of this node
 * @device: RDMA device
 * @comm: command name of @pid; of a kernel QP the part of the kernel that made
 *	it; empty if unknown
 * @port: of the device, 0 = not on one yet
 * @lqpn: its number
 * @rqpn: number of the peer's, where @connected
 * @type: see peerlane_qp_type_name()
 * @state: see peerlane_qp_state_name()
 * @sq_psn: next packet number to send
 * @rq_psn: next packet number to receive, where @connected
 * @pid: process that made it, as this process' PID namespace has it; 0 for
 *	kernel QPs and processes that have ended
 * @connected: of a type (RC, UC) that has one peer
 * @kernel: made by the kernel
 */
struct peerlane_qp_info {
	char device[64];
	char comm[32];
	uint32_t port;
	uint32_t lqpn;
	uint32_t rqpn;
	uint32_t type;
	uint32_t state;
	uint32_t sq_psn;
	uint32_t rq_psn;
	int32_t pid;
	bool connected;
	bool kernel;
};

/**
 * peerlane_qp_list() - queue pairs of this node
 * @list: set to an array, freed by the caller with free(); NULL when @count is 0
 * @count: set to its length
 *
 * By rdma netlink: those of devices and processes that the caller's namespaces
 * show. Sorted by device and number, each once. A node without RDMA has none. A
 * device that does not answer is left out. Each entry costs the driver a query,
 * with some a command to the NIC. Return: 0; -EMSGSIZE it changed each time it
 * was read; -ENOMEM.
 */
PEERLANE_API int peerlane_qp_list(struct peerlane_qp_info **list,
				  size_t *count);

/** peerlane_qp_type_name() - "rc", "uc", "ud", "gsi", ..., "unknown". */
PEERLANE_API const char *peerlane_qp_type_name(uint32_t type);
/** peerlane_qp_state_name() - "reset", "init", "rtr", "rts", "sqd", "sqe", "err", "unknown". */
PEERLANE_API const char *peerlane_qp_state_name(uint32_t state);

/* ---- flows --------------------------------------------------------------- */

/*
 * A flow is one direction of one RDMA conversation: packets from one address to
 * one queue pair of another. The module counts those of the caller's network
 * namespace. Bytes are those of IP packets, IP header included. All functions
 * here fail with
 *   -ENOENT  the module is not loaded
 *   -EPERM   a right is missing: CAP_NET_ADMIN for labels, pairs and resets, in
 *	      the first user namespace too for what costs the machine memory
 *   -EINVAL, -ERANGE  a value is not possible, see the text
 *   -ENOMEM
 * and with what each says for itself.
 */

enum peerlane_flow_transport_id {
	PEERLANE_FLOW_RC = 0,
	PEERLANE_FLOW_UC = 1,
	PEERLANE_FLOW_RD = 2,
	PEERLANE_FLOW_UD = 3,
	PEERLANE_FLOW_CNP = 4,	/* only congestion notifications were seen */
	PEERLANE_FLOW_XRC = 5,
};

enum peerlane_flow_point_id {
	PEERLANE_AT_NONE = 0,
	PEERLANE_AT_LOCAL_OUT = 1,	/* sent by software RDMA of this node */
	PEERLANE_AT_LOCAL_IN = 2,	/* received by it */
	PEERLANE_AT_DEVICE = 3,		/* arrives at a network device */
};

enum peerlane_flow_pairing_id {
	PEERLANE_PAIRED_NONE = 0,
	PEERLANE_PAIRED_PORT = 1,	/* same UDP source port both ways */
	PEERLANE_PAIRED_CM = 2,		/* connection management was seen */
	PEERLANE_PAIRED_USER = 3,	/* by peerlane_flow_pair() */
};

/* Those below PEERLANE_COUNTERS the kernel selects and orders by. */
enum peerlane_flow_counter_id {
	PEERLANE_COUNT_PACKETS = 0,
	PEERLANE_COUNT_BYTES = 1,
	PEERLANE_COUNT_ECT = 2,
	PEERLANE_COUNT_CE = 3,
	PEERLANE_COUNT_CNP = 4,
	PEERLANE_COUNT_FECN = 5,
	PEERLANE_COUNT_BECN = 6,
	PEERLANE_COUNT_NAK_SEQUENCE = 7,
	PEERLANE_COUNT_NAK_OTHER = 8,
	PEERLANE_COUNT_RNR = 9,
	PEERLANE_COUNT_RETRANSMITTED = 10,
	PEERLANE_COUNT_RETRANSMITTED_BYTES = 11,
	PEERLANE_COUNT_GAPS = 12,
	PEERLANE_COUNT_LOST = 13,
	PEERLANE_COUNT_REORDERED = 14,
	PEERLANE_COUNT_TIMEOUTS = 15,
	PEERLANE_COUNT_RATE_BYTES = 16,
	PEERLANE_COUNT_RATE_PACKETS = 17,
	PEERLANE_COUNT_RTT_MAX = 18,
	PEERLANE_COUNTERS = 19,

	PEERLANE_COUNT_MISSING = 64,
	PEERLANE_COUNT_AGE = 65,
	PEERLANE_COUNT_IDLE = 66,
	PEERLANE_COUNT_RTT_SAMPLES = 67,
	PEERLANE_COUNT_RTT_MIN = 68,
	PEERLANE_COUNT_RTT_MEAN = 69,
	PEERLANE_COUNT_RTT_P50 = 70,
	PEERLANE_COUNT_RTT_P99 = 71,
	PEERLANE_COUNT_REVERSE_PACKETS = 72,
	PEERLANE_COUNT_REVERSE_BYTES = 73,
	PEERLANE_COUNT_REVERSE_CNP = 74,
	PEERLANE_COUNT_REVERSE_BECN = 75,
	PEERLANE_COUNT_REVERSE_NAK_SEQUENCE = 76,
	PEERLANE_COUNT_REVERSE_NAK_OTHER = 77,
	PEERLANE_COUNT_REVERSE_RNR = 78,
	PEERLANE_COUNTERS_END = 79,
};

#define PEERLANE_FLOW_LABEL	32	/* bytes of a label, terminating zero too */
#define PEERLANE_FLOW_MINS	8
#define PEERLANE_FLOW_TOP	1024
#define PEERLANE_RTT_HISTOGRAM	384	/* buckets */

/** peerlane_flow_transport_name() - "rc", "uc", "rd", "ud", "cnp", "xrc", "vendor6", "vendor7", "unknown". */
PEERLANE_API const char *peerlane_flow_transport_name(uint32_t transport);
/** peerlane_flow_point_name() - "none", "local-out", "local-in", "device", "unknown". */
PEERLANE_API const char *peerlane_flow_point_name(uint32_t point);
/** peerlane_flow_pairing_name() - "none", "port", "cm", "user", "unknown". */
PEERLANE_API const char *peerlane_flow_pairing_name(uint32_t pairing);
/** peerlane_flow_counter_name() - "packets", "nak-sequence", "rtt-p99", "reverse-cnp", ..., "unknown". */
PEERLANE_API const char *peerlane_flow_counter_name(uint32_t counter);
/** peerlane_flow_counter_unit() - "packets", "bytes", "events", "samples", "bytes/s", "packets/s", "ns", "ms", or empty. */
PEERLANE_API const char *peerlane_flow_counter_unit(uint32_t counter);
/** peerlane_flow_counter_is_total() - it only grows until it is reset; others are values of the moment. */
PEERLANE_API bool peerlane_flow_counter_is_total(uint32_t counter);
/** peerlane_flow_transport_find() - the transport of a name, -EINVAL there is none. */
PEERLANE_API int peerlane_flow_transport_find(const char *name,
					    uint32_t *transport);
/** peerlane_flow_point_find() - the point of a name, -EINVAL there is none. */
PEERLANE_API int peerlane_flow_point_find(const char *name,
					    uint32_t *point);
/** peerlane_flow_counter_find() - the counter of a name, -EINVAL there is none. */
PEERLANE_API int peerlane_flow_counter_find(const char *name,
					    uint32_t *counter);

/**
 * peerlane_address_text() - "192.0.2.1" or "2001:db8::1"
 * @address: 16 bytes; IPv4 as ::ffff:a.b.c.d
 * @text: filled
 */
PEERLANE_API void peerlane_address_text(const uint8_t address[16],
					char text[46]);

/** peerlane_address_parse() - its reverse; -EINVAL @text is not an address. */
PEERLANE_API int peerlane_address_parse(const char *text, uint8_t address[16]);

/** peerlane_netdev_index() - number of a network device, > 0; -ENODEV no such device. */
PEERLANE_API int peerlane_netdev_index(const char *name, uint32_t *ifindex);

/** peerlane_netdev_name() - name of a network device; its number as text where there is none. */
PEERLANE_API void peerlane_netdev_name(uint32_t ifindex, char name[16]);

/**
 * struct peerlane_flow_key - what names a flow
 * @saddr: source address; IPv4 as ::ffff:a.b.c.d
 * @daddr: destination address
 * @transport: see peerlane_flow_transport_name()
 * @qpn: queue pair that the packets go to
 */
struct peerlane_flow_key {
	uint8_t saddr[16];
	uint8_t daddr[16];
	uint32_t transport;
	uint32_t qpn;
};

/**
 * struct peerlane_flow_rtt - from a request to its answer
 * @samples: how many; without any all else is 0
 * @min: ns
 * @mean: ns
 * @p50: ns, within 1/32
 * @p99: ns, within 1/32
 * @max: ns
 *
 * Seen at local-out it is a round trip, at local-in the answering time of this
 * node, at a device that of the part of the way beyond.
 */
struct peerlane_flow_rtt {
	uint64_t samples;
	uint64_t min;
	uint64_t mean;
	uint64_t p50;
	uint64_t p99;
	uint64_t max;
};

/**
 * struct peerlane_flow_reverse - what the receiver answered
 *
 * Counters of the flow in the other direction; the members are as in struct
 * peerlane_flow_info.
 */
struct peerlane_flow_reverse {
	uint64_t packets;
	uint64_t bytes;
	uint64_t cnp;
	uint64_t becn;
	uint64_t nak_sequence;
	uint64_t nak_other;
	uint64_t rnr;
};

/**
 * struct peerlane_flow_info - one flow
 * @key: its name
 * @label: given by peerlane_flow_label(), or empty
 * @peer_qpn: queue pair that the packets come from, 0 not known
 * @pairing: how that became known, see peerlane_flow_pairing_name()
 * @point: where it is counted, see peerlane_flow_point_name()
 * @ifindex: the device, where @point is PEERLANE_AT_DEVICE, else 0
 * @pmtu: path MTU, bytes, 0 not known
 * @sport: UDP source port of the last packet
 * @dscp: of the last packet
 * @congested: between two events congestion-on and congestion-off
 * @has_reverse: the other direction is known and seen
 * @age: since the first packet, ms
 * @idle: since the last packet, ms
 * @packets: packets
 * @bytes: bytes
 * @ect: packets whose sender is ECN-capable
 * @ce: packets that a switch marked "congestion experienced"
 * @cnp: congestion notification packets
 * @fecn: packets with the forward congestion bit
 * @becn: packets with the backward congestion bit, without CNPs
 * @nak_sequence: negative acknowledgements for a PSN out of sequence
 * @nak_other: negative acknowledgements for other reasons
 * @rnr: receiver-not-ready answers
 * @retransmitted: packets whose PSN was seen, or left out and asked for, before
 * @retransmitted_bytes: bytes of those
 * @gaps: times that PSNs were left out
 * @lost: PSNs left out that came only by being sent again, or never
 * @reordered: PSNs left out that came late without being sent again
 * @missing: PSNs left out of which it is not known yet
 * @timeouts: times that packets were sent again without being asked for
 * @rate_bytes: bytes a second, moving average over about 8 s
 * @rate_packets: packets a second, likewise
 * @rtt: round trips
 * @reverse: the other direction; all 0 unless @has_reverse
 */
struct peerlane_flow_info {
	struct peerlane_flow_key key;
	char label[PEERLANE_FLOW_LABEL];
	uint32_t peer_qpn;
	uint32_t pairing;
	uint32_t point;
	uint32_t ifindex;
	uint32_t pmtu;
	uint16_t sport;
	uint8_t dscp;
	bool congested;
	bool has_reverse;
	uint64_t age;
	uint64_t idle;
	uint64_t packets;
	uint64_t bytes;
	uint64_t ect;
	uint64_t ce;
	uint64_t cnp;
	uint64_t fecn;
	uint64_t becn;
	uint64_t nak_sequence;
	uint64_t nak_other;
	uint64_t rnr;
	uint64_t retransmitted;
	uint64_t retransmitted_bytes;
	uint64_t gaps;
	uint64_t lost;
	uint64_t reordered;
	uint64_t missing;
	uint64_t timeouts;
	uint64_t rate_bytes;
	uint64_t rate_packets;
	struct peerlane_flow_rtt rtt;
	struct peerlane_flow_reverse reverse;
};

/** peerlane_flow_counter() - one counter of @info by number, 0 for a number that there is not. */
PEERLANE_API uint64_t
peerlane_flow_counter(const struct peerlane_flow_info *info, uint32_t counter);

/**
 * peerlane_flow_since() - what a counter grew by from one look to the next
 * @now: the later one
 * @before: the earlier one of the same flow
 * @counter: one with peerlane_flow_counter_is_total()
 * @delta: set; left alone when false is returned
 *
 * Return: false where that is not known: the counter was set to zero in
 * between, or the flow was forgotten and began again.
 */
PEERLANE_API bool peerlane_flow_since(const struct peerlane_flow_info *now,
				      const struct peerlane_flow_info *before,
				      uint32_t counter, uint64_t *delta);

/** struct peerlane_flow_min - @counter below PEERLANE_COUNTERS is at least @value. */
struct peerlane_flow_min {
	uint32_t counter;
	uint64_t value;
};

/**
 * struct peerlane_flow_filter - which flows; all zero is every flow
 * @address: source or destination
 * @saddr: source
 * @daddr: destination
 * @label: exactly this one
 * @ifindex: counted at this device
 * @point: counted at this kind of point
 * @qpn: at either end
 * @has_transport: @transport is looked at
 * @transport: see peerlane_flow_transport_name()
 * @congested: only those congested now
 * @min_count: how many of @min are looked at
 * @min: smallest values of counters
 * @top: only so many, 1 to PEERLANE_FLOW_TOP, the largest of @top_by first;
 *	0 all, in no order
 * @top_by: counter below PEERLANE_COUNTERS
 *
 * A flow is meant if it satisfies everything that is given.
 */
struct peerlane_flow_filter {
	uint8_t address[16];
	uint8_t saddr[16];
	uint8_t daddr[16];
	char label[PEERLANE_FLOW_LABEL];
	uint32_t ifindex;
	uint32_t point;
	uint32_t qpn;
	bool has_transport;
	uint32_t transport;
	bool congested;
	uint32_t min_count;
	struct peerlane_flow_min min[PEERLANE_FLOW_MINS];
	uint32_t top;
	uint32_t top_by;
};

/**
 * peerlane_flow_list() - flows, in an array
 * @filter: which; NULL all
 * @list: set to an array, freed by the caller with free(); NULL when @count is 0
 * @count: set to its length
 * @incomplete: set to whether flows may be missing, or be there twice, because
 *	the table changed while it was read, five times in a row; may be NULL
 *
 * Return: 0, also when @incomplete; -EPROTO the kernel repeats itself.
 */
PEERLANE_API int peerlane_flow_list(const struct peerlane_flow_filter *filter,
				    struct peerlane_flow_info **list,
				    size_t *count, bool *incomplete);

#define PEERLANE_FLOW_HISTOGRAM	(1U << 0)

/**
 * typedef peerlane_flow_fn - told of one flow
 * @info: valid until it returns
 * @histogram: PEERLANE_RTT_HISTOGRAM buckets; NULL if not asked for, or without
 *	samples; valid until it returns
 * @arg: of the caller
 *
 * May call any function of the library. Return: 0 to go on; anything else ends
 * the walk, which then returns it.
 */
typedef int (*peerlane_flow_fn)(const struct peerlane_flow_info *info,
				const uint32_t *histogram, void *arg);

/**
 * peerlane_flow_each() - flows, one after another
 * @filter: which; NULL all
 * @flags: PEERLANE_FLOW_HISTOGRAM or 0
 * @fn: called for each as it arrives: no more than a few are in memory at once
 * @arg: handed to @fn
 *
 * Return: 0; -EINTR after the last flow: the table changed meanwhile, some may
 * be missing or have come twice; -EPROTO the kernel repeats itself; or what @fn
 * returned.
 */
PEERLANE_API int peerlane_flow_each(const struct peerlane_flow_filter *filter,
				    uint32_t flags, peerlane_flow_fn fn,
				    void *arg);

/**
 * peerlane_flow_reset() - set counters and histograms to zero
 * @filter: which; NULL all; without @top
 * @flags: PEERLANE_FLOW_HISTOGRAM or 0
 * @fn: called with the values as they were, taken in the same step; may be NULL.
 *	When it ends the walk, some later flows may have been reset, too
 * @arg: handed to @fn
 *
 * Return: as peerlane_flow_each(), -EINTR: some may not have been reset.
 */
PEERLANE_API int peerlane_flow_reset(const struct peerlane_flow_filter *filter,
				     uint32_t flags, peerlane_flow_fn fn,
				     void *arg);

/**
 * peerlane_flow_get() - one flow
 * @key: its name
 * @info: filled
 * @histogram: filled, zero without samples; may be NULL
 *
 * Return: 0; -ESRCH no such flow.
 */
PEERLANE_API int peerlane_flow_get(const struct peerlane_flow_key *key,
				   struct peerlane_flow_info *info,
				   uint32_t histogram[PEERLANE_RTT_HISTOGRAM]);

/**
 * peerlane_flow_label() - name one flow
 * @key: which
 * @label: up to 31 bytes; empty takes the name away
 *
 * Return: 0; -ESRCH no such flow; -ENOSPC no room for another label.
 */
PEERLANE_API int peerlane_flow_label(const struct peerlane_flow_key *key,
				     const char *label);

/**
 * peerlane_flow_label_all() - name many flows
 * @filter: which; NULL all
 * @label: as for peerlane_flow_label()
 * @count: set to how many were changed; may be NULL
 *
 * Return: 0; -ESRCH nothing was observed yet; -ENOSPC no room for another label.
 */
PEERLANE_API int
peerlane_flow_label_all(const struct peerlane_flow_filter *filter,
			const char *label, uint32_t *count);

/**
 * peerlane_flow_pair() - tell which queue pair a flow comes from
 * @key: which
 * @peer_qpn: 0 not known
 *
 * Return: 0; -ESRCH no such flow.
 */
PEERLANE_API int peerlane_flow_pair(const struct peerlane_flow_key *key,
				    uint32_t peer_qpn);

/**
 * peerlane_rtt_bucket() - what a bucket of a histogram holds
 * @bucket: below PEERLANE_RTT_HISTOGRAM
 * @low: set to the shortest, ns
 * @high: set to the first ns beyond; UINT64_MAX for the last
 */
PEERLANE_API void peerlane_rtt_bucket(uint32_t bucket, uint64_t *low,
				      uint64_t *high);

/**
 * peerlane_rtt_percentile() - middle of the bucket that a percentile falls in
 * @histogram: of one flow, or several added up
 * @millionths: 500000 the median, 999000 the 99.9th percentile, ...
 *
 * Return: ns; 0 without samples.
 */
PEERLANE_API uint64_t
peerlane_rtt_percentile(const uint32_t histogram[PEERLANE_RTT_HISTOGRAM],
			uint32_t millionths);

/**
 * struct peerlane_flow_stats - limits and counts of flow statistics
 * @flows: in the table of this network namespace
 * @flow_limit: most in all namespaces together; module parameter max_flows
 * @flow_size: bytes of a flow's record
 * @buckets: of this namespace's table, 8 bytes each
 * @histograms: in all namespaces together
 * @histogram_limit: most histograms; module parameter max_histograms
 * @histogram_size: bytes of one
 * @idle_timeout: seconds without a packet after which a flow is forgotten
 * @threshold_on: share of packets, in millionths, at which congestion begins
 * @threshold_off: share below which it can end
 * @calm_windows: windows of one second below @threshold_off that end it
 * @created: flows that were ever entered
 * @expired: flows forgotten because they were idle
 * @evicted: idle flows forgotten early because the table was full
 * @packets: of all flows, forgotten and reset ones too
 * @bytes: likewise
 * @missed_full: packets in no flow: the table was full of busy ones
 * @missed_memory: packets in no flow: memory was short
 * @missed_histogram: round trips not counted, at the limit or short of memory
 * @fragments: IP fragments, not parsed
 * @truncated: packets with headers cut off
 * @malformed: packets that contradict the specification
 * @aggregated: packets merged before they could be seen
 * @elsewhere: packets of a flow that is counted at another point
 * @events_lost: events that could not be sent for lack of memory
 * @event_sequence: number of the last event
 */
struct peerlane_flow_stats {
	uint32_t flows;
	uint32_t flow_limit;
	uint32_t flow_size;
	uint32_t buckets;
	uint32_t histograms;
	uint32_t histogram_limit;
	uint32_t histogram_size;
	uint32_t idle_timeout;
	uint32_t threshold_on;
	uint32_t threshold_off;
	uint32_t calm_windows;
	uint64_t created;
	uint64_t expired;
	uint64_t evicted;
	uint64_t packets;
	uint64_t bytes;
	uint64_t missed_full;
	uint64_t missed_memory;
	uint64_t missed_histogram;
	uint64_t fragments;
	uint64_t truncated;
	uint64_t malformed;
	uint64_t aggregated;
	uint64_t elsewhere;
	uint64_t events_lost;
	uint64_t event_sequence;
};

/** peerlane_flow_stats() - limits and counts of this network namespace. */
PEERLANE_API int peerlane_flow_stats(struct peerlane_flow_stats *stats);

/**
 * struct peerlane_flow_limits - what can be set; 0 stays as it is
 * @idle_timeout: seconds, 1 to 86400
 * @threshold_on: millionths, 1 to 1000000
 * @threshold_off: millionths, not above @threshold_on
 * @calm_windows: 1 to 255
 */
struct peerlane_flow_limits {
	uint32_t idle_timeout;
	uint32_t threshold_on;
	uint32_t threshold_off;
	uint32_t calm_windows;
};

/** peerlane_flow_limits_set() - change limits of this network namespace. */
PEERLANE_API int
peerlane_flow_limits_set(const struct peerlane_flow_limits *limits);

/**
 * peerlane_flow_observe() - begin or end to look at packets
 * @device: packets that arrive at this network device, such as a mirror port;
 *	NULL those that software RDMA of this node sends and receives
 * @on: begin, else end
 *
 * Return: 0; -ENODEV no such device; -EEXIST @on and observed already; -ESRCH
 * not @on and not observed; -ENOSPC too many devices; -EOPNOTSUPP.
 */
PEERLANE_API int peerlane_flow_observe(const char *device, bool on);

/**
 * struct peerlane_flow_point - a place where packets are looked at
 * @point: see peerlane_flow_point_name()
 * @ifindex: the device, or 0
 * @device: its name, or empty
 */
struct peerlane_flow_point {
	uint32_t point;
	uint32_t ifindex;
	char device[16];
};

/**
 * peerlane_flow_points() - where packets are looked at
 * @list: set to an array, freed by the caller with free(); NULL when @count is 0
 * @count: set to its length
 */
PEERLANE_API int peerlane_flow_points(struct peerlane_flow_point **list,
				      size_t *count);

/* ---- events of flows ------------------------------------------------------ */

enum peerlane_event_id {
	PEERLANE_EVENT_CONGESTION_ON = 1,
	PEERLANE_EVENT_CONGESTION_OFF = 2,
	PEERLANE_EVENT_LOST = 0x10000,	/* made by the library */
};

/** peerlane_event_name() - "congestion-on", "congestion-off", "lost", "unknown". */
PEERLANE_API const char *peerlane_event_name(uint32_t kind);

/**
 * struct peerlane_event - something happened
 * @kind: see peerlane_event_name(); kinds that this library does not know are
 *	handed on
 * @resync: not sent by the kernel: the flow is congested as events are opened
 *	with @current, or after PEERLANE_EVENT_LOST
 * @share: share of packets in the window that was judged, in millionths; 0 with
 *	@resync
 * @sequence: number of the event; 0 with @resync
 * @time: ns of CLOCK_BOOTTIME
 * @lost: PEERLANE_EVENT_LOST: how many events did not arrive
 * @flow: the flow; empty for PEERLANE_EVENT_LOST
 */
struct peerlane_event {
	uint32_t kind;
	bool resync;
	uint32_t share;
	uint64_t sequence;
	uint64_t time;
	uint64_t lost;
	struct peerlane_flow_info flow;
};

struct peerlane_events;

/**
 * peerlane_event_open() - receive events
 * @current: begin with a PEERLANE_EVENT_CONGESTION_ON, flagged @resync, for each
 *	flow that is congested already
 * @events: set; released with peerlane_event_close()
 */
PEERLANE_API int peerlane_event_open(bool current,
				     struct peerlane_events **events);

/**
 * peerlane_event_fd() - to poll for POLLIN; stays owned by @events
 *
 * After it became readable, peerlane_event_next() is called with a timeout of 0
 * until it returns -EAGAIN.
 */
PEERLANE_API int peerlane_event_fd(const struct peerlane_events *events);

/**
 * peerlane_event_next() - the next event
 * @events: of peerlane_event_open()
 * @timeout: ms to wait; 0 do not, -1 for ever
 * @event: filled
 *
 * When events did not arrive, because the reader was too slow or the kernel
 * short of memory, PEERLANE_EVENT_LOST says how many. What was known of
 * congestion is void then: a PEERLANE_EVENT_CONGESTION_ON, flagged @resync,
 * follows for each flow that is congested now. Return: 0; -EAGAIN none came in
 * time; -EINTR a signal came; -ENODEV the module was unloaded: there will be no
 * more.
 */
PEERLANE_API int peerlane_event_next(struct peerlane_events *events,
				     int timeout, struct peerlane_event *event);

/** peerlane_event_close() - @events may be NULL. */
PEERLANE_API void peerlane_event_close(struct peerlane_events *events);

/* ---- flows and this host -------------------------------------------------- */

/**
 * struct peerlane_flow_qp - the queue pair of this host that a flow belongs to
 * @qp: as peerlane_qp_list() tells it, where @found
 * @found: the host has it
 * @sender: it sends the flow, else it receives it
 */
struct peerlane_flow_qp {
	struct peerlane_qp_info qp;
	bool found;
	bool sender;
};

/**
 * peerlane_flow_join() - find the queue pairs of flows on this host
 * @flows: of peerlane_flow_list()
 * @count: how many
 * @qps: filled, one for each; where both ends are on this host, the sender
 *
 * Numbers of queue pairs repeat from device to device: one is taken only if its
 * device has the flow's address. Return: 0, also if the host has no RDMA; else
 * as peerlane_qp_list().
 */
PEERLANE_API int peerlane_flow_join(const struct peerlane_flow_info *flows,
				    size_t count, struct peerlane_flow_qp *qps);

/**
 * peerlane_flow_pair_local() - pair flows by the queue pairs of this host
 * @count: set to how many were paired; may be NULL
 *
 * For each flow of which one end is a connected queue pair of this host, the
 * kernel is told the other end, if it did not know it, or only guessed it from
 * the UDP port.
 */
PEERLANE_API int peerlane_flow_pair_local(size_t *count);

/**
 * struct peerlane_tcp_flow - a connection of iWARP
 * @saddr: this host's address; IPv4 as ::ffff:a.b.c.d
 * @daddr: the peer's
 * @sport: this host's port
 * @dport: the peer's
 * @device: RDMA device
 * @lqpn: queue pair, 0 not known
 * @pid: process that made it, 0 the kernel or not known
 * @comm: command name of @pid, or name of the kernel's user
 * @has_tcp: what follows is known; else TCP is done by the device
 * @state: TCP_ESTABLISHED, ... of netinet/tcp.h
 * @mss: bytes
 * @cwnd: congestion window, packets
 * @unacked: packets under way
 * @lost: packets thought lost now
 * @reordering: packets that may be out of order before they are thought lost
 * @srtt: smoothed round trip, ns
 * @rttvar: its deviation, ns
 * @min_rtt: shortest round trip, ns
 * @bytes_sent: with those sent again
 * @bytes_retransmitted: sent again
 * @bytes_acked: arrived at the peer
 * @bytes_received: bytes
 * @segments_out: packets
 * @segments_in: packets
 * @retransmitted: packets sent again
 * @delivered: packets that arrived at the peer
 * @delivered_ce: of these, packets that a switch marked
 * @reordered: times that packets came out of order
 * @pacing_rate: bytes a second that TCP allows itself
 * @delivery_rate: bytes a second that arrive
 *
 * iWARP runs over TCP, so a connection is what a pair of flows is to RoCE. What
 * the kernel's TCP knows of it comes from sock_diag; the module has no part in
 * it and need not be loaded.
 */
struct peerlane_tcp_flow {
	uint8_t saddr[16];
	uint8_t daddr[16];
	uint16_t sport;
	uint16_t dport;
	char device[64];
	uint32_t lqpn;
	int32_t pid;
	char comm[32];
	bool has_tcp;
	uint32_t state;
	uint32_t mss;
	uint32_t cwnd;
	uint32_t unacked;
	uint32_t lost;
	uint32_t reordering;
	uint64_t srtt;
	uint64_t rttvar;
	uint64_t min_rtt;
	uint64_t bytes_sent;
	uint64_t bytes_retransmitted;
	uint64_t bytes_acked;
	uint64_t bytes_received;
	uint64_t segments_out;
	uint64_t segments_in;
	uint64_t retransmitted;
	uint64_t delivered;
	uint64_t delivered_ce;
	uint64_t reordered;
	uint64_t pacing_rate;
	uint64_t delivery_rate;
};

/**
 * peerlane_flow_tcp() - connections of iWARP on this host
 * @list: set to an array, freed by the caller with free(); NULL when @count is 0
 * @count: set to its length
 *
 * Return: 0, also if the host has no iWARP; -EPROTONOSUPPORT the kernel has no
 * sock_diag for TCP.
 */
PEERLANE_API int peerlane_flow_tcp(struct peerlane_tcp_flow **list,
				   size_t *count);

/* ---- endpoints: put and get between two nodes ------------------------------ */

struct peerlane_endpoint;

#define PEERLANE_SECRET		16	/* bytes */
#define PEERLANE_PEER_TEXT	72	/* room for "192.0.2.1:18515", "[fe80::1%2]:18515" */

/**
 * peerlane_endpoint_secret() - a secret from a pass phrase
 * @text: any but the empty one; both sides need the same
 * @secret: filled with the first bytes of SHA-256 of a fixed prefix and @text
 *
 * The secret is sent in clear when a connection is made: take a phrase that
 * guards nothing else. Return: 0; -EINVAL @text is empty.
 */
PEERLANE_API int peerlane_endpoint_secret(const char *text,
					  uint8_t secret[PEERLANE_SECRET]);

/**
 * struct peerlane_endpoint_options - what an endpoint is to be
 * @size: sizeof(struct peerlane_endpoint_options)
 * @secret: both sides of a connection have the same; not all zero. It keeps
 *	strangers and mistakes out, not who can listen in on the fabric
 * @lanes: queue pairs of a connection, 1 to 16; 0: 1. Work of one lane is in
 *	order, lanes among each other are not. The smaller of both sides'
 * @depth: work that may be outstanding; 0: 128
 * @notify_depth: notices of the peer's that may wait to be read; 0: 128. Beyond
 *	it the peer's notifying work gets -EAGAIN
 * @slots: for regions, 1 to 1024; 0: 16
 * @timeout: ms after which a peer that does not answer is dead, 100 to 600000;
 *	0: 5000
 * @nonblock: calls do not wait: the file is O_NONBLOCK
 * @nearest_to: the RDMA device nearest to this region is used where the route
 *	leaves a choice; may be NULL
 * @rdma_device: the one to use; NULL or empty: by route
 * @label: of its flows in the flow table, up to 31 bytes; NULL or empty:
 *	"endpoint <id>"
 *
 * What is zero is as it is by default, but for @size and @secret.
 */
struct peerlane_endpoint_options {
	size_t size;
	uint8_t secret[PEERLANE_SECRET];
	uint32_t lanes;
	uint32_t depth;
	uint32_t notify_depth;
	uint32_t slots;
	uint32_t timeout;
	bool nonblock;
	const struct peerlane_region *nearest_to;
	const char *rdma_device;
	const char *label;
};

/**
 * peerlane_endpoint_create() - one end of a connection to be
 * @options: see there
 * @endpoint: set; released with peerlane_endpoint_close()
 *
 * An endpoint is a file. All calls on one may come from several threads at
 * once, but for peerlane_endpoint_close(), which is the last. Return: 0;
 * -EINVAL @options; -E2BIG @options has what this library does not know;
 * -ENODEV no such RDMA device; -EDQUOT this user has too many; -ENOENT module
 * not loaded; -EACCES.
 */
PEERLANE_API int
peerlane_endpoint_create(const struct peerlane_endpoint_options *options,
			 struct peerlane_endpoint **endpoint);

/**
 * peerlane_endpoint_from_fd() - an endpoint received from another process
 * @fd: endpoint file; owned by the endpoint from then on (not on failure), and
 *	made close-on-exec
 * @endpoint: set
 *
 * Return: 0; -EBADF not an endpoint.
 */
PEERLANE_API int peerlane_endpoint_from_fd(int fd,
					   struct peerlane_endpoint **endpoint);

/**
 * peerlane_endpoint_fd() - the file, for poll, epoll, io_uring and SCM_RIGHTS
 *
 * POLLIN: notices to read, or a connection to accept. POLLOUT: room for work.
 * It stays owned by the endpoint.
 */
PEERLANE_API int peerlane_endpoint_fd(const struct peerlane_endpoint *endpoint);

/** peerlane_endpoint_id() - its number, as in lists and logs. */
PEERLANE_API uint64_t
peerlane_endpoint_id(const struct peerlane_endpoint *endpoint);

/**
 * peerlane_endpoint_close() - let go of it
 * @endpoint: may be NULL
 *
 * When no other process has the file, this ends the connection like
 * peerlane_endpoint_disconnect().
 */
PEERLANE_API void peerlane_endpoint_close(struct peerlane_endpoint *endpoint);

/**
 * peerlane_endpoint_listen() - take connections
 * @endpoint: new
 * @host: local address or name; NULL all addresses
 * @port: TCP port number; 0 any that is free
 * @backlog: connections that may wait for peerlane_endpoint_accept(); 0: 16
 * @taken: set to the port; may be NULL
 *
 * Return: 0; -ENXIO @host is not known; -EADDRINUSE; -EADDRNOTAVAIL; -EISCONN
 * used already.
 */
PEERLANE_API int
peerlane_endpoint_listen(const struct peerlane_endpoint *endpoint,
			 const char *host, uint16_t port, uint32_t backlog,
			 uint16_t *taken);

/**
 * peerlane_endpoint_accept() - take the next connection
 * @listener: of peerlane_endpoint_listen()
 * @endpoint: set; has the listener's options
 * @peer: filled with its address and port; may be NULL
 *
 * Return: 0; -EAGAIN none waits and the listener does not block; -EINTR a
 * signal came; -ENOTCONN it does not listen.
 */
PEERLANE_API int
peerlane_endpoint_accept(const struct peerlane_endpoint *listener,
			 struct peerlane_endpoint **endpoint,
			 char peer[PEERLANE_PEER_TEXT]);

/**
 * peerlane_endpoint_connect() - to a peer that listens
 * @endpoint: new
 * @host: address or name; "fe80::1%eth0" for a link-local one
 * @port: its port
 * @source: local address or name; NULL by route
 *
 * Names are resolved here, which waits even if the endpoint does not block. The
 * addresses of a name are tried in their order until one answers; of one that
 * does not block, the first. After an error other than -EINPROGRESS and -EINTR
 * the endpoint is as it was, and can be used again. Return: 0; -EINPROGRESS it does not block:
 * PEERLANE_NOTICE_CONNECTED or PEERLANE_NOTICE_DISCONNECTED follows; -EINTR a
 * signal came, it goes on like that; -ENXIO a name is not known; -ECONNREFUSED
 * nobody listens there or the peer refused, as for another secret; -ETIMEDOUT;
 * -ENETUNREACH; -EHOSTUNREACH; -EADDRNOTAVAIL @source; -EISCONN used already;
 * -ENODEV no RDMA device on the route; -EDQUOT this user has too many.
 */
PEERLANE_API int
peerlane_endpoint_connect(const struct peerlane_endpoint *endpoint,
			  const char *host, uint16_t port, const char *source);

/**
 * peerlane_endpoint_disconnect() - end the connection
 * @endpoint: is still to be closed
 *
 * No peer reaches memory through it on return. Work that was outstanding ends
 * with -ECANCELED, or as it ended; its notices can be read. Return: 0;
 * -ENOTCONN.
 */
PEERLANE_API int
peerlane_endpoint_disconnect(const struct peerlane_endpoint *endpoint);

/**
 * peerlane_endpoint_bind() - put a region into a slot
 * @endpoint: in any state but closed
 * @slot: below the number of slots; empty
 * @region: may be freed afterwards
 * @offset: page-aligned
 * @length: page-aligned; 0 to the end
 * @read_only: the slot is never written: by no GET and no peer
 * @bound: set to the bytes the slot has; may be NULL
 *
 * Return: 0; -EBUSY the slot is not empty; -EINVAL slot, alignment or range;
 * -EPERM the region may only be read and not @read_only; -ENODEV revoked;
 * -ENODATA empty; -EOPNOTSUPP the region cannot be reached by the RDMA device.
 */
PEERLANE_API int peerlane_endpoint_bind(const struct peerlane_endpoint *endpoint,
					uint32_t slot,
					const struct peerlane_region *region,
					uint64_t offset, uint64_t length,
					bool read_only, uint64_t *bound);

/**
 * peerlane_endpoint_unbind() - empty a slot
 *
 * Return: 0, also if it is empty; -EBUSY work or an exposure uses it.
 */
PEERLANE_API int
peerlane_endpoint_unbind(const struct peerlane_endpoint *endpoint,
			 uint32_t slot);

#define PEERLANE_MAY_READ	(1U << 0)	/* the peer may get */
#define PEERLANE_MAY_WRITE	(1U << 1)	/* the peer may put */

/**
 * peerlane_endpoint_expose() - let the peer reach a part of a slot
 * @endpoint: connected
 * @slot: bound
 * @offset: in the slot, bytes
 * @length: bytes, > 0
 * @rights: PEERLANE_MAY_*
 * @value: told to the peer in its PEERLANE_NOTICE_EXPOSED; the caller's own
 * @token: set; the peer is told it, too; may be NULL
 *
 * Return: 0; -EINVAL slot, range or rights; -EPERM the slot is read-only;
 * -EDQUOT too many; -ENOTCONN; -ENODEV revoked.
 */
PEERLANE_API int
peerlane_endpoint_expose(const struct peerlane_endpoint *endpoint,
			 uint32_t slot, uint64_t offset, uint64_t length,
			 uint32_t rights, uint64_t value, uint64_t *token);

/**
 * peerlane_endpoint_withdraw() - end an exposure
 * @endpoint: of it
 * @token: of it
 *
 * Nothing of the peer's reaches the memory by it after this returned. A put or
 * get of the peer's that is under way by then ends the connection: it fails there
 * with -EACCES or -ENOKEY, and here PEERLANE_NOTICE_DISCONNECTED says
 * -ECONNRESET. So let the peer say first that it has done. Return: 0; -ENOKEY no
 * such exposure.
 */
PEERLANE_API int
peerlane_endpoint_withdraw(const struct peerlane_endpoint *endpoint,
			   uint64_t token);

enum peerlane_work_code {
	PEERLANE_WORK_PUT = 1,		/* this side's slot to the peer's exposure */
	PEERLANE_WORK_GET = 2,		/* the peer's exposure to this side's slot */
	PEERLANE_WORK_FLUSH = 3,	/* all puts before it are in the peer's memory */
	PEERLANE_WORK_NOTIFY = 4,	/* only PEERLANE_NOTICE_NOTIFY at the peer */
};

#define PEERLANE_WORK_NOTIFYING	(1U << 0)	/* put: a notice at the peer after it */
#define PEERLANE_WORK_QUIET	(1U << 1)	/* no notice here unless it fails */
#define PEERLANE_WORK_LANE	(1U << 2)	/* by @lane, else by the least busy one */

/**
 * struct peerlane_work - one thing to do
 * @code: enum peerlane_work_code
 * @flags: PEERLANE_WORK_*
 * @slot: this side's memory
 * @offset: in the slot, bytes
 * @length: bytes, also 0
 * @token: the peer's memory
 * @remote_offset: in the exposure, bytes
 * @cookie: given back in PEERLANE_NOTICE_DONE
 * @value: told to the peer in PEERLANE_NOTICE_NOTIFY
 * @lane: with PEERLANE_WORK_LANE, else 0
 * @reserved: 0
 *
 * A flush uses only @cookie, and @flags and @lane; a notification only @value,
 * too. Unused members are 0.
 */
struct peerlane_work {
	uint16_t code;
	uint16_t flags;
	uint32_t slot;
	uint64_t offset;
	uint64_t length;
	uint64_t token;
	uint64_t remote_offset;
	uint64_t cookie;
	uint64_t value;
	uint32_t lane;
	uint32_t reserved;
};

enum peerlane_notice_id {
	PEERLANE_NOTICE_DONE = 1,	/* work ended: @status, @cookie, @length */
	PEERLANE_NOTICE_NOTIFY = 2,	/* of the peer's: @value, @length, @token */
	PEERLANE_NOTICE_EXPOSED = 3,	/* by the peer: @token, @length, @rights, @value */
	PEERLANE_NOTICE_WITHDRAWN = 4,	/* by the peer: @token */
	PEERLANE_NOTICE_CONNECTED = 5,	/* the connection stands */
	PEERLANE_NOTICE_DISCONNECTED = 6, /* it ended: @status; the last one */
};

/** peerlane_notice_name() - "done", "notify", "exposed", ..., "unknown". */
PEERLANE_API const char *peerlane_notice_name(uint32_t type);

/**
 * struct peerlane_notice - what an endpoint tells
 * @type: enum peerlane_notice_id; pass over those you do not know
 * @status: 0 or a negative errno
 * @cookie: of the work
 * @token: of the exposure
 * @length: bytes
 * @value: as the peer gave it
 * @rights: PEERLANE_MAY_*
 * @lane: that it came by
 *
 * Status of PEERLANE_NOTICE_DONE: -EACCES unknown token, outside of the
 * exposure, or without the right; -ENOKEY the token was withdrawn; -ETIMEDOUT
 * the peer does not answer; -ECONNRESET it closed, or its process or region
 * ended; -ECANCELED given up here, or earlier work of the lane failed; -ENODEV
 * the slot's region was revoked; -ENETDOWN the RDMA device is gone. Work that is
 * caught by a withdrawal or a revocation fails so and ends the connection.
 */
struct peerlane_notice {
	uint32_t type;
	int32_t status;
	uint64_t cookie;
	uint64_t token;
	uint64_t length;
	uint64_t value;
	uint32_t rights;
	uint32_t lane;
};

#define PEERLANE_NOTICE_ROOM	64	/* bytes of a buffer that suffice for one */

/**
 * struct peerlane_notices - a buffer for notices as they come
 * @buffer: the caller's, 8-byte aligned
 * @size: its bytes, at least PEERLANE_NOTICE_ROOM
 * @used: set: bytes that are filled
 * @next: set: where peerlane_notice_next() goes on
 */
struct peerlane_notices {
	void *buffer;
	size_t size;
	size_t used;
	size_t next;
};

/**
 * peerlane_notice_next() - the next one of a filled buffer
 * @notices: filled by peerlane_endpoint_submit() or peerlane_endpoint_wait()
 * @notice: filled
 *
 * Return: false, and @notice as it was, after the last one.
 */
PEERLANE_API bool peerlane_notice_next(struct peerlane_notices *notices,
				       struct peerlane_notice *notice);

#define PEERLANE_BATCH_BUSY_POLL	(1U << 0)	/* wait actively, for latency */

/**
 * struct peerlane_batch - work to begin, and notices to wait for, in one call
 * @works: @count of them, in order; may be NULL if that is 0
 * @count: up to 4096
 * @flags: PEERLANE_BATCH_*
 * @wait: notices to wait for; 0 takes those that are there
 * @begun: set: how many of @works were begun, from the first on
 * @timeout: of the wait, ns; -1 none
 * @notices: where they go; without a buffer none are taken
 */
struct peerlane_batch {
	const struct peerlane_work *works;
	uint32_t count;
	uint32_t flags;
	uint32_t wait;
	uint32_t begun;
	int64_t timeout;
	struct peerlane_notices notices;
};

/**
 * peerlane_endpoint_submit() - begin work, and wait, in one system call
 * @endpoint: connected
 * @batch: see there
 *
 * Work that is wrong in itself ends the batch there: the call fails if it is
 * the first, else @batch->begun is less than @batch->count, and a second call
 * with the rest tells why. So does work for which there is no room (-EAGAIN).
 * What goes wrong later is in the notices. A signal or the end of the time ends
 * the wait only: then there are fewer notices, or none. Return: 0; -EAGAIN no room; -EINVAL; -ENOTCONN not connected,
 * or not any more; -EINTR a signal came before anything was done; -EACCES,
 * -ENOKEY the token; -ENODEV the slot's region is revoked.
 */
PEERLANE_API int
peerlane_endpoint_submit(const struct peerlane_endpoint *endpoint,
			 struct peerlane_batch *batch);

/**
 * peerlane_endpoint_wait() - take notices
 * @endpoint: in any state but new and listening
 * @timeout: ms to wait for the first; 0 do not, -1 for ever
 * @notices: filled with what is there
 *
 * Return: 0; -EAGAIN none came in time; -EINTR a signal came; -ENOTCONN the last
 * one was taken before.
 */
PEERLANE_API int
peerlane_endpoint_wait(const struct peerlane_endpoint *endpoint, int timeout,
		       struct peerlane_notices *notices);

/**
 * peerlane_endpoint_put() - begin one put
 * @endpoint: connected
 * @slot: this side's memory
 * @offset: in the slot
 * @length: bytes
 * @token: the peer's memory
 * @remote_offset: in the exposure
 * @cookie: given back in PEERLANE_NOTICE_DONE
 *
 * Return: as peerlane_endpoint_submit().
 */
PEERLANE_API int peerlane_endpoint_put(const struct peerlane_endpoint *endpoint,
				       uint32_t slot, uint64_t offset,
				       uint64_t length, uint64_t token,
				       uint64_t remote_offset, uint64_t cookie);

/** peerlane_endpoint_get() - begin one get; as peerlane_endpoint_put(). */
PEERLANE_API int peerlane_endpoint_get(const struct peerlane_endpoint *endpoint,
				       uint32_t slot, uint64_t offset,
				       uint64_t length, uint64_t token,
				       uint64_t remote_offset, uint64_t cookie);

/** peerlane_endpoint_flush() - begin a flush: done when all earlier puts have arrived. */
PEERLANE_API int
peerlane_endpoint_flush(const struct peerlane_endpoint *endpoint,
			uint64_t cookie);

/** peerlane_endpoint_notify() - begin a notification: @value at the peer. */
PEERLANE_API int
peerlane_endpoint_notify(const struct peerlane_endpoint *endpoint,
			 uint64_t value, uint64_t cookie);

/** peerlane_endpoint_state_name() - "new", "listening", "connecting", "connected", "closed", "unknown". */
PEERLANE_API const char *peerlane_endpoint_state_name(uint32_t state);

/**
 * struct peerlane_endpoint_info - one endpoint
 * @id: its number on this node
 * @bytes_put: sent by puts that completed
 * @bytes_get: received by gets that completed
 * @ops_done: work that ended well
 * @ops_failed: work that did not
 * @uid: who made it
 * @pid: process that made it, 0 unknown
 * @state: see peerlane_endpoint_state_name()
 * @status: why it is closed: negative errno, or 0
 * @lanes: queue pairs
 * @depth: work that may be outstanding
 * @outstanding: work that is
 * @slots: that have a region
 * @exposed: exposures to the peer
 * @granted: exposures of the peer's
 * @keys: memory keys in use
 * @path: from the RDMA device to the memory; see peerlane_path_name()
 * @comm: command name of @pid
 * @local: address and port, or empty
 * @peer: likewise
 * @rdma_device: its name, or empty
 * @label: of its flows
 * @reason: why it is closed, or empty
 */
struct peerlane_endpoint_info {
	uint64_t id;
	uint64_t bytes_put;
	uint64_t bytes_get;
	uint64_t ops_done;
	uint64_t ops_failed;
	uint32_t uid;
	int32_t pid;
	uint32_t state;
	int32_t status;
	uint32_t lanes;
	uint32_t depth;
	uint32_t outstanding;
	uint32_t slots;
	uint32_t exposed;
	uint32_t granted;
	uint32_t keys;
	uint32_t path;
	char comm[16];
	char local[PEERLANE_PEER_TEXT];
	char peer[PEERLANE_PEER_TEXT];
	char rdma_device[64];
	char label[32];
	char reason[128];
};

/** peerlane_endpoint_query() - state, counts, and why it is closed. */
PEERLANE_API int
peerlane_endpoint_query(const struct peerlane_endpoint *endpoint,
			struct peerlane_endpoint_info *info);

/**
 * peerlane_endpoint_list() - endpoints of this network namespace
 * @list: set to an array, freed by the caller with free(); NULL when @count is 0
 * @count: set to its length
 *
 * Without CAP_NET_ADMIN only the caller's own. Return: as
 * peerlane_device_list().
 */
PEERLANE_API int peerlane_endpoint_list(struct peerlane_endpoint_info **list,
					size_t *count);

/* ---- groups: collective operations, whose arithmetic aggregators do --------- */

struct peerlane_group;
struct peerlane_aggregator;

#define PEERLANE_AGGREGATOR_PORT	18517	/* where none is said */
#define PEERLANE_AGGREGATORS_MOST	64	/* of one group */
#define PEERLANE_AGGREGATORS_TEXT	4096	/* room for their addresses */
#define PEERLANE_NOBODY			UINT32_MAX	/* no rank */
#define PEERLANE_LATENESS		40	/* buckets */

enum peerlane_collective_kind {
	PEERLANE_ALL_REDUCE = 1,	/* gives count, gets count */
	PEERLANE_REDUCE_SCATTER = 2,	/* gives count for each rank, gets count */
	PEERLANE_ALL_GATHER = 3,	/* gives count, gets count of each rank */
	PEERLANE_REDUCE = 4,		/* gives count, the root gets count */
	PEERLANE_BROADCAST = 5,		/* the root gives count, all others get it */
	PEERLANE_BARRIER = 6,		/* no data */
};

enum peerlane_element {
	PEERLANE_F32 = 1,
	PEERLANE_F64 = 2,
	PEERLANE_F16 = 3,
	PEERLANE_BF16 = 4,
	PEERLANE_I8 = 5,
	PEERLANE_I16 = 6,
	PEERLANE_I32 = 7,
	PEERLANE_I64 = 8,
	PEERLANE_U8 = 9,
	PEERLANE_U16 = 10,
	PEERLANE_U32 = 11,
	PEERLANE_U64 = 12,
};

enum peerlane_combination {
	PEERLANE_SUM = 1,
	PEERLANE_AVG = 2,
	PEERLANE_MIN = 3,
	PEERLANE_MAX = 4,
	PEERLANE_PROD = 5,
	PEERLANE_BAND = 6,	/* this and the next two: of integers */
	PEERLANE_BOR = 7,
	PEERLANE_BXOR = 8,
};

enum peerlane_ending {
	PEERLANE_ENDING_NONE = 0,	/* all left, or this rank did */
	PEERLANE_ENDING_LEFT = 1,	/* a rank left with operations open */
	PEERLANE_ENDING_DEAD = 2,	/* its connection ended; without a rank: an aggregator's */
	PEERLANE_ENDING_LATE = 3,	/* it did not come to an operation in time */
	PEERLANE_ENDING_MISMATCH = 4,	/* it called something else */
	PEERLANE_ENDING_REVOKED = 5,	/* its region is gone */
	PEERLANE_ENDING_PROTOCOL = 6,	/* it said what may not be said */
	PEERLANE_ENDING_CLOSED = 7,	/* an aggregator was closed */
	PEERLANE_ENDING_SHAPE = 8,	/* joined with other numbers than the group has */
	PEERLANE_ENDING_TAKEN = 9,	/* that rank is there already */
	PEERLANE_ENDING_FULL = 10,	/* no memory, or no more groups */
	PEERLANE_ENDING_JOIN = 11,	/* not all ranks joined in time */
	PEERLANE_ENDING_UNABLE = 12,	/* floats, which an aggregator cannot compute */
};

/** peerlane_collective_name() - "all-reduce", "reduce-scatter", ..., "unknown". */
PEERLANE_API const char *peerlane_collective_name(uint32_t kind);
/** peerlane_element_name() - "f32", "bf16", "u64", ..., "unknown". */
PEERLANE_API const char *peerlane_element_name(uint32_t type);
/** peerlane_element_find() - enum peerlane_element of a name; 0: it is none. */
PEERLANE_API uint32_t peerlane_element_find(const char *name);
/** peerlane_element_size() - bytes of one; 0: there is no such type. */
PEERLANE_API uint32_t peerlane_element_size(uint32_t type);
/** peerlane_combination_name() - "sum", "avg", "bxor", ..., "unknown". */
PEERLANE_API const char *peerlane_combination_name(uint32_t op);
/** peerlane_combination_find() - enum peerlane_combination of a name; 0: none. */
PEERLANE_API uint32_t peerlane_combination_find(const char *name);
/** peerlane_ending_name() - "left", "dead", "late", ..., "unknown"; "none". */
PEERLANE_API const char *peerlane_ending_name(uint32_t cause);
/** peerlane_group_state_name() - "new", "joining", "joined", "ending", "ended". */
PEERLANE_API const char *peerlane_group_state_name(uint32_t state);

/**
 * struct peerlane_group_options - what one rank of a group is to be
 * @size: sizeof(struct peerlane_group_options)
 * @secret: that of the aggregators; not all zero. Sent in clear
 * @group: number of the group, the same on all ranks; random, not 0
 * @rank: 0 to @ranks - 1
 * @ranks: size of the group, 1 to 1024
 * @segment: bytes in which an operation is cut, a power of two from 4096 to
 *	4 MiB; 0: 65536. This and the next two are the same on all ranks
 * @window: segments on their way to one aggregator, 1 to 256; 0: 8
 * @block: ranks whose sum is made first, which is the order of summation, 2 to
 *	1024; 0: all
 * @lanes: queue pairs to each aggregator, 1 to 16; 0: 1
 * @depth: operations that may be outstanding or not yet waited for; 0: 128
 * @slots: for regions, 1 to 256; 0: 16
 * @timeout: ms after which an aggregator that does not answer is dead, 100 to
 *	600000; 0: 5000
 * @operation_timeout: ms in which all ranks have to come to an operation after
 *	the first, 100 to 86400000; 0: 60000. The same on all ranks
 * @join_timeout: ms in which all have to join, 100 to 86400000; 0: 120000
 * @nonblock: peerlane_group_join() does not wait
 * @nearest_to: the RDMA device nearest to this region is used where the route
 *	leaves a choice; may be NULL
 * @rdma_device: the one to use; NULL or empty: by route
 * @label: of its flows in the flow table, up to 31 bytes; NULL or empty: "rank
 *	<rank> group <id>"
 *
 * What is zero is as it is by default, but for @size, @secret, @group and
 * @ranks.
 */
struct peerlane_group_options {
	size_t size;
	uint8_t secret[PEERLANE_SECRET];
	uint64_t group;
	uint32_t rank;
	uint32_t ranks;
	uint32_t segment;
	uint32_t window;
	uint32_t block;
	uint32_t lanes;
	uint32_t depth;
	uint32_t slots;
	uint32_t timeout;
	uint32_t operation_timeout;
	uint32_t join_timeout;
	bool nonblock;
	const struct peerlane_region *nearest_to;
	const char *rdma_device;
	const char *label;
};

/**
 * struct peerlane_launch - what the environment says of this process
 * @launcher: "peerlane", "torchrun", "mpirun", "mpiexec", "pmix", "srun"; empty:
 *	nothing says which rank this is
 * @rank: of @ranks
 * @ranks: 0 if @launcher is empty
 * @group: number of the group; 0: nothing says it
 * @secret: of the aggregators; all zero: nothing says it
 * @aggregators: their addresses, for peerlane_group_join(), or empty
 */
struct peerlane_launch {
	char launcher[16];
	uint32_t rank;
	uint32_t ranks;
	uint64_t group;
	uint8_t secret[PEERLANE_SECRET];
	char aggregators[PEERLANE_AGGREGATORS_TEXT];
};

/**
 * peerlane_launch_read() - ask the environment who we are
 * @launch: filled
 * @options: gets rank, ranks, group and secret as far as they are said; may be
 *	NULL
 *
 * Rank and size: the first of PEERLANE_RANK and PEERLANE_SIZE; RANK and
 * WORLD_SIZE (torchrun); OMPI_COMM_WORLD_RANK and _SIZE (mpirun); PMI_RANK and
 * PMI_SIZE (mpiexec); PMIX_RANK with the size of one of the others; SLURM_PROCID
 * and SLURM_NTASKS (srun). Group: PEERLANE_GROUP, a number, or words that are
 * hashed; else the job's name, where the launcher has one. Secret:
 * PEERLANE_SECRET, words as of peerlane_endpoint_secret(), or the first line of
 * the file PEERLANE_SECRET_FILE. Aggregators: PEERLANE_AGGREGATORS, or the file
 * PEERLANE_AGGREGATORS_FILE.
 *
 * Return: 0, also if nothing is said; -EINVAL what is said is nonsense, or half
 * of it is missing; -E2BIG too long; or why a file cannot be read.
 */
PEERLANE_API int peerlane_launch_read(struct peerlane_launch *launch,
				      struct peerlane_group_options *options);

/**
 * peerlane_group_number() - number of a group from words
 *
 * A number as it is, decimal or 0x...; other words by a hash. Return: 0;
 * -EINVAL @text is empty, or 0.
 */
PEERLANE_API int peerlane_group_number(const char *text, uint64_t *group);

/**
 * peerlane_group_create() - one rank of a group to be
 * @options: see there
 * @group: set; released with peerlane_group_close()
 *
 * Calls on a group may come from several threads at once, but for
 * peerlane_group_close(), which is the last. Return: 0; -EINVAL @options;
 * -E2BIG @options has what this library does not know; -ENODEV no such RDMA
 * device; -EDQUOT this user has too many; -ENOENT module not loaded; -EACCES.
 */
PEERLANE_API int
peerlane_group_create(const struct peerlane_group_options *options,
		      struct peerlane_group **group);

/**
 * peerlane_group_fd() - the file, for poll and epoll
 *
 * POLLIN: something has ended, for peerlane_group_next(). It stays owned by the
 * group; do not read it.
 */
PEERLANE_API int peerlane_group_fd(const struct peerlane_group *group);

/** peerlane_group_id() - number of this rank's file, as in lists and logs. */
PEERLANE_API uint64_t peerlane_group_id(const struct peerlane_group *group);

/**
 * peerlane_group_bind() - put a region into a slot; also before joining
 *
 * As peerlane_endpoint_bind(). A slot that is bound @read_only only gives.
 */
PEERLANE_API int peerlane_group_bind(const struct peerlane_group *group,
				     uint32_t slot,
				     const struct peerlane_region *region,
				     uint64_t offset, uint64_t length,
				     bool read_only, uint64_t *bound);

/** peerlane_group_unbind() - empty a slot; -EBUSY: operations use it. */
PEERLANE_API int peerlane_group_unbind(const struct peerlane_group *group,
				       uint32_t slot);

/**
 * peerlane_group_join() - connect to the aggregators, and meet the others
 * @group: new
 * @aggregators: "10.0.0.1:18517,node7,[fe80::1%eth0]:18517": up to 64, apart by
 *	commas or blanks; on all ranks the same in the same order
 * @source: local address or name; NULL by route
 *
 * Names are resolved here, and their first address is taken. Returns when all
 * ranks have joined, or when the join timeout is over. Return: 0; -EINPROGRESS
 * the group does not block: peerlane_group_next() tells; -EINTR a signal came,
 * it goes on like that; -EINVAL @aggregators; -ENXIO a name is not known;
 * -ECONNREFUSED nobody listens there, or it refused; -ETIMEDOUT not all ranks
 * came; -EBADE the ranks do not say the same; -EEXIST another one is this rank;
 * -ENOSPC an aggregator has no memory for the group; -EISCONN used already;
 * -EDQUOT this user would have too many connections: it can be tried again.
 */
PEERLANE_API int peerlane_group_join(const struct peerlane_group *group,
				     const char *aggregators,
				     const char *source);

/**
 * struct peerlane_collective - one operation
 * @kind: enum peerlane_collective_kind
 * @type: enum peerlane_element
 * @op: enum peerlane_combination of what reduces; else 0
 * @flags: 0
 * @root: rank, of a reduce or broadcast; else 0
 * @count: elements
 * @send_slot: of what this rank gives
 * @receive_slot: of what it gets. Both may be the same, and the ranges overlap
 *	if the operation is in place: the result is where its own part was given,
 *	so of an all-gather the send is at this rank's part of the receive, and of
 *	a reduce-scatter the other way round
 * @send_offset: first byte there
 * @receive_offset: first byte there
 * @cookie: the caller's name for it, which no other has that is not waited for
 *	yet
 *
 * All ranks begin the same operations in the same order. A barrier has only
 * @kind and @cookie.
 */
struct peerlane_collective {
	uint8_t kind;
	uint8_t type;
	uint8_t op;
	uint8_t flags;
	uint32_t root;
	uint64_t count;
	uint32_t send_slot;
	uint32_t receive_slot;
	uint64_t send_offset;
	uint64_t receive_offset;
	uint64_t cookie;
};

enum peerlane_group_event_id {
	PEERLANE_GROUP_EVENT_JOINED = 1,	/* all ranks have */
	PEERLANE_GROUP_EVENT_DONE = 2,	/* an operation ended */
	PEERLANE_GROUP_EVENT_ENDED = 3,	/* the group ended; the last one */
};

/**
 * struct peerlane_group_event - what a group tells
 * @type: enum peerlane_group_event_id
 * @status: 0 or a negative errno
 * @cookie: of the operation
 * @sequence: its number in the group, from 0
 * @rank: with a status: whose fault, or PEERLANE_NOBODY
 * @cause: likewise, enum peerlane_ending
 */
struct peerlane_group_event {
	uint32_t type;
	int32_t status;
	uint64_t cookie;
	uint64_t sequence;
	uint32_t rank;
	uint32_t cause;
};

/**
 * peerlane_group_submit() - begin operations
 * @group: joined
 * @list: @count of them, in order, up to 4096
 * @begun: set: how many were begun, from the first on; may be NULL if @count
 *	is 1
 *
 * The end of each is told once, by peerlane_group_wait(), _test() or _next(),
 * and it takes up room until then. What is wrong in itself ends the list there,
 * as does a lack of room: the call fails if that is the first. Return: 0;
 * -EAGAIN no room; -EINVAL; -EEXIST an operation with that cookie is not waited
 * for yet; -ENOTCONN not joined, or not any more; -ENODEV a slot's region is
 * revoked.
 */
PEERLANE_API int peerlane_group_submit(struct peerlane_group *group,
				       const struct peerlane_collective *list,
				       uint32_t count, uint32_t *begun);

/**
 * peerlane_group_wait() - until an operation has ended
 * @group: of it
 * @cookie: of it
 * @timeout: ms; -1 none: the group's own timeouts end each operation
 *
 * The result is there, and the memory that was given may be used again. Return:
 * 0; the operation's error, with the reason and the rank whose fault it is in
 * peerlane_strerror(); -EAGAIN not in time: it goes on; -EINTR a signal came, it
 * goes on; -ENOENT no operation has that cookie.
 */
PEERLANE_API int peerlane_group_wait(struct peerlane_group *group,
				     uint64_t cookie, int timeout);

/** peerlane_group_test() - has it ended? Else -EAGAIN; as peerlane_group_wait(). */
PEERLANE_API int peerlane_group_test(struct peerlane_group *group,
				     uint64_t cookie);

/**
 * peerlane_group_next() - what ended next, of whatever cookie
 * @group: joined or joining
 * @timeout: ms; 0 do not wait, -1 for ever
 * @event: filled
 *
 * Return: 0; -EAGAIN nothing came in time; -EINTR; -ENOTCONN PEERLANE_GROUP_EVENT_ENDED
 * was told before.
 */
PEERLANE_API int peerlane_group_next(struct peerlane_group *group, int timeout,
				     struct peerlane_group_event *event);

/**
 * peerlane_group_run() - begin an operation, and wait until it has ended
 *
 * By one system call, if no other thread waits. Return: as
 * peerlane_group_submit() and peerlane_group_wait(); after -EINTR it is still to
 * be waited for.
 */
PEERLANE_API int peerlane_group_run(struct peerlane_group *group,
				    const struct peerlane_collective *operation);

/**
 * peerlane_group_leave() - leave the group
 *
 * With operations outstanding it ends the group for all ranks. Nobody reaches
 * memory through it on return. Return: 0.
 */
PEERLANE_API int peerlane_group_leave(const struct peerlane_group *group);

/** peerlane_group_close() - leave, and let go of it; @group may be NULL. */
PEERLANE_API void peerlane_group_close(struct peerlane_group *group);

/**
 * struct peerlane_group_status - one rank of a group on this node
 * @id: its number on this node
 * @group: number of the group
 * @ops_done: operations that ended well
 * @ops_failed: that did not
 * @bytes_sent: to aggregators
 * @bytes_received: from them
 * @segments: sent
 * @fault_value: of a mismatch: what @fault_rank called
 * @fault_expected: what @fault_other called
 * @fault_sequence: number of the operation that it was about
 * @uid: who made it
 * @pid: process that made it, 0 unknown
 * @state: see peerlane_group_state_name()
 * @status: why it ended: negative errno, or 0
 * @rank: its rank
 * @ranks: size of the group
 * @aggregators: that it has
 * @segment: bytes
 * @window: segments
 * @block: ranks
 * @lanes: queue pairs to each aggregator
 * @depth: operations that may be outstanding
 * @outstanding: that are
 * @slots: that have a region
 * @fault_cause: enum peerlane_ending
 * @fault_rank: whose fault, or PEERLANE_NOBODY
 * @fault_other: a rank that called as most did
 * @fault_missing: how many ranks did not come
 * @comm: command name of @pid
 * @label: of its flows
 * @text: why it ended, or empty
 */
struct peerlane_group_status {
	uint64_t id;
	uint64_t group;
	uint64_t ops_done;
	uint64_t ops_failed;
	uint64_t bytes_sent;
	uint64_t bytes_received;
	uint64_t segments;
	uint64_t fault_value;
	uint64_t fault_expected;
	uint64_t fault_sequence;
	uint32_t uid;
	int32_t pid;
	uint32_t state;
	int32_t status;
	uint32_t rank;
	uint32_t ranks;
	uint32_t aggregators;
	uint32_t segment;
	uint32_t window;
	uint32_t block;
	uint32_t lanes;
	uint32_t depth;
	uint32_t outstanding;
	uint32_t slots;
	uint32_t fault_cause;
	uint32_t fault_rank;
	uint32_t fault_other;
	uint32_t fault_missing;
	char comm[16];
	char label[32];
	char text[192];
};

/** peerlane_group_query() - state, counts, and why it ended. */
PEERLANE_API int peerlane_group_query(const struct peerlane_group *group,
				      struct peerlane_group_status *status);

/**
 * peerlane_group_list() - ranks of groups in this network namespace
 *
 * As peerlane_endpoint_list().
 */
PEERLANE_API int peerlane_group_list(struct peerlane_group_status **list,
				     size_t *count);

/* ---- aggregators ------------------------------------------------------------ */

/**
 * struct peerlane_aggregator_options - what an aggregator is to be
 * @size: sizeof(struct peerlane_aggregator_options)
 * @secret: of the groups that it serves; not all zero
 * @memory: bytes for all groups, which the library maps and pins: a group of n
 *	ranks takes (n + 1) * window * segment while it lasts
 * @address: "10.0.0.1:18517", "10.0.0.1", ":0", "[fe80::1%eth0]", where to
 *	listen; port 0 is any that is free; NULL or empty: all addresses
 * @backlog: connections that have not joined yet, 1 to 1024; 0: 64
 * @max_groups: at once; 0: 64
 * @timeout: ms after which a rank that does not answer is dead, 100 to 600000;
 *	0: 5000
 * @join_timeout: ms in which all ranks of a group have to join after the first,
 *	100 to 86400000; 0: 60000
 * @rdma_device: the one to use; NULL or empty: any
 */
struct peerlane_aggregator_options {
	size_t size;
	uint8_t secret[PEERLANE_SECRET];
	uint64_t memory;
	const char *address;
	uint32_t backlog;
	uint32_t max_groups;
	uint32_t timeout;
	uint32_t join_timeout;
	const char *rdma_device;
};

/**
 * peerlane_aggregator_create() - make an aggregator, which listens
 * @options: see there
 * @aggregator: set; released with peerlane_aggregator_close(), which ends its
 *	groups
 *
 * The kernel does the work: no thread of the process is needed. Return: 0;
 * -EINVAL @options; -ENOMEM no such memory, or over RLIMIT_MEMLOCK; -EPERM the
 * module parameter "aggregator" is 0; -EADDRINUSE; -EADDRNOTAVAIL; -ENXIO the
 * name is not known; -EDQUOT this user has too many; -ENODEV no such RDMA
 * device; -ENOENT module not loaded; -EACCES.
 */
PEERLANE_API int
peerlane_aggregator_create(const struct peerlane_aggregator_options *options,
			   struct peerlane_aggregator **aggregator);

/**
 * peerlane_aggregator_open() - another process's, to look at
 * @id: its number, as in lists
 * @aggregator: set
 *
 * For statistics: events that are taken are lost to that process. Return: 0;
 * -ENOENT no such aggregator; -EPERM this process may not trace that one.
 */
PEERLANE_API int
peerlane_aggregator_open(uint64_t id, struct peerlane_aggregator **aggregator);

/** peerlane_aggregator_fd() - the file, for poll: POLLIN is an event. */
PEERLANE_API int
peerlane_aggregator_fd(const struct peerlane_aggregator *aggregator);

/** peerlane_aggregator_close() - let go of it; @aggregator may be NULL. */
PEERLANE_API void
peerlane_aggregator_close(struct peerlane_aggregator *aggregator);

enum peerlane_aggregator_event_id {
	PEERLANE_AGGREGATOR_FORMED = 1,	/* all ranks of a group have joined */
	PEERLANE_AGGREGATOR_ENDED = 2,	/* a group ended, its memory is free */
	PEERLANE_AGGREGATOR_CLOSED = 3,	/* it takes nobody in any more */
};

/**
 * struct peerlane_aggregator_event - what an aggregator tells
 * @type: enum peerlane_aggregator_event_id
 * @status: 0 or a negative errno
 * @group: number of the group
 * @rank: whose fault, or PEERLANE_NOBODY
 * @cause: enum peerlane_ending
 * @ranks: size of the group
 * @lost: events before this one that were not taken in time
 */
struct peerlane_aggregator_event {
	uint32_t type;
	int32_t status;
	uint64_t group;
	uint32_t rank;
	uint32_t cause;
	uint32_t ranks;
	uint32_t lost;
};

/**
 * peerlane_aggregator_next() - the next event
 * @aggregator: of it
 * @timeout: ms; 0 do not wait, -1 for ever
 * @event: filled
 *
 * Return: 0; -EAGAIN none came in time; -EINTR a signal came; -ENOTCONN
 * PEERLANE_AGGREGATOR_CLOSED was taken before.
 */
PEERLANE_API int
peerlane_aggregator_next(const struct peerlane_aggregator *aggregator,
			 int timeout, struct peerlane_aggregator_event *event);

/**
 * struct peerlane_aggregator_status - one aggregator of this node
 * @id: its number
 * @pool_bytes: of its memory
 * @pool_used: given to groups
 * @segments: reduced or handed on
 * @bytes: received from ranks
 * @formed: groups that formed
 * @failed: that ended by somebody's fault
 * @refused: joins refused
 * @uid: who made it
 * @pid: process that made it, 0 unknown
 * @groups: at present
 * @max_groups: at once
 * @links: connections at present
 * @status: 0, or why it takes nobody in: negative errno
 * @comm: command name of @pid
 * @address: where it listens, with the port
 * @rdma_device: as given
 */
struct peerlane_aggregator_status {
	uint64_t id;
	uint64_t pool_bytes;
	uint64_t pool_used;
	uint64_t segments;
	uint64_t bytes;
	uint64_t formed;
	uint64_t failed;
	uint64_t refused;
	uint32_t uid;
	int32_t pid;
	uint32_t groups;
	uint32_t max_groups;
	uint32_t links;
	int32_t status;
	char comm[16];
	char address[PEERLANE_PEER_TEXT];
	char rdma_device[64];
};

/** peerlane_aggregator_query() - its address, and counts. */
PEERLANE_API int
peerlane_aggregator_query(const struct peerlane_aggregator *aggregator,
			  struct peerlane_aggregator_status *status);

/** peerlane_aggregator_list() - of this network namespace; as peerlane_endpoint_list(). */
PEERLANE_API int
peerlane_aggregator_list(struct peerlane_aggregator_status **list,
			 size_t *count);

/**
 * struct peerlane_rank_status - what an aggregator saw of one rank of a group
 * @segments: that came
 * @bytes: of them
 * @late_total: ns after the rank that came first, summed over segments
 * @late_max: ns, the most of one segment
 * @last: segments to which it came last
 * @rank: which one
 * @is_there: it is connected
 * @peer: its address and port
 * @late: segments by lateness: bucket b has 2^b to 2^(b+1) ns, 0 also 0 ns
 */
struct peerlane_rank_status {
	uint64_t segments;
	uint64_t bytes;
	uint64_t late_total;
	uint64_t late_max;
	uint64_t last;
	uint32_t rank;
	bool is_there;
	char peer[PEERLANE_PEER_TEXT];
	uint32_t late[PEERLANE_LATENESS];
};

/**
 * peerlane_aggregator_ranks() - who was late in a group
 * @aggregator: that the group has
 * @group: its number
 * @list: set to an array, freed by the caller with free(); NULL when @count is 0
 * @count: set to its length
 *
 * Return: 0; -ENOENT it has no such group.
 */
PEERLANE_API int
peerlane_aggregator_ranks(const struct peerlane_aggregator *aggregator,
			  uint64_t group, struct peerlane_rank_status **list,
			  size_t *count);

/**
 * peerlane_lateness_percentile() - middle of the bucket a percentile falls in
 * @late: of one rank, or several added up
 * @millionths: 500000 the median, 990000 the 99th percentile, ...
 *
 * Return: ns; 0 without samples.
 */
PEERLANE_API uint64_t
peerlane_lateness_percentile(const uint32_t late[PEERLANE_LATENESS],
			     uint32_t millionths);

#ifdef __cplusplus
}
#endif

#endif /* PEERLANE_H */
