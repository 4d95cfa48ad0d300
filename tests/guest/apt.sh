# SPDX-License-Identifier: GPL-2.0-or-later
# Debian packages of any suite and architecture, unpacked without installing: apt works in a folder of its own. Neither the package lists nor the
# states of this machine are touched, and no root is needed. For scripts that are to set `what`, which is named where it cannot be had.
PATH=$PATH:/sbin:/usr/sbin
export LC_ALL=C
mirror=${GUEST_MIRROR:-http://deb.debian.org}
keys=/usr/share/keyrings/debian-archive-keyring.gpg

# no WHY: it cannot be had on this machine. Status 77, or $unavailable.
no() {
	echo "$what cannot be had: $*" >&2
	exit "${unavailable:-77}"
}

# need TOOL...
need() {
	for tool; do
		command -v "$tool" >/dev/null || no "no $tool"
	done
}

# apt_open FOLDER ARCHITECTURE SUITE...: apt in a new FOLDER knows these suites and nothing else. Sets APT_CONFIG.
apt_open() {
	local folder=$1 architecture=$2 suite archive
	shift 2
	need apt-get apt-cache dpkg-deb
	[ -r "$keys" ] || no "no $keys"
	mkdir -p "$folder/lists/partial" "$folder/cache/archives/partial" "$folder/debs"
	: >"$folder/status"
	for suite; do
		case $suite in
		*-security) archive=debian-security ;;
		*) archive=debian ;;
		esac
		echo "deb [arch=$architecture signed-by=$keys] $mirror/$archive $suite main"
	done >"$folder/sources.list"
	cat >"$folder/apt.conf" <<-CONF
	Dir::Etc::sourcelist "$folder/sources.list";
	Dir::Etc::sourceparts "/dev/null";
	Dir::State "$folder";
	Dir::State::status "$folder/status";
	Dir::State::lists "$folder/lists";
	Dir::Cache "$folder/cache";
	APT::Architecture "$architecture";
	APT::Architectures "$architecture";
	APT::Sandbox::User "";
	Acquire::Languages "none";
	Acquire::Retries "2";
	Acquire::http::Timeout "20";
	CONF
	export APT_CONFIG="$folder/apt.conf"
	apt_folder=$folder
	apt-get update -qq >"$folder/log" 2>&1 || no "$(tail -1 "$folder/log")"
}

# unpack FOLDER PACKAGE...: the newest versions of these packages, into FOLDER.
unpack() {
	local into=$1 package
	shift
	(cd "$apt_folder/debs" && apt-get download -qq "$@") >"$apt_folder/log" 2>&1 || no "$(tail -1 "$apt_folder/log")"
	for package; do
		dpkg-deb -x "$apt_folder/debs/${package%%/*}"_*.deb "$into" || no "$package cannot be unpacked"
	done
	rm -f "$apt_folder"/debs/*.deb
}

# needed PACKAGE START: the first of its dependencies whose name starts so.
needed() {
	apt-cache depends "$1" 2>/dev/null | sed -n "s/.*Depends: <*\\($2[^ >]*\\)>*\$/\\1/p" | head -n 1
}
