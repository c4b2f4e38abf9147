// SPDX-License-Identifier: GPL-2.0
/*
 * A region that goes away while a disk reads into it or writes from it: a queue
 * of O_DIRECT requests is outstanding, as the disk has been made slow.
 */
#include <linux/aio_abi.h>
#include <sys/syscall.h>

#include "disk.h"
#include "lifetime.h"

#define DISK	"/dev/nvme0n1"
#define LENGTH	(2 * UNIT)
#define PART	(128UL << 10)
#define PARTS	(LENGTH / PART)

static int host(const char *command)
{
	int status = system(command);

	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Bytes per second; 0: as fast as it can. */
static void disk_speed(unsigned long bytes)
{
	char command[160];

	snprintf(command, sizeof(command),
		 "host qmp \"$NODE\" human-monitor-command command-line='block_set_io_throttle disk-nvme0 %lu 0 0 0 0 0' >/dev/null",
		 bytes);
	CHECK_INT(host(command), 0);
}

/* ---- a region, and requests of all of it ---- */

struct queue {
	int region, disk;
	char *at;
	uint64_t offset, free;
	aio_context_t context;
	struct iocb requests[PARTS];
};

static bool queue_begin(struct queue *queue)
{
	if (!disk_takes_device_pages()) {
		SKIP_DISK();
		return false;
	}
	memset(queue, 0, sizeof(*queue));
	queue->free = bytes_free();
	queue->region = new_region(LENGTH);
	queue->offset = region_info(queue->region).out_dev_offset;
	queue->at = map(queue->region, LENGTH);
	queue->disk = open(DISK, O_RDWR | O_DIRECT | O_CLOEXEC);
	CHECK(queue->disk >= 0);
	CHECK_INT(syscall(SYS_io_setup, PARTS, &queue->context), 0);
	return true;
}

static void queue_end(struct queue *queue)
{
	CHECK_INT(syscall(SYS_io_destroy, queue->context), 0);
	close(queue->disk);
	munmap(queue->at, LENGTH);
	close(queue->region);
	disk_speed(0);
}

static int submit(struct queue *queue, size_t part, int opcode)
{
	struct iocb *request = &queue->requests[part];

	*request = (struct iocb) {
		.aio_lio_opcode = opcode,
		.aio_fildes = queue->disk,
		.aio_buf = (uintptr_t)queue->at + part * PART,
		.aio_nbytes = PART,
		.aio_offset = part * PART,
	};
	return syscall(SYS_io_submit, queue->context, 1, &request) < 0 ?
		-errno : 0;
}

static void submit_all(struct queue *queue, int opcode)
{
	size_t part;

	disk_speed(2000000);
	for (part = 0; part < PARTS; part++)
		CHECK_INT(submit(queue, part, opcode), 0);
}

/* So many more requests have ended, with these bytes or this error. */
static void reap_requests(struct queue *queue, size_t count, int64_t result)
{
	struct io_event events[PARTS];
	struct timespec patience = { .tv_sec = LONG };
	size_t i;

	CHECK_INT(syscall(SYS_io_getevents, queue->context, count, count,
			  events, &patience), count);
	for (i = 0; i < count && !tap.bad; i++)
		CHECK_INT(events[i].res, result);
}

static void check_next_owner(const struct queue *queue)
{
	CHECK(WAIT_FOR(bytes_free() == queue->free, LIMBO_SECONDS));
	CHECK_INT(check_fresh(LENGTH), queue->offset);
}

/* ---- cases ---- */

static void check_held(struct queue *queue)
{
	struct peerlane_region_record record = {};
	int fd;

	CHECK(region_record(region_info(queue->region).out_id, &record));
	CHECK_INT(record.state, PEERLANE_STATE_REVOKED);
	CHECK(record.pinned_units > 0);
	CHECK_INT(touch(queue->at, false), SIGBUS);
	fd = new_region(LENGTH);
	CHECK(region_info(fd).out_dev_offset != queue->offset);
	close(fd);
}

static void revoked_during_reads(void)
{
	struct queue queue;

	CHECK_INT(host("host disk-fill \"$NODE\" 0 4194304 5"), 0);
	if (!queue_begin(&queue))
		return;
	submit_all(&queue, IOCB_CMD_PREAD);
	reap_requests(&queue, 1, PART);
	CHECK_INT(region_revoke(queue.region), 0);
	check_held(&queue);
	reap_requests(&queue, PARTS - 1, PART);
	CHECK(wait_state(queue.region, PEERLANE_STATE_RELEASED));
	check_next_owner(&queue);
	queue_end(&queue);
}

/* What the disk gets is the region's, to the last byte. */
static void revoked_during_writes(void)
{
	struct queue queue;
	char command[128];

	if (!queue_begin(&queue))
		return;
	snprintf(command, sizeof(command),
		 "host pattern-fill \"$NODE\" 0 %llu %lu 6",
		 (unsigned long long)queue.offset, LENGTH);
	CHECK_INT(host(command), 0);
	submit_all(&queue, IOCB_CMD_PWRITE);
	reap_requests(&queue, 1, PART);
	CHECK_INT(region_revoke(queue.region), 0);
	check_held(&queue);
	reap_requests(&queue, PARTS - 1, PART);
	CHECK_INT(host("host disk-check \"$NODE\" 0 4194304 6"), 0);
	check_next_owner(&queue);
	queue_end(&queue);
}

static void no_request_after_revocation(void)
{
	struct queue queue;

	if (!queue_begin(&queue))
		return;
	CHECK_INT(submit(&queue, 0, IOCB_CMD_PREAD), 0);
	reap_requests(&queue, 1, PART);
	CHECK_INT(region_revoke(queue.region), 0);
	CHECK_INT(submit(&queue, 1, IOCB_CMD_PREAD), 0);
	CHECK_INT(submit(&queue, 0, IOCB_CMD_PWRITE), 0);
	reap_requests(&queue, 2, -EFAULT);
	queue_end(&queue);
}

static void unbound_during_reads(void)
{
	struct queue queue;

	if (!queue_begin(&queue))
		return;
	submit_all(&queue, IOCB_CMD_PREAD);
	reap_requests(&queue, 1, PART);
	unbind_begin("gpu0");
	CHECK(task_runs(&bound.task));
	reap_requests(&queue, PARTS - 1, PART);
	must_end(unbind_ends(LONG));
	CHECK_INT(bound.task.ret, 0);
	rebind();
	check_next_owner(&queue);
	queue_end(&queue);
}

static void closed_during_reads(void)
{
	struct queue queue;

	if (!queue_begin(&queue))
		return;
	submit_all(&queue, IOCB_CMD_PREAD);
	munmap(queue.at, LENGTH);
	close(queue.region);
	reap_requests(&queue, PARTS, PART);
	check_next_owner(&queue);
	queue.at = mmap(NULL, LENGTH, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS,
			-1, 0);
	queue.region = -1;
	queue_end(&queue);
}

static const struct tap_case cases[] = {
	TAP_CASE(revoked_during_reads),
	TAP_CASE(revoked_during_writes),
	TAP_CASE(no_request_after_revocation),
	TAP_CASE(unbound_during_reads),
	TAP_CASE(closed_during_reads),
};

int main(void)
{
	return HARNESS_RUN(cases);
}
