// SPDX-License-Identifier: GPL-2.0
/*
 * May two PCI functions talk directly? Answered from what the kernel shows of
 * the tree between them, in one line that a person can act on.
 *
 * pci_p2pdma_distance() is asked where it is built in, but for its opinion
 * only: it knows few host bridges, and "no" means "not on the list". Where it
 * is not built in its stub says "no" to all.
 */
#include <linux/bitops.h>
#include <linux/dma-mapping.h>
#include <linux/iommu.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/pci-p2pdma.h>
#include <linux/pci.h>
#include <linux/string.h>

#include "acs.h"
#include "pci_address.h"
#include "peerlane.h"
#include "range.h"

static bool p2p_across_host_bridges;
module_param(p2p_across_host_bridges, bool, 0644);
MODULE_PARM_DESC(p2p_across_host_bridges,
		 "this machine forwards PCI reads and writes between its host bridges (default no)");

/* ---- what the kernel shows ---- */

/*
 * May the domain of @dev be looked at? It stays only while a driver that uses
 * the DMA API is bound, as an importer's is, and the caller of the ioctl holds
 * the device's lock. Userspace drivers change theirs at any time.
 */
static bool has_stable_domain(const struct device *dev)
{
	if (!dev->driver)
		return false;
	return !dev_is_pci(dev) || !to_pci_driver(dev->driver)->driver_managed_dma;
}

static bool is_translated(struct device *dev)
{
	struct iommu_domain *domain;

	/* What it will get: the default of this boot. */
	if (!has_stable_domain(dev))
		return device_iommu_mapped(dev) && !iommu_default_passthrough();
	domain = iommu_get_domain_for_dev(dev);
	return domain && domain->type != IOMMU_DOMAIN_IDENTITY;
}

int peerlane_dma_reach(struct device *dev, phys_addr_t phys, u64 size,
		       struct peerlane_msg *msg)
{
	u64 mask = min_not_zero(dma_get_mask(dev), dev->bus_dma_limit);

	/* An IOMMU gives it addresses that it can reach. */
	if (is_translated(dev) || !peerlane_range_beyond(phys, size, mask))
		return 0;
	return peerlane_refuse(msg, -EREMOTEIO,
			       "%s addresses %d bits (DMA mask %#llx), the memory is at %pa: an IOMMU or a smaller BAR address would help",
			       dev_name(dev), fls64(mask), mask, &phys);
}

static int bar_with(struct pci_dev *pdev, phys_addr_t phys)
{
	int bar;

	for (bar = 0; bar < PCI_STD_NUM_BARS; bar++)
		if ((pci_resource_flags(pdev, bar) & IORESOURCE_MEM) &&
		    phys >= pci_resource_start(pdev, bar) &&
		    phys <= pci_resource_end(pdev, bar))
			return bar;
	return -1;
}

static int check_bar(struct pci_dev *target, phys_addr_t memory,
		     struct pci_dev *initiator, struct peerlane_msg *msg)
{
	int bar = memory ? bar_with(target, memory) : peerlane_bar_of(target);
	u64 phys, bus;

	if (bar < 0)
		return peerlane_refuse(msg, -EREMOTEIO, "%s has no memory BAR",
				       pci_name(target));
	phys = pci_resource_start(target, bar);
	bus = pci_bus_address(target, bar);
	if (phys != bus && !is_translated(&initiator->dev))
		return peerlane_refuse(msg, -EREMOTEIO,
				       "BAR %d of %s is at %#llx for the CPU and at %#llx on its bus: the host bridge shifts addresses",
				       bar, pci_name(target), phys, bus);
	/* Its driver says how many bits it has: not yet known without one. */
	if (!initiator->dev.driver)
		return 0;
	return peerlane_dma_reach(&initiator->dev, phys,
				  pci_resource_len(target, bar), msg);
}

/*
 * The lowest bridge above both, or a function that is above the other; NULL if
 * they meet in the host bridge. References are not needed: a child holds its
 * parents.
 */
