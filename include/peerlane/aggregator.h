/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * Aggregators, which do the arithmetic of groups.
 * The rules of <peerlane.h> hold.
 */
#ifndef LIBPEERLANE_AGGREGATOR_H
#define LIBPEERLANE_AGGREGATOR_H

#include <peerlane/group.h>

#ifdef __cplusplus
extern "C" {
#endif

struct peerlane_aggregator;

#define PEERLANE_LATENESS		40	/* buckets */

/**
 * struct peerlane_aggregator_options - what an aggregator is to be
 * @size: sizeof(struct peerlane_aggregator_options)
 * @secret: of the groups that it serves; not all zero
 * @memory: bytes for all groups, which the library maps and pins: a group of n
 *	ranks takes (n + 1) * window * segment while it lasts, and window * segment
 *	more if it goes on above
 * @address: "10.0.0.1:18517", "10.0.0.1", ":0", "[fe80::1%eth0]", where to
 *	listen; port 0 is any that is free; NULL or empty: all addresses
 * @backlog: connections that have not joined yet, 1 to 1024; 0: 64
 * @max_groups: at once; 0: 64
 * @timeout: ms after which a rank that does not answer is dead, 100 to 600000;
 *	0: 5000
 * @join_timeout: ms in which all ranks of a group have to join after the first,
 *	100 to 86400000; 0: 60000
 * @rdma_device: the one to use; NULL or empty: any
 * @parent: address of the aggregator above, as "10.0.0.1:18517", which has the same
 *	secret: groups of PEERLANE_PLACE_TREE with more ranks than their block go on
 *	there, and this one serves one block of each. NULL or empty: there is none
 * @parent_lanes: queue pairs to it, 1 to 16; 0: 1
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
	const char *parent;
	uint32_t parent_lanes;
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
 * @parent: the address of the one above, or empty
 * @tree_groups: of @groups, those that go on there
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
	char parent[PEERLANE_PEER_TEXT];
	uint32_t tree_groups;
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

#endif /* LIBPEERLANE_AGGREGATOR_H */
