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

#include "abi_layout_group.h"

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
	END(region_record, 128)						\
									\
	ABI_HDR(F, endpoint_create)					\
	F(endpoint_create, secret, 24, 16)				\
	F(endpoint_create, lanes, 40, 4)				\
	F(endpoint_create, depth, 44, 4)				\
	F(endpoint_create, notify_depth, 48, 4)				\
	F(endpoint_create, slots, 52, 4)				\
	F(endpoint_create, timeout_ms, 56, 4)				\
	F(endpoint_create, near_fd, 60, 4)				\
	F(endpoint_create, rdma_device, 64, 64)				\
	F(endpoint_create, label, 128, 32)				\
	F(endpoint_create, out_id, 160, 8)				\
	F(endpoint_create, out_fd, 168, 4)				\
	F(endpoint_create, reserved2, 172, 4)				\
	END(endpoint_create, 176)					\
									\
	ABI_HDR(F, endpoint_address)					\
	F(endpoint_address, address, 24, 28)				\
	F(endpoint_address, source, 52, 28)				\
	F(endpoint_address, out_address, 80, 28)			\
	F(endpoint_address, backlog, 108, 4)				\
	END(endpoint_address, 112)					\
									\
	ABI_HDR(F, endpoint_accept)					\
	F(endpoint_accept, out_id, 24, 8)				\
	F(endpoint_accept, out_fd, 32, 4)				\
	F(endpoint_accept, reserved2, 36, 4)				\
	F(endpoint_accept, out_address, 40, 28)				\
	F(endpoint_accept, reserved3, 68, 4)				\
	END(endpoint_accept, 72)					\
									\
	ABI_HDR(F, endpoint_bind)					\
	F(endpoint_bind, slot, 24, 4)					\
	F(endpoint_bind, region_fd, 28, 4)				\
	F(endpoint_bind, offset, 32, 8)					\
	F(endpoint_bind, length, 40, 8)					\
	F(endpoint_bind, out_length, 48, 8)				\
	END(endpoint_bind, 56)						\
									\
	ABI_HDR(F, endpoint_expose)					\
	F(endpoint_expose, slot, 24, 4)					\
	F(endpoint_expose, rights, 28, 4)				\
	F(endpoint_expose, offset, 32, 8)				\
	F(endpoint_expose, length, 40, 8)				\
	F(endpoint_expose, value, 48, 8)				\
	F(endpoint_expose, out_token, 56, 8)				\
	END(endpoint_expose, 64)					\
									\
	ABI_HDR(F, endpoint_withdraw)					\
	F(endpoint_withdraw, token, 24, 8)				\
	END(endpoint_withdraw, 32)					\
									\
	F(op, op, 0, 2)							\
	F(op, flags, 2, 2)						\
	F(op, slot, 4, 4)						\
	F(op, offset, 8, 8)						\
	F(op, length, 16, 8)						\
	F(op, token, 24, 8)						\
	F(op, remote_offset, 32, 8)					\
	F(op, cookie, 40, 8)						\
	F(op, value, 48, 8)						\
	F(op, lane, 56, 4)						\
	F(op, reserved, 60, 4)						\
	END(op, 64)							\
									\
	ABI_HDR(F, endpoint_submit)					\
	F(endpoint_submit, ops_ptr, 24, 8)				\
	F(endpoint_submit, count, 32, 4)				\
	F(endpoint_submit, op_size, 36, 4)				\
	F(endpoint_submit, out_count, 40, 4)				\
	F(endpoint_submit, wait, 44, 4)					\
	F(endpoint_submit, records_ptr, 48, 8)				\
	F(endpoint_submit, records_len, 56, 4)				\
	F(endpoint_submit, out_records_len, 60, 4)			\
	F(endpoint_submit, timeout_ns, 64, 8)				\
	END(endpoint_submit, 72)					\
									\
	F(endpoint_uring, args_ptr, 0, 8)				\
	F(endpoint_uring, reserved, 8, 8)				\
	END(endpoint_uring, 16)						\
									\
	F(record, size, 0, 2)						\
	F(record, type, 2, 2)						\
	F(record, status, 4, 4)						\
	F(record, cookie, 8, 8)						\
	F(record, token, 16, 8)						\
	F(record, length, 24, 8)					\
	F(record, value, 32, 8)						\
	F(record, rights, 40, 4)					\
	F(record, lane, 44, 4)						\
	END(record, 48)							\
									\
	ABI_HDR(F, endpoint_disconnect)					\
	END(endpoint_disconnect, 24)					\
									\
	F(endpoint_record, id, 0, 8)					\
	F(endpoint_record, bytes_put, 8, 8)				\
	F(endpoint_record, bytes_get, 16, 8)				\
	F(endpoint_record, ops_done, 24, 8)				\
	F(endpoint_record, ops_failed, 32, 8)				\
	F(endpoint_record, uid, 40, 4)					\
	F(endpoint_record, pid, 44, 4)					\
	F(endpoint_record, state, 48, 4)				\
	F(endpoint_record, status, 52, 4)				\
	F(endpoint_record, lanes, 56, 4)				\
	F(endpoint_record, depth, 60, 4)				\
	F(endpoint_record, outstanding, 64, 4)				\
	F(endpoint_record, slots, 68, 4)				\
	F(endpoint_record, exposed, 72, 4)				\
	F(endpoint_record, granted, 76, 4)				\
	F(endpoint_record, keys, 80, 4)					\
	F(endpoint_record, path, 84, 4)					\
	F(endpoint_record, comm, 88, 16)				\
	F(endpoint_record, local, 104, 28)				\
	F(endpoint_record, peer, 132, 28)				\
	F(endpoint_record, rdma_device, 160, 64)			\
	F(endpoint_record, label, 224, 32)				\
	F(endpoint_record, reason, 256, 128)				\
	END(endpoint_record, 384)					\
									\
	ABI_GROUP_STRUCTS(F, END)

#define ABI_MEMBER(s, f) (((struct peerlane_##s *)0)->f)
#define ABI_ASSERT_FIELD(s, f, at, len)					\
	static_assert(offsetof(struct peerlane_##s, f) == (at), #s "." #f); \
	static_assert(sizeof(ABI_MEMBER(s, f)) == (len), #s "." #f);
#define ABI_ASSERT_END(s, len)						\
	static_assert(sizeof(struct peerlane_##s) == (len), #s);

ABI_STRUCTS(ABI_ASSERT_FIELD, ABI_ASSERT_END)

#endif /* SELFTESTS_REGION_ABI_LAYOUT_H */
