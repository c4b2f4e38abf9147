// SPDX-License-Identifier: GPL-2.0
/* Which memory is a GPU's, with stand-ins for the vendors' libraries. */
#include "lib_fake_gpu.h"
#include "tap.h"

#include <dlfcn.h>
#include <stdlib.h>

#include "gpu.h"

static struct fake_gpu *cuda, *hip;
static int data;

/* It stays: who asked once for its functions keeps it. */
static struct fake_gpu *load(const char *name)
{
	void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);

	if (!library)
		abort();
	return dlsym(library, "fake_gpu");
}

static void no_vendor(void)
{
	CHECK(!shim_is_of_gpu(&data));
	CHECK(!shim_is_of_gpu(NULL));
}

/* Also when it was asked for before there was one */
static void of_cuda(void)
{
	cuda = load(FAKES "/libcuda.so.1");
	CHECK(shim_is_of_gpu(&data));
	CHECK(!shim_is_of_gpu(NULL));
	cuda->host = true;
	CHECK(!shim_is_of_gpu(&data));
	cuda->host = false;
	cuda->managed = true;
	CHECK(!shim_is_of_gpu(&data));
	cuda->managed = false;
	cuda->unknown = 1;
	CHECK(!shim_is_of_gpu(&data));
}

static void of_hip(void)
{
	cuda->unknown = 1;
	hip = load(FAKES "/libamdhip64.so.6");
	CHECK(shim_is_of_gpu(&data));
	hip->host = true;
	CHECK(!shim_is_of_gpu(&data));
}

/* The program finds the errors of its own calls. */
static void last_error(void)
{
	hip->unknown = 1;
	hip->last_error = 0;
	CHECK(!shim_is_of_gpu(&data));
	CHECK_INT(hip->last_error, 0);
	hip->last_error = 1;
	CHECK(!shim_is_of_gpu(&data));
	CHECK_INT(hip->last_error, 1);
}

static const struct tap_case cases[] = {
	TAP_CASE(no_vendor),
	TAP_CASE(of_cuda),
	TAP_CASE(of_hip),
	TAP_CASE(last_error),
};

int main(void)
{
	return TAP_RUN(cases);
}
