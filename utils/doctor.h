/* SPDX-License-Identifier: GPL-2.0 */
/*
 * peerlane doctor: what is read (doctor_read.c), what that means (doctor_node.c,
 * doctor_port.c, doctor_pfc.c, doctor_counter.c: pure), how it is told
 * (cmd_doctor.c).
 */
#ifndef PEERLANE_DOCTOR_H
#define PEERLANE_DOCTOR_H

#include "cli.h"

enum severity {
	SEVERITY_OK,
	SEVERITY_NOTE,		/* good to know */
	SEVERITY_UNKNOWN,	/* cannot be told here */
	SEVERITY_WARNING,	/* works worse than it could */
	SEVERITY_PROBLEM,	/* does not work, or loses packets */
	SEVERITY_COUNT,
};

/**
 * struct finding - the result of one check
 * @id: of the check, as in peerlane-doctor(8)
 * @severity: how bad
 * @weight: of two that are as bad the heavier one is told first; "peerlane why":
 *	percent of the time that it costs, 0 else
 * @rank: "peerlane why": of the group, or PEERLANE_NOBODY
 * @subject: the port or interface it is about, or "node"
 * @message: what is so
 * @seen: where that was read, and the value
 * @remedy: a command, or empty
 */
struct finding {
	const char *id;
	enum severity severity;
	uint32_t weight;
	uint32_t rank;
	char *subject;
	char *message;
	char *seen;
	char *remedy;
};

struct findings {
	struct finding *list;
	size_t count;
	size_t room;
};

/* ---- findings (doctor_finding.c) ---------------------------------------- */

/* Add one; its texts are set by the next three. */
struct finding *find(struct findings *findings, const char *id,
		     enum severity severity, const char *subject);
void say(struct finding *finding, const char *format, ...) PRINTF(2, 3);
void seen(struct finding *finding, const char *format, ...) PRINTF(2, 3);
void remedy(struct finding *finding, const char *format, ...) PRINTF(2, 3);
const char *severity_name(enum severity severity);
size_t findings_of(const struct findings *findings, enum severity severity);
void findings_free(struct findings *findings);

/* The heaviest first, else as they were found */
void findings_sort(struct findings *findings);
/* Those of @from that are at least so severe move to @to, the others go. */
void findings_move(struct findings *to, struct findings *from,
		   enum severity least);

/* ---- output (doctor_print.c) --------------------------------------------- */

struct json_object *finding_json(const struct finding *finding);
/* The worst first; what is well only when @all are asked for */
void findings_print(const struct findings *findings, bool all);

/* ---- facts (doctor_read.c) ---------------------------------------------- */

/**
 * struct sample - what is counted, at one time
 * @seconds: on the monotonic clock
 * @counters: of the port
 * @counter_count: of them
 * @pause: of each interface of the port
 */
struct sample {
	double seconds;
	struct peerlane_port_counter *counters;
	size_t counter_count;
	struct peerlane_pause_info *pause;
};

/**
 * struct facts_port - what is known of one port
 * @info: of the library
 * @mtu_active: as the driver says it, 0 unknown
 * @mtu_max: like it
 * @gids: its addresses
 * @gid_count: of them
 * @netdevs: interfaces its packets leave by
 * @netdev_count: of them
 * @dcb: of each interface
 * @dcb_error: negative errno of each that has none
 * @dcb_reason: text of each that has none
 * @first: sample at the beginning
 * @last: sample at the end, without counters if there was one only
 */
struct facts_port {
	struct peerlane_port_info info;
	uint32_t mtu_active;
	uint32_t mtu_max;
	struct peerlane_gid_info *gids;
	size_t gid_count;
	struct peerlane_netdev_info *netdevs;
	size_t netdev_count;
	struct peerlane_dcb_info *dcb;
	int *dcb_error;
	char **dcb_reason;
	struct sample first;
	struct sample last;
};

/**
 * struct request - what was asked for
 * @device: only this one, or NULL
 * @port: only this one of it, or 0
 * @dscp: that RDMA traffic is sent with
 * @interval: seconds between the samples; 0 one sample only
 */
struct request {
	const char *device;
	uint32_t port;
	uint32_t dscp;
	double interval;
};

struct facts {
	struct request request;
	struct peerlane_node_info node;
	struct facts_port *ports;
	size_t port_count;
};

/* 0 or the negative errno of a call of the library */
int facts_read(const struct request *request, struct facts *facts);
void facts_free(struct facts *facts);

/* ---- judges ------------------------------------------------------------- */

void judge_node(const struct facts *facts, struct findings *findings);
void judge_port(const struct facts_port *port, struct findings *findings);
void judge_pfc(const struct facts_port *port, uint32_t dscp,
	       struct findings *findings);
void judge_counters(const struct facts_port *port, struct findings *findings);
void judge_pause(const struct facts_port *port, struct findings *findings);

/* "mlx5_0/1", in one of a few static buffers */
const char *port_name(const struct facts_port *port);
/* Sum of the counters with this common name; false if there is none */
bool counter_sum(const struct sample *sample, const char *common,
		 uint64_t *sum);

#endif /* PEERLANE_DOCTOR_H */
