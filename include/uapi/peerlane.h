/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * peerlane: ioctl ABI of /dev/peerlane/<device>, /dev/peerlane/control and of
 * the region files that they make.
 *
 * Rules that hold for every command
 * ---------------------------------
 * - The command number carries no size (_IO), so it never changes when the
 *   struct grows. The first field is the size the caller was compiled with.
 * - The next four fields are the same in every struct: see struct peerlane_hdr.
 * - @msg_ptr/@msg_len name a buffer in which a refused call leaves one line of
 *   text that says why, NUL-terminated, cut to fit; @msg_ptr 0 means no text is
 *   wanted. A call that succeeds leaves the buffer as it was. A buffer that
 *   cannot be written loses the text and nothing else.
 * - Fields named out_* are written by the kernel, all others are read only.
 *
 * errno contract (each command adds its own below)
 * ------------------------------------------------
 * ENOTTY      the command is unknown to this file
 * E2BIG       @size is larger than the kernel's struct and the tail is not zero,
 *             or @size is larger than a page
 * EINVAL      @size is smaller than the first release of the struct, or a field
 *             is understood but wrong (unaligned, empty, out of range)
 * EOPNOTSUPP  an unknown flag or value, a reserved field that is not zero, or a
 *             use that this kind of region does not have
 * EOVERFLOW   offset + length, or an address, does not fit in 64 bits
 * EFAULT      a pointer cannot be read or written
 * ENODEV      the memory is revoked or its device is gone
 * EBUSY       already done, or another holds it
 * ENOSPC      the device has no free range of that length
 * EDQUOT      a limit of this user or of this device is reached
 * EPERM       the caller may not do this
 * EBADF       a file descriptor argument is not open or of the wrong type
 * EMSGSIZE    an array is too short; its needed count is written back
 * ENOMEM      the kernel is short of memory
 */
#ifndef _UAPI_PEERLANE_H
#define _UAPI_PEERLANE_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define PEERLANE_IOC_TYPE	0xE9

#define PEERLANE_NAME_LEN	32	/* device name with its NUL */
#define PEERLANE_COMM_LEN	16	/* as TASK_COMM_LEN */
#define PEERLANE_PCI_LEN	16	/* "dddd:bb:dd.f" with its NUL */
#define PEERLANE_MSG_MAX	256	/* no text is longer, with its NUL */

enum {
	PEERLANE_CMD_BASE		= 0x00,
	/* on /dev/peerlane/<device> and on region files */
	PEERLANE_CMD_REGION_ALLOC	= PEERLANE_CMD_BASE,
	PEERLANE_CMD_REGION_INFO	= 0x01,
	PEERLANE_CMD_REGION_EXPORT	= 0x02,
	PEERLANE_CMD_REGION_REVOKE	= 0x03,
	/* on /dev/peerlane/control */
	PEERLANE_CMD_DEVICE_LIST	= 0x20,
	PEERLANE_CMD_REGION_LIST	= 0x21,
	PEERLANE_CMD_IMPORT_DMABUF	= 0x22,
	PEERLANE_CMD_PIN_HOST		= 0x23,
	PEERLANE_CMD_PREFLIGHT		= 0x24,
	PEERLANE_CMD_ENDPOINT_CREATE	= 0x25,
	PEERLANE_CMD_ENDPOINT_LIST	= 0x26,
	PEERLANE_CMD_GROUP_CREATE	= 0x27,
	PEERLANE_CMD_AGGREGATOR_CREATE	= 0x28,
	PEERLANE_CMD_GROUP_LIST		= 0x29,
	PEERLANE_CMD_AGGREGATOR_LIST	= 0x2a,
	PEERLANE_CMD_GROUP_LANES	= 0x2b,
	/* on endpoint files, group files and aggregator files */
	PEERLANE_CMD_ENDPOINT_LISTEN	= 0x40,
	PEERLANE_CMD_ENDPOINT_CONNECT	= 0x41,
	PEERLANE_CMD_ENDPOINT_ACCEPT	= 0x42,
	PEERLANE_CMD_ENDPOINT_BIND	= 0x43,
	PEERLANE_CMD_ENDPOINT_EXPOSE	= 0x44,
	PEERLANE_CMD_ENDPOINT_WITHDRAW	= 0x45,
	PEERLANE_CMD_ENDPOINT_SUBMIT	= 0x46,
	PEERLANE_CMD_ENDPOINT_DISCONNECT = 0x47,
	PEERLANE_CMD_ENDPOINT_INFO	= 0x48,
	PEERLANE_CMD_GROUP_BIND		= 0x60,
	PEERLANE_CMD_GROUP_JOIN		= 0x61,
	PEERLANE_CMD_GROUP_SUBMIT	= 0x62,
	PEERLANE_CMD_GROUP_LEAVE	= 0x63,
	PEERLANE_CMD_GROUP_INFO		= 0x64,
	PEERLANE_CMD_AGGREGATOR_INFO	= 0x70,
	PEERLANE_CMD_AGGREGATOR_RANKS	= 0x71,
};

