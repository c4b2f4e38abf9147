// SPDX-License-Identifier: GPL-2.0
/* peerlane doctor: is a port being paused, and does it pause others? Pure. */
#include "doctor.h"

/*
 * Frames a second, where the driver tells no time. One frame pauses for at most
 * 65535 times 512 bits: 84 us at 400 Gb/s, 335 us at 100.
 */
#define FRAMES_MANY	1000.0
#define FRAMES_SOME	100.0
/* Parts of the time */
#define TIME_MANY	0.1
#define TIME_SOME	0.01

/**
 * struct rates - pause frames of one interface over the interval
 * @seconds: its length
 * @rx: frames received each second, of the priority with most
 * @tx: frames sent each second, like it
 * @time: part of the time that sending was stopped, or -1 if it is not told
 * @rx_prio: the priority with most received, -1 global pause
 * @tx_prio: the priority with most sent, like it
 * @have: the driver counts them, at both ends of the interval
 * @reset: some ran backwards
 */
struct rates {
	double seconds;
	double rx;
	double tx;
	double time;
	int rx_prio;
	int tx_prio;
	bool have;
	bool reset;
};

static double rate(uint64_t before, uint64_t after, struct rates *rates)
{
	if (after < before) {
		rates->reset = true;
		return 0;
	}
	return (double)(after - before) / rates->seconds;
}

static void most(double *best, int *which, double value, int prio)
{
	if (value > *best) {
		*best = value;
		*which = prio;
	}
}

/* Rows of priorities whose PFC was switched meanwhile are not at both ends. */
static void add_priority(struct rates *rates, int prio,
			 const struct peerlane_pause_info *before,
			 const struct peerlane_pause_info *after)
{
	uint32_t bit = 1U << prio;

	if (before->rx_have & after->rx_have & bit)
		most(&rates->rx, &rates->rx_prio,
		     rate(before->rx_frames[prio], after->rx_frames[prio],
			  rates), prio);
	if (before->tx_have & after->tx_have & bit)
		most(&rates->tx, &rates->tx_prio,
		     rate(before->tx_frames[prio], after->tx_frames[prio],
			  rates), prio);
	if (before->usec_have & after->usec_have & bit) {
		double time = rate(before->rx_usec[prio], after->rx_usec[prio],
				   rates) / 1e6;

		if (time > rates->time)
			rates->time = time;
	}
	rates->have |= before->rx_have & after->rx_have & bit;
}

static struct rates rates_of(double seconds,
			     const struct peerlane_pause_info *before,
			     const struct peerlane_pause_info *after)
{
	struct rates rates = { .seconds = seconds, .time = -1,
			       .rx_prio = -1, .tx_prio = -1 };

	if (seconds <= 0)
		return rates;
	for (int prio = 0; prio < PEERLANE_PRIORITIES; prio++)
		add_priority(&rates, prio, before, after);
	if (before->have_global && after->have_global) {
		rates.have = true;
		most(&rates.rx, &rates.rx_prio,
		     rate(before->rx_global, after->rx_global, &rates), -1);
		most(&rates.tx, &rates.tx_prio,
		     rate(before->tx_global, after->tx_global, &rates), -1);
	}
	return rates;
}

static enum severity severity_of(const struct rates *rates, double frames,
				 double time)
{
	if (!rates->have)
		return SEVERITY_UNKNOWN;
	/* Time is what counts; frames stand in for it. */
	if (time >= 0 ? time >= TIME_MANY : frames >= FRAMES_MANY)
		return SEVERITY_PROBLEM;
	if (time >= 0 ? time >= TIME_SOME : frames >= FRAMES_SOME)
		return SEVERITY_WARNING;
	if (rates->reset)
		return SEVERITY_UNKNOWN;
	return frames > 0 ? SEVERITY_NOTE : SEVERITY_OK;
}

static const char *priority_text(int prio)
{
	static char text[32];

	if (prio < 0)
		return "global pause";
	snprintf(text, sizeof(text), "priority %d", prio);
	return text;
}

static void judge_received(const struct rates *rates, const char *subject,
			   const char *netdev, struct findings *findings)
{
	enum severity severity = severity_of(rates, rates->rx, rates->time);
	struct finding *finding;

	finding = find(findings, "pause-storm", severity, subject);
	if (!rates->have) {
		say(finding, "how much the switch pauses this port: the driver does not tell it (now)");
		seen(finding, "ethtool -S %s: no counters of pause frames at both ends of the interval",
		     netdev);
		return;
	}
	if (rates->time >= 0)
		seen(finding, "ethtool -S %s over %.1f s: %.0f frames/s (%s), %.1f %% of the time%s",
		     netdev, rates->seconds, rates->rx,
		     priority_text(rates->rx_prio), 100 * rates->time,
		     rates->reset ? ", cleared meanwhile" : "");
	else
		seen(finding, "ethtool -S %s over %.1f s: %.0f frames/s (%s)%s",
		     netdev, rates->seconds, rates->rx,
		     priority_text(rates->rx_prio),
		     rates->reset ? ", cleared meanwhile" : "");
	if (severity == SEVERITY_OK)
		say(finding, "the switch does not pause this port");
	else if (rates->rx > 0)
		say(finding, "the switch pauses this port");
	else
		say(finding, "how much the switch pauses this port");
	if (severity >= SEVERITY_WARNING)
		remedy(finding, "find who pauses the switch: the port that sends pause frames there leads to a slow receiver; ECN thresholds below those of PFC");
}

static void judge_sent(const struct rates *rates, const char *subject,
		       const char *netdev, struct findings *findings)
{
	enum severity severity = severity_of(rates, rates->tx, -1);
	struct finding *finding;

	if (severity < SEVERITY_WARNING)
		return;
	finding = find(findings, "pause-sent", severity, subject);
	say(finding, "this node pauses the network: it takes data in too slowly");
	seen(finding, "ethtool -S %s over %.1f s: %.0f frames/s (%s)", netdev,
	     rates->seconds, rates->tx, priority_text(rates->tx_prio));
	remedy(finding, "PCI link, IOMMU and NUMA node of the NIC; memory bandwidth of the receiver");
}

void judge_pause(const struct facts_port *port, struct findings *findings)
{
	double seconds = port->last.seconds - port->first.seconds;
	char subject[128];

	if (port->info.software || !port->last.pause)
		return;
	for (size_t i = 0; i < port->netdev_count; i++) {
		const char *netdev = port->netdevs[i].name;
		struct rates rates = rates_of(seconds, &port->first.pause[i],
					      &port->last.pause[i]);

		snprintf(subject, sizeof(subject), "%s %s", port_name(port),
			 netdev);
		judge_received(&rates, subject, netdev, findings);
		if (rates.have)
			judge_sent(&rates, subject, netdev, findings);
	}
}
