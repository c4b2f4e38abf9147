// SPDX-License-Identifier: GPL-2.0
/*
 * Metrics for a collector that reads files: a reader finds the old file or the
 * new one, never a part.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "metrics.h"

static int file_error(const char *path, const char *what)
{
	return usage_error("%s: %s: %s", path, what, strerror(errno));
}

/* What is there must be a file: a device or a link is not to be replaced. */
static int check(const char *path)
{
	struct stat info;

	if (lstat(path, &info))
		return errno == ENOENT ? STATUS_OK :
					 file_error(path, "cannot be looked at");
	if (!S_ISREG(info.st_mode))
		return usage_error("%s: is no regular file", path);
	return STATUS_OK;
}

static bool write_all(int fd, const char *text, size_t length)
{
	while (length) {
		ssize_t done = write(fd, text, length);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return false;
		text += done;
		length -= (size_t)done;
	}
	return true;
}

/* The umask does not count: others have to read it. */
static int fill(int fd, const char *temporary, const char *path,
		const char *text, size_t length)
{
	bool written = write_all(fd, text, length) && !fchmod(fd, 0644);
	int error = errno;

	if (close(fd) && written) {
		written = false;
		error = errno;
	}
	errno = error;
	if (!written)
		return file_error(path, "cannot be written");
	if (rename(temporary, path))
		return file_error(path, "cannot be replaced");
	return STATUS_OK;
}

int metrics_textfile(const char *path, const char *text, size_t length)
{
	/* In the same folder, as a rename does not leave a file system. */
	char *temporary;
	int status = check(path);
	int fd;

	if (status)
		return status;
	temporary = format_text("%s.XXXXXX", path);
	fd = mkstemp(temporary);
	if (fd < 0) {
		status = file_error(path, "cannot be made");
		free(temporary);
		return status;
	}
	status = fill(fd, temporary, path, text, length);
	if (status)
		unlink(temporary);
	free(temporary);
	return status;
}