/**
 * struct peerlane_hdr - the fields that every struct begins with
 * @size: sizeof() the struct, as the caller was compiled
 * @flags: per command; unknown bits are refused with EOPNOTSUPP
 * @msg_ptr: user address of the text buffer, or 0
 * @msg_len: its length in bytes
 * @reserved: must be 0
 */
struct peerlane_hdr {
	__u32 size;
	__u32 flags;
	__aligned_u64 msg_ptr;
	__u32 msg_len;
	__u32 reserved;
};

/**
 * enum peerlane_kind - where a region's memory comes from
 * @PEERLANE_KIND_BAR: PCI BAR bound to the peerlane driver
 * @PEERLANE_KIND_DRIVER: another kernel driver's memory
 * @PEERLANE_KIND_DMABUF: imported dma-buf
 * @PEERLANE_KIND_HOST: pinned pages of the caller
 */
enum peerlane_kind {
	PEERLANE_KIND_BAR	= 1,
	PEERLANE_KIND_DRIVER	= 2,
	PEERLANE_KIND_DMABUF	= 3,
	PEERLANE_KIND_HOST	= 4,
};

/**
 * enum peerlane_state - life of a region
 * @PEERLANE_STATE_EMPTY: opened, no memory yet
 * @PEERLANE_STATE_ACTIVE: usable
 * @PEERLANE_STATE_REVOKED: taken away; mappings are gone, calls give ENODEV
 * @PEERLANE_STATE_LIMBO: nobody can reach the memory any more, but pins or DMA
 *	mappings on it are still held; it is given to nobody until they end
 * @PEERLANE_STATE_RELEASED: revoked and the memory is returned; the file lives
 */
enum peerlane_state {
	PEERLANE_STATE_EMPTY	= 0,
	PEERLANE_STATE_ACTIVE	= 1,
	PEERLANE_STATE_REVOKED	= 2,
	PEERLANE_STATE_LIMBO	= 3,
	PEERLANE_STATE_RELEASED	= 4,
};

/**
 * enum peerlane_memtype - how the CPU sees the memory
 * @PEERLANE_MEMTYPE_WB: cached
 * @PEERLANE_MEMTYPE_WC: write-combining
 * @PEERLANE_MEMTYPE_UC: uncached
 * @PEERLANE_MEMTYPE_NONE: the CPU cannot map it
 */
enum peerlane_memtype {
	PEERLANE_MEMTYPE_WB	= 0,
	PEERLANE_MEMTYPE_WC	= 1,
	PEERLANE_MEMTYPE_UC	= 2,
	PEERLANE_MEMTYPE_NONE	= 3,
};

/*
 * What a region can do: bits of peerlane_region_status.out_caps.
 *
 *                       BAR  DRIVER  DMABUF               HOST
 * MMAP                  x    x (*)   if the exporter can  -
 * REG_MR                x    x (*)   -                    -
 * EXPORT                x    x       x (the original)     -
 * HW_DMA                x    x       x                    x
 * VIRT_DMA              x    x (*)   only our own         x
 * DIRECT_IO             x    x (*)   -                    -
 * REVOKE                x    x       x                    x
 * (*) if the range is backed by pages
 */
#define PEERLANE_CAP_MMAP	(1U << 0)	/* mmap() of the region file */
#define PEERLANE_CAP_REG_MR	(1U << 1)	/* ibv_reg_mr() on that mapping */
#define PEERLANE_CAP_EXPORT	(1U << 2)	/* REGION_EXPORT */
#define PEERLANE_CAP_HW_DMA	(1U << 3)	/* DMA by hardware NICs */
#define PEERLANE_CAP_VIRT_DMA	(1U << 4)	/* DMA by rxe, siw */
#define PEERLANE_CAP_DIRECT_IO	(1U << 5)	/* O_DIRECT file I/O on the mapping */
#define PEERLANE_CAP_REVOKE	(1U << 6)	/* REGION_REVOKE */

