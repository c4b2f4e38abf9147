/* SPDX-License-Identifier: GPL-2.0 */
/* The fields of groups and aggregators, for abi_layout.h. */
#ifndef SELFTESTS_REGION_ABI_LAYOUT_GROUP_H
#define SELFTESTS_REGION_ABI_LAYOUT_GROUP_H

#define ABI_GROUP_STRUCTS(F, END)					\
	ABI_HDR(F, group_create)					\
	F(group_create, secret, 24, 16)					\
	F(group_create, group, 40, 8)					\
	F(group_create, rank, 48, 4)					\
	F(group_create, ranks, 52, 4)					\
	F(group_create, segment, 56, 4)					\
	F(group_create, window, 60, 4)					\
	F(group_create, block, 64, 4)					\
	F(group_create, lanes, 68, 4)					\
	F(group_create, depth, 72, 4)					\
	F(group_create, slots, 76, 4)					\
	F(group_create, timeout_ms, 80, 4)				\
	F(group_create, op_timeout_ms, 84, 4)				\
	F(group_create, join_timeout_ms, 88, 4)				\
	F(group_create, near_fd, 92, 4)					\
	F(group_create, rdma_device, 96, 64)				\
	F(group_create, label, 160, 32)					\
	F(group_create, out_id, 192, 8)					\
	F(group_create, out_fd, 200, 4)					\
	F(group_create, placement, 204, 4)				\
	END(group_create, 208)						\
									\
	ABI_HDR(F, group_join)						\
	F(group_join, addresses_ptr, 24, 8)				\
	F(group_join, count, 32, 4)					\
	F(group_join, reserved2, 36, 4)					\
	F(group_join, source, 40, 28)					\
	F(group_join, reserved3, 68, 4)					\
	END(group_join, 72)						\
									\
	F(group_op, kind, 0, 1)						\
	F(group_op, type, 1, 1)						\
	F(group_op, op, 2, 1)						\
	F(group_op, flags, 3, 1)					\
	F(group_op, root, 4, 4)						\
	F(group_op, count, 8, 8)					\
	F(group_op, send_slot, 16, 4)					\
	F(group_op, receive_slot, 20, 4)				\
	F(group_op, send_offset, 24, 8)					\
	F(group_op, receive_offset, 32, 8)				\
	F(group_op, cookie, 40, 8)					\
	END(group_op, 48)						\
									\
	ABI_HDR(F, group_submit)					\
	F(group_submit, ops_ptr, 24, 8)					\
	F(group_submit, count, 32, 4)					\
	F(group_submit, op_size, 36, 4)					\
	F(group_submit, out_count, 40, 4)				\
	F(group_submit, wait, 44, 4)					\
	F(group_submit, records_ptr, 48, 8)				\
	F(group_submit, records_len, 56, 4)				\
	F(group_submit, out_records_len, 60, 4)				\
	F(group_submit, timeout_ns, 64, 8)				\
	END(group_submit, 72)						\
									\
	ABI_HDR(F, group_leave)						\
	END(group_leave, 24)						\
									\
	F(group_record, size, 0, 2)					\
	F(group_record, type, 2, 2)					\
	F(group_record, status, 4, 4)					\
	F(group_record, cookie, 8, 8)					\
	F(group_record, seq, 16, 8)					\
	F(group_record, rank, 24, 4)					\
	F(group_record, cause, 28, 4)					\
	END(group_record, 32)						\
									\
	F(group_info, id, 0, 8)						\
	F(group_info, group, 8, 8)					\
	F(group_info, ops_done, 16, 8)					\
	F(group_info, ops_failed, 24, 8)				\
	F(group_info, bytes_sent, 32, 8)				\
	F(group_info, bytes_received, 40, 8)				\
	F(group_info, segments, 48, 8)					\
	F(group_info, fault_value, 56, 8)				\
	F(group_info, fault_expected, 64, 8)				\
	F(group_info, fault_seq, 72, 8)					\
	F(group_info, uid, 80, 4)					\
	F(group_info, pid, 84, 4)					\
	F(group_info, state, 88, 4)					\
	F(group_info, status, 92, 4)					\
	F(group_info, rank, 96, 4)					\
	F(group_info, ranks, 100, 4)					\
	F(group_info, aggregators, 104, 4)				\
	F(group_info, segment, 108, 4)					\
	F(group_info, window, 112, 4)					\
	F(group_info, block, 116, 4)					\
	F(group_info, lanes, 120, 4)					\
	F(group_info, depth, 124, 4)					\
	F(group_info, outstanding, 128, 4)				\
	F(group_info, slots, 132, 4)					\
	F(group_info, fault_cause, 136, 4)				\
	F(group_info, fault_rank, 140, 4)				\
	F(group_info, fault_other, 144, 4)				\
	F(group_info, fault_missing, 148, 4)				\
	F(group_info, fault_field, 152, 4)				\
	F(group_info, lanes_left, 156, 4)				\
	F(group_info, comm, 160, 16)					\
	F(group_info, label, 176, 32)					\
	F(group_info, text, 208, 192)					\
	F(group_info, ops_replicated, 400, 8)				\
	F(group_info, placement, 408, 4)				\
	F(group_info, replicated_below, 412, 4)				\
	F(group_info, rounds, 416, 4)					\
	F(group_info, colocated, 420, 4)				\
	F(group_info, alpha_ns, 424, 4)					\
	F(group_info, own_ns, 428, 4)					\
	F(group_info, beta_ps, 432, 4)					\
	F(group_info, gamma_ps, 436, 4)					\
	F(group_info, shared_permille, 440, 4)				\
	F(group_info, replicated_permille, 444, 4)			\
	F(group_info, reason, 448, 192)					\
	END(group_info, 640)						\
									\
	F(lane_info, id, 0, 8)						\
	F(lane_info, messages, 8, 8)					\
	F(lane_info, bytes, 16, 8)					\
	F(lane_info, replayed, 24, 8)					\
	F(lane_info, delay_ns, 32, 8)					\
	F(lane_info, aggregator, 40, 4)					\
	F(lane_info, lane, 44, 4)					\
	F(lane_info, state, 48, 4)					\
	F(lane_info, qpn, 52, 4)					\
	F(lane_info, left_ns, 56, 8)					\
	F(lane_info, cause, 64, 4)					\
	F(lane_info, peer_qpn, 68, 4)					\
	END(lane_info, 72)						\
									\
	ABI_HDR(F, aggregator_create)					\
	F(aggregator_create, secret, 24, 16)				\
	F(aggregator_create, address, 40, 28)				\
	F(aggregator_create, backlog, 68, 4)				\
	F(aggregator_create, pool_fd, 72, 4)				\
	F(aggregator_create, max_groups, 76, 4)				\
	F(aggregator_create, timeout_ms, 80, 4)				\
	F(aggregator_create, join_timeout_ms, 84, 4)			\
	F(aggregator_create, rdma_device, 88, 64)			\
	F(aggregator_create, out_address, 152, 28)			\
	F(aggregator_create, out_fd, 180, 4)				\
	F(aggregator_create, out_id, 184, 8)				\
	F(aggregator_create, parent, 192, 28)				\
	F(aggregator_create, parent_lanes, 220, 4)			\
	END(aggregator_create, 224)					\
									\
	F(aggregator_record, size, 0, 2)				\
	F(aggregator_record, type, 2, 2)				\
	F(aggregator_record, status, 4, 4)				\
	F(aggregator_record, group, 8, 8)				\
	F(aggregator_record, rank, 16, 4)				\
	F(aggregator_record, cause, 20, 4)				\
	F(aggregator_record, ranks, 24, 4)				\
	F(aggregator_record, lost, 28, 4)				\
	END(aggregator_record, 32)					\
									\
	F(aggregator_info, id, 0, 8)					\
	F(aggregator_info, pool_bytes, 8, 8)				\
	F(aggregator_info, pool_used, 16, 8)				\
	F(aggregator_info, segments, 24, 8)				\
	F(aggregator_info, bytes, 32, 8)				\
	F(aggregator_info, formed, 40, 8)				\
	F(aggregator_info, failed, 48, 8)				\
	F(aggregator_info, refused, 56, 8)				\
	F(aggregator_info, uid, 64, 4)					\
	F(aggregator_info, pid, 68, 4)					\
	F(aggregator_info, groups, 72, 4)				\
	F(aggregator_info, max_groups, 76, 4)				\
	F(aggregator_info, links, 80, 4)				\
	F(aggregator_info, status, 84, 4)				\
	F(aggregator_info, comm, 88, 16)				\
	F(aggregator_info, address, 104, 28)				\
	F(aggregator_info, reserved, 132, 4)				\
	F(aggregator_info, rdma_device, 136, 64)			\
	F(aggregator_info, parent, 200, 28)				\
	F(aggregator_info, tree_groups, 228, 4)				\
	END(aggregator_info, 232)					\
									\
	F(rank_record, segments, 0, 8)					\
	F(rank_record, bytes, 8, 8)					\
	F(rank_record, late_total_ns, 16, 8)				\
	F(rank_record, late_max_ns, 24, 8)				\
	F(rank_record, last, 32, 8)					\
	F(rank_record, rank, 40, 4)					\
	F(rank_record, is_there, 44, 4)					\
	F(rank_record, peer, 48, 28)					\
	F(rank_record, reserved, 76, 4)					\
	F(rank_record, late, 80, 160)					\
	END(rank_record, 240)						\
									\
	ABI_HDR(F, aggregator_ranks)					\
	F(aggregator_ranks, array_ptr, 24, 8)				\
	F(aggregator_ranks, count, 32, 4)				\
	F(aggregator_ranks, record_size, 36, 4)				\
	F(aggregator_ranks, group, 40, 8)				\
	END(aggregator_ranks, 48)

#endif /* SELFTESTS_REGION_ABI_LAYOUT_GROUP_H */
