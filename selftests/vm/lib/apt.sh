# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# An apt of the rig's own.  The machine's apt says where its mirror is and how
# to reach it; lists, cache and sources are ours, so its state is not touched.

rig_apt_dir=''

# machine_targets: "release component repo-uri" for each index the machine's
# apt would read.  apt itself parses its sources, so both formats are covered.
machine_targets() {
	apt-get indextargets --format "\$(RELEASE) \$(COMPONENT) \$(REPO_URI) \$(ORIGIN)" \
		'Created-By: Packages' 2>/dev/null || true
}

# mirror_of SUITE: the URI that serves SUITE.  The main archive serves its
# backports too, though few machines list them; security has its own URI, and
# a machine that does not list it does without.
mirror_of() {
	local suite=$1 targets uri=''
	if [ -n "${PEERLANE_DEBIAN_MIRROR:-}" ] && [[ $suite != *-security ]]; then
		echo "$PEERLANE_DEBIAN_MIRROR"
		return
	fi
	targets=$(machine_targets)
	uri=$(awk -v s="$suite" '$1 == s && $2 == "main" { print $3; exit }' <<<"$targets")
	if [ -z "$uri" ] && [[ $suite != *-security ]]; then
		uri=$(awk -v s="${suite%%-*}" '$1 == s && $2 == "main" { print $3; exit }' <<<"$targets")
	fi
	if [ -z "$uri" ] && [[ $suite != *-security ]]; then
		uri=$(awk '$4 == "Debian" && $2 == "main" && $1 !~ /security/ { print $3; exit }' <<<"$targets")
	fi
	[ -n "$uri" ] && echo "$uri"
}

# rig_apt_setup DIR "SUITE...": write the configuration.
rig_apt_setup() {
	local dir=$1 suites=$2 suite uri options='' found=''
	local keyring=/usr/share/keyrings/debian-archive-keyring.gpg
	rig_apt_dir=$dir
	mkdir -p "$dir"/{state/lists/partial,cache/archives/partial,empty}
	: >"$dir/state/status"
	[ -e "$keyring" ] && options=" signed-by=$keyring"
	: >"$dir/sources.list"
	for suite in $suites; do
		uri=$(mirror_of "$suite") || continue
		echo "deb [arch=amd64$options] $uri $suite main" >>"$dir/sources.list"
		[[ $suite == *-security ]] || found=yes
	done
	if [ -z "$found" ]; then
		echo "apt: this machine's sources name no Debian mirror; set PEERLANE_DEBIAN_MIRROR" >&2
		return 1
	fi
	{
		# Proxies and the like are the machine's; a hook is not.
		apt-config dump | grep -E '^Acquire::(http|https|ftp|Check|Retries|ForceIPv)' || true
		cat <<-CONF
		Dir::State "$dir/state";
		Dir::State::status "$dir/state/status";
		Dir::Cache "$dir/cache";
		Dir::Log "$dir";
		Dir::Etc::main "/dev/null";
		Dir::Etc::parts "$dir/empty";
		Dir::Etc::preferences "/dev/null";
		Dir::Etc::preferencesparts "$dir/empty";
		Dir::Etc::sourcelist "$dir/sources.list";
		Dir::Etc::sourceparts "$dir/empty";
		APT::Architecture "amd64";
		APT::Architectures "amd64";
		APT::Sandbox::User "root";
		APT::Get::List-Cleanup "true";
		Acquire::Languages "none";
		Acquire::Retries "3";
		CONF
	} >"$dir/apt.conf"
}

rig_apt_get() { APT_CONFIG=$rig_apt_dir/apt.conf apt-get -o APT::Update::Error-Mode=any "$@"; }
rig_apt_cache() { APT_CONFIG=$rig_apt_dir/apt.conf apt-cache "$@"; }

# rig_apt_retry COMMAND...: mirrors have bad moments longer than apt's retries.
rig_apt_retry() {
	local try
	for try in 1 2 3 4; do
		"$@" && return 0
		echo "apt: attempt $try failed" >&2
		[ "$try" -eq 4 ] || sleep $((try * 5))
	done
	return 1
}

rig_apt_names() { rig_apt_cache pkgnames "$1"; }

# rig_apt_version PACKAGE: its newest version; fails for a mere name.
rig_apt_version() {
	rig_apt_cache --no-all-versions show "$1" 2>/dev/null |
		awk '/^Version:/ { print $2; found = 1; exit } END { exit !found }'
}

# rig_apt_newest: of the packages named on standard input, "name version" of the
# one with the newest version.
rig_apt_newest() {
	local pkg version best='' best_version=''
	while read -r pkg; do
		version=$(rig_apt_version "$pkg") || continue
		if [ -z "$best" ] || dpkg --compare-versions "$version" gt "$best_version"; then
			best=$pkg best_version=$version
		fi
	done
	[ -n "$best" ] && echo "$best $best_version"
}

rig_apt_depends() {
	rig_apt_cache --no-all-versions show "$1" 2>/dev/null |
		sed -n 's/^\(Pre-\)\?Depends: //p' | tr ',' '\n' |
		sed 's/^ *//; s/[ :|(].*//'
}
