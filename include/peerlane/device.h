/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * Memory devices: what they have, and who has them.
 * The rules of <peerlane.h> hold.
 */
#ifndef LIBPEERLANE_DEVICE_H
#define LIBPEERLANE_DEVICE_H

#include <peerlane/base.h>

#ifdef __cplusplus
extern "C" {
#endif

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

#ifdef __cplusplus
}
#endif

#endif /* LIBPEERLANE_DEVICE_H */