/**
 * struct peerlane_region_alloc - give memory to an empty region
 * ioctl(PEERLANE_IOC_REGION_ALLOC) on an open /dev/peerlane/<device>
 * @length: bytes, > 0; rounded up to the page size for mappings and to the
 *	device's allocation unit (2 MiB) in the device
 * @out_length: bytes that may be mapped
 * @out_id: number of the region, as in lists and logs
 *
 * mmap() of an empty region does the same with (offset + length) of the map.
 * EBUSY: the region has memory already.
 */
struct peerlane_region_alloc {
	__u32 size;
	__u32 flags;
	__aligned_u64 msg_ptr;
	__u32 msg_len;
	__u32 reserved;
	__aligned_u64 length;
	__aligned_u64 out_length;
	__aligned_u64 out_id;
};
#define PEERLANE_IOC_REGION_ALLOC \
	_IO(PEERLANE_IOC_TYPE, PEERLANE_CMD_REGION_ALLOC)

/**
 * struct peerlane_region_status - what a region is and can do
 * ioctl(PEERLANE_IOC_REGION_INFO) on any region file, also a revoked one
 * @out_id: number of the region
 * @out_length: bytes, 0 while it is empty
 * @out_dev_offset: where it lies in its device, bytes; 0 for imports and host
 * @out_kind: enum peerlane_kind
 * @out_state: enum peerlane_state
 * @out_caps: PEERLANE_CAP_*
 * @out_memtype: enum peerlane_memtype
 * @out_exports: dma-bufs of this region that are open
 * @out_attachments: DMA mappings: of those by importing devices, and of the
 *	region by endpoints' RDMA devices
 * @out_mappings: CPU mappings
 * @out_numa_node: of the device, or -1
 * @out_device: name of the device, empty for imports and host
 */
struct peerlane_region_status {
	__u32 size;
	__u32 flags;
	__aligned_u64 msg_ptr;
	__u32 msg_len;
	__u32 reserved;
	__aligned_u64 out_id;
	__aligned_u64 out_length;
	__aligned_u64 out_dev_offset;
	__u32 out_kind;
	__u32 out_state;
	__u32 out_caps;
	__u32 out_memtype;
	__u32 out_exports;
	__u32 out_attachments;
	__u32 out_mappings;
	__s32 out_numa_node;
	char out_device[PEERLANE_NAME_LEN];
};
#define PEERLANE_IOC_REGION_INFO \
	_IO(PEERLANE_IOC_TYPE, PEERLANE_CMD_REGION_INFO)

/*
 * PEERLANE_EXPORT_REVOCABLE_ONLY: take only importers that let go when told
 * to. An importer that pins is refused at attach or pin with EOPNOTSUPP. On
 * kernels where the exporter cannot tell (dma-buf without
 * dma_buf_attach_revocable()) every attach is refused. Without the flag a
 * pinning importer is accepted and a revoked region stays in limbo until it
 * lets go.
 */
#define PEERLANE_EXPORT_REVOCABLE_ONLY	(1U << 0)

/**
 * struct peerlane_region_export - make a dma-buf of a part of a region
 * ioctl(PEERLANE_IOC_REGION_EXPORT)
 * @flags: PEERLANE_EXPORT_*
 * @offset: first byte, page-aligned
 * @length: bytes, page-aligned, > 0
 * @out_fd: the dma-buf, opened O_RDWR | O_CLOEXEC
 *
 * An imported dma-buf is handed on as it came: then @offset must be 0 and
 * @length the whole. ENODATA: the region is empty. EPERM: the region file is
 * open for reading only.
 */
struct peerlane_region_export {
	__u32 size;
	__u32 flags;
	__aligned_u64 msg_ptr;
	__u32 msg_len;
	__u32 reserved;
	__aligned_u64 offset;
	__aligned_u64 length;
	__s32 out_fd;
	__u32 reserved2;
};
#define PEERLANE_IOC_REGION_EXPORT \
	_IO(PEERLANE_IOC_TYPE, PEERLANE_CMD_REGION_EXPORT)

/**
 * struct peerlane_region_revoke - take a region away from everybody
 * ioctl(PEERLANE_IOC_REGION_REVOKE) on the region file
 *
 * Returns once no CPU mapping is left and importers were told; MRs and DMA
 * mappings that cannot be cut keep the memory in limbo, never in another's
 * hands. The CPU mappings of an imported dma-buf are its exporter's: revoking
 * the import makes no new ones and leaves those that are there. EBUSY: revoked
 * already. ENODATA: the region is empty. EPERM: the file is open for reading
 * only.
 */
