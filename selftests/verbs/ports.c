// SPDX-License-Identifier: GPL-2.0
/*
 * What the library tells of RDMA ports, one thing a line, for scripts to look
 * at:
 *
 *	ports qp | port | gid | counter | netdev | node
 */
#include <inttypes.h>
#include <peerlane.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int fail(const char *what)
{
	fprintf(stderr, "%s: %s\n", what, peerlane_strerror());
	return 1;
}

static int qps(void)
{
	struct peerlane_qp_info *list, *qp;
	size_t count;

	if (peerlane_qp_list(&list, &count))
		return fail("qp");
	for (qp = list; qp < list + count; qp++)
		printf("qp dev=%s port=%u lqpn=%u rqpn=%u type=%s state=%s sq_psn=%u rq_psn=%u pid=%d kernel=%d connected=%d comm=%s\n",
		       qp->device, qp->port, qp->lqpn, qp->rqpn,
		       peerlane_qp_type_name(qp->type),
		       peerlane_qp_state_name(qp->state), qp->sq_psn,
		       qp->rq_psn, qp->pid, qp->kernel, qp->connected,
		       qp->comm);
	free(list);
	return 0;
}

static void print_port(const struct peerlane_port_info *port)
{
	uint32_t active = 0, max = 0;

	if (peerlane_port_mtu(port->device, port->port, &active, &max))
		fail("mtu");
	printf("port dev=%s port=%u driver=%s transport=%s software=%d state=%s phys=%u link=%s rate=%" PRIu64
	       " width=%u mtu=%u verbs_mtu=%u max_mtu=%u netdev=%s ifindex=%d netdev_mtu=%u pci=%s fw=%s reason=%s\n",
	       port->device, port->port, port->driver,
	       peerlane_transport_name(port->transport), port->software,
	       peerlane_port_state_name(port->state), port->phys_state,
	       port->link_layer, port->rate, port->width, port->mtu, active,
	       max, port->netdev, port->ifindex, port->netdev_mtu, port->pci,
	       port->firmware, port->reason);
}

static void print_counters(const struct peerlane_port_info *port)
{
	struct peerlane_port_counter *list, *each;
	size_t count;

	if (peerlane_port_counters(port->device, port->port, &list, &count)) {
		fail("counter");
		return;
	}
	for (each = list; each < list + count; each++)
		printf("counter dev=%s name=%s common=%s value=%" PRIu64
		       " unit=%s valid=%d standard=%d\n",
		       port->device, each->name, each->common, each->value,
		       peerlane_unit_name(each->unit), each->valid,
		       each->standard);
	free(list);
}

static void print_netdevs(const struct peerlane_port_info *port)
{
	struct peerlane_netdev_info *list, *each;
	struct peerlane_pause_info pause;
	struct peerlane_dcb_info dcb;
	size_t count;

	if (peerlane_netdev_members(port->netdev, &list, &count)) {
		fail("netdev");
		return;
	}
	for (each = list; each < list + count; each++) {
		printf("netdev name=%s driver=%s speed=%" PRIu64 " max=%" PRIu64
		       " mtu=%u ifindex=%d up=%d\n", each->name, each->driver,
		       each->speed, each->speed_max, each->mtu, each->ifindex,
		       each->up);
		if (peerlane_dcb_query(each->name, &dcb))
			printf("dcb name=%s error=%s\n", each->name,
			       peerlane_strerror());
		else
			printf("dcb name=%s pfc=%d enabled=%x\n", each->name,
			       dcb.have_pfc, dcb.pfc_enabled);
		if (peerlane_pause_query(each->name, &pause))
			fail("pause");
		else
			printf("pause name=%s have=%x param=%d global=%d\n",
			       each->name, pause.rx_have, pause.have_param,
			       pause.have_global);
	}
	free(list);
}

static int each_port(void (*print)(const struct peerlane_port_info *port))
{
	struct peerlane_port_info *list;
	size_t count, i;

	if (peerlane_port_list(&list, &count))
		return fail("port");
	for (i = 0; i < count; i++)
		print(&list[i]);
	free(list);
	return 0;
}

static int gids(void)
{
	struct peerlane_gid_info *list, *gid;
	size_t count;

	if (peerlane_gid_list(NULL, 0, &list, &count))
		return fail("gid");
	for (gid = list; gid < list + count; gid++)
		printf("gid dev=%s port=%u index=%u type=%s address=%s netdev=%s ipv4=%d link_local=%d\n",
		       gid->device, gid->port, gid->index,
		       peerlane_gid_type_name(gid->type), gid->address,
		       gid->netdev, gid->ipv4, gid->link_local);
	free(list);
	return 0;
}

static int node(void)
{
	struct peerlane_node_info info;

	if (peerlane_node_query(&info))
		return fail("node");
	printf("node kernel=%s config=%s p2pdma=%c dmabuf=%c ingress=%c dcb=%c memlock=%" PRIu64
	       " free=%d module=%d rdma=%d shared=%d\n",
	       info.kernel, info.config, info.p2pdma ? info.p2pdma : '?',
	       info.dmabuf ? info.dmabuf : '?', info.ingress ? info.ingress : '?',
	       info.dcb ? info.dcb : '?', info.memlock, info.memlock_free,
	       info.module, info.rdma, info.rdma_shared);
	return 0;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	if (!strcmp(what, "qp"))
		return qps();
	if (!strcmp(what, "port"))
		return each_port(print_port);
	if (!strcmp(what, "counter"))
		return each_port(print_counters);
	if (!strcmp(what, "netdev"))
		return each_port(print_netdevs);
	if (!strcmp(what, "gid"))
		return gids();
	if (!strcmp(what, "node"))
		return node();
	fprintf(stderr, "usage: ports qp | port | gid | counter | netdev | node\n");
	return 1;
}
