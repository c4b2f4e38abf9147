/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Every field of every struct that crosses the boundary: where it lies and how
 * long it is, for ever. A struct's END is its size in the first release.
 */
#ifndef SELFTESTS_REGION_ABI_LAYOUT_H
#define SELFTESTS_REGION_ABI_LAYOUT_H

#include <assert.h>
#include <stddef.h>

#include <peerlane.h>

#define ABI_HDR(F, s)							\
	F(s, size, 0, 4)						\
	F(s, flags, 4, 4)						\
	F(s, msg_ptr, 8, 8)						\
	F(s, msg_len, 16, 4)						\
	F(s, reserved, 20, 4)

#define ABI_STRUCTS(F, END)						\
	ABI_HDR(F, hdr)							\
	END(hdr, 24)							\
									\
	ABI_HDR(F, region_alloc)					\
	F(region_alloc, length, 24, 8)					\
	F(region_alloc, out_length, 32, 8)				\
	F(region_alloc, out_id, 40, 8)					\
	END(region_alloc, 48)						\
									\
	ABI_HDR(F, region_status)						\
	F(region_status, out_id, 24, 8)					\
	F(region_status, out_length, 32, 8)				\
	F(region_status, out_dev_offset, 40, 8)				\
	F(region_status, out_kind, 48, 4)					\
	F(region_status, out_state, 52, 4)				\
	F(region_status, out_caps, 56, 4)					\
	F(region_status, out_memtype, 60, 4)				\
	F(region_status, out_exports, 64, 4)				\
	F(region_status, out_attachments, 68, 4)				\
	F(region_status, out_mappings, 72, 4)				\
	F(region_status, out_numa_node, 76, 4)				\
	F(region_status, out_device, 80, 32)				\
	END(region_status, 112)						\
									\
	ABI_HDR(F, region_export)					\
	F(region_export, offset, 24, 8)					\
	F(region_export, length, 32, 8)					\
	F(region_export, out_fd, 40, 4)					\
	F(region_export, reserved2, 44, 4)				\
	END(region_export, 48)						\
									\
	ABI_HDR(F, region_revoke)					\
	END(region_revoke, 24)						\
									\
	ABI_HDR(F, list)						\
	F(list, array_ptr, 24, 8)					\
	F(list, count, 32, 4)						\
	F(list, record_size, 36, 4)					\
	END(list, 40)							\
									\
	ABI_HDR(F, import_dmabuf)					\
	F(import_dmabuf, dmabuf_fd, 24, 4)				\
	F(import_dmabuf, out_fd, 28, 4)					\
	F(import_dmabuf, offset, 32, 8)					\
	F(import_dmabuf, length, 40, 8)					\
	F(import_dmabuf, out_length, 48, 8)				\
	END(import_dmabuf, 56)						\
									\
	ABI_HDR(F, pin_host)						\
	F(pin_host, addr, 24, 8)					\
	F(pin_host, length, 32, 8)					\
	F(pin_host, out_fd, 40, 4)					\
	F(pin_host, reserved2, 44, 4)					\
	END(pin_host, 48)						\
									\
	ABI_HDR(F, preflight)						\
	F(preflight, target, 24, 16)					\
	F(preflight, initiator, 40, 16)					\
	F(preflight, out_path, 56, 4)					\
	F(preflight, out_distance, 60, 4)				\
	F(preflight, out_bar, 64, 4)					\
	F(preflight, reserved2, 68, 4)					\
	END(preflight, 72)						\
									\
	F(device_record, name, 0, 32)					\
	F(device_record, pci, 32, 16)					\
	F(device_record, bytes_total, 48, 8)				\
	F(device_record, bytes_free, 56, 8)				\
	F(device_record, bytes_limbo, 64, 8)				\
	F(device_record, user_limit, 72, 8)				\
	F(device_record, unit, 80, 8)					\
	F(device_record, kind, 88, 4)					\
	F(device_record, memtype, 92, 4)				\
	F(device_record, regions, 96, 4)				\
	F(device_record, numa_node, 100, 4)				\
	F(device_record, bar, 104, 4)					\
	F(device_record, reserved, 108, 4)				\
	END(device_record, 112)						\
									\
	F(region_record, id, 0, 8)					\
	F(region_record, length, 8, 8)					\
	F(region_record, dev_offset, 16, 8)				\
	F(region_record, uid, 24, 4)					\
	F(region_record, pid, 28, 4)					\
	F(region_record, mapper_pid, 32, 4)				\
	F(region_record, kind, 36, 4)					\
	F(region_record, state, 40, 4)					\
	F(region_record, exports, 44, 4)				\
	F(region_record, attachments, 48, 4)				\
	F(region_record, mappings, 52, 4)				\
	F(region_record, pinned_units, 56, 4)				\
	F(region_record, reserved, 60, 4)				\
	F(region_record, comm, 64, 16)					\
	F(region_record, mapper_comm, 80, 16)				\
	F(region_record, device, 96, 32)				\
	END(region_record, 128)

#define ABI_MEMBER(s, f) (((struct peerlane_##s *)0)->f)
#define ABI_ASSERT_FIELD(s, f, at, len)					\
	static_assert(offsetof(struct peerlane_##s, f) == (at), #s "." #f); \
	static_assert(sizeof(ABI_MEMBER(s, f)) == (len), #s "." #f);
#define ABI_ASSERT_END(s, len)						\
	static_assert(sizeof(struct peerlane_##s) == (len), #s);

ABI_STRUCTS(ABI_ASSERT_FIELD, ABI_ASSERT_END)

#endif /* SELFTESTS_REGION_ABI_LAYOUT_H */
