# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Kernels that the rig builds: Debian's newest linux-source with base.config and
# <name>.config of selftests/vm/config. Sourced by selftests/vm/kernel, which
# has $here, $cache, say() and die(), and by whose apt the source comes.

built_names='debug lab'
build_config=${here:?}/config
build_cache=${cache:?}
# Counts changes of this file that make earlier builds unfit.
build_layout=1

is_built_kind() { [[ " $built_names " == *" $1 "* ]]; }

# newest_source: prints "package version" of the newest linux-source there is.
newest_source() {
	rig_apt_names linux-source- | grep -E '^linux-source-[0-9]+[.][0-9]+$' | rig_apt_newest
}

# keep_source: the tar file and its version, in $build_cache/source. The version
# stays what it was until somebody asks for a newer one, so that a build does not
# go stale by itself and needs no network.
keep_source() {
	local dir=$build_cache/source
	[ -s "$dir/version" ] && [ -s "$dir/linux.tar.xz" ] || renew_source
}

renew_source() {
	local dir=$build_cache/source pkg version newest tmp tar
	rig_apt_setup "$build_cache/apt-source" sid
	say "reading the package lists of sid"
	rig_apt_retry rig_apt_get -q update >&2
	newest=$(newest_source) || die "no linux-source package in sid"
	read -r pkg version <<<"$newest"
	[ "$(cat "$dir/version" 2>/dev/null)" != "$version" ] || return 0
	say "fetching $pkg $version"
	tmp=$(mktemp -d "$build_cache/.new-source.XXXXXX")
	(cd "$tmp" && rig_apt_retry rig_apt_get -q download "$pkg" >&2)
	dpkg-deb -x "$tmp"/*.deb "$tmp/root"
	tar=$(find "$tmp/root/usr/src" -name '*.tar.xz')
	mkdir -p "$dir"
	# The version comes last: it says the tar file is whole and of that version.
	rm -f "$dir/version"
	mv "$tar" "$dir/linux.tar.xz"
	echo "$version" >"$dir/version"
	rm -rf "$tmp"
}

# keep_ynl: the source's netlink tools and schemas, which tests compare ours with.
keep_ynl() {
	local final tmp
	keep_source
	final=$(ynl_path)
	[ -d "$final" ] && return
	say "unpacking the netlink tools of linux-source $(<"$build_cache/source/version")"
	tmp=$(mktemp -d "$build_cache/.ynl.XXXXXX")
	# shellcheck disable=SC2064 # the folder of now is what must go
	trap "rm -rf '$tmp'" EXIT
	tar -C "$tmp" --strip-components=1 --wildcards -xf "$build_cache/source/linux.tar.xz" \
		'*/tools/net/ynl' '*/Documentation/netlink/*.yaml' '*/include/uapi/linux/genetlink.h'
	chmod 755 "$tmp"
	rm -rf "$build_cache"/ynl-*
	mv -T "$tmp" "$final"
	trap - EXIT
}

ynl_path() {
	[ -s "$build_cache/source/version" ] || return 1
	echo "$build_cache/ynl-$(<"$build_cache/source/version")"
}

# build_key NAME: what decides whether a built kernel is still the right one.
build_key() {
	{
		cat "$build_cache/source/version" "$build_config/base.config" "$build_config/$1.config"
		gcc --version | head -n 1
		echo "$build_layout"
	} | sha256sum | cut -c1-16
}

built_path() {
	[ -s "$build_cache/source/version" ] || return 1
	echo "$build_cache/$1-$(build_key "$1")"
}

# unpack_source TARGET: without what no x86 build reads.
unpack_source() {
	mkdir -p "$1"
	tar -C "$1" --strip-components=1 --exclude='*/drivers/gpu/drm/amd/include' \
		--exclude='*/tools/testing/*' --exclude='*/Documentation/*/*' \
		--exclude='*/arch/[!x]*/*.[cSh]' --exclude='*.dts*' -xf "$build_cache/source/linux.tar.xz"
}

