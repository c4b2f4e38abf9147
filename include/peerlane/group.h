/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * Groups: collective operations, whose arithmetic aggregators do.
 * The rules of <peerlane.h> hold.
 */
#ifndef LIBPEERLANE_GROUP_H
#define LIBPEERLANE_GROUP_H

#include <peerlane/endpoint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct peerlane_group;
struct peerlane_region;

#define PEERLANE_AGGREGATOR_PORT	18517	/* where none is said */
#define PEERLANE_AGGREGATORS_MOST	64	/* of one group */
#define PEERLANE_AGGREGATORS_TEXT	4096	/* room for their addresses */
#define PEERLANE_NOBODY			UINT32_MAX	/* no rank */

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
	PEERLANE_ENDING_BLOCK = 13,	/* joined the aggregator of another block */
};

/* Who computes; the result has the same bits by each of them. */
enum peerlane_place {
	PEERLANE_PLACE_AUTO = 0,	/* by what is expected to be faster, as measured */
	PEERLANE_PLACE_DEDICATED = 1,	/* each segment goes to one aggregator */
	PEERLANE_PLACE_COLOCATED = 2,	/* the same; as many aggregators as ranks */
	PEERLANE_PLACE_REPLICATED = 3,	/* what is small goes to all of as many as ranks */
	PEERLANE_PLACE_TREE = 4,	/* each block has its aggregator, with others above */
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
/** peerlane_place_name() - "auto", "dedicated", "colocated", "replicated", "tree". */
PEERLANE_API const char *peerlane_place_name(uint32_t place);
/** peerlane_place_find() - enum peerlane_place of a name; UINT32_MAX: none. */
PEERLANE_API uint32_t peerlane_place_find(const char *name);
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
 * @lanes: queue pairs to each aggregator, 1 to 16; 0: 1. The others do the work of
 *	one that fails
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
 * @placement: enum peerlane_place, the same on all ranks. Auto has a choice where
 *	there are as many aggregators as ranks, the one of each rank's number on
 *	its node; ranks measure when they join, for which a slot should be bound
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
	uint32_t placement;
};

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
 * @fault_missing: how many ranks did not come; if none is late: it is the fault of
 *	an aggregator, that of so many ranks from @fault_rank on
 * @lanes_left: queue pairs, of all aggregators, that failed; the others go on
 * @comm: command name of @pid
 * @label: of its flows
 * @text: why it ended, or empty
 * @ops_replicated: operations that went to all aggregators
 * @placement: enum peerlane_place, as asked for
 * @replicated_below: auto: all-reduces of fewer bytes do
 * @rounds: auto: how often ranks agreed on the following numbers; 0: never
 * @colocated: each rank's node runs the aggregator of its number
 * @alpha: ns of a message to another rank's aggregator
 * @own: ns of one to that of the rank's number
 * @beta: ps of a byte on its way; 0: not measured
 * @gamma: ps of a byte that is reduced
 * @shared_permille: what other operations took, to what is predicted; 0: none yet
 * @replicated_permille: what those took
 * @reason: why operations go as they do
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
	uint32_t lanes_left;
	char comm[16];
	char label[32];
	char text[192];
	uint64_t ops_replicated;
	uint32_t placement;
	uint32_t replicated_below;
	uint32_t rounds;
	uint32_t colocated;
	uint32_t alpha;
	uint32_t own;
	uint32_t beta;
	uint32_t gamma;
	uint32_t shared_permille;
	uint32_t replicated_permille;
	char reason[192];
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

/** peerlane_lane_cause_name() - "unanswered", "silent", "peer"; "none", "unknown". */
PEERLANE_API const char *peerlane_lane_cause_name(uint32_t cause);
/** peerlane_lane_state_name() - "live", "leaving", "left". */
PEERLANE_API const char *peerlane_lane_state_name(uint32_t state);

/**
 * struct peerlane_lane_status - a queue pair of a rank to an aggregator
 * @id: of the rank, as struct peerlane_group_status has it
 * @messages: posted; a segment is one
 * @bytes: posted
 * @replayed: messages that had not arrived when it failed, and went by others
 * @delay_ns: from post to completion, smoothed; 0 not known
 * @aggregator: to which one
 * @lane: which one of those to that aggregator
 * @state: see peerlane_lane_state_name()
 * @qpn: number of the queue pair
 * @left_ns: when it failed, CLOCK_BOOTTIME; 0 it is live
 * @cause: see peerlane_lane_cause_name()
 * @peer_qpn: number of the aggregator's queue pair; 0 not known
 */
struct peerlane_lane_status {
	uint64_t id;
	uint64_t messages;
	uint64_t bytes;
	uint64_t replayed;
	uint64_t delay_ns;
	uint32_t aggregator;
	uint32_t lane;
	uint32_t state;
	uint32_t qpn;
	uint64_t left_ns;
	uint32_t cause;
	uint32_t peer_qpn;
};

/**
 * peerlane_lane_list() - queue pairs of the ranks that peerlane_group_list() has
 *
 * As peerlane_endpoint_list().
 */
PEERLANE_API int peerlane_lane_list(struct peerlane_lane_status **list,
				    size_t *count);

#ifdef __cplusplus
}
#endif

#endif /* LIBPEERLANE_GROUP_H */
