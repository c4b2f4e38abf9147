/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * Shared inside the library. Everything here begins with pl_ and is hidden.
 *
 * Rules: functions return 0 or a negative errno. Who finds the failure sets
 * the text (pl_fail() and its kin), who passes it on leaves it alone. A public
 * function that can fail begins with pl_clear(). Out parameters are written
 * last.
 */
#ifndef PEERLANE_PRIVATE_H
#define PEERLANE_PRIVATE_H

#include <peerlane.h>

#include <uapi/peerlane.h>

#include <stdarg.h>
#include <string.h>

#define PL_CONTROL	"/dev/peerlane/control"
#define PL_DEV_DIR	"/dev/peerlane"
#define PL_TEXT_MAX	768

#define PL_PRINTF(f, a)	__attribute__((format(printf, f, a)))

/**
 * struct peerlane_region - what the library knows of a region
 * @fd: region file
 * @kind: enum peerlane_kind, does not change
 * @read_only: host pages that peers may only read
 * @dmabuf: imported here: the dma-buf, as the kernel hands on only whole ones;
 *	else -1
 * @part_offset: where the region begins in @dmabuf
 * @gpu_offset: where the pointer asked for lies in the region
 * @length: bytes; 0 while the region is empty
 * @host: the caller's own pages, or NULL
 * @map: CPU mapping made by peerlane_region_map(), or NULL
 * @map_length: its bytes
 */
struct peerlane_region {
	int fd;
	uint32_t kind;
	bool read_only;
	int dmabuf;
	uint64_t part_offset;
	uint64_t gpu_offset;
	uint64_t length;
	char *host;
	char *map;
	size_t map_length;
};

/* error.c */
void pl_clear(void);
int pl_fail(int err, const char *fmt, ...) PL_PRINTF(2, 3);
int pl_fail_text(int err, const char *fmt, ...) PL_PRINTF(2, 3);

/* That they never return 0 is said where compilers and analysers see it. */
static inline int pl_failed(int ret)
{
	return ret < 0 ? ret : -1;
}
#define pl_fail(...)		pl_failed((pl_fail)(__VA_ARGS__))
#define pl_fail_text(...)	pl_failed((pl_fail_text)(__VA_ARGS__))

int pl_fail_msg(int err, const char *msg, const char *fmt, va_list ap)
	PL_PRINTF(3, 0);
const char *pl_errno_name(int err);
void pl_text_keep(char copy[PL_TEXT_MAX]);
void pl_text_put(const char copy[PL_TEXT_MAX]);

/**
 * struct pl_growth - how an array grows
 * @first: its first room, elements
 * @most: never more than so many
 */
struct pl_growth {
	size_t first, most;
};

/* grow.c */
/*
 * Room for one more than @count elements of @size bytes. Returns the array,
 * which may have moved; or NULL, and @list is as it was.
 */
void *pl_grow(void *list, size_t count, size_t *room, size_t size,
	      struct pl_growth growth);

/* memcpy() of a text field that ends in NUL whatever came */
static inline void pl_text_copy(char *to, const char *from, size_t size)
{
	memcpy(to, from, size);
	to[size - 1] = '\0';
}

/* options.c */
/*
 * Options of a program that was compiled with another version of the header:
 * @size bytes, of which @least have to be there, to @own_size. @what has an
 * article.
 */
int pl_options(void *own, size_t own_size, const void *options, size_t size,
	       size_t least, const char *what);
/* @text, which may be NULL, and its NUL; @part of @what is what it is */
int pl_options_text(char *to, size_t room, const char *text, const char *part,
		    const char *what);
bool pl_is_zero(const uint8_t *bytes, size_t size);

/* ioctl.c */
int pl_open_control(void);
int pl_ioctl(int fd, unsigned int request, void *arg, size_t size, char *msg,
	     const char *fmt, ...) PL_PRINTF(6, 7);
/* An array of the kernel's records, and what the library makes of one */
struct pl_list {
	unsigned int request;
	size_t record_size;
	size_t info_size;
	const char *what;	/* was tried, as text */
	void (*convert)(void *info, const void *record);
};
/*
 * All of a call that lists. @infos: the address of the caller's pointer to an array
 * that it frees, whatever it points to; NULL if there are none
 */
int pl_list(const struct pl_list *list, void *infos, size_t *count);
/* The one record of an INFO call, as *_INFO of uapi give it. */
int pl_info(int fd, unsigned int request, void *record, uint32_t record_size);
/* Without trying again after a signal; @what was tried, as text */
int pl_ioctl_once(int fd, unsigned int request, void *arg, size_t size,
		  const char *what);
void pl_close(int fd);

/* pci.c */
bool pl_pci_parse(const char *text, char out[PEERLANE_PCI_LEN]);

/* sysfs.c */
bool pl_pci_exists(const char *pci);
int pl_pci_driver(const char *pci, char *name, size_t size);
bool pl_driver_exists(const char *driver);
int pl_override_get(const char *pci, char *name, size_t size);
int pl_override_set(const char *pci, const char *driver);
int pl_driver_bind(const char *driver, const char *pci);
int pl_driver_unbind(const char *driver, const char *pci);
int pl_drivers_probe(const char *pci);

/* device.c */
int pl_device_find(const char *name, struct peerlane_device_info *info);

/* region.c */
int pl_region_info(const struct peerlane_region *region,
		   struct peerlane_region_status *info, const char *what);
int pl_region_new(int fd, struct peerlane_region **region);
int pl_region_map(struct peerlane_region *region, const char *what,
		  void **addr);
int pl_region_import(int dmabuf_fd, uint64_t offset, uint64_t length,
		     struct peerlane_region **region);
int pl_region_export(const struct peerlane_region *region, uint64_t offset,
		     uint64_t length, uint32_t flags, int *fd);
int pl_range(uint64_t whole, uint64_t offset, uint64_t length,
	     const char *what);
uint64_t pl_page_size(void);

/* copy_*.c: one pair per instruction set; @length may be 0 */
void pl_copy_to_plain(void *dst, const void *src, size_t length);
void pl_copy_from_plain(void *dst, const void *src, size_t length);
#if defined(__x86_64__)
void pl_copy_to_sse(void *dst, const void *src, size_t length);
void pl_copy_from_sse(void *dst, const void *src, size_t length);
void pl_copy_to_avx2(void *dst, const void *src, size_t length);
void pl_copy_from_avx2(void *dst, const void *src, size_t length);
void pl_copy_to_avx512(void *dst, const void *src, size_t length);
void pl_copy_from_avx512(void *dst, const void *src, size_t length);
#endif

#endif /* PEERLANE_PRIVATE_H */
