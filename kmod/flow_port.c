// SPDX-License-Identifier: GPL-2.0
#include <linux/compiler.h>
#include <linux/kernel.h>
#include <linux/string.h>

#include "flow_port.h"

/* ---- entries ---- */

static struct flow_port *find(struct flow_port_set *set, u64 tag)
{
	u32 i;

	for (i = 0; i < FLOW_PORT_WAYS; i++)
		if (set->port[i].tag == tag)
			return &set->port[i];
	return NULL;
}

static struct flow_port *longest_unused(struct flow_port_set *set, u32 now)
{
	struct flow_port *oldest = set->port;
	u32 i;

	for (i = 1; i < FLOW_PORT_WAYS; i++)
		if (now - set->port[i].used > now - oldest->used)
			oldest = &set->port[i];
	return oldest;
}

/* An unused one has nobody in it who waits: these had told again. */
static struct flow_port *make_room(const struct flow_ports *ports,
				   struct flow_port_set *set, u32 now)
{
	struct flow_port *port = find(set, 0);

	if (port)
		return port;
	port = longest_unused(set, now);
	if (now - port->used <= ports->hold) {
		set->has_lost = true;
		set->lost_at = now;
	}
	return port;
}

static struct flow_port *enter(const struct flow_ports *ports, u64 tag, u32 now)
{
	struct flow_port_set *set = &ports->sets[(u32)(tag >> 32) & ports->mask];
	struct flow_port *port = find(set, tag);

	if (!port) {
		port = make_room(ports, set, now);
		if (set->has_lost && now - set->lost_at > ports->hold)
			set->has_lost = false;
		*port = (struct flow_port){ .tag = tag, .since = now,
					    .is_partial = set->has_lost };
	}
	port->used = now;
	if (port->is_partial && now - port->since > ports->hold)
		port->is_partial = false;
	return port;
}

/* ---- who is in one ---- */

static bool has(const struct flow_port *port,
		const struct flow_port_seeker *seeker)
{
	u32 i;

	for (i = 0; i < FLOW_PORT_FLOWS; i++)
		if (port->qpn[seeker->side][i] == seeker->qpn)
			return true;
	return false;
}

/* Where there is no room for it, it tells again. */
static void add(struct flow_port *port, const struct flow_port_seeker *seeker,
		u32 now)
{
	u32 *qpn = port->qpn[seeker->side];
	u32 i;

	port->is_contested = false;
	for (i = 0; i < FLOW_PORT_FLOWS; i++) {
		if (!qpn[i]) {
			qpn[i] = seeker->qpn;
			return;
		}
	}
	port->is_partial = true;
	port->since = now;
}

/* What one of a side is to the seeker; who has gone is forgotten. */
static enum flow_port_fit look(struct flow_port *port,
			       const struct flow_port_seeker *seeker,
			       bool own_side, u32 *qpn)
{
	enum flow_port_fit fit;

	if (!*qpn || (own_side && *qpn == seeker->qpn))
		return FLOW_PORT_OTHER;
	fit = seeker->fit(seeker->context, own_side, *qpn);
	if (fit == FLOW_PORT_GONE) {
		*qpn = 0;
		port->is_contested = false;
	}
	return fit;
}

static bool does_fit(enum flow_port_fit fit)
{
	return fit == FLOW_PORT_FITS || fit == FLOW_PORT_TAKEN;
}

/* A new one takes away what was certain before it came. */
static u32 meet_rivals(struct flow_port *port,
		       const struct flow_port_seeker *seeker, bool is_new)
{
	u32 *qpn = port->qpn[seeker->side];
	u32 i, rivals = 0;

	for (i = 0; i < FLOW_PORT_FLOWS; i++) {
		if (!does_fit(look(port, seeker, true, &qpn[i])))
			continue;
		rivals++;
		if (is_new)
			seeker->part(seeker->context, true, qpn[i]);
	}
	return rivals;
}

/* The only one that fits, or 0. */
static u32 only_one(struct flow_port *port,
		    const struct flow_port_seeker *seeker, bool *is_taken)
{
	u32 *qpn = port->qpn[!seeker->side];
	enum flow_port_fit fit;
	u32 i, fits = 0, partner = 0;

	*is_taken = false;
	for (i = 0; i < FLOW_PORT_FLOWS; i++) {
		fit = look(port, seeker, false, &qpn[i]);
		if (!does_fit(fit))
			continue;
		fits++;
		partner = qpn[i];
		*is_taken = fit == FLOW_PORT_TAKEN;
	}
	return fits == 1 ? partner : 0;
}

u32 flow_port_partner(struct flow_ports *ports, u64 tag, u32 now,
		      const struct flow_port_seeker *seeker)
{
	struct flow_port *port = enter(ports, tag, now);
	bool is_new = !has(port, seeker), is_taken;
	u32 partner = only_one(port, seeker, &is_taken);
	u32 rivals = meet_rivals(port, seeker, is_new);

	if (is_new)
		add(port, seeker, now);
	if (!partner || rivals)
		return 0;
	if (is_taken) {
		port->is_contested = true;
		seeker->part(seeker->context, false, partner);
		return 0;
	}
	return port->is_partial || port->is_contested ? 0 : partner;
}