struct peerlane_region_revoke {
	__u32 size;
	__u32 flags;
	__aligned_u64 msg_ptr;
	__u32 msg_len;
	__u32 reserved;
};
#define PEERLANE_IOC_REGION_REVOKE \
	_IO(PEERLANE_IOC_TYPE, PEERLANE_CMD_REGION_REVOKE)

/**
 * struct peerlane_device_record - one memory device
 * @name: its node in /dev/peerlane
 * @pci: address of the PCI function behind it, or empty
 * @bytes_total: size of its memory
 * @bytes_free: not given to a region
 * @bytes_limbo: given to nobody because pins are still held
 * @user_limit: bytes one user may hold on it, 0 = no limit
 * @unit: allocation unit, bytes
 * @kind: PEERLANE_KIND_BAR or PEERLANE_KIND_DRIVER
 * @memtype: enum peerlane_memtype
 * @regions: regions that hold memory
 * @numa_node: or -1
 * @bar: number of the BAR, or -1
 * @reserved: 0
 */
struct peerlane_device_record {
	char name[PEERLANE_NAME_LEN];
	char pci[PEERLANE_PCI_LEN];
	__aligned_u64 bytes_total;
	__aligned_u64 bytes_free;
	__aligned_u64 bytes_limbo;
	__aligned_u64 user_limit;
	__aligned_u64 unit;
	__u32 kind;
	__u32 memtype;
	__u32 regions;
	__s32 numa_node;
	__s32 bar;
	__u32 reserved;
};

/**
 * struct peerlane_region_record - one region and who holds it
 * @id: number of the region
 * @length: bytes
 * @dev_offset: bytes from the start of the device's memory
 * @uid: who opened it, in the caller's user namespace
 * @pid: process that opened it, in the caller's pid namespace; 0 if not seen
 * @mapper_pid: a process that maps or last mapped it, likewise
 * @kind: enum peerlane_kind
 * @state: enum peerlane_state
 * @exports: open dma-bufs
 * @attachments: DMA mappings held by importing and by endpoints' RDMA devices
 * @mappings: CPU mappings
 * @pinned_units: allocation units with a reference beside the CPU mappings'
 *	(exact in limbo, where no mapping is left; 0 in other states)
 * @comm: command name of @pid
 * @mapper_comm: command name of @mapper_pid
 * @device: its device, empty for imports and host
 */
struct peerlane_region_record {
	__aligned_u64 id;
	__aligned_u64 length;
	__aligned_u64 dev_offset;
	__u32 uid;
	__s32 pid;
	__s32 mapper_pid;
	__u32 kind;
	__u32 state;
	__u32 exports;
	__u32 attachments;
	__u32 mappings;
	__u32 pinned_units;
	__u32 reserved;
	char comm[PEERLANE_COMM_LEN];
	char mapper_comm[PEERLANE_COMM_LEN];
	char device[PEERLANE_NAME_LEN];
};

/**
 * struct peerlane_list - read an array of records
 * ioctl(PEERLANE_IOC_DEVICE_LIST), ioctl(PEERLANE_IOC_REGION_LIST)
 * @array_ptr: user address of @count records of @record_size bytes
 * @count: room in records; written back: how many there are
 * @record_size: sizeof() the record as the caller was compiled. A smaller one
 *	than the kernel's gets the leading part, of a larger one the rest is
 *	zeroed. Below the first release's: EINVAL.
 *
 * EMSGSIZE: there are more than @count; nothing is written but @count.
 * Devices come in order of their number, regions in order of their id. Without
 * CAP_SYS_ADMIN only the caller's own regions are listed.
 */
struct peerlane_list {
	__u32 size;
	__u32 flags;
	__aligned_u64 msg_ptr;
	__u32 msg_len;
	__u32 reserved;
	__aligned_u64 array_ptr;
	__u32 count;
	__u32 record_size;
};
#define PEERLANE_IOC_DEVICE_LIST \
	_IO(PEERLANE_IOC_TYPE, PEERLANE_CMD_DEVICE_LIST)
#define PEERLANE_IOC_REGION_LIST \
	_IO(PEERLANE_IOC_TYPE, PEERLANE_CMD_REGION_LIST)

/**
 * struct peerlane_import_dmabuf - make a region of a dma-buf
 * ioctl(PEERLANE_IOC_IMPORT_DMABUF) on /dev/peerlane/control
 * @dmabuf_fd: the dma-buf; the caller may close it afterwards
 * @out_fd: the region file, O_CLOEXEC
 * @offset: first byte of the part wanted, page-aligned
 * @length: bytes, page-aligned; 0 means to the end
 * @out_length: bytes of the region
 */
