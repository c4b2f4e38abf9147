// SPDX-License-Identifier: GPL-2.0
/* What holds for every command of endpoints, from one table of them. */
#include <stddef.h>

#include "endpoint.h"

#define ROOM	512
#define NO_FD	UINT32_MAX
#define LENGTH	(2 * PAGE)

/* Everything that a call needs, and where it is made. */
struct scene {
	_Alignas(8) char args[ROOM];
	int fd;
	int listener;
	struct pair pair;
	struct peerlane_endpoint_record records[8];
	struct peerlane_op op;
};

struct command {
	const char *name;
	unsigned int cmd;
	uint32_t size;
	uint32_t flags;		/* known ones */
	bool has_output;
	uint32_t out_fd;	/* offset, or NO_FD */
	uint32_t reserved[2];	/* offsets of more fields, or 0 */
	void (*prepare)(struct scene *scene);	/* arguments that work */
};

static void for_create(struct scene *scene)
{
	struct peerlane_endpoint_create args = SETTINGS();

	memcpy(scene->args, &args, sizeof(args));
	scene->fd = open_control();
}

static void for_list(struct scene *scene)
{
	struct peerlane_list *args = (void *)scene->args;

	args->array_ptr = (uintptr_t)scene->records;
	args->count = ARRAY_SIZE(scene->records);
	args->record_size = sizeof(scene->records[0]);
	scene->fd = open_control();
}

static void for_info(struct scene *scene)
{
	for_list(scene);
	close(scene->fd);
	scene->fd = ep_new();
}

static void for_listen(struct scene *scene)
{
	struct peerlane_endpoint_address *args = (void *)scene->args;

	scene->fd = ep_new();
	put_address(args->address, own_address(), 0);
}

static void for_connect(struct scene *scene)
{
	struct peerlane_endpoint_address *args = (void *)scene->args;
	int port;

	scene->fd = ep_new();
	scene->listener = ep_new();
	port = ep_listen(scene->listener);
	CHECK(port > 0);
	put_address(args->address, own_address(), port);
}

static void for_accept(struct scene *scene)
{
	struct pair *pair = &scene->pair;
	int port;

	scene->fd = ep_new();
	pair->a.ep = ep_new();
	port = ep_listen(scene->fd);
	CHECK(port > 0);
	CHECK_INT(ep_connect(pair->a.ep, port), 0);
}

static void for_bind(struct scene *scene)
{
	struct peerlane_endpoint_bind *args = (void *)scene->args;

	scene->fd = ep_new();
	scene->pair.a.region = new_region(LENGTH);
	scene->pair.a.mem = map(scene->pair.a.region, LENGTH);
	scene->pair.a.length = LENGTH;
	args->region_fd = scene->pair.a.region;
}

static void connected(struct scene *scene)
{
	scene->pair = pair_new(LENGTH);
	scene->fd = fcntl(scene->pair.a.ep, F_DUPFD_CLOEXEC, 3);
}

static void for_expose(struct scene *scene)
{
	struct peerlane_endpoint_expose *args = (void *)scene->args;

	connected(scene);
	args->rights = BOTH;
	args->length = 1;
}

static void for_withdraw(struct scene *scene)
{
	struct peerlane_endpoint_withdraw *args = (void *)scene->args;

	connected(scene);
	args->token = open_all(&scene->pair.a, &scene->pair.b);
}

static void for_submit(struct scene *scene)
{
	struct peerlane_endpoint_submit *args = (void *)scene->args;

	connected(scene);
	scene->op = OP(NOTIFY);
	args->ops_ptr = (uintptr_t)&scene->op;
	args->op_size = sizeof(scene->op);
	args->count = 1;
}

#define COMMAND(_name, _struct) .name = #_name,				\
	.cmd = PEERLANE_IOC_##_name, .size = sizeof(struct peerlane_##_struct)
#define AT(_struct, field) offsetof(struct peerlane_##_struct, field)

static const struct command commands[] = {
	{ COMMAND(ENDPOINT_CREATE, endpoint_create), .has_output = true,
	  .out_fd = AT(endpoint_create, out_fd), .prepare = for_create,
	  .reserved = { AT(endpoint_create, reserved2) } },
	{ COMMAND(ENDPOINT_LIST, list), .has_output = true, .out_fd = NO_FD,
	  .prepare = for_list },
	{ COMMAND(ENDPOINT_INFO, list), .has_output = true, .out_fd = NO_FD,
	  .prepare = for_info },
	{ COMMAND(ENDPOINT_LISTEN, endpoint_address), .has_output = true,
	  .out_fd = NO_FD, .prepare = for_listen },
	{ COMMAND(ENDPOINT_CONNECT, endpoint_address), .out_fd = NO_FD,
	  .prepare = for_connect },
	{ COMMAND(ENDPOINT_ACCEPT, endpoint_accept), .has_output = true,
	  .out_fd = AT(endpoint_accept, out_fd), .prepare = for_accept,
	  .reserved = { AT(endpoint_accept, reserved2),
			AT(endpoint_accept, reserved3) } },
	{ COMMAND(ENDPOINT_BIND, endpoint_bind), .flags = PEERLANE_BIND_READ_ONLY,
	  .has_output = true, .out_fd = NO_FD, .prepare = for_bind },
	{ COMMAND(ENDPOINT_EXPOSE, endpoint_expose), .has_output = true,
	  .out_fd = NO_FD, .prepare = for_expose },
	{ COMMAND(ENDPOINT_WITHDRAW, endpoint_withdraw), .out_fd = NO_FD,
	  .prepare = for_withdraw },
	{ COMMAND(ENDPOINT_SUBMIT, endpoint_submit), .has_output = true,
	  .flags = PEERLANE_SUBMIT_BUSY_POLL, .out_fd = NO_FD,
	  .prepare = for_submit },
	{ COMMAND(ENDPOINT_DISCONNECT, endpoint_disconnect), .out_fd = NO_FD,
	  .prepare = connected },
};

