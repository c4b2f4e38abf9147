/* SPDX-License-Identifier: GPL-2.0 */
/*
 * io_uring by its system calls: a ring of a few entries, one request at a time
 * put in, completions taken out by their user_data.
 */
#ifndef SELFTESTS_URING_H
#define SELFTESTS_URING_H

#include <linux/io_uring.h>
#include <sys/syscall.h>

#include "endpoint.h"

#define URING_ENTRIES	8

struct uring {
	int fd;
	unsigned int *sq_tail, *sq_mask, *sq_array;
	unsigned int *cq_head, *cq_tail, *cq_mask;
	struct io_uring_sqe *sqes;
	struct io_uring_cqe *cqes;
	char *sq, *cq;
	struct io_uring_params params;
};

static inline bool uring_map(struct uring *ring)
{
	const struct io_uring_params *p = &ring->params;
	int prot = PROT_READ | PROT_WRITE;

	ring->sq = mmap(NULL, p->sq_off.array + p->sq_entries * sizeof(unsigned int),
			prot, MAP_SHARED, ring->fd, IORING_OFF_SQ_RING);
	ring->cq = mmap(NULL, p->cq_off.cqes + p->cq_entries * sizeof(*ring->cqes),
			prot, MAP_SHARED, ring->fd, IORING_OFF_CQ_RING);
	ring->sqes = mmap(NULL, p->sq_entries * sizeof(*ring->sqes), prot,
			  MAP_SHARED, ring->fd, IORING_OFF_SQES);
	if (ring->sq == MAP_FAILED || ring->cq == MAP_FAILED ||
	    ring->sqes == MAP_FAILED)
		return false;
	ring->sq_tail = (void *)(ring->sq + p->sq_off.tail);
	ring->sq_mask = (void *)(ring->sq + p->sq_off.ring_mask);
	ring->sq_array = (void *)(ring->sq + p->sq_off.array);
	ring->cq_head = (void *)(ring->cq + p->cq_off.head);
	ring->cq_tail = (void *)(ring->cq + p->cq_off.tail);
	ring->cq_mask = (void *)(ring->cq + p->cq_off.ring_mask);
	ring->cqes = (void *)(ring->cq + p->cq_off.cqes);
	return true;
}

/* 0 or -errno: ENOSYS if the kernel has none. */
static inline int uring_new(struct uring *ring, unsigned int flags)
{
	*ring = (struct uring){ .params.flags = flags };
	ring->fd = syscall(SYS_io_uring_setup, URING_ENTRIES, &ring->params);
	if (ring->fd < 0)
		return -errno;
	return CHECK(uring_map(ring)) ? 0 : -ENOMEM;
}

static inline void uring_end(struct uring *ring)
{
	const struct io_uring_params *p = &ring->params;

	munmap(ring->sqes, p->sq_entries * sizeof(*ring->sqes));
	munmap(ring->cq, p->cq_off.cqes + p->cq_entries * sizeof(*ring->cqes));
	munmap(ring->sq, p->sq_off.array + p->sq_entries * sizeof(unsigned int));
	close(ring->fd);
}

/* Handed over, and issued; not waited for. */
static inline void uring_issue(struct uring *ring, struct io_uring_sqe sqe)
{
	unsigned int tail = *ring->sq_tail, index = tail & *ring->sq_mask;

	ring->sqes[index] = sqe;
	ring->sq_array[index] = index;
	__atomic_store_n(ring->sq_tail, tail + 1, __ATOMIC_RELEASE);
	CHECK_INT(syscall(SYS_io_uring_enter, ring->fd, 1, 0, 0, NULL, 0), 1);
}

/* The next completion; false: none yet. Asks the kernel for what it put off. */
static inline bool uring_peek(struct uring *ring, struct io_uring_cqe *cqe)
{
	unsigned int head = *ring->cq_head;

	syscall(SYS_io_uring_enter, ring->fd, 0, 0, IORING_ENTER_GETEVENTS, NULL, 0);
	if (head == __atomic_load_n(ring->cq_tail, __ATOMIC_ACQUIRE))
		return false;
	*cqe = ring->cqes[head & *ring->cq_mask];
	__atomic_store_n(ring->cq_head, head + 1, __ATOMIC_RELEASE);
	return true;
}

/* Its result; it has to come in time. */
static inline int uring_wait(struct uring *ring, uint64_t user_data)
{
	struct io_uring_cqe cqe = {};

	if (!CHECK(WAIT_FOR(uring_peek(ring, &cqe), PATIENCE)))
		return -ETIME;
	CHECK_INT(cqe.user_data, user_data);
	return cqe.res;
}

/* ---- SUBMIT ---- */

static inline struct peerlane_endpoint_submit
submit_args(const struct peerlane_op *ops, uint32_t count)
{
	text[0] = '\0';
	return (struct peerlane_endpoint_submit){
		.size = sizeof(struct peerlane_endpoint_submit),
		.msg_ptr = (uintptr_t)text, .msg_len = sizeof(text),
		.ops_ptr = (uintptr_t)ops, .count = count,
		.op_size = sizeof(struct peerlane_op), .timeout_ns = -1,
	};
}

static inline struct io_uring_sqe submit_sqe(int ep,
					     struct peerlane_endpoint_submit *args,
					     uint64_t user_data)
{
	struct io_uring_sqe sqe = {
		.opcode = IORING_OP_URING_CMD, .fd = ep,
		.cmd_op = PEERLANE_IOC_ENDPOINT_SUBMIT, .user_data = user_data,
	};
	struct peerlane_endpoint_uring area = { .args_ptr = (uintptr_t)args };

	memcpy(sqe.cmd, &area, sizeof(area));
	return sqe;
}

/* Issued and done: operations begun, or -errno. */
static inline int uring_submit(struct uring *ring, int ep,
			       struct peerlane_endpoint_submit *args)
{
	uring_issue(ring, submit_sqe(ep, args, 77));
	return uring_wait(ring, 77);
}

static inline int uring_begin(struct uring *ring, int ep,
			      const struct peerlane_op *ops, uint32_t count)
{
	struct peerlane_endpoint_submit args = submit_args(ops, count);

	return uring_submit(ring, ep, &args);
}

#endif /* SELFTESTS_URING_H */
