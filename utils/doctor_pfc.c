// SPDX-License-Identifier: GPL-2.0
/* peerlane doctor: do switches and NIC keep RDMA traffic lossless? Pure. */
#include <errno.h>
#include <string.h>

#include "doctor.h"

/* 802.1Qaz's transmission selection algorithms */
#define TSA_STRICT	0
#define TSA_ETS		2

/**
 * struct lane - one interface, and the priority of RDMA traffic there
 * @netdev: the interface
 * @dcb: of it
 * @pause: of it
 * @subject: "mlx5_0/1 eth0"
 * @dscp: of RDMA traffic
 * @prio: that @dscp has there
 * @findings: goes there
 */
struct lane {
	const struct peerlane_netdev_info *netdev;
	const struct peerlane_dcb_info *dcb;
	const struct peerlane_pause_info *pause;
	char subject[128];
	uint32_t dscp;
	uint32_t prio;
	struct findings *findings;
};

/*
 * What the table says. Where it says nothing of any DSCP, the upper three bits
 * are the priority: so it is in NICs and switches unless changed.
 */
static uint32_t priority_of(const struct peerlane_dcb_info *dcb, uint32_t dscp)
{
	if (!dcb->have_dscp)
		return dscp >> 3;
	if (dcb->dscp_prio[dscp] >= 0)
		return (uint32_t)dcb->dscp_prio[dscp];
	return dcb->default_prio > 0 ? (uint32_t)dcb->default_prio : 0;
}

/* "0,3", or "none" */
static const char *priorities(uint32_t mask)
{
	static char buffers[4][32];
	static unsigned int next;
	char *text = buffers[next++ % ARRAY_SIZE(buffers)], *at = text;

	strcpy(text, "none");
	for (int prio = 0; prio < PEERLANE_PRIORITIES; prio++)
		if (mask >> prio & 1)
			at += sprintf(at, "%s%d", at == text ? "" : ",", prio);
	return text;
}

static void judge_dscp(const struct lane *lane)
{
	const struct peerlane_dcb_info *dcb = lane->dcb;
	bool mapped = dcb->have_dscp && dcb->dscp_prio[lane->dscp] >= 0;
	struct finding *finding;

	finding = find(lane->findings, "dscp-map", mapped ? SEVERITY_OK :
			dcb->have_dscp ? SEVERITY_WARNING : SEVERITY_NOTE,
			lane->subject);
	seen(finding, "dcb app show dev %s dscp-prio: %s", lane->netdev->name,
	     !dcb->have_dscp ? "empty" : mapped ? "has it" : "lacks it");
	if (mapped)
		say(finding, "DSCP %u has priority %u", lane->dscp, lane->prio);
	else if (dcb->have_dscp)
		say(finding, "DSCP %u is not in the table, though others are: it has priority %u",
		    lane->dscp, lane->prio);
	else
		say(finding, "no DSCP is in the table: DSCP %u is taken for priority %u, its upper three bits",
		    lane->dscp, lane->prio);
	if (!mapped)
		remedy(finding, "dcb app add dev %s dscp-prio %u:%u",
		       lane->netdev->name, lane->dscp,
		       dcb->have_dscp ? lane->dscp >> 3 : lane->prio);
}

static void judge_trust(const struct lane *lane)
{
	enum severity severity = SEVERITY_OK;
	struct finding *finding;

	if (lane->dcb->trust == PEERLANE_TRUST_PCP)
		severity = SEVERITY_PROBLEM;
	/* Drivers switch it on with the first entry of the table. */
	else if (lane->dcb->trust == PEERLANE_TRUST_UNKNOWN)
		severity = lane->dcb->have_dscp ? SEVERITY_OK :
						  SEVERITY_UNKNOWN;
	finding = find(lane->findings, "dscp-trust", severity, lane->subject);
	seen(finding, "dcb apptrust show dev %s: %s", lane->netdev->name,
	     lane->dcb->trust == PEERLANE_TRUST_DSCP ? "dscp first" :
	     lane->dcb->trust == PEERLANE_TRUST_PCP ? "pcp first" :
	     "not told (kernels before 6.2, and some drivers)");
	if (severity == SEVERITY_PROBLEM)
		say(finding, "the VLAN tag decides the priority of received packets, not DSCP: untagged RDMA traffic has priority 0");
	else if (severity == SEVERITY_UNKNOWN)
		say(finding, "whether DSCP decides the priority of received packets");
	else
		say(finding, "DSCP decides the priority of received packets");
	if (severity == SEVERITY_PROBLEM)
		remedy(finding, "dcb apptrust set dev %s order dscp pcp",
		       lane->netdev->name);
}

