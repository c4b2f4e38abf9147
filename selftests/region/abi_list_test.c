// SPDX-License-Identifier: GPL-2.0
/* DEVICE_LIST and REGION_LIST: rooms too small, too large and not there. */
#include <pthread.h>

#include "harness.h"

#define RECORD	sizeof(struct peerlane_region_record)
#define ROOM	64

struct answer {
	int ret;
	uint32_t count;
};

static struct answer list(int fd, unsigned long cmd, void *array,
			  uint32_t count, uint32_t record_size)
{
	struct peerlane_list args = {
		.array_ptr = (uintptr_t)array, .count = count,
		.record_size = record_size,
	};
	struct answer answer;

	answer.ret = call(fd, cmd, &args, sizeof(args));
	answer.count = args.count;
	return answer;
}

static struct answer regions(int fd, void *array, uint32_t count)
{
	return list(fd, PEERLANE_IOC_REGION_LIST, array, count, RECORD);
}

static void no_room_tells_the_count(void)
{
	int control = open_control(), a = open_device(), b = open_device();
	struct answer answer = regions(control, NULL, 0);

	CHECK_INT(answer.ret, -EMSGSIZE);
	CHECK_INT(answer.count, 2);
	CHECK_HAS(text, "2 records");
	close(a);
	close(b);
	answer = regions(control, NULL, 0);
	CHECK_INT(answer.ret, 0);
	CHECK_INT(answer.count, 0);
	close(control);
}

static void too_little_room_writes_nothing(void)
{
	int control = open_control(), a = open_device(), b = open_device();
	char array[2 * RECORD], before[2 * RECORD];
	struct answer answer;

	memset(array, 'x', sizeof(array));
	memset(before, 'x', sizeof(before));
	answer = regions(control, array, 1);
	CHECK_INT(answer.ret, -EMSGSIZE);
	CHECK_INT(answer.count, 2);
	CHECK(!memcmp(array, before, sizeof(array)));
	close(a);
	close(b);
	close(control);
}

static void exact_room_is_enough(void)
{
	int control = open_control(), a = open_device(), b = open_device();
	struct peerlane_region_record array[3] = {};
	struct answer answer = regions(control, array, 2);

	CHECK_INT(answer.ret, 0);
	CHECK_INT(answer.count, 2);
	CHECK(array[0].id < array[1].id);
	CHECK_INT(array[0].id, region_info(a).out_id);
	CHECK_INT(array[1].id, region_info(b).out_id);
	CHECK_INT(array[2].id, 0);
	close(a);
	close(b);
	close(control);
}

static void a_record_tells_the_region(void)
{
	int control = open_control(), fd = new_region(UNIT + PAGE);
	struct peerlane_region_record record = {};
	void *at = map(fd, PAGE);
	struct answer answer = regions(control, &record, 1);

	CHECK_INT(answer.ret, 0);
	CHECK_INT(record.length, UNIT + PAGE);
	CHECK_INT(record.dev_offset, region_info(fd).out_dev_offset);
	CHECK_INT(record.uid, 0);
	CHECK_INT(record.pid, getpid());
	CHECK_INT(record.mapper_pid, getpid());
	CHECK_INT(record.kind, PEERLANE_KIND_BAR);
	CHECK_INT(record.state, PEERLANE_STATE_ACTIVE);
	CHECK_INT(record.mappings, 1);
	CHECK_INT(record.exports + record.attachments + record.pinned_units,
		  0);
	CHECK_INT(record.reserved, 0);
	CHECK_STR(record.comm, "abi_list_test");
	CHECK_STR(record.mapper_comm, "abi_list_test");
	CHECK_STR(record.device, device_name());
	munmap(at, PAGE);
	close(fd);
	close(control);
}

static void a_small_record_size_is_refused(void)
{
	int control = open_control(), fd = open_device();
	char array[ROOM * RECORD];
	uint32_t sizes[] = { 0, 1, 8, RECORD - 1 };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		CHECK_INT(list(control, PEERLANE_IOC_REGION_LIST, array, ROOM,
			       sizes[i]).ret, -EINVAL);
		CHECK_HAS(text, "record_size");
	}
	close(fd);
	close(control);
}

static void a_large_record_is_filled_with_zeroes(void)
{
	int control = open_control(), a = open_device(), b = open_device();
	const size_t size = RECORD + 72;
	struct peerlane_region_record *second;
	char array[3 * (RECORD + 72)];
	size_t i;

	memset(array, 'x', sizeof(array));
	CHECK_INT(list(control, PEERLANE_IOC_REGION_LIST, array, 3, size).ret,
		  0);
	for (i = RECORD; i < size; i++)
		CHECK_INT(array[i] | array[size + i], 0);
	CHECK_INT(array[2 * size], 'x');
	second = (void *)(array + size);
	CHECK_INT(second->id, region_info(b).out_id);
	close(a);
	close(b);
	close(control);
}

