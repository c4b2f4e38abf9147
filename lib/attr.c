// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/* Small files of /sys and /proc. */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "attr.h"

void pl_copy_text(char *to, const char *from, size_t size)
{
	size_t length = strnlen(from, size - 1);

	memcpy(to, from, length);
	to[length] = '\0';
}

static PL_PRINTF(2, 0) int make_path(char path[PL_PATH_MAX], const char *fmt,
				     va_list ap)
{
	int n = vsnprintf(path, PL_PATH_MAX, fmt, ap);

	return n < 0 || n >= PL_PATH_MAX ? -ENAMETOOLONG : 0;
}

static ssize_t read_file(const char *path, char *buf, size_t size)
{
	ssize_t n;
	int fd, err;

	do
		fd = open(path, O_RDONLY | O_CLOEXEC);
	while (fd < 0 && errno == EINTR);
	if (fd < 0)
		return -errno;
	do
		n = read(fd, buf, size);
	while (n < 0 && errno == EINTR);
	err = errno;
	pl_close(fd);
	return n < 0 ? -err : n;
}

static int read_line(const char *path, char *text, size_t size)
{
	char buf[4096];
	ssize_t n = read_file(path, buf, sizeof(buf) - 1);

	if (n < 0)
		return (int)n;
	buf[n] = '\0';
	buf[strcspn(buf, "\n")] = '\0';
	n = (ssize_t)strlen(buf);
	while (n && isspace((unsigned char)buf[n - 1]))
		buf[--n] = '\0';
	pl_copy_text(text, buf, size);
	return 0;
}

int pl_attr_text(char *text, size_t size, const char *fmt, ...)
{
	char path[PL_PATH_MAX];
	va_list ap;
	int ret;

	va_start(ap, fmt);
	ret = make_path(path, fmt, ap);
	va_end(ap);
	return ret ? ret : read_line(path, text, size);
}

int pl_number(const char *text, uint64_t *number)
{
	unsigned long long value;
	char *end;

	/* strtoull() would take "-1" and " 1". */
	if (!isdigit((unsigned char)*text))
		return -EINVAL;
	errno = 0;
	value = strtoull(text, &end, strncmp(text, "0x", 2) ? 10 : 16);
	if (errno)
		return -ERANGE;
	if (*end)
		return -EINVAL;
	*number = value;
	return 0;
}

int pl_attr_number(uint64_t *number, const char *fmt, ...)
{
	char path[PL_PATH_MAX], text[64];
	va_list ap;
	int ret;

	va_start(ap, fmt);
	ret = make_path(path, fmt, ap);
	va_end(ap);
	if (!ret)
		ret = read_line(path, text, sizeof(text));
	return ret ? ret : pl_number(text, number);
}

static int by_count(const void *a, const void *b)
{
	return strverscmp(*(char *const *)a, *(char *const *)b);
}

void pl_attr_names_free(char **names, size_t count)
{
	while (count)
		free(names[--count]);
	free(names);
}

static int add_name(char ***names, size_t *count, const char *name)
{
	char **more, *copy;

	more = reallocarray(*names, *count + 1, sizeof(*more));
	if (!more)
		return -ENOMEM;
	*names = more;
	copy = strdup(name);
	if (!copy)
		return -ENOMEM;
	more[(*count)++] = copy;
	return 0;
}

static int read_names(DIR *dir, char ***names, size_t *count)
{
	struct dirent *each;
	int ret = 0;

	errno = 0;
	while (!ret && (each = readdir(dir)))
		if (each->d_name[0] != '.')
			ret = add_name(names, count, each->d_name);
	return ret ? ret : -errno;
}

int pl_attr_names(char ***names, size_t *count, const char *fmt, ...)
{
	char path[PL_PATH_MAX], **found = NULL;
	size_t n = 0;
	va_list ap;
	DIR *dir;
	int ret;

	va_start(ap, fmt);
	ret = make_path(path, fmt, ap);
	va_end(ap);
	if (ret)
		return ret;
	dir = opendir(path);
	if (!dir)
		return -errno;
	ret = read_names(dir, &found, &n);
	closedir(dir);
	if (ret) {
		pl_attr_names_free(found, n);
		return ret;
	}
	if (n)
		qsort(found, n, sizeof(*found), by_count);
	*names = found;
	*count = n;
	return 0;
}

int pl_attr_link(char *name, size_t size, const char *fmt, ...)
{
	char path[PL_PATH_MAX], target[PATH_MAX];
	const char *base;
	va_list ap;
	ssize_t n;
	int ret;

	va_start(ap, fmt);
	ret = make_path(path, fmt, ap);
	va_end(ap);
	if (ret)
		return ret;
	n = readlink(path, target, sizeof(target) - 1);
	if (n < 0)
		return -errno;
	target[n] = '\0';
	base = strrchr(target, '/');
	pl_copy_text(name, base ? base + 1 : target, size);
	return 0;
}

void pl_process_name(int32_t pid, char *name, size_t size)
{
	if (pl_attr_text(name, size, "/proc/%d/comm", pid))
		*name = '\0';
}
