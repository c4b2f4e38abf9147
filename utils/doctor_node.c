// SPDX-License-Identifier: GPL-2.0
/* peerlane doctor: is the node itself fit? Pure. */
#include <string.h>

#include "doctor.h"

#define NODE		"node"
/* Less than one good-sized buffer: programs will run into it. */
#define MEMLOCK_LEAST	(UINT64_C(1) << 30)

static void judge_devices(const struct facts *facts, struct findings *findings)
{
	struct finding *finding;

	if (facts->port_count) {
		finding = find(findings, "rdma-device", SEVERITY_OK, NODE);
		say(finding, "%zu RDMA ports", facts->port_count);
		seen(finding, "/sys/class/infiniband");
		return;
	}
	finding = find(findings, "rdma-device", SEVERITY_PROBLEM, NODE);
	say(finding, "no RDMA device%s", facts->request.device ?
	    " of that name" : "");
	if (facts->node.rdma) {
		seen(finding, "/sys/class/infiniband is empty");
		remedy(finding, "rdma link add rxe0 type rxe netdev eth0");
	} else {
		seen(finding, "ib_core is not loaded");
		remedy(finding, "modprobe the NIC's RDMA driver (mlx5_ib, bnxt_re, irdma, ...), or rdma_rxe");
	}
}

static void judge_module(const struct peerlane_node_info *node,
			 struct findings *findings)
{
	struct finding *finding;

	finding = find(findings, "module", node->module ? SEVERITY_OK :
			SEVERITY_WARNING, NODE);
	say(finding, "the peerlane module is %sloaded",
	    node->module ? "" : "not ");
	seen(finding, "/sys/module/peerlane");
	if (!node->module)
		remedy(finding, "modprobe peerlane");
}

static void judge_memlock(const struct peerlane_node_info *node,
			  struct findings *findings)
{
	enum severity severity = SEVERITY_OK;
	struct finding *finding;

	/* Root's own limit does not bind it; that of others is not known. */
	if (node->memlock < MEMLOCK_LEAST)
		severity = node->memlock_free ? SEVERITY_NOTE :
						SEVERITY_WARNING;
	finding = find(findings, "memlock", severity, NODE);
	if (node->memlock == UINT64_MAX)
		say(finding, "no limit on memory that is registered");
	else
		say(finding, "programs may register %ju bytes%s",
		    (uintmax_t)node->memlock, node->memlock_free ?
		    "; this one is exempt (CAP_IPC_LOCK)" : "");
	seen(finding, "RLIMIT_MEMLOCK of this process");
	if (severity != SEVERITY_OK)
		remedy(finding, "\"* - memlock unlimited\" in /etc/security/limits.d/rdma.conf; LimitMEMLOCK=infinity for services");
}

static void judge_option(const struct peerlane_node_info *node, const char *id,
			 const char *option, char value, enum severity without,
			 const char *what, struct findings *findings)
{
	bool has = value != 'n';
	struct finding *finding;

	finding = find(findings, id, has ? SEVERITY_OK : without, NODE);
	seen(finding, "%s: CONFIG_%s=%c", node->config, option, value);
	if (has) {
		say(finding, "the kernel is built with CONFIG_%s", option);
		return;
	}
	say(finding, "the kernel is built without CONFIG_%s: %s", option, what);
	remedy(finding, "boot a kernel with CONFIG_%s=y", option);
}

static void judge_kernel(const struct peerlane_node_info *node,
			 struct findings *findings)
{
	struct finding *finding;

	if (!*node->config) {
		finding = find(findings, "kernel-config", SEVERITY_UNKNOWN,
			       NODE);
		say(finding, "what the kernel was built with");
		seen(finding, "no configuration of %s in /boot, /lib/modules or /proc",
		     node->kernel);
		return;
	}
	judge_option(node, "kernel-device-pages", "ZONE_DEVICE",
		     node->device_pages, SEVERITY_PROBLEM,
		     "memory of devices cannot be mapped", findings);
	judge_option(node, "kernel-dmabuf", "DMA_SHARED_BUFFER", node->dmabuf,
		     SEVERITY_PROBLEM,
		     "memory of GPUs cannot be given to NICs", findings);
	judge_option(node, "kernel-p2pdma", "PCI_P2PDMA", node->p2pdma,
		     SEVERITY_NOTE,
		     "other drivers cannot move data between functions",
		     findings);
	judge_option(node, "kernel-ingress", "NETFILTER_INGRESS", node->ingress,
		     SEVERITY_NOTE,
		     "flows of mirrored traffic cannot be counted", findings);
	judge_option(node, "kernel-dcb", "DCB", node->dcb, SEVERITY_WARNING,
		     "PFC can be neither seen nor set", findings);
}

static void judge_netns(const struct peerlane_node_info *node,
			struct findings *findings)
{
	struct finding *finding;

	if (!node->rdma)
		return;
	finding = find(findings, "rdma-netns", node->rdma_shared < 0 ?
			SEVERITY_UNKNOWN : node->rdma_shared ? SEVERITY_OK :
			SEVERITY_NOTE, NODE);
	seen(finding, "rdma system show: netns %s", node->rdma_shared < 0 ?
	     "not told" : node->rdma_shared ? "shared" : "exclusive");
	if (node->rdma_shared < 0) {
		say(finding, "which network namespaces see RDMA devices");
	} else if (node->rdma_shared) {
		say(finding, "all network namespaces see all RDMA devices");
	} else {
		say(finding, "each RDMA device is seen in one network namespace only, containers need theirs moved in");
		remedy(finding, "rdma dev set DEV netns NAME, or before any namespace is made: rdma system set netns shared");
	}
}

void judge_node(const struct facts *facts, struct findings *findings)
{
	judge_devices(facts, findings);
	judge_module(&facts->node, findings);
	judge_memlock(&facts->node, findings);
	judge_kernel(&facts->node, findings);
	judge_netns(&facts->node, findings);
}