struct peerlane_import_dmabuf {
	__u32 size;
	__u32 flags;
	__aligned_u64 msg_ptr;
	__u32 msg_len;
	__u32 reserved;
	__s32 dmabuf_fd;
	__s32 out_fd;
	__aligned_u64 offset;
	__aligned_u64 length;
	__aligned_u64 out_length;
};
#define PEERLANE_IOC_IMPORT_DMABUF \
	_IO(PEERLANE_IOC_TYPE, PEERLANE_CMD_IMPORT_DMABUF)

/* PEERLANE_PIN_READ_ONLY: peers and devices may only read these pages */
#define PEERLANE_PIN_READ_ONLY	(1U << 0)

/**
 * struct peerlane_pin_host - make a region of the caller's own pages
 * ioctl(PEERLANE_IOC_PIN_HOST) on /dev/peerlane/control
 * @flags: PEERLANE_PIN_*
 * @addr: user address, page-aligned
 * @length: bytes, page-aligned, > 0
 * @out_fd: the region file, O_CLOEXEC
 *
 * The pages are charged to RLIMIT_MEMLOCK until the region ends. ENOMEM: over
 * that limit. EFAULT: not mapped, or not writable without READ_ONLY, or pages
 * that cannot be pinned for long.
 */
struct peerlane_pin_host {
	__u32 size;
	__u32 flags;
	__aligned_u64 msg_ptr;
	__u32 msg_len;
	__u32 reserved;
	__aligned_u64 addr;
	__aligned_u64 length;
	__s32 out_fd;
	__u32 reserved2;
};
#define PEERLANE_IOC_PIN_HOST \
	_IO(PEERLANE_IOC_TYPE, PEERLANE_CMD_PIN_HOST)

/**
 * enum peerlane_path - how two PCI functions reach each other
 * @PEERLANE_PATH_UNKNOWN: not decided, see the text
 * @PEERLANE_PATH_SWITCH: below one switch, no host bridge is crossed
 * @PEERLANE_PATH_ROOT_PORT: below one root port
 * @PEERLANE_PATH_HOST_BRIDGE: through the host bridge, or through two that are
 *	known to forward to each other (the text says which)
 * @PEERLANE_PATH_IOMMU: ACS or the IOMMU sends it through the root complex
 * @PEERLANE_PATH_NONE: cannot reach each other
 */
enum peerlane_path {
	PEERLANE_PATH_UNKNOWN		= 0,
	PEERLANE_PATH_SWITCH		= 1,
	PEERLANE_PATH_ROOT_PORT		= 2,
	PEERLANE_PATH_HOST_BRIDGE	= 3,
	PEERLANE_PATH_IOMMU		= 4,
	PEERLANE_PATH_NONE		= 5,
};

/* Only ask whether the peerlane PCI driver would take @target */
#define PEERLANE_PREFLIGHT_BIND	(1U << 0)

/**
 * struct peerlane_preflight - may these two PCI functions talk directly?
 * ioctl(PEERLANE_IOC_PREFLIGHT) on /dev/peerlane/control
 * @flags: PEERLANE_PREFLIGHT_*
 * @target: PCI address of the function that owns the memory
 * @initiator: PCI address of the one that reads and writes it; empty with
 *	PEERLANE_PREFLIGHT_BIND
 * @out_path: enum peerlane_path
 * @out_distance: bridges between the two, both directions counted
 * @out_bar: with PEERLANE_PREFLIGHT_BIND: the BAR that would be used
 * @reserved2: 0
 *
 * The text buffer is written also on success: what was found, in one line.
 * ENOENT: no such function. EREMOTEIO: they cannot reach each other, the text
 * says why. EBUSY: @initiator is being bound, unbound or removed. EINVAL,
 * EOPNOTSUPP: the BAR cannot be bound.
 */
struct peerlane_preflight {
	__u32 size;
	__u32 flags;
	__aligned_u64 msg_ptr;
	__u32 msg_len;
	__u32 reserved;
	char target[PEERLANE_PCI_LEN];
	char initiator[PEERLANE_PCI_LEN];
	__u32 out_path;
	__u32 out_distance;
	__s32 out_bar;
	__u32 reserved2;
};
#define PEERLANE_IOC_PREFLIGHT \
	_IO(PEERLANE_IOC_TYPE, PEERLANE_CMD_PREFLIGHT)

#include "peerlane_aggregator.h"
#include "peerlane_endpoint.h"
#include "peerlane_group.h"

#endif /* _UAPI_PEERLANE_H */
