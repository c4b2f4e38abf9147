/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/* Shared by the files of groups and aggregators. */
#ifndef PEERLANE_GROUP_PRIVATE_H
#define PEERLANE_GROUP_PRIVATE_H

#include <pthread.h>

#include "endpoint.h"

/**
 * struct pl_group_task - an operation, or something else that was told
 * @event: what is or will be told; its cookie is set from the beginning
 * @order: in which it ended; 0: it has not
 */
struct pl_group_task {
	struct peerlane_group_event event;
	uint64_t order;
};

/**
 * struct peerlane_group - what the library knows of a rank
 * @fd: its file
 * @id: its number
 * @lock: protects what follows
 * @read: signalled when who reads has read
 * @has_reader: a thread is in the kernel for records; it has not @lock
 * @is_over: the group ended, no record is to come
 * @tasks: @count of them with room for @room
 * @orders: last one given
 */
struct peerlane_group {
	int fd;
	uint64_t id;
	pthread_mutex_t lock;
	pthread_cond_t read;
	bool has_reader;
	bool is_over;
	struct pl_group_task *tasks;
	size_t count, room;
	uint64_t orders;
};

/**
 * struct peerlane_aggregator - what the library knows of an aggregator
 * @fd: its file
 * @pool: memory that was mapped for it, or NULL
 * @pool_size: bytes
 */
struct peerlane_aggregator {
	int fd;
	void *pool;
	size_t pool_size;
};

/* group_list.c */
int pl_group_info(int fd, struct peerlane_group_info *info);

/* group_join.c: with address and port where that is not said */
int pl_aggregator_local(const char *text, uint8_t address[PEERLANE_ADDRESS_LEN]);
/* Of another, where the port may not be said */
int pl_aggregator_address(const char *text, uint8_t address[PEERLANE_ADDRESS_LEN]);

#endif /* PEERLANE_GROUP_PRIVATE_H */
