// SPDX-License-Identifier: GPL-2.0
/* What holds for every command, from one table of them. */
#include <pthread.h>

#include "abi_commands.h"

/* It needs an address of an RDMA device: see the tests of groups. */
#define ELSEWHERE	PEERLANE_IOC_AGGREGATOR_CREATE

static struct scene begin(const struct command *command)
{
	struct scene scene = { .fd = -1, .other = -1, .region = -1 };
	struct peerlane_hdr *hdr;

	command->prepare(&scene);
	memset(text, 0, sizeof(text));
	hdr = (void *)scene.args;
	hdr->size = command->size;
	hdr->msg_ptr = (uintptr_t)text;
	hdr->msg_len = sizeof(text);
	return scene;
}

static struct peerlane_hdr *header(struct scene *scene)
{
	return (void *)scene->args;
}

static int go(const struct command *command, struct scene *scene)
{
	return call_raw(scene->fd, command->cmd, scene->args);
}

static void end(const struct command *command, struct scene *scene, int ret)
{
	int *out = (void *)(scene->args + command->out_fd);

	if (!ret && command->out_fd != NO_FD) {
		CHECK(fcntl(*out, F_GETFD) == FD_CLOEXEC);
		close(*out);
	}
	close(scene->fd);
	if (scene->other >= 0)
		close(scene->other);
	if (scene->region >= 0)
		close(scene->region);
	free(scene->pages);
}

static void expect(const struct command *command, int got, int want)
{
	if (got != want)
		printf("# %s:\n", command->name);
	CHECK_INT(got, want);
}

static void expect_text(const struct command *command, const char *part)
{
	if (!strstr(text, part))
		printf("# %s:\n", command->name);
	CHECK_HAS(text, part);
}

#define EACH(command) (command = commands;				\
	command < commands + ARRAY_SIZE(commands); command++)

static void each_command_works(void)
{
	const struct command *command;

	for EACH(command) {
		struct scene scene = begin(command);
		int ret = go(command, &scene);

		expect(command, ret, 0);
		end(command, &scene, ret);
	}
}

static void a_short_struct_is_refused(void)
{
	const struct command *command;

	for EACH(command) {
		const uint32_t sizes[] = { 0, 1, 4, 8, command->size - 8,
					   command->size - 1 };
		struct scene scene = begin(command);
		size_t i;

		for (i = 0; i < ARRAY_SIZE(sizes); i++) {
			header(&scene)->size = sizes[i];
			expect(command, go(command, &scene), -EINVAL);
		}
		end(command, &scene, -EINVAL);
	}
}

static void a_long_struct_with_an_empty_tail_works(void)
{
	const struct command *command;

	for EACH(command) {
		struct scene scene = begin(command);
		int ret;

		header(&scene)->size = ROOM;
		ret = go(command, &scene);
		expect(command, ret, 0);
		CHECK_INT(header(&scene)->size, ROOM);
		end(command, &scene, ret);
	}
}

static void a_long_struct_with_a_tail_is_refused(void)
{
	const struct command *command;

	for EACH(command) {
		const uint32_t places[] = { command->size, ROOM - 1 };
		size_t i;

		for (i = 0; i < ARRAY_SIZE(places); i++) {
			struct scene scene = begin(command);
			int ret;

			header(&scene)->size = ROOM;
			scene.args[places[i]] = 1;
			ret = go(command, &scene);
			expect(command, ret, -E2BIG);
			end(command, &scene, ret);
		}
	}
}

/* Not on the stack, behind which there are no 4 GiB of addresses. */
static void a_struct_of_4_gib_is_refused(void)
{
	const struct command *command;
	static struct scene scene;

	for EACH(command) {
		scene = begin(command);
		header(&scene)->size = UINT32_MAX;
		scene.args[command->size] = 1;
		expect(command, go(command, &scene), -E2BIG);
		end(command, &scene, -E2BIG);
	}
}

static void unknown_flags_are_refused(void)
{
	const struct command *command;
	int bit;

	for EACH(command) {
		struct scene scene = begin(command);

		for (bit = 0; bit < 32; bit++) {
			if (command->flags & 1U << bit)
				continue;
			header(&scene)->flags = 1U << bit;
			expect(command, go(command, &scene), -EOPNOTSUPP);
			expect_text(command, "unknown flags");
		}
		end(command, &scene, -EOPNOTSUPP);
	}
}

static void reserved_fields_have_to_be_0(void)
{
	const struct command *command;

	for EACH(command) {
		struct scene scene = begin(command);
		int ret;

		header(&scene)->reserved = 1U << 31;
		ret = go(command, &scene);
		expect(command, ret, -EOPNOTSUPP);
		expect_text(command, "reserved is not 0");
		header(&scene)->reserved = 0;
		if (command->reserved2) {
			*(uint32_t *)(scene.args + command->reserved2) = 1;
			ret = go(command, &scene);
			expect(command, ret, -EOPNOTSUPP);
			expect_text(command, "reserved2 is not 0");
		}
		end(command, &scene, ret);
	}
}

static void unknown_numbers_are_refused(void)
{
	int files[] = { open_device(), open_control() };
	struct peerlane_hdr hdr = { .size = sizeof(hdr) };
	unsigned int nr, i;
	size_t f;

	for (f = 0; f < ARRAY_SIZE(files); f++) {
		for (nr = 0; nr < 256; nr++) {
			unsigned int cmd = _IO(PEERLANE_IOC_TYPE, nr);

			for (i = 0; i < ARRAY_SIZE(commands); i++)
				if (commands[i].cmd == cmd)
					break;
			if (i == ARRAY_SIZE(commands) && cmd != ELSEWHERE)
				CHECK_INT(call_raw(files[f], cmd, &hdr),
					  -ENOTTY);
		}
		close(files[f]);
	}
}