static void a_huge_record_size_is_refused(void)
{
	int control = open_control(), fd = open_device();
	static char array[4 * PAGE];

	CHECK_INT(list(control, PEERLANE_IOC_REGION_LIST, array, 1,
		       UINT32_MAX).ret, -EINVAL);
	CHECK(text[0]);
	close(fd);
	close(control);
}

/* The kernel takes memory for what there is, not for what is asked. */
static void four_billion_records_of_room(void)
{
	int control = open_control(), fd = open_device();
	char *at = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct answer answer;

	munmap(at + PAGE, PAGE);
	answer = regions(control, at, UINT32_MAX);
	CHECK_INT(answer.ret, 0);
	CHECK_INT(answer.count, 1);
	/* Room that is not there is told, however much was promised. */
	CHECK_INT(regions(control, at + PAGE - RECORD / 2, UINT32_MAX).ret,
		  -EFAULT);
	CHECK_INT(regions(control, NULL, UINT32_MAX).ret, -EFAULT);
	CHECK_INT(regions(control, (void *)-RECORD, UINT32_MAX).ret, -EFAULT);
	CHECK_INT(regions(control, (void *)(1UL << 63), 1).ret, -EFAULT);
	CHECK_HAS(text, "array_ptr");
	munmap(at, PAGE);
	close(fd);
	close(control);
}

static void devices_are_listed(void)
{
	struct peerlane_device_record array[HARNESS_DEVICES] = {};
	int control = open_control();
	struct answer answer = list(control, PEERLANE_IOC_DEVICE_LIST, array,
				    HARNESS_DEVICES, sizeof(array[0]));
	uint64_t size = read_number(device_attr("size"));
	uint32_t i;

	CHECK_INT(answer.ret, 0);
	for (i = 0; i < answer.count; i++)
		if (!strcmp(array[i].name, device_name()))
			break;
	if (CHECK(i < answer.count)) {
		CHECK_INT(array[i].bytes_total, size);
		CHECK_INT(array[i].bytes_free, size);
		CHECK_INT(array[i].bytes_limbo, 0);
		CHECK_INT(array[i].unit, UNIT);
		CHECK_INT(array[i].kind, PEERLANE_KIND_BAR);
		CHECK_INT(array[i].memtype, PEERLANE_MEMTYPE_WC);
		CHECK_INT(array[i].bar, 2);
		CHECK_INT(array[i].regions, 0);
		CHECK_INT(array[i].reserved, 0);
		CHECK_INT(strlen(array[i].pci), strlen("0000:00:00.0"));
	}
	CHECK_INT(list(control, PEERLANE_IOC_DEVICE_LIST, NULL, 0,
		       sizeof(array[0])).count, answer.count);
	close(control);
}

static void *open_and_close(void *arg)
{
	volatile bool *stop = arg;
	int fds[8], i;

	while (!*stop) {
		for (i = 0; i < 8; i++)
			fds[i] = open_device();
		for (i = 0; i < 8; i++)
			close(fds[i]);
	}
	return NULL;
}

/* EMSGSIZE means that the caller's room is too small, whatever comes and goes. */
static void there_is_room_though_regions_come_and_go(void)
{
	struct peerlane_region_record array[ROOM];
	int control = open_control(), i;
	bool stop = false;
	pthread_t threads[2];

	for (i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, open_and_close, &stop);
	for (i = 0; i < 3000; i++) {
		struct answer answer = regions(control, array, ROOM);

		if (!CHECK_INT(answer.ret, 0) || !CHECK(answer.count <= 16))
			break;
	}
	stop = true;
	for (i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	close(control);
}

int main(void)
{
	static const struct tap_case cases[] = {
		TAP_CASE(no_room_tells_the_count),
		TAP_CASE(too_little_room_writes_nothing),
		TAP_CASE(exact_room_is_enough),
		TAP_CASE(a_record_tells_the_region),
		TAP_CASE(a_small_record_size_is_refused),
		TAP_CASE(a_large_record_is_filled_with_zeroes),
		TAP_CASE(a_huge_record_size_is_refused),
		TAP_CASE(four_billion_records_of_room),
		TAP_CASE(devices_are_listed),
		TAP_CASE(there_is_room_though_regions_come_and_go),
	};

	return HARNESS_RUN(cases);
}
