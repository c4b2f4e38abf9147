// SPDX-License-Identifier: GPL-2.0
#include "lib_fake.h"

#include <linux/sockios.h>
#include <stdarg.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

struct fake fake;

static struct {
	int fd;
	char path[192];
} files[16];

int __real_open64(const char *path, int flags, ...);
int __real_close(int fd);
ssize_t __real_write(int fd, const void *buf, size_t size);
ssize_t __real_read(int fd, void *buf, size_t size);
ssize_t __real_readlink(const char *path, char *buf, size_t size);
int __real_access(const char *path, int mode);
void *__real_calloc(size_t n, size_t size);
void *__real_mmap64(void *addr, size_t length, int prot, int flags, int fd,
		    off_t offset);
int __real_fcntl64(int fd, int cmd, ...);
void *__real_dlopen(const char *name, int flags);
ssize_t __real_pread64(int fd, void *buf, size_t size, off_t offset);
ssize_t __real_pwrite64(int fd, const void *buf, size_t size, off_t offset);

static const char *in_tree(const char *path, char buffer[512])
{
	return fake.path ? fake.path(path, buffer) : path;
}

/* ---- planning ------------------------------------------------------------ */

void fake_reset(void)
{
	memset(&fake, 0, sizeof(fake));
	fake.region_fd = -1;
	fake.move_fd = -1;
	fake.region_size = 1 << 20;
	fake.pci = true;
	pl_clear();
}

void fake_finish(void)
{
	CHECK_INT(fake.played, fake.planned);
	CHECK_INT(fake.moves_played, fake.moves_planned);
}

void fake_add(struct fake_call call)
{
	fake.calls[fake.planned++] = call;
}

void fake_info(uint32_t kind, uint32_t state, uint32_t caps, uint64_t length)
{
	/* Lives as long as the case: there are not many. */
	static struct peerlane_region_status infos[FAKE_CALLS];
	struct peerlane_region_status *info = &infos[fake.planned];

	memset(info, 0, sizeof(*info));
	info->out_id = 7;
	info->out_length = length;
	info->out_kind = kind;
	info->out_state = state;
	info->out_caps = caps;
	fake_ioctl(PEERLANE_IOC_REGION_INFO, sizeof(*info), .copy = info);
}

void fake_move(ssize_t ret, int err)
{
	fake.moves[fake.moves_planned++] = (struct fake_move){ ret, err };
}

int fake_file(size_t size)
{
	int fd = memfd_create("fake", MFD_CLOEXEC);

	if (fd < 0 || ftruncate(fd, (off_t)size) < 0)
		abort();
	return fd;
}

struct peerlane_region *fake_region(uint32_t caps, size_t length)
{
	struct peerlane_region *region = NULL;

	fake.region_size = length;
	fake_ioctl(PEERLANE_IOC_REGION_ALLOC,
		   sizeof(struct peerlane_region_alloc));
	fake_info(PEERLANE_KIND_BAR, PEERLANE_STATE_ACTIVE, caps, length);
	CHECK_INT(peerlane_region_alloc("gpu0", length, &region), 0);
	return region;
}

static int endpoint_fd;

static void fill_create(void *arg)
{
	struct peerlane_endpoint_create *create = arg;

	create->out_fd = endpoint_fd;
	create->out_id = 5;
}

struct peerlane_endpoint *fake_endpoint(int fd)
{
	struct peerlane_endpoint_options options = {
		.size = sizeof(options), .secret = { 1 },
	};
	struct peerlane_endpoint *endpoint = NULL;

	endpoint_fd = fd;
	fake_ioctl(PEERLANE_IOC_ENDPOINT_CREATE,
		   sizeof(struct peerlane_endpoint_create),
		   .fill = fill_create);
	CHECK_INT(peerlane_endpoint_create(&options, &endpoint), 0);
	return endpoint;
}

/* ---- files --------------------------------------------------------------- */

static int remember(const char *path)
{
	size_t i;

	for (i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		if (files[i].path[0])
			continue;
		snprintf(files[i].path, sizeof(files[i].path), "%s", path);
		files[i].fd = fake_file(0);
		return files[i].fd;
	}
	abort();
}