static void judge_global(const struct lane *lane)
{
	const struct peerlane_pause_info *pause = lane->pause;
	bool on = pause->rx || pause->tx;
	struct finding *finding;

	if (!pause->have_param)
		return;
	finding = find(lane->findings, "global-pause", on ? SEVERITY_WARNING :
			SEVERITY_OK, lane->subject);
	seen(finding, "ethtool -a %s: rx %s, tx %s", lane->netdev->name,
	     pause->rx ? "on" : "off", pause->tx ? "on" : "off");
	if (!on) {
		say(finding, "global pause is off");
		return;
	}
	if (lane->dcb->have_pfc && lane->dcb->pfc_enabled)
		say(finding, "global pause is on beside PFC: it stops all priorities");
	else
		say(finding, "global pause is on in place of PFC: RDMA traffic stops all other traffic and is stopped by it");
	remedy(finding, "ethtool -A %s autoneg off rx off tx off, and PFC for priority %u",
	       lane->netdev->name, lane->prio);
}

static enum severity pfc_severity(const struct lane *lane)
{
	uint32_t on = lane->dcb->pfc_enabled;

	if (on == 1U << lane->prio)
		return SEVERITY_OK;
	if (on >> lane->prio & 1)
		return SEVERITY_WARNING;
	/* Lossless all the same, at the price that is told elsewhere. */
	if (!on && lane->pause->have_param && lane->pause->rx &&
	    lane->pause->tx)
		return SEVERITY_WARNING;
	return SEVERITY_PROBLEM;
}

static void judge_enabled(const struct lane *lane)
{
	enum severity severity = pfc_severity(lane);
	uint32_t on = lane->dcb->pfc_enabled;
	struct finding *finding;

	finding = find(lane->findings, "pfc", severity, lane->subject);
	seen(finding, "dcb pfc show dev %s: on for %s, of at most %u",
	     lane->netdev->name, priorities(on), lane->dcb->pfc_max);
	if (severity == SEVERITY_OK)
		say(finding, "PFC is on for priority %u, which is that of DSCP %u, and no other",
		    lane->prio, lane->dscp);
	else if (!on)
		say(finding, "PFC is off: packets of RDMA are dropped where buffers are full");
	else if (on >> lane->prio & 1)
		say(finding, "PFC is on for priorities %s, RDMA traffic (DSCP %u) has only %u: the others can be stopped without need",
		    priorities(on), lane->dscp, lane->prio);
	else
		say(finding, "PFC is on for priorities %s, but RDMA traffic (DSCP %u) has priority %u: it is dropped where buffers are full",
		    priorities(on), lane->dscp, lane->prio);
	if (severity != SEVERITY_OK)
		remedy(finding, "dcb pfc set dev %s prio-pfc all:off %u:on, and the same on the switch",
		       lane->netdev->name, lane->prio);
}

/* Priorities that share the traffic class of RDMA, without its own */
static uint32_t class_mates(const struct lane *lane)
{
	uint32_t mates = 0;

	for (uint32_t prio = 0; prio < PEERLANE_PRIORITIES; prio++)
		if (prio != lane->prio &&
		    lane->dcb->prio_tc[prio] == lane->dcb->prio_tc[lane->prio])
			mates |= 1U << prio;
	return mates;
}

