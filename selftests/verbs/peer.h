/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Two processes, one on each node: a TCP connection for what they have to tell
 * each other, and one RC queue pair. No function returns after a failure: it
 * says what failed and ends the process.
 */
#ifndef SELFTESTS_VERBS_PEER_H
#define SELFTESTS_VERBS_PEER_H

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PORT 18600

struct peer {
	bool is_target;		/* the one that listens */
	int tcp;
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
};

/** struct remote - where the other side's memory is */
struct remote {
	uint64_t addr;
	uint32_t rkey;
	uint32_t reserved;
};

void die(const char *fmt, ...)
	__attribute__((format(printf, 1, 2), noreturn));

/** peer_meet() - connect; @address NULL: wait for the other one */
void peer_meet(struct peer *peer, const char *address);
void peer_part(struct peer *peer);

/** peer_swap() - send @length bytes of ours, receive as many */
void peer_swap(struct peer *peer, const void *mine, void *theirs,
	       size_t length);
/** peer_sync() - go on when both are here */
void peer_sync(struct peer *peer);

void peer_post_recv(struct peer *peer, const struct ibv_sge *sge, int count);
void peer_post_send(struct peer *peer, struct ibv_send_wr *wr);
/** peer_wait() - the next completion, which must be a success; dies after 60 s */
void peer_wait(struct peer *peer, struct ibv_wc *wc);

#endif /* SELFTESTS_VERBS_PEER_H */