static struct pci_dev *meeting_point(struct pci_dev *a, struct pci_dev *b,
				     unsigned int *distance)
{
	unsigned int up_a, up_b = 0;
	struct pci_dev *other;

	for (up_a = 0; a; a = pci_upstream_bridge(a), up_a++) {
		up_b = 0;
		for (other = b; other; other = pci_upstream_bridge(other), up_b++)
			if (other == a) {
				*distance = up_a + up_b;
				return a;
			}
	}
	*distance = up_a + up_b;
	return NULL;
}

/* The first port from @dev up, below @top, that redirects; else NULL. */
static struct pci_dev *redirecting_port(struct pci_dev *dev,
					const struct pci_dev *top, bool ats)
{
	u16 control;
	int pos;

	for (; dev && dev != top; dev = pci_upstream_bridge(dev)) {
		pos = pci_find_ext_capability(dev, PCI_EXT_CAP_ID_ACS);
		if (!pos)
			continue;
		/* A port that does not answer reads as all ones: redirects. */
		pci_read_config_word(dev, pos + PCI_ACS_CTRL, &control);
		if (peerlane_acs_redirects(control, ats))
			return dev;
	}
	return NULL;
}

static bool uses_ats(const struct pci_dev *pdev)
{
#ifdef CONFIG_PCI_ATS
	return pdev->ats_enabled;
#else
	return false;
#endif
}

static bool kernel_approves(struct pci_dev *target, struct pci_dev *initiator)
{
	return IS_ENABLED(CONFIG_PCI_P2PDMA) &&
	       pci_p2pdma_distance(target, &initiator->dev, false) >= 0;
}

static const char *kernel_opinion(struct pci_dev *target,
				  struct pci_dev *initiator)
{
	if (!IS_ENABLED(CONFIG_PCI_P2PDMA))
		return "this kernel has no list of host bridges that forward";
	return kernel_approves(target, initiator) ?
	       "the kernel knows that the host bridge forwards" :
	       "the host bridge is not on the kernel's list of those that forward";
}

/* ---- verdicts ---- */

static int through_root(struct pci_dev *target, struct pci_dev *initiator,
			struct peerlane_verdict *verdict,
			struct peerlane_msg *msg)
{
	if (pci_find_host_bridge(target->bus) ==
	    pci_find_host_bridge(initiator->bus)) {
		verdict->path = PEERLANE_PATH_HOST_BRIDGE;
		peerlane_say(msg, "%s reaches %s through the host bridge; %s",
			     pci_name(initiator), pci_name(target),
			     kernel_opinion(target, initiator));
		return 0;
	}
	if (kernel_approves(target, initiator) ||
	    READ_ONCE(p2p_across_host_bridges)) {
		verdict->path = PEERLANE_PATH_HOST_BRIDGE;
		peerlane_say(msg, "%s reaches %s through two host bridges, as %s",
			     pci_name(initiator), pci_name(target),
			     READ_ONCE(p2p_across_host_bridges) ?
			     "parameter p2p_across_host_bridges says" :
			     "the kernel knows that they forward");
		return 0;
	}
	return peerlane_refuse(msg, -EREMOTEIO,
			       "%s and %s are below different host bridges; if this machine forwards between them, set module parameter p2p_across_host_bridges",
			       pci_name(initiator), pci_name(target));
}

static void below_bridge(struct pci_dev *target, struct pci_dev *initiator,
			 struct pci_dev *bridge,
			 struct peerlane_verdict *verdict,
			 struct peerlane_msg *msg)
{
	bool root = pci_is_pcie(bridge) &&
		    pci_pcie_type(bridge) == PCI_EXP_TYPE_ROOT_PORT;

	verdict->path = root ? PEERLANE_PATH_ROOT_PORT : PEERLANE_PATH_SWITCH;
	peerlane_say(msg, "%s reaches %s directly below %s %s, distance %u",
		     pci_name(initiator), pci_name(target),
		     root ? "root port" : "switch", pci_name(bridge),
		     verdict->distance);
}