static void judge_ets(const struct lane *lane)
{
	const struct peerlane_dcb_info *dcb = lane->dcb;
	uint32_t class = dcb->prio_tc[lane->prio] % PEERLANE_PRIORITIES;
	bool strict = dcb->tc_tsa[class] == TSA_STRICT;
	bool starved = dcb->tc_tsa[class] == TSA_ETS &&
		!dcb->tc_bandwidth[class];
	uint32_t mates = class_mates(lane);
	struct finding *finding;

	finding = find(lane->findings, "ets", starved || mates ?
			SEVERITY_WARNING : strict ? SEVERITY_NOTE :
			SEVERITY_OK, lane->subject);
	seen(finding, "dcb ets show dev %s: priority %u is in class %u, %s, %u %%",
	     lane->netdev->name, lane->prio, class, strict ? "strict" :
	     dcb->tc_tsa[class] == TSA_ETS ? "ets" : "other",
	     dcb->tc_bandwidth[class]);
	if (mates)
		say(finding, "priorities %s share the queue of RDMA traffic: PFC stops them too",
		    priorities(mates));
	else if (starved)
		say(finding, "RDMA traffic's class has no bandwidth of its own");
	else if (strict)
		say(finding, "RDMA traffic goes before all lower classes, without limit");
	else
		say(finding, "RDMA traffic has a class of its own");
	if (mates || starved)
		remedy(finding, "dcb ets set dev %s tc-tsa all:ets tc-bw all:0 0:50 %u:50 prio-tc all:0 %u:%u",
		       lane->netdev->name, lane->prio, lane->prio, lane->prio);
}

/* Software has no buffers that pause frames could protect. */
static void judge_software(const struct facts_port *port,
			   struct findings *findings)
{
	struct finding *finding;

	finding = find(findings, "pfc", SEVERITY_NOTE, port_name(port));
	say(finding, "%s is software on %s: losses are up to the interface below it, PFC is not looked for",
	    port->info.driver, *port->info.netdev ? port->info.netdev : "?");
	seen(finding, "driver of %s", port->info.device);
}

static void no_dcb(const struct lane *lane, int error, const char *reason)
{
	struct finding *finding;

	finding = find(lane->findings, "pfc", SEVERITY_UNKNOWN, lane->subject);
	say(finding, error == -EOPNOTSUPP ?
	    "the driver does not tell PFC: a NIC may have it set up in firmware" :
	    "PFC cannot be asked for");
	seen(finding, "%s", reason && *reason ? reason : "dcbnl");
	remedy(finding, "the vendor's tool (mlnx_qos, niccli, ...), or lldptool");
}

static void judge_lane(const struct lane *lane)
{
	judge_global(lane);
	if (!lane->dcb->have_pfc) {
		no_dcb(lane, -EOPNOTSUPP, "DCB_ATTR_IEEE_PFC is not in the answer");
		return;
	}
	judge_dscp(lane);
	judge_trust(lane);
	judge_enabled(lane);
	if (lane->dcb->have_ets)
		judge_ets(lane);
}

static void no_interface(const struct facts_port *port,
			 struct findings *findings)
{
	struct finding *finding;

	finding = find(findings, "netdev", SEVERITY_UNKNOWN, port_name(port));
	if (*port->info.netdev)
		say(finding, "interface %s of the port is in another network namespace: PFC and MTU cannot be looked at here",
		    port->info.netdev);
	else
		say(finding, "the port has no network interface");
	seen(finding, "rdma link show %s", port_name(port));
	remedy(finding, "run it where the interface is");
}

void judge_pfc(const struct facts_port *port, uint32_t dscp,
	       struct findings *findings)
{
	if (port->info.transport != PEERLANE_TRANSPORT_ROCE)
		return;
	if (!port->netdev_count)
		no_interface(port, findings);
	else if (port->info.software)
		judge_software(port, findings);
	if (port->info.software)
		return;
	for (size_t i = 0; i < port->netdev_count; i++) {
		struct lane lane = {
			.netdev = &port->netdevs[i], .dcb = &port->dcb[i],
			.pause = &port->first.pause[i], .dscp = dscp,
			.findings = findings,
		};

		snprintf(lane.subject, sizeof(lane.subject), "%s %.*s",
			 port_name(port), (int)sizeof(lane.netdev->name),
			 lane.netdev->name);
		lane.prio = priority_of(lane.dcb, dscp);
		if (port->dcb_error[i]) {
			judge_global(&lane);
			no_dcb(&lane, port->dcb_error[i], port->dcb_reason[i]);
		} else {
			judge_lane(&lane);
		}
	}
}