static const char *path_of(int fd)
{
	size_t i;

	for (i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		if (files[i].path[0] && files[i].fd == fd)
			return files[i].path;
	return NULL;
}

static int refuse(int err)
{
	errno = err;
	return -1;
}

static int open_sysfs(const char *path)
{
	int fd;

	if (strstr(path, "/devices/") &&
	    (!fake.pci || !strstr(path, FAKE_BDF)))
		return refuse(ENOENT);
	if (fake.fail_path && !strcmp(path, fake.fail_path) &&
	    fake.fail_errno == EACCES)
		return refuse(EACCES);
	fd = remember(path);
	if (strstr(path, "driver_override")) {
		const char *text = fake.override[0] ? fake.override : "(null)";

		if (__real_write(fd, text, strlen(text)) < 0 ||
		    __real_write(fd, "\n", 1) < 0 ||
		    lseek(fd, 0, SEEK_SET) < 0)
			abort();
	}
	return fd;
}

static int fake_open(const char *path, int flags)
{
	CHECK(flags & O_CLOEXEC);
	if (fake.open_eintr-- > 0)
		return refuse(EINTR);
	fake.open_eintr = 0;
	if (!strncmp(path, "/sys/", 5))
		return open_sysfs(path);
	if (!strcmp(path, PL_CONTROL)) {
		if (fake.control_errno)
			return refuse(fake.control_errno);
		return remember(path);
	}
	snprintf(fake.opened, sizeof(fake.opened), "%s", path);
	if (fake.device_errno)
		return refuse(fake.device_errno);
	fake.region_fd = fake_file(fake.region_size);
	return fake.region_fd;
}

static bool ours(const char *path)
{
	return !strncmp(path, "/sys/bus/pci", 12) ||
	       !strncmp(path, PL_DEV_DIR, strlen(PL_DEV_DIR));
}

int __wrap_open64(const char *path, int flags, ...)
{
	char buffer[512];
	va_list ap;
	int mode;

	path = in_tree(path, buffer);
	if (ours(path))
		return fake_open(path, flags);
	va_start(ap, flags);
	mode = flags & O_CREAT ? va_arg(ap, int) : 0;
	va_end(ap);
	return __real_open64(path, flags, mode);
}

int __wrap_open(const char *path, int flags, ...)
{
	return __wrap_open64(path, flags);
}

int __wrap_close(int fd)
{
	size_t i;

	for (i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		if (files[i].path[0] && files[i].fd == fd)
			files[i].path[0] = '\0';
	return __real_close(fd);
}

int __wrap_access(const char *path, int mode)
{
	char buffer[512];

	path = in_tree(path, buffer);
	if (!ours(path))
		return __real_access(path, mode);
	if (!strcmp(path, PL_CONTROL))
		return fake.control_errno ? refuse(fake.control_errno) : 0;
	if (strstr(path, "/devices/") &&
	    (!fake.pci || !strstr(path, FAKE_BDF)))
		return refuse(ENOENT);
	return 0;
}

ssize_t __wrap_readlink(const char *path, char *buf, size_t size)
{
	char buffer[512];
	int n;

	path = in_tree(path, buffer);
	if (!ours(path))
		return __real_readlink(path, buf, size);
	if (!fake.driver[0])
		return refuse(ENOENT);
	n = snprintf(buf, size, "../../../bus/pci/drivers/%s", fake.driver);
	return n;
}

/* ---- a PCI function's driver --------------------------------------------- */

static void probe(void)
{
	if (fake.driver[0] || fake.stubborn)
		return;
	if (fake.override[0])
		strcpy(fake.driver, fake.override);
}

static int sysfs_write(const char *path, const char *value)
{
	char line[300], *driver, *end;

	snprintf(line, sizeof(line), "%s=%s;", path + strlen("/sys/bus/pci/"),
		 value);
	strncat(fake.log, line, sizeof(fake.log) - strlen(fake.log) - 1);
	if (fake.fail_path && !strcmp(path, fake.fail_path))
		return refuse(fake.fail_errno);
	if (strstr(path, "driver_override")) {
		strcpy(fake.override, value);
		return 0;
	}
	if (strcmp(value, FAKE_BDF))
		return refuse(ENODEV);
	if (strstr(path, "drivers_probe")) {
		probe();
		return 0;
	}
	driver = strstr(line, "drivers/") + strlen("drivers/");
	end = strchr(driver, '/');
	*end = '\0';
	if (!strncmp(end + 1, "unbind", 6)) {
		if (strcmp(fake.driver, driver))
			return refuse(ENODEV);
		fake.driver[0] = '\0';
		return 0;
	}
	if (fake.driver[0])
		return refuse(EBUSY);
	strcpy(fake.driver, driver);
	return 0;
}

ssize_t __wrap_write(int fd, const void *buf, size_t size)
{
	const char *path = path_of(fd);
	char value[128];

	if (!path)
		return __real_write(fd, buf, size);
	snprintf(value, sizeof(value), "%.*s", (int)size, (const char *)buf);
	value[strcspn(value, "\n")] = '\0';
	return sysfs_write(path, value) < 0 ? -1 : (ssize_t)size;
}

ssize_t __wrap_read(int fd, void *buf, size_t size)
{
	return __real_read(fd, buf, size);
}

/* ---- ioctl --------------------------------------------------------------- */

static void check_header(const struct peerlane_hdr *hdr,
			 const struct fake_call *call)
{
	if (call->size)
		CHECK_INT(hdr->size, call->size);
	CHECK_INT(hdr->reserved, 0);
	CHECK_INT(hdr->msg_len, PEERLANE_MSG_MAX);
	CHECK(hdr->msg_ptr != 0);
	CHECK_STR((const char *)(uintptr_t)hdr->msg_ptr, "");
}

int __wrap_ioctl(int fd, unsigned long request, ...)
{
	struct fake_call *call;
	struct peerlane_hdr *hdr;
	va_list ap;

	va_start(ap, request);
	hdr = va_arg(ap, struct peerlane_hdr *);
	va_end(ap);
	if (request == SIOCETHTOOL && fake.ethtool)
		return fake.ethtool(hdr);
	CHECK(fcntl(fd, F_GETFD) >= 0);
	if (!CHECK(fake.played < fake.planned))
		return refuse(ENOTTY);
	call = &fake.calls[fake.played];
	CHECK_INT(request, call->request);
	check_header(hdr, call);
	if (call->eintr) {
		call->eintr--;
		return refuse(EINTR);
	}
	memcpy(&fake.seen[fake.played++], hdr,
	       hdr->size < FAKE_ARG ? hdr->size : FAKE_ARG);
	if (call->msg)
		snprintf((char *)(uintptr_t)hdr->msg_ptr, hdr->msg_len, "%s",
			 call->msg);
	if (call->fill)
		call->fill(hdr);
	if (call->copy && !call->err)
		memcpy(hdr + 1, (const struct peerlane_hdr *)call->copy + 1,
		       hdr->size - sizeof(*hdr));
	return call->err ? refuse(call->err) : 0;
}

/* ---- the rest ------------------------------------------------------------ */

void *__wrap_calloc(size_t n, size_t size)
{
	if (fake.calloc_fail && !--fake.calloc_fail) {
		errno = ENOMEM;
		return NULL;
	}
	return __real_calloc(n, size);
}

void *__wrap_mmap64(void *addr, size_t length, int prot, int flags, int fd,
		    off_t offset)
{
	if (fake.mmap_errno && fd >= 0) {
		errno = fake.mmap_errno;
		return MAP_FAILED;
	}
	return __real_mmap64(addr, length, prot, flags, fd, offset);
}

void *__wrap_mmap(void *addr, size_t length, int prot, int flags, int fd,
		  off_t offset)
{
	return __wrap_mmap64(addr, length, prot, flags, fd, offset);
}

int __wrap_madvise(void *addr, size_t length, int advice)
{
	(void)addr;
	(void)length;
	CHECK_INT((uintptr_t)addr % pl_page_size(), 0);
	CHECK_INT(length % pl_page_size(), 0);
	fake.madvise_advice = advice;
	return refuse(EINVAL);
}

int __wrap_fcntl64(int fd, int cmd, ...)
{
	va_list ap;
	long arg;

	if (cmd == F_GETFL && fd == fake.move_fd && fd >= 0)
		return fake.move_flags;
	va_start(ap, cmd);
	arg = va_arg(ap, long);
	va_end(ap);
	return __real_fcntl64(fd, cmd, arg);
}

int __wrap_fcntl(int fd, int cmd, ...)
{
	va_list ap;
	long arg;

	va_start(ap, cmd);
	arg = va_arg(ap, long);
	va_end(ap);
	return __wrap_fcntl64(fd, cmd, arg);
}

void *__wrap_dlopen(const char *name, int flags)
{
	if (fake.no_library && name && !strcmp(name, fake.no_library))
		return NULL;
	return __real_dlopen(name, flags);
}

static ssize_t move(char *at, size_t length, off_t offset)
{
	const struct fake_move *answer;

	if (!CHECK(fake.moves_played < fake.moves_planned))
		return refuse(EIO);
	fake.moved[fake.moves_played].at = at;
	fake.moved[fake.moves_played].length = length;
	fake.moved[fake.moves_played].offset = offset;
	answer = &fake.moves[fake.moves_played++];
	return answer->err ? refuse(answer->err) : answer->ret;
}

ssize_t __wrap_pread64(int fd, void *buf, size_t size, off_t offset)
{
	if (fd == fake.move_fd)
		return move(buf, size, offset);
	return __real_pread64(fd, buf, size, offset);
}

ssize_t __wrap_pread(int fd, void *buf, size_t size, off_t offset)
{
	return __wrap_pread64(fd, buf, size, offset);
}

ssize_t __wrap_pwrite64(int fd, const void *buf, size_t size, off_t offset)
{
	if (fd == fake.move_fd)
		return move((char *)(uintptr_t)buf, size, offset);
	return __real_pwrite64(fd, buf, size, offset);
}

ssize_t __wrap_pwrite(int fd, const void *buf, size_t size, off_t offset)
{
	return __wrap_pwrite64(fd, buf, size, offset);
}
