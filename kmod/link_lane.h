/* SPDX-License-Identifier: GPL-2.0 */
/* A lane of a link from inside: a queue pair, and what is to be sent by it. */
#ifndef PEERLANE_LINK_LANE_H
#define PEERLANE_LINK_LANE_H

#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_cm.h>

#include "link.h"

#define LINK_SGES		8	/* entries of one request, at most */
#define LINK_FLUSHES		4	/* unanswered FLUSHes of a lane */

struct link_lane;

/* ---- link_buffer.c: small buffers in pages, mapped for the device ---- */

struct link_buffers {
	u32 count;
	u32 size;		/* of each */
	u32 per_page;
	u32 pages;
	enum dma_data_direction direction;
	void **page;
	u64 *dma;
};

int link_buffers_init(struct link_buffers *buffers, struct ib_device *dev,
		      u32 count, u32 size, enum dma_data_direction direction);
void link_buffers_free(struct link_buffers *buffers, struct ib_device *dev);

static inline void *link_buffer(const struct link_buffers *buffers, u32 i)
{
	return buffers->page[i / buffers->per_page] +
	       i % buffers->per_page * buffers->size;
}

static inline u64 link_buffer_dma(const struct link_buffers *buffers, u32 i)
{
	return buffers->dma[i / buffers->per_page] +
	       i % buffers->per_page * buffers->size;
}

/* ---- lanes ---- */

/* A place in the send queue. */
struct link_request {
	struct ib_cqe cqe;
	struct link_lane *lane;
	u32 number;
	u64 bytes;		/* of all until this one */
	bool is_ping;
	u64 since;		/* ns, of the last of a chain; else 0 */
};

struct link_receive {
	struct ib_cqe cqe;
	struct link_lane *lane;
	u32 index;
};

/* FLUSH of the peer's, not answered. */
struct link_question {
	u64 token;
	u64 value;
};

/* FLUSHED, on its way. */
struct link_answer {
	struct link_work work;
	struct link_lane *lane;
	struct link_key *key;	/* read by it; a reference, or NULL */
};

/* One of a chain being made. */
struct link_wr {
	union {
		struct ib_send_wr send;
		struct ib_rdma_wr rdma;
		struct ib_reg_wr reg;
	};
	struct ib_sge sges[LINK_SGES];
};

enum lane_state {
	LANE_NONE,		/* no cm_id */
	LANE_RESOLVING,
	LANE_CONNECTING,
	LANE_ESTABLISHED,
};

struct link_lane {
	struct link *link;
	u32 index;

	/* link->mutex, and the work of the end */
	struct rdma_cm_id *id;
	enum lane_state state;
	bool has_qp;
	struct ib_qp *qp;
	u32 qpn;
	u32 peer_qpn;		/* 0: not asked for yet; lease work */
	bool drained;		/* being left; its work */
	bool suspect;		/* it was stuck; lease work */
	struct work_struct leave;
	struct link_buffers sends;
	struct link_buffers receives;
	struct link_request *requests;
	struct link_receive *receive;
	u32 sges;
	u32 read_sges;

	spinlock_t lock;
	/* protected by lock */
	bool open;		/* requests may be posted */
	bool ended;		/* nothing is taken any more */
	bool stopped;		/* by the end: no work begins, no key is queued */
	bool leaving;		/* for good; READ_ONCE outside */
	bool left;		/* others have its operations; READ_ONCE outside */
	bool told;		/* the peer has left it too */
	unsigned long leaving_since;	/* jiffies */
	u64 left_at;		/* ns since boot: it is leaving */
	u32 cause;		/* enum peerlane_lane_cause */
	u64 owners_out;		/* OWNER messages posted, ever */
	u32 controls_out;	/* the others, but LEFT */
	u32 peer_owners;	/* of those, what came to the peer; once told */
	u32 peer_controls;
	u32 key_end;		/* a request after the last one for keys */
	u32 wire_end;		/* after the last one that the peer answers */
	bool draining;		/* keys wait for that, and others for them */
	u64 replayed;		/* operations that others took over */
	u32 head;		/* number of the next request */
	u32 tail;		/* of the first that is not back */
	u32 quiet;		/* requests since the last with a completion */
	u64 quiet_bytes;
	u64 bytes_posted;
	u64 bytes_back;
	unsigned long progress;	/* jiffies */
	struct list_head pending;	/* link_work of link_op: not all posted */
	struct list_head posted;	/* link_work, in the order of ->end */
	bool sweep;		/* something may be done without a completion */
	struct link_question asked[LINK_FLUSHES];
	u32 asked_in;
	u32 asked_out;
	struct link_answer answers[LINK_FLUSHES];
	u32 answers_in;
	u32 answers_out;
	struct link_work *flushes[LINK_FLUSHES];	/* not answered */
	u32 flushes_out;
	u32 flushes_in;
	struct list_head waiting;	/* link_work: for answers only */
	unsigned long waiting_since;	/* jiffies */
	struct link_sink *sinks;	/* LINK_SINKS */
	u32 sink_next;
	u32 reads;		/* sinks under way */
	unsigned long read_since;	/* jiffies: the last one began or ended */
	u32 read_limit;		/* set before it is open */
	struct scatterlist *sink_sg;	/* link->key_pages */
	u32 chain;		/* requests in wrs */
	struct link_wr *wrs;	/* LINK_BATCH */

	/* link->poll_lock */
	u32 owners_in;		/* messages that came, as those out */
	u32 controls_in;
	u64 delay;		/* ns from post to completion, smoothed; READ_ONCE */
	unsigned long sampled;	/* jiffies: it was measured; READ_ONCE */

	atomic64_t load;	/* bytes and operations to do */
};

#endif /* PEERLANE_LINK_LANE_H */
