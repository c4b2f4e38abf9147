/* SPDX-License-Identifier: GPL-2.0 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM peerlane

#if !defined(PEERLANE_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define PEERLANE_TRACE_H

#include <linux/tracepoint.h>

#include "peerlane.h"
#include "trace_text.h"

/* Every error exit that a user can reach, with the reason he is given. */
TRACE_EVENT(peerlane_refuse,
	TP_PROTO(int err, const char *text),
	TP_ARGS(err, text),
	TP_STRUCT__entry(
		__field(int, err)
		__string(text, text)
	),
	TP_fast_assign(
		__entry->err = err;
		peerlane_assign_str(text, text);
	),
	TP_printk("err=%d %s", __entry->err, __get_str(text))
);

TRACE_EVENT(peerlane_device,
	TP_PROTO(const struct peerlane_device *dev, const char *action),
	TP_ARGS(dev, action),
	TP_STRUCT__entry(
		__string(name, peerlane_device_name(dev))
		__string(action, action)
		__field(u64, phys)
		__field(u64, size)
	),
	TP_fast_assign(
		peerlane_assign_str(name, peerlane_device_name(dev));
		peerlane_assign_str(action, action);
		__entry->phys = dev->phys;
		__entry->size = dev->size;
	),
	TP_printk("%s %s phys=%#llx size=%llu", __get_str(name),
		  __get_str(action), __entry->phys, __entry->size)
);

TRACE_EVENT(peerlane_region_state,
	TP_PROTO(const struct peerlane_region *region, u32 from, u32 to),
	TP_ARGS(region, from, to),
	TP_STRUCT__entry(
		__field(u64, id)
		__field(u64, offset)
		__field(u64, length)
		__field(u32, from)
		__field(u32, to)
	),
	TP_fast_assign(
		__entry->id = region->id;
		__entry->offset = region->offset;
		__entry->length = region->length;
		__entry->from = from;
		__entry->to = to;
	),
	TP_printk("region=%llu %s->%s offset=%#llx length=%llu", __entry->id,
		  peerlane_show_state(__entry->from),
		  peerlane_show_state(__entry->to), __entry->offset,
		  __entry->length)
);

TRACE_EVENT(peerlane_mmap,
	TP_PROTO(const struct peerlane_region *region, u64 offset, u64 length),
	TP_ARGS(region, offset, length),
	TP_STRUCT__entry(
		__field(u64, id)
		__field(u64, offset)
		__field(u64, length)
	),
	TP_fast_assign(
		__entry->id = region->id;
		__entry->offset = offset;
		__entry->length = length;
	),
	TP_printk("region=%llu offset=%#llx length=%llu", __entry->id,
		  __entry->offset, __entry->length)
);

TRACE_EVENT(peerlane_fault,
	TP_PROTO(const struct peerlane_region *region, unsigned long addr,
		 unsigned long pages, int err),
	TP_ARGS(region, addr, pages, err),
	TP_STRUCT__entry(
		__field(u64, id)
		__field(unsigned long, addr)
		__field(unsigned long, pages)
		__field(int, err)
	),
	TP_fast_assign(
		__entry->id = region->id;
		__entry->addr = addr;
		__entry->pages = pages;
		__entry->err = err;
	),
	TP_printk("region=%llu addr=%#lx pages=%lu err=%d", __entry->id,
		  __entry->addr, __entry->pages, __entry->err)
);

TRACE_EVENT(peerlane_dmabuf,
	TP_PROTO(u64 id, const char *action, const char *importer),
	TP_ARGS(id, action, importer),
	TP_STRUCT__entry(
		__field(u64, id)
		__string(action, action)
		__string(importer, importer)
	),
	TP_fast_assign(
		__entry->id = id;
		peerlane_assign_str(action, action);
		peerlane_assign_str(importer, importer);
	),
	TP_printk("region=%llu %s importer=%s", __entry->id, __get_str(action),
		  __get_str(importer))
);

TRACE_EVENT(peerlane_limbo,
	TP_PROTO(const struct peerlane_region *region, unsigned int pinned,
		 unsigned int waited_ms),
	TP_ARGS(region, pinned, waited_ms),
	TP_STRUCT__entry(
		__field(u64, id)
		__field(unsigned int, pinned)
		__field(unsigned int, waited_ms)
	),
	TP_fast_assign(
		__entry->id = region->id;
		__entry->pinned = pinned;
		__entry->waited_ms = waited_ms;
	),
	TP_printk("region=%llu pinned=%u waited_ms=%u", __entry->id,
		  __entry->pinned, __entry->waited_ms)
);

#endif /* PEERLANE_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
