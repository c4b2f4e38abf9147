// SPDX-License-Identifier: GPL-2.0
/* peerlane doctor: what the counters of a port say. Pure. */
#include <string.h>

#include "doctor.h"

bool counter_sum(const struct sample *sample, const char *common,
		 uint64_t *sum)
{
	bool have = false;

	*sum = 0;
	for (size_t i = 0; i < sample->counter_count; i++) {
		const struct peerlane_port_counter *counter = &sample->counters[i];

		if (!counter->valid || strcmp(counter->common, common))
			continue;
		have = true;
		*sum += counter->value;
	}
	return have;
}

/**
 * struct tally - counters of one kind over the interval
 * @text: "packet_seq_err 4830, out_of_sequence 5057", those that are not zero
 * @have: there is one of them at all
 * @total: since they began
 * @recent: in the interval
 * @reset: one ran backwards: somebody cleared it
 */
struct tally {
	char text[256];
	bool have;
	uint64_t total;
	uint64_t recent;
	bool reset;
};

static void add_text(struct tally *tally, const char *name, uint64_t value)
{
	size_t used = strlen(tally->text);

	snprintf(tally->text + used, sizeof(tally->text) - used, "%s%s %ju",
		 used ? ", " : "", name, (uintmax_t)value);
}

static void add_recent(struct tally *tally, const struct sample *last,
		       const char *name, uint64_t before)
{
	uint64_t after;

	if (!counter_sum(last, name, &after))
		return;
	if (after < before)
		tally->reset = true;
	else
		tally->recent += after - before;
}

static struct tally tally_of(const struct facts_port *port,
			     const char *const *names, size_t count)
{
	struct tally tally = { 0 };
	uint64_t value;

	for (size_t i = 0; i < count; i++) {
		if (!counter_sum(&port->first, names[i], &value))
			continue;
		tally.have = true;
		tally.total += value;
		if (value)
			add_text(&tally, names[i], value);
		add_recent(&tally, &port->last, names[i], value);
	}
	if (!*tally.text)
		strcpy(tally.text, "all zero");
	return tally;
}

/* Something that should not happen: now it is worse than long ago. */
static enum severity severity_of(const struct tally *tally)
{
	if (!tally->have)
		return SEVERITY_UNKNOWN;
	if (tally->recent)
		return SEVERITY_WARNING;
	return tally->total ? SEVERITY_NOTE : SEVERITY_OK;
}

static struct finding *tell(const struct facts_port *port,
			    const struct tally *tally, const char *id,
			    enum severity severity, struct findings *findings)
{
	struct finding *finding;

	finding = find(findings, id, severity, port_name(port));
	if (!tally->have)
		seen(finding, "/sys/class/infiniband/%s/ports/%u/hw_counters: none of this kind",
		     port->info.device, port->info.port);
	else if (port->last.seconds > port->first.seconds)
		seen(finding, "/sys/class/infiniband/%s/ports/%u/hw_counters: %s; %ju of them in %.1f s%s",
		     port->info.device, port->info.port, tally->text,
		     (uintmax_t)tally->recent,
		     port->last.seconds - port->first.seconds,
		     tally->reset ? ", cleared meanwhile" : "");
	else
		seen(finding, "/sys/class/infiniband/%s/ports/%u/hw_counters: %s",
		     port->info.device, port->info.port, tally->text);
	return finding;
}

static void judge_ecn(const struct facts_port *port, struct findings *findings)
{
	static const char *const names[] = {
		"ecn_marked", "cnp_sent", "cnp_handled",
	};
	struct tally tally = tally_of(port, names, ARRAY_SIZE(names));
	struct finding *finding;
	enum severity severity = tally.total ? SEVERITY_NOTE : SEVERITY_OK;

	if (port->info.transport != PEERLANE_TRANSPORT_ROCE)
		return;
	if (!tally.have)
		severity = port->info.software ? SEVERITY_NOTE :
						 SEVERITY_UNKNOWN;
	finding = tell(port, &tally, "ecn", severity, findings);
	if (!tally.have)
		say(finding, "the device counts no congestion marks");
	else if (tally.recent)
		say(finding, "switches mark congestion now");
	else if (tally.total)
		say(finding, "switches have marked congestion");
	else
		say(finding, "no congestion has been marked; if there was some, ECN is not on in the switches");
}

static void judge_loss(const struct facts_port *port, struct findings *findings)
{
	static const char *const names[] = {
		"out_of_sequence", "packet_seq_err", "implied_nak",
		"adp_retrans", "retransmits",
	};
	struct tally tally = tally_of(port, names, ARRAY_SIZE(names));
	struct finding *finding;

	finding = tell(port, &tally, "loss", severity_of(&tally), findings);
	if (!tally.have)
		say(finding, "the device does not count lost packets");
	else if (tally.recent)
		say(finding, "packets are lost or overtaken now");
	else if (tally.total)
		say(finding, "packets have been lost or overtaken");
	else
		say(finding, "no packet has been lost or overtaken");
	if (tally.recent)
		remedy(finding, "peerlane flow list: which flow; then PFC on each hop of it, and drops at the switches");
}

static void judge_timeouts(const struct facts_port *port,
			   struct findings *findings)
{
	static const char *const names[] = {
		"local_ack_timeout", "adp_retrans_timeout", "retry_exceeded",
	};
	struct tally tally = tally_of(port, names, ARRAY_SIZE(names));
	struct finding *finding;

	finding = tell(port, &tally, "timeouts", severity_of(&tally), findings);
	if (!tally.have)
		say(finding, "the device does not count timeouts");
	else if (tally.total)
		say(finding, "peers did not answer in time: a last packet was lost, or a peer is gone");
	else
		say(finding, "peers have always answered in time");
	if (tally.recent)
		remedy(finding, "peerlane flow list: which peer; is it up, does it drop?");
}

static void judge_receiver(const struct facts_port *port,
			   struct findings *findings)
{
	static const char *const names[] = {
		"rnr_nak", "rnr_nak_sent", "out_of_buffer",
		"rnr_retry_exceeded",
	};
	struct tally tally = tally_of(port, names, ARRAY_SIZE(names));
	struct finding *finding;

	finding = tell(port, &tally, "receiver", severity_of(&tally), findings);
	if (!tally.have)
		say(finding, "the device does not count receivers that are not ready");
	else if (tally.total)
		say(finding, "receivers were not ready: programs post too few buffers, the network is not to blame");
	else
		say(finding, "receivers have always been ready");
	if (tally.recent)
		remedy(finding, "post more receives (a program's queue depth), give it more CPU");
}

void judge_counters(const struct facts_port *port, struct findings *findings)
{
	if (!port->info.port)
		return;
	judge_ecn(port, findings);
	judge_loss(port, findings);
	judge_timeouts(port, findings);
	judge_receiver(port, findings);
}