static void other_encodings_are_refused(void)
{
	const struct command *command;

	for EACH(command) {
		struct scene scene = begin(command);
		unsigned int nr = _IOC_NR(command->cmd);
		const unsigned int wrong[] = {
			_IO('p', nr), _IOC(_IOC_READ, PEERLANE_IOC_TYPE, nr, 0),
			_IOWR(PEERLANE_IOC_TYPE, nr, struct peerlane_hdr),
			_IOC(0, PEERLANE_IOC_TYPE, nr, command->size),
		};
		size_t i;

		for (i = 0; i < ARRAY_SIZE(wrong); i++)
			expect(command,
			       call_raw(scene.fd, wrong[i], scene.args),
			       -ENOTTY);
		end(command, &scene, -ENOTTY);
	}
}

static void the_wrong_file_is_refused(void)
{
	const struct command *command;
	int device = open_device(), control = open_control();

	for EACH(command) {
		struct scene scene = begin(command);
		int wrong = command->is_control ? device : control;

		expect(command, call_raw(wrong, command->cmd, scene.args),
		       -ENOTTY);
		end(command, &scene, -ENOTTY);
	}
	close(device);
	close(control);
}

static void a_bad_pointer_is_refused(void)
{
	char *hole = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	const struct command *command;

	munmap(hole + PAGE, PAGE);
	for EACH(command) {
		struct scene scene = begin(command);
		void *const bad[] = {
			NULL, (void *)8, (void *)-1UL, (void *)-4096UL,
			(void *)(1UL << 63), hole + PAGE,
			hole + PAGE - 2,	/* in the middle of size */
			hole + PAGE - 8,	/* behind size */
		};
		size_t i;

		*(uint32_t *)(hole + PAGE - 8) = command->size;
		for (i = 0; i < ARRAY_SIZE(bad); i++)
			expect(command,
			       call_raw(scene.fd, command->cmd, bad[i]),
			       -EFAULT);
		end(command, &scene, -EFAULT);
	}
	munmap(hole, PAGE);
}

/* What was made is unmade: the harness looks for files and regions. */
static void an_argument_that_cannot_be_written_leaks_nothing(void)
{
	void *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	const struct command *command;

	for EACH(command) {
		struct scene scene = begin(command);

		memcpy(page, scene.args, ROOM);
		mprotect(page, PAGE, PROT_READ);
		expect(command, call_raw(scene.fd, command->cmd, page),
		       command->has_output ? -EFAULT : 0);
		mprotect(page, PAGE, PROT_READ | PROT_WRITE);
		end(command, &scene, -EFAULT);
	}
	munmap(page, PAGE);
}

/*
 * Another thread keeps changing the size: each call is one of the refusals or
 * right, and never writes behind the struct.
 */
struct race {
	volatile uint32_t *size;
	volatile bool stop;
	uint32_t sizes[3];
};

static void *change_size(void *arg)
{
	struct race *race = arg;
	uint32_t dice = 1;

	/* In no order, or the two threads fall into step. */
	while (!race->stop) {
		dice = dice * 1664525 + 1013904223;
		*race->size = race->sizes[(dice >> 16) % 3];
	}
	return NULL;
}

static void a_size_that_changes_during_the_call(void)
{
	struct scene scene = begin(&commands[1]);
	struct peerlane_region_status *info = (void *)scene.args;
	struct race race = {
		.size = &info->size, .sizes = { sizeof(*info), 4, ROOM },
	};
	double end_of_patience = now() + 60;
	int i, ret, seen[3] = {};
	pthread_t thread;

	scene.args[ROOM - 1] = 1;
	pthread_create(&thread, NULL, change_size, &race);
	/* On a busy machine it may be long before the other thread gets on. */
	for (i = 0; i < 3000 || (now() < end_of_patience &&
				 !(seen[0] && seen[1] && seen[2])); i++) {
		info->out_length = 0;
		ret = go(&commands[1], &scene);
		seen[ret == 0 ? 0 : ret == -EINVAL ? 1 : 2]++;
		if (!ret)
			CHECK_INT(info->out_length, 2 * PAGE);
		else if (ret != -EINVAL)
			CHECK_INT(ret, -E2BIG);
	}
	race.stop = true;
	pthread_join(thread, NULL);
	printf("# %d right, %d too short, %d with a tail\n", seen[0], seen[1],
	       seen[2]);
	CHECK(seen[0] && seen[1] && seen[2]);
	for (i = sizeof(*info); i < ROOM - 1; i++)
		CHECK_INT(scene.args[i], 0);
	end(&commands[1], &scene, -1);
}

int main(void)
{
	static const struct tap_case cases[] = {
		TAP_CASE(each_command_works),
		TAP_CASE(a_short_struct_is_refused),
		TAP_CASE(a_long_struct_with_an_empty_tail_works),
		TAP_CASE(a_long_struct_with_a_tail_is_refused),
		TAP_CASE(a_struct_of_4_gib_is_refused),
		TAP_CASE(unknown_flags_are_refused),
		TAP_CASE(reserved_fields_have_to_be_0),
		TAP_CASE(unknown_numbers_are_refused),
		TAP_CASE(other_encodings_are_refused),
		TAP_CASE(the_wrong_file_is_refused),
		TAP_CASE(a_bad_pointer_is_refused),
		TAP_CASE(an_argument_that_cannot_be_written_leaks_nothing),
		TAP_CASE(a_size_that_changes_during_the_call),
	};

	return HARNESS_RUN(cases);
}
