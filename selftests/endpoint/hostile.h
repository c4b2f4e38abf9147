/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A peer in user space, by librdmacm and verbs, that says and does to an
 * endpoint what it likes. It knows the wire format by the module's own code.
 */
#ifndef SELFTESTS_ENDPOINT_HOSTILE_H
#define SELFTESTS_ENDPOINT_HOSTILE_H

#include <rdma/rdma_cma.h>
#include <stdbool.h>
#include <stdint.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;

#include "link_wire.h"

#define HOSTILE_RECEIVES	256
#define HOSTILE_MEMORY		(1U << 16)
#define HOSTILE_HEARD		1024

struct hostile {
	struct rdma_event_channel *channel;
	struct rdma_cm_id *id;		/* NULL: not there */
	struct rdma_cm_id *listener;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_mr *mr;
	u8 *memory;			/* HOSTILE_MEMORY, and the receives */
	u32 receives;			/* that are posted at first */
	bool slow;			/* the other has to wait for more of them */
	u64 heard[HOSTILE_HEARD];	/* receives that came meanwhile */
	u32 heard_in, heard_out;
	u8 last[LINK_MESSAGE_MAX];	/* the message heard last, raw */
	u32 last_length;
	u32 control;			/* messages taken, as they want to hear */
	u32 owner;			/* the same of OWNER */
	u32 refusal;			/* enum link_refusal, of a refused one */
	struct link_hello answer;
	u8 private_data[256];		/* raw */
	u32 private_length;
};

/* As an honest one would say it. */
struct link_hello hostile_hello(void);

/* 0, -ECONNREFUSED with ->refusal, or another -errno. @receives: 0: as many as go */
int hostile_connect(struct hostile *hostile, const char *ip, u16 port,
		    const void *private_data, u8 length, int receives);
int hostile_connect_well(struct hostile *hostile, const char *ip, u16 port,
			 const struct link_hello *hello);
/* Asks, and does not go on: the other waits. */
int hostile_ask_only(struct hostile *hostile, const char *ip, u16 port,
		     const struct link_hello *hello);
void hostile_end(struct hostile *hostile);

/* A caller is waited for, whose greeting is then in ->answer, and answered. */
int hostile_listen(struct hostile *hostile, const char *ip, u16 port);
int hostile_wait(struct hostile *hostile);
int hostile_accept(struct hostile *hostile, const void *private_data, u8 length);
/* It knows that it was answered. */
int hostile_established(struct hostile *hostile);
int hostile_reject(struct hostile *hostile, const void *private_data, u8 length);

/* Opens the devices, for as long as the process lives. */
void hostile_init(void);

/* The status of the completion (enum ibv_wc_status), or -errno. */
int hostile_send(struct hostile *hostile, const void *data, u32 length);
int hostile_say(struct hostile *hostile, struct link_message *message);
int hostile_write(struct hostile *hostile, u32 rkey, u64 at, u32 length);
int hostile_read(struct hostile *hostile, u32 rkey, u64 at, u32 length);
/* With immediate data, which takes a receive of the other's. */
int hostile_write_imm(struct hostile *hostile, u32 rkey, u64 at, u32 length);

/* The next message of the kernel's. False: none within so many seconds. */
bool hostile_hear(struct hostile *hostile, struct link_message *message,
		  double seconds);
/* The next one of that type. */
bool hostile_hear_of(struct hostile *hostile, u8 type,
		     struct link_message *message, double seconds);

#endif /* SELFTESTS_ENDPOINT_HOSTILE_H */