static int decide(struct pci_dev *target, struct pci_dev *initiator,
		  struct peerlane_verdict *verdict, struct peerlane_msg *msg)
{
	bool ats = uses_ats(initiator);
	struct pci_dev *bridge, *port;
	int ret;

	bridge = meeting_point(target, initiator, &verdict->distance);
	if (!bridge) {
		ret = through_root(target, initiator, verdict, msg);
		if (ret || !is_translated(&initiator->dev))
			return ret;
	} else {
		port = redirecting_port(target, bridge, ats) ?:
		       redirecting_port(initiator, bridge, ats);
		if (!port && !is_translated(&initiator->dev)) {
			below_bridge(target, initiator, bridge, verdict, msg);
			return 0;
		}
		if (port) {
			verdict->path = PEERLANE_PATH_IOMMU;
			peerlane_say(msg,
				     "%s reaches %s through the root complex, as ACS of %s redirects (pci=disable_acs_redir=%s changes that); %s",
				     pci_name(initiator), pci_name(target),
				     pci_name(port), pci_name(port),
				     kernel_opinion(target, initiator));
			return 0;
		}
	}
	/* I/O virtual addresses lie in no bridge's window: they go to the top. */
	verdict->path = PEERLANE_PATH_IOMMU;
	peerlane_say(msg,
		     "%s reaches %s through the IOMMU, which translates (iommu=pt changes that); %s",
		     pci_name(initiator), pci_name(target),
		     kernel_opinion(target, initiator));
	return 0;
}

int peerlane_preflight(struct pci_dev *target, phys_addr_t memory,
		       struct pci_dev *initiator,
		       struct peerlane_verdict *verdict,
		       struct peerlane_msg *msg)
{
	int ret;

	verdict->path = PEERLANE_PATH_NONE;
	verdict->distance = 0;
	if (target == initiator) {
		verdict->path = PEERLANE_PATH_SWITCH;
		peerlane_say(msg, "%s is both: its own memory",
			     pci_name(target));
		return 0;
	}
	ret = check_bar(target, memory, initiator, msg);
	if (ret)
		return ret;
	return decide(target, initiator, verdict, msg);
}

struct pci_dev *peerlane_pci_function_of(struct device *dev)
{
	for (; dev; dev = dev->parent)
		if (dev_is_pci(dev))
			return to_pci_dev(dev);
	return NULL;
}

int peerlane_preflight_dma(const struct peerlane_device *target,
			   phys_addr_t phys, u64 size, struct device *dev,
			   struct peerlane_msg *msg)
{
	struct pci_dev *initiator = peerlane_pci_function_of(dev);
	struct peerlane_verdict verdict;
	int ret;

	if (!initiator)
		return peerlane_refuse(msg, -EOPNOTSUPP,
				       "%s is no PCI function: how it reaches memory of %s is unknown",
				       dev_name(dev),
				       peerlane_device_name(target));
	if (target->pdev) {
		ret = peerlane_preflight(target->pdev, phys, initiator, &verdict,
					 msg);
		if (ret)
			return ret;
	}
	return peerlane_dma_reach(dev, phys, size, msg);
}

struct pci_dev *peerlane_pci_find(const char *text, struct peerlane_msg *msg)
{
	struct peerlane_pci_address address;
	struct pci_dev *pdev;

	if (!peerlane_pci_address_parse(text, &address))
		return ERR_PTR(peerlane_refuse(msg, -EINVAL,
					       "\"%*pE\" is no PCI address like 0000:3b:00.0",
					       (int)strnlen(text, PEERLANE_PCI_LEN),
					       text));
	pdev = pci_get_domain_bus_and_slot(address.domain, address.bus,
					   PCI_DEVFN(address.slot, address.func));
	if (!pdev)
		return ERR_PTR(peerlane_refuse(msg, -ENOENT,
					       "no PCI function %s", text));
	return pdev;
}
