// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/* PCI functions and their drivers, as sysfs has them. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "private.h"

#define PCI_BUS "/sys/bus/pci"

static int open_file(const char *path, int flags)
{
	int fd;

	do
		fd = open(path, flags | O_CLOEXEC);
	while (fd < 0 && errno == EINTR);
	return fd;
}

/* One write() per value, as sysfs wants it; the error is the kernel's. */
static int write_value(const char *path, const char *value)
{
	ssize_t n;
	int fd, err;

	fd = open_file(path, O_WRONLY);
	if (fd < 0)
		return pl_fail(errno == EPERM ? EACCES : errno, "%s", path);
	do
		n = write(fd, value, strlen(value));
	while (n < 0 && errno == EINTR);
	err = errno;
	pl_close(fd);
	if (n < 0)
		return pl_fail(err, "%s", path);
	return 0;
}

bool pl_pci_exists(const char *pci)
{
	char path[128];

	snprintf(path, sizeof(path), PCI_BUS "/devices/%s", pci);
	return access(path, F_OK) == 0;
}

bool pl_driver_exists(const char *driver)
{
	char path[256];

	snprintf(path, sizeof(path), PCI_BUS "/drivers/%s", driver);
	return access(path, F_OK) == 0;
}

/* Name of the driver that has @pci, empty if none has. */
int pl_pci_driver(const char *pci, char *name, size_t size)
{
	char path[128], target[PATH_MAX];
	const char *base;
	ssize_t n;

	snprintf(path, sizeof(path), PCI_BUS "/devices/%s/driver", pci);
	n = readlink(path, target, sizeof(target) - 1);
	if (n < 0 && errno != ENOENT)
		return pl_fail(errno, "%s", path);
	target[n < 0 ? 0 : n] = '\0';
	base = strrchr(target, '/');
	snprintf(name, size, "%s", base ? base + 1 : target);
	return 0;
}

static void override_path(const char *pci, char *path, size_t size)
{
	snprintf(path, size, PCI_BUS "/devices/%s/driver_override", pci);
}

/* The driver that @pci is kept for, empty if for none. */
int pl_override_get(const char *pci, char *name, size_t size)
{
	char path[128], value[128];
	ssize_t n;
	int fd, err;

	override_path(pci, path, sizeof(path));
	fd = open_file(path, O_RDONLY);
	if (fd < 0)
		return pl_fail(errno == EPERM ? EACCES : errno, "%s", path);
	do
		n = read(fd, value, sizeof(value) - 1);
	while (n < 0 && errno == EINTR);
	err = errno;
	pl_close(fd);
	if (n < 0)
		return pl_fail(err, "%s", path);
	value[n] = '\0';
	value[strcspn(value, "\n")] = '\0';
	snprintf(name, size, "%s", strcmp(value, "(null)") ? value : "");
	return 0;
}

/* Keep @pci for @driver; for none if it is empty. */
int pl_override_set(const char *pci, const char *driver)
{
	char path[128], value[128];

	override_path(pci, path, sizeof(path));
	snprintf(value, sizeof(value), "%s\n", driver);
	return write_value(path, value);
}

int pl_driver_bind(const char *driver, const char *pci)
{
	char path[256];

	snprintf(path, sizeof(path), PCI_BUS "/drivers/%s/bind", driver);
	return write_value(path, pci);
}

int pl_driver_unbind(const char *driver, const char *pci)
{
	char path[256];

	snprintf(path, sizeof(path), PCI_BUS "/drivers/%s/unbind", driver);
	return write_value(path, pci);
}

int pl_drivers_probe(const char *pci)
{
	return write_value(PCI_BUS "/drivers_probe", pci);
}
