// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/* Which driver has a PCI function: ours, another, or none. */
#include <errno.h>
#include <string.h>

#include "private.h"

#define DRIVER		"peerlane"
#define DRIVER_LEN	64

/**
 * struct before - how a function was found, to put it back
 * @pci: its address
 * @driver: the driver that had it, or empty
 * @override: the driver it was kept for, or empty
 */
struct before {
	char pci[PEERLANE_PCI_LEN];
	char driver[DRIVER_LEN];
	char override[DRIVER_LEN];
};

/* Would the driver take it? The kernel gives one reason if not. */
static int ask(const char *pci)
{
	struct peerlane_preflight arg = { 0 };
	int fd, ret;

	fd = pl_open_control();
	if (fd < 0)
		return fd;
	arg.flags = PEERLANE_PREFLIGHT_BIND;
	memcpy(arg.target, pci, sizeof(arg.target));
	ret = pl_ioctl(fd, PEERLANE_IOC_PREFLIGHT, &arg, sizeof(arg), NULL,
		       "%s", pci);
	pl_close(fd);
	return ret;
}

static int bound_to_us(const char *pci)
{
	char driver[DRIVER_LEN];
	int ret;

	ret = pl_pci_driver(pci, driver, sizeof(driver));
	if (ret)
		return ret;
	if (!strcmp(driver, DRIVER))
		return 0;
	return pl_fail_text(EIO, "%s: the peerlane driver did not take it, the kernel log says why",
			    pci);
}

/* Undo what take() did, with the text of the failure kept. */
static void give_back(const struct before *was)
{
	char driver[DRIVER_LEN], text[PL_TEXT_MAX];

	pl_text_keep(text);
	if (!pl_pci_driver(was->pci, driver, sizeof(driver)) &&
	    !strcmp(driver, DRIVER))
		pl_driver_unbind(DRIVER, was->pci);
	pl_override_set(was->pci, was->override);
	if (was->driver[0] &&
	    !pl_pci_driver(was->pci, driver, sizeof(driver)) && !driver[0])
		pl_driver_bind(was->driver, was->pci);
	pl_text_put(text);
}

static int take(const struct before *was, bool ask_again,
		struct peerlane_device_info *info)
{
	int ret = 0;

	if (was->driver[0])
		ret = pl_driver_unbind(was->driver, was->pci);
	if (!ret && ask_again)
		ret = ask(was->pci);
	if (!ret)
		ret = pl_drivers_probe(was->pci);
	if (!ret)
		ret = bound_to_us(was->pci);
	if (!ret && info)
		ret = pl_device_find(was->pci, info);
	return ret;
}

int peerlane_device_bind(const char *pci, bool force,
			 struct peerlane_device_info *info)
{
	struct before was = { 0 };
	int asked, ret;

	pl_clear();
	if (!pl_pci_parse(pci, was.pci))
		return pl_fail_text(EINVAL, "not a PCI address: %s",
				    pci ? pci : "(none)");
	asked = ask(was.pci);
	if (asked && asked != -EBUSY)
		return asked;
	if (!pl_pci_exists(was.pci))
		return pl_fail_text(ENOENT, "no PCI function %s", was.pci);
	ret = pl_pci_driver(was.pci, was.driver, sizeof(was.driver));
	if (ret)
		return ret;
	if (!strcmp(was.driver, DRIVER))
		return pl_fail_text(EBUSY, "%s: the peerlane driver has it already",
				    was.pci);
	if (was.driver[0] && !force)
		return pl_fail_text(EBUSY, "%s: driver %s has it, and it is taken away only by force",
				    was.pci, was.driver);
	if (asked && !was.driver[0])
		return asked;
	ret = pl_override_get(was.pci, was.override, sizeof(was.override));
	if (!ret)
		ret = pl_override_set(was.pci, DRIVER);
	if (ret)
		return ret;
	ret = take(&was, asked != 0, info);
	if (ret) {
		give_back(&was);
		return ret;
	}
	pl_clear();
	return 0;
}

int peerlane_device_unbind(const char *name)
{
	char pci[PEERLANE_PCI_LEN], driver[DRIVER_LEN], text[PL_TEXT_MAX];
	struct peerlane_device_info info;
	int ret;

	pl_clear();
	if (!pl_pci_parse(name, pci)) {
		ret = pl_device_find(name, &info);
		if (ret)
			return ret;
		if (!info.pci[0])
			return pl_fail_text(ENODEV, "device %s has no PCI function: its own driver ends it",
					    name);
		memcpy(pci, info.pci, sizeof(pci));
	}
	if (!pl_pci_exists(pci))
		return pl_fail_text(ENODEV, "no PCI function %s", pci);
	ret = pl_pci_driver(pci, driver, sizeof(driver));
	if (ret)
		return ret;
	if (strcmp(driver, DRIVER) != 0)
		return pl_fail_text(ENODEV, "%s: driver %s has it, not peerlane",
				    pci, driver[0] ? driver : "(none)");
	/* First: the wait below may be ended by a signal that kills. */
	ret = pl_override_set(pci, "");
	if (ret)
		return ret;
	ret = pl_driver_unbind(DRIVER, pci);
	if (ret) {
		pl_text_keep(text);
		pl_override_set(pci, DRIVER);
		pl_text_put(text);
	}
	return ret;
}
