# SPDX-License-Identifier: GPL-2.0
#
# Everything a person types. The module itself is described in Kbuild, so that
# DKMS and 'make -C <kernel> M=<here>' need nothing of this file.

VERSION := $(shell cat VERSION)
BUILD := $(CURDIR)/build
PREFIX ?= /usr
DESTDIR ?=
NODES ?= 2
MPICC ?= mpicc

# 6.1, 6.12, a kernel build folder (KDIR), or nothing for the running kernel.
KERNEL ?= $(KDIR)
# W=1 for more warnings of the compiler, C=2 to run sparse on the module.
module-options := $(foreach v,W C V CC KCFLAGS,$(if $(filter command line,$(origin $(v))),$(v)=$($(v))))

SHELL := /bin/bash
.DELETE_ON_ERROR:
MAKEFLAGS += --no-print-directory

# What goes with an MPI is made where there is one.
mpi-if-there := $(if $(shell command -v $(MPICC)),mpi)

.PHONY: all lib utils mpi examples tests modules deps check check-all check-debug check-style demo bench vm-shell
.PHONY: install install-dkms-source dkms-install dkms-remove clean help

all: lib utils $(mpi-if-there) modules

lib:
	@$(MAKE) -C lib OUT=$(BUILD)

utils: lib
	@$(MAKE) -C utils OUT=$(BUILD)

mpi: lib
	@$(MAKE) -C mpi OUT=$(BUILD) MPICC=$(MPICC)

# With the library of this tree; users have theirs of pkg-config.
examples: lib
	@$(MAKE) -C examples OUT=$(BUILD)/examples CFLAGS="-O2 -g -Werror" PEERLANE_CFLAGS=-I$(CURDIR)/include \
		PEERLANE_LIBS='-L$(BUILD)/lib -lpeerlane -Wl,-rpath,$(BUILD)/lib'

# Programs that run in the virtual machines.
tests: lib examples $(mpi-if-there)
	@for d in flow region endpoint group netlink verbs random lab $(mpi-if-there); do $(MAKE) -C selftests/$$d OUT=$(BUILD) || exit; done

modules:
	@scripts/build-module "$(KERNEL)" $(module-options)

deps:
	@scripts/deps

check: deps
	@scripts/check

# With the second kernel and the larger fabrics that check leaves out.
check-all: deps
	@scripts/check --all

# Every suite that runs in virtual machines, on the kernel with all checkers on.
check-debug: deps
	@scripts/check --kernel debug

check-style:
	@scripts/check-style

demo: deps
	@$(MAKE) lib utils
	@selftests/demo

bench: deps
	@$(MAKE) lib utils
	@selftests/bench/run

vm-shell: deps
	@$(MAKE) lib utils tests
	@scripts/build-module "$(or $(KERNEL),6.12)"
	@selftests/vm/shell --nodes $(NODES) --kernel $(or $(KERNEL),6.12) --bind

# An mpicc that built it need not be in the PATH of who installs.
mpi-if-made = $(if $(wildcard $(BUILD)/mpi/libpeerlane-mpi.so),mpi)

install: lib utils $(mpi-if-there)
	@$(MAKE) -C lib OUT=$(BUILD) DESTDIR=$(DESTDIR) PREFIX=$(PREFIX) install
	@$(MAKE) -C utils OUT=$(BUILD) DESTDIR=$(DESTDIR) PREFIX=$(PREFIX) install
	@for d in $(or $(mpi-if-there),$(mpi-if-made)); do $(MAKE) -C $$d OUT=$(BUILD) MPICC=$(MPICC) DESTDIR=$(DESTDIR) PREFIX=$(PREFIX) install; done

# What DKMS builds from: /usr/src/peerlane-<version>
install-dkms-source:
	@scripts/dkms-source $(DESTDIR)$(PREFIX)/src/peerlane-$(VERSION)

dkms-install:
	@scripts/dkms-install $(KERNEL)

dkms-remove:
	dkms remove peerlane/$(VERSION) --all
	rm -rf /usr/src/peerlane-$(VERSION)

clean:
	rm -rf build

help:
	@echo 'make                       library, command, and module for the running kernel'
	@echo 'make modules KERNEL=6.1    module for stock Debian 6.1 or 6.12, or KERNEL=<build folder>'
	@echo '                           C=2: with sparse'
	@echo 'make lib | utils           the library | the command'
	@echo 'make mpi                   libpeerlane-mpi.so, where there is an mpicc'
	@echo 'make examples              programs that show how the library is used'
	@echo 'make deps                  install what building and testing need (apt)'
	@echo 'make check                 all tests; the last line is the verdict'
	@echo 'make check-all             those, too, that check leaves out to be done in an hour'
	@echo 'make check-debug           the VM suites on a kernel with KASAN, lockdep, kmemleak, ...'
	@echo 'make check-style           linters only'
	@echo 'make demo                  a tour in two virtual machines'
	@echo 'make bench                 measurements in virtual machines'
	@echo 'make vm-shell NODES=2      shells in virtual machines with everything loaded'
	@echo 'make install               library and command (DESTDIR, PREFIX=/usr)'
	@echo 'make dkms-install          module, by DKMS, for the running kernel or KERNEL=<release>'
	@echo 'make dkms-remove           undo that'
	@echo 'make clean                 remove build/'
