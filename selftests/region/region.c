// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "region.h"

#define WAIT_MS		30000	/* emulated, and the machine is shared */
#define STEP_MS		10

char why[PEERLANE_MSG_MAX];

static int result(int ret)
{
	return ret < 0 ? -errno : ret;
}

/* Each struct begins as the header does. */
static int call(int fd, unsigned int cmd, void *args, uint32_t size,
		uint32_t flags)
{
	struct peerlane_hdr *hdr = args;

	why[0] = '\0';
	hdr->size = size;
	hdr->flags = flags;
	hdr->msg_ptr = (uintptr_t)why;
	hdr->msg_len = sizeof(why);
	return result(ioctl(fd, cmd, args));
}

int open_node(const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "/dev/peerlane/%s", name);
	return result(open(path, O_RDWR | O_CLOEXEC));
}

static int control(void)
{
	static int fd = -1;

	if (fd < 0)
		fd = open_node("control");
	return fd;
}

/* The control file stays open: not a leak of the case that was first. */
__attribute__((constructor))
static void open_control(void)
{
	control();
}

int region_alloc(int fd, uint64_t length)
{
	struct peerlane_region_alloc args = { .length = length };

	return call(fd, PEERLANE_IOC_REGION_ALLOC, &args, sizeof(args), 0);
}

int region_info(int fd, struct peerlane_region_status *info)
{
	memset(info, 0, sizeof(*info));
	return call(fd, PEERLANE_IOC_REGION_INFO, info, sizeof(*info), 0);
}

int region_export(int fd, uint64_t offset, uint64_t length, uint32_t flags)
{
	struct peerlane_region_export args = {
		.offset = offset,
		.length = length,
	};
	int ret = call(fd, PEERLANE_IOC_REGION_EXPORT, &args, sizeof(args),
		       flags);

	return ret ? ret : args.out_fd;
}

int region_revoke(int fd)
{
	struct peerlane_region_revoke args = {};

	return call(fd, PEERLANE_IOC_REGION_REVOKE, &args, sizeof(args), 0);
}

int import_dmabuf(int dmabuf, uint64_t offset, uint64_t length,
		  uint64_t *out_length)
{
	struct peerlane_import_dmabuf args = {
		.dmabuf_fd = dmabuf,
		.offset = offset,
		.length = length,
	};
	int ret = call(control(), PEERLANE_IOC_IMPORT_DMABUF, &args,
		       sizeof(args), 0);

	if (ret)
		return ret;
	if (out_length)
		*out_length = args.out_length;
	return args.out_fd;
}

int pin_host_at(uint64_t addr, uint64_t length, uint32_t flags)
{
	struct peerlane_pin_host args = { .addr = addr, .length = length };
	int ret = call(control(), PEERLANE_IOC_PIN_HOST, &args, sizeof(args),
		       flags);

	return ret ? ret : args.out_fd;
}

int pin_host(const void *addr, uint64_t length, uint32_t flags)
{
	return pin_host_at((uintptr_t)addr, length, flags);
}

int preflight(const char *target, const char *initiator, uint32_t flags,
	      struct peerlane_preflight *answer)
{
	memset(answer, 0, sizeof(*answer));
	strncpy(answer->target, target, sizeof(answer->target));
	strncpy(answer->initiator, initiator, sizeof(answer->initiator));
	return call(control(), PEERLANE_IOC_PREFLIGHT, answer, sizeof(*answer),
		    flags);
}

int new_region(uint64_t length)
{
	int fd = open_node("gpu0");
	int ret;

	if (fd < 0)
		return fd;
	ret = region_alloc(fd, length);
	if (ret) {
		close(fd);
		return ret;
	}
	return fd;
}

bool device_record(const char *name, struct peerlane_device_record *record)
{
	struct peerlane_device_record records[16];
	struct peerlane_list args = {
		.array_ptr = (uintptr_t)records,
		.count = 16,
		.record_size = sizeof(*record),
	};
	uint32_t i;

	if (call(control(), PEERLANE_IOC_DEVICE_LIST, &args, sizeof(args), 0))
		return false;
	for (i = 0; i < args.count; i++) {
		if (strcmp(records[i].name, name))
			continue;
		*record = records[i];
		return true;
	}
	return false;
}