# configure NAME SOURCE OUT: all options off but ours, and what they need.
configure() {
	local name=$1 src=$2 out=$3 line symbol lost=''
	mkdir -p "$out"
	{
		cat "$build_config/base.config" "$build_config/$name.config"
		echo "CONFIG_LOCALVERSION=\"-peerlane-$name\""
	} >"$out/wanted.config"
	KCONFIG_ALLCONFIG=$out/wanted.config make -s -C "$src" O="$out" allnoconfig >&2
	# An option whose dependency is missing goes without a word.
	while read -r line; do
		case $line in
		'# CONFIG_'*' is not set')
			symbol=${line#\# }
			! grep -q "^${symbol%% *}=" "$out/.config" || lost+=" ${symbol%% *}"
			;;
		CONFIG_*) grep -qxF -- "$line" "$out/.config" || lost+=" ${line%%=*}" ;;
		esac
	done <"$out/wanted.config"
	[ -z "$lost" ] || die "$name: the configuration lost$lost"
}

# show_progress NAME: a line now and then for what make says.
show_progress() {
	local count=0 next=15 line begin=$SECONDS
	while IFS= read -r line; do
		case $line in
		'  CC'* | '  AS'* | '  LD'*) count=$((count + 1)) ;;
		'  '*) ;;
		*) printf '%s\n' "$line" >&2 ;;
		esac
		if [ $((SECONDS - begin)) -ge "$next" ]; then
			next=$((SECONDS - begin + 15))
			say "building $1: $count files, $((SECONDS - begin)) s"
		fi
	done
}

# compile NAME SOURCE OUT ROOT: kernel, modules, and what modules are built with.
compile() {
	local name=$1 src=$2 out=$3 root=$4 rel
	local make=(make --no-print-directory -C "$src" "O=$out" KCFLAGS=-w)
	"${make[@]}" "-j$(nproc)" vmlinux modules 2>&1 | show_progress "$name"
	rel=$("${make[@]}" -s kernelrelease)
	"${make[@]}" -s "INSTALL_MOD_PATH=$root" INSTALL_MOD_STRIP=1 modules_install >&2
	cp "$out/vmlinux" "$root/vmlinux"
	cp "$out/.config" "$root/config"
	cp "$out/System.map" "$root/System.map"
	# Entered by PVH; nobody needs a compressed one.
	ln -s vmlinux "$root/vmlinuz"
	"${make[@]}" -s run-command \
		KBUILD_RUN_COMMAND="+\$(srctree)/scripts/package/install-extmod-build $root/build" >&2
	rm -f "$root/lib/modules/$rel/build" "$root/lib/modules/$rel/source"
	ln -s ../../../build "$root/lib/modules/$rel/build"
	echo "$rel" >"$root/release"
}

# build NAME: into the cache, unless it is there.
build() {
	local name=$1 final tmp begin=$SECONDS
	locked source keep_source
	final=$(built_path "$name")
	complete "$final" && return
	tmp=$(mktemp -d "$build_cache/.build-$name.XXXXXX")
	# shellcheck disable=SC2064 # the folder of now is what must go
	trap "rm -rf '$tmp'" EXIT
	say "building $name from linux-source $(<"$build_cache/source/version") (once; some minutes)"
	unpack_source "$tmp/src"
	configure "$name" "$tmp/src" "$tmp/out"
	mkdir "$tmp/root"
	compile "$name" "$tmp/src" "$tmp/out" "$tmp/root"
	chmod 755 "$tmp/root"
	rm -rf "$final"
	mv -T "$tmp/root" "$final"
	rm -rf "$tmp"
	trap - EXIT
	say "built $name in $((SECONDS - begin)) s: $(<"$final/release")"
}

# drop_stale NAME: earlier builds of NAME, which nobody will ask for again.
drop_stale() {
	local dir
	for dir in "$build_cache/$1"-*/; do
		[ "${dir%/}" = "$(built_path "$1")" ] || rm -rf "$dir"
	done
}