static struct scene scene;	/* its structs are named by their addresses */

static void begin(const struct command *command)
{
	struct peerlane_hdr *hdr = (void *)scene.args;

	memset(&scene, 0, sizeof(scene));
	scene.listener = -1;
	scene.pair = (struct pair){ { -1, -1 }, { -1, -1 } };
	command->prepare(&scene);
	memset(text, 0, sizeof(text));
	hdr->size = command->size;
	hdr->msg_ptr = (uintptr_t)text;
	hdr->msg_len = sizeof(text);
}

static struct peerlane_hdr *header(void)
{
	return (void *)scene.args;
}

static int go(const struct command *command)
{
	return call_raw(scene.fd, command->cmd, scene.args);
}

static void end(const struct command *command, int ret)
{
	int *out = (void *)(scene.args + command->out_fd);

	if (!ret && command->out_fd != NO_FD) {
		CHECK_INT(fcntl(*out, F_GETFD), FD_CLOEXEC);
		close(*out);
	}
	close(scene.fd);
	if (scene.listener >= 0)
		close(scene.listener);
	pair_end(&scene.pair);
}

static void expect(const struct command *command, int got, int want)
{
	if (got != want)
		printf("# %s: %s\n", command->name, text);
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
		int ret;

		begin(command);
		ret = go(command);
		expect(command, ret, 0);
		CHECK_STR(text, "");
		end(command, ret);
	}
}

static void a_short_struct_is_refused(void)
{
	const struct command *command;

	for EACH(command) {
		const uint32_t sizes[] = { 0, 1, 4, 8, command->size - 8,
					   command->size - 1 };
		size_t i;

		begin(command);
		for (i = 0; i < ARRAY_SIZE(sizes); i++) {
			header()->size = sizes[i];
			expect(command, go(command), -EINVAL);
		}
		end(command, -EINVAL);
	}
}

static void a_long_struct_with_an_empty_tail_works(void)
{
	const struct command *command;

	for EACH(command) {
		int ret;

		begin(command);
		header()->size = ROOM;
		ret = go(command);
		expect(command, ret, 0);
		CHECK_INT(header()->size, ROOM);
		end(command, ret);
	}
}

static void a_long_struct_with_a_tail_is_refused(void)
{
	const struct command *command;

	for EACH(command) {
		begin(command);
		header()->size = ROOM;
		scene.args[command->size] = 1;
		expect(command, go(command), -E2BIG);
		scene.args[command->size] = 0;
		scene.args[ROOM - 1] = 1;
		expect(command, go(command), -E2BIG);
		header()->size = UINT32_MAX;
		expect(command, go(command), -E2BIG);
		end(command, -E2BIG);
	}
}

static void unknown_flags_are_refused(void)
{
	const struct command *command;
	int bit;

	for EACH(command) {
		begin(command);
		for (bit = 0; bit < 32; bit++) {
			if (command->flags & 1U << bit)
				continue;
			header()->flags = 1U << bit;
			expect(command, go(command), -EOPNOTSUPP);
			expect_text(command, "unknown flags");
		}
		end(command, -EOPNOTSUPP);
	}
}

static void reserved_fields_have_to_be_0(void)
{
	const struct command *command;
	size_t i;

	for EACH(command) {
		begin(command);
		header()->reserved = 1U << 31;
		expect(command, go(command), -EOPNOTSUPP);
		expect_text(command, "reserved is not 0");
		header()->reserved = 0;
		for (i = 0; i < 2 && command->reserved[i]; i++) {
			uint32_t *field = (void *)(scene.args +
						   command->reserved[i]);

			*field = 1;
			expect(command, go(command), -EOPNOTSUPP);
			expect_text(command, "reserved");
			*field = 0;
		}
		end(command, -EOPNOTSUPP);
	}
}