uint64_t bytes_free(void)
{
	struct peerlane_device_record record;

	return device_record("gpu0", &record) ? record.bytes_free : 0;
}

uint64_t bytes_limbo(void)
{
	struct peerlane_device_record record;

	return device_record("gpu0", &record) ? record.bytes_limbo : 0;
}

uint64_t device_phys(void)
{
	struct peerlane_device_record record;
	unsigned long long start = 0;
	char path[128];
	FILE *file;
	int bar;

	if (!device_record("gpu0", &record))
		return 0;
	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/resource",
		 record.pci);
	file = fopen(path, "r");
	if (!file)
		return 0;
	for (bar = 0; bar <= record.bar; bar++)
		if (fscanf(file, "%llx %*x %*x", &start) != 1)
			start = 0;
	fclose(file);
	return start;
}

void sleep_ms(unsigned int ms)
{
	struct timespec time = { ms / 1000, ms % 1000 * 1000000L };

	nanosleep(&time, NULL);
}

bool wait_free(uint64_t bytes)
{
	unsigned int ms;

	for (ms = 0; ms < WAIT_MS && bytes_free() != bytes; ms += STEP_MS)
		sleep_ms(STEP_MS);
	return bytes_free() == bytes;
}

bool wait_state(int fd, uint32_t state)
{
	struct peerlane_region_status info;
	unsigned int ms;

	for (ms = 0; ms < WAIT_MS; ms += STEP_MS) {
		if (!region_info(fd, &info) && info.out_state == state)
			return true;
		sleep_ms(STEP_MS);
	}
	return false;
}

bool wait_exports(int fd, uint32_t exports)
{
	struct peerlane_region_status info;
	unsigned int ms;

	for (ms = 0; ms < WAIT_MS; ms += STEP_MS) {
		if (!region_info(fd, &info) && info.out_exports == exports)
			return true;
		sleep_ms(STEP_MS);
	}
	return false;
}

int count_regions(void)
{
	FILE *file = fopen("/sys/kernel/debug/peerlane/counts", "r");
	int devices, regions = -1;

	if (!file)
		return -1;
	if (fscanf(file, "devices %d regions %d", &devices, &regions) != 2)
		regions = -1;
	fclose(file);
	return regions;
}

bool wait_regions(int count)
{
	unsigned int ms;

	for (ms = 0; ms < WAIT_MS && count_regions() != count; ms += STEP_MS)
		sleep_ms(STEP_MS);
	return count_regions() == count;
}

static sigjmp_buf after_fault;

static void on_bus(int signal)
{
	siglongjmp(after_fault, signal);
}

bool faults(const volatile void *addr)
{
	struct sigaction action = { .sa_handler = on_bus }, old;
	bool faulted = true;

	sigaction(SIGBUS, &action, &old);
	if (!sigsetjmp(after_fault, 1)) {
		(void)*(const volatile char *)addr;
		faulted = false;
	}
	sigaction(SIGBUS, &old, NULL);
	return faulted;
}

void *map(int fd, size_t length, uint64_t offset)
{
	void *addr = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
			  offset);

	return addr == MAP_FAILED ? NULL : addr;
}

int map_error(int fd, size_t length, uint64_t offset, int prot, int flags)
{
	void *addr = mmap(NULL, length, prot, flags, fd, offset);

	if (addr == MAP_FAILED)
		return -errno;
	munmap(addr, length);
	return 0;
}

bool kernel_has(const char *symbol)
{
	FILE *file = fopen("/proc/kallsyms", "r");
	char name[256];
	bool found = false;

	while (file && !found && fscanf(file, "%*s %*s %255s%*[^\n]", name) == 1)
		found = !strcmp(name, symbol);
	if (file)
		fclose(file);
	return found;
}