static void a_bad_pointer_is_refused(void)
{
	char *hole = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	const struct command *command;

	munmap(hole + PAGE, PAGE);
	for EACH(command) {
		void *const bad[] = { NULL, (void *)-1UL, (void *)(1UL << 63),
				      hole + PAGE, hole + PAGE - 2,
				      hole + PAGE - 8 };
		size_t i;

		begin(command);
		*(uint32_t *)(hole + PAGE - 8) = command->size;
		for (i = 0; i < ARRAY_SIZE(bad); i++)
			expect(command, call_raw(scene.fd, command->cmd, bad[i]),
			       -EFAULT);
		end(command, -EFAULT);
	}
	munmap(hole, PAGE);
}

/* What was made is unmade: the harness looks for files and charges. */
static void an_argument_that_cannot_be_written_leaks_nothing(void)
{
	void *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	const struct command *command;

	for EACH(command) {
		begin(command);
		memcpy(page, scene.args, ROOM);
		mprotect(page, PAGE, PROT_READ);
		expect(command, call_raw(scene.fd, command->cmd, page),
		       command->has_output ? -EFAULT : 0);
		mprotect(page, PAGE, PROT_READ | PROT_WRITE);
		end(command, -EFAULT);
	}
	munmap(page, PAGE);
}

/* An ACCEPT that fails so leaves the connection for the next one. */
static void a_connection_that_cannot_be_handed_out_stays(void)
{
	void *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct peerlane_endpoint_accept *args = page;
	int listener = ep_new(), port = ep_listen(listener), caller = ep_new(), got;

	CHECK_INT(ep_connect(caller, port), 0);
	args->size = sizeof(*args);
	mprotect(page, PAGE, PROT_READ);
	CHECK_INT(call_raw(listener, PEERLANE_IOC_ENDPOINT_ACCEPT, page), -EFAULT);
	got = ep_accept(listener);
	CHECK(got >= 0);
	ep_next(got, PEERLANE_RECORD_CONNECTED);
	close(got);
	close(caller);
	close(listener);
	munmap(page, PAGE);
}

static void the_wrong_file_is_refused(void)
{
	const struct command *command;
	int device = open_device(), control = open_control(), ep = ep_new();

	for EACH(command) {
		bool of_control = _IOC_NR(command->cmd) < 0x40;

		begin(command);
		expect(command, call_raw(device, command->cmd, scene.args), -ENOTTY);
		expect(command, call_raw(of_control ? ep : control, command->cmd,
					 scene.args), -ENOTTY);
		end(command, -ENOTTY);
	}
	close(device);
	close(control);
	close(ep);
}

static void unknown_numbers_are_refused(void)
{
	struct peerlane_hdr hdr = { .size = sizeof(hdr) };
	int ep = ep_new();
	unsigned int nr;

	for (nr = 0; nr < 256; nr++)
		if (nr < 0x40 || nr > 0x48)
			CHECK_INT(call_raw(ep, _IO(PEERLANE_IOC_TYPE, nr), &hdr),
				  -ENOTTY);
	CHECK_INT(call_raw(ep, _IO('p', 0x48), &hdr), -ENOTTY);
	CHECK_INT(call_raw(ep, _IOWR(PEERLANE_IOC_TYPE, 0x47, hdr), &hdr), -ENOTTY);
	close(ep);
}

static void the_file_is_no_region_and_has_no_other_uses(void)
{
	int ep = ep_new();
	char byte = 0;

	CHECK(map(ep, PAGE) == MAP_FAILED);
	CHECK(errno == ENODEV);
	CHECK(write(ep, &byte, 1) == -1 && errno == EINVAL);
	CHECK(lseek(ep, 0, SEEK_SET) == -1 && errno == ESPIPE);
	CHECK_INT(ep_bind(ep, 0, ep), -EBADF);
	close(ep);
}

/* The text is cut to the room for it, and ends. */
static void a_text_fits_into_little_room(void)
{
	struct peerlane_endpoint_create args = SETTINGS(.lanes = 17);
	int control = open_control();
	char room[8] = "xxxxxxx";

	args.size = sizeof(args);
	args.msg_ptr = (uintptr_t)room;
	args.msg_len = 4;
	CHECK_INT(call_raw(control, PEERLANE_IOC_ENDPOINT_CREATE, &args), -EINVAL);
	CHECK(room[3] == '\0' && strlen(room) == 3 && room[4] == 'x');
	close(control);
}

int main(void)
{
	static const struct tap_case cases[] = {
		TAP_CASE(each_command_works),
		TAP_CASE(a_short_struct_is_refused),
		TAP_CASE(a_long_struct_with_an_empty_tail_works),
		TAP_CASE(a_long_struct_with_a_tail_is_refused),
		TAP_CASE(unknown_flags_are_refused),
		TAP_CASE(reserved_fields_have_to_be_0),
		TAP_CASE(a_bad_pointer_is_refused),
		TAP_CASE(an_argument_that_cannot_be_written_leaks_nothing),
		TAP_CASE(a_connection_that_cannot_be_handed_out_stays),
		TAP_CASE(the_wrong_file_is_refused),
		TAP_CASE(unknown_numbers_are_refused),
		TAP_CASE(the_file_is_no_region_and_has_no_other_uses),
		TAP_CASE(a_text_fits_into_little_room),
	};

	return HARNESS_RUN(cases);
}
