# shellcheck shell=bash
# Sourced by the scripts beside it: packages, interpreters and virtual environments, each made only when missing.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
cache=$root/.cache
log=$cache/setup.log
venv=$root/.venv
mkdir -p "$cache"

base_packages=(
	python3 python3-venv python3-pip python3-pyverbs rdma-core ibverbs-providers iproute2 ethtool ca-certificates
)

say() { printf '%s\n' "$*"; }

die() {
	printf '%s: %s\n' "${0##*/}" "$*" >&2
	exit 1
}

# quietly WHAT COMMAND…: one line on the screen, the command's output in the log; on failure its tail.
quietly() {
	local what=$1 begun=$SECONDS
	shift
	printf '  %s …' "$what"
	printf '\n### %s: %s\n' "$what" "$*" >>"$log"
	if "$@" >>"$log" 2>&1 </dev/null; then
		printf ' done (%d s)\n' $((SECONDS - begun))
		return
	fi
	printf ' failed\n\n'
	tail -n 20 "$log" | sed 's/^/    /'
	printf '\nAll of it: %s\n' "$log"
	return 1
}

# --- root rights and apt

can_be_root() { [ "$(id -u)" = 0 ] || command -v sudo >/dev/null; }

as_root() {
	if [ "$(id -u)" = 0 ]; then
		"$@"
	else
		sudo "$@"
	fi
}

installed() { [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]; }

# missing PACKAGE…: print those that are not installed.
missing() {
	local package
	for package; do
		installed "$package" || printf '%s\n' "$package"
	done
}

apt_get() {
	as_root env DEBIAN_FRONTEND=noninteractive NEEDRESTART_SUSPEND=1 apt-get -qy -o DPkg::Lock::Timeout=300 "$@"
}

# install_packages PACKAGE…: those that are missing. Package lists are fetched only when something is.
install_packages() {
	local needed
	command -v apt-get >/dev/null || die "this script installs with apt (Debian, Ubuntu). Install by hand what stands for: $*"
	mapfile -t needed < <(missing "$@")
	[ ${#needed[@]} -gt 0 ] || return 0
	can_be_root || die "an administrator must install: apt-get install ${needed[*]}"
	say "As root, with apt: ${needed[*]}"
	quietly "fetching apt's package lists" apt_get update ||
		die "apt has no usable package lists; mend /etc/apt/sources.list or the network, and start again"
	quietly "installing ${#needed[@]} packages" apt_get install --no-install-recommends "${needed[@]}" ||
		die "apt could not install them; try by hand: apt-get install ${needed[*]}"
}

# --- interpreters

# is_python COMMAND MINIMUM: it runs (a pyenv shim may not), is new enough (as "3, 10") and can make an environment.
is_python() { "$1" -c "import sys, venv, ensurepip; sys.exit(sys.version_info < ($2))" >/dev/null 2>&1; }

# python_named 3.N: print the first one of that version that runs.
python_named() {
	local found
	while read -r found; do
		if is_python "$found" "${1/./, }"; then
			printf '%s\n' "$found"
			return
		fi
	done < <(type -aP "python$1"; compgen -G "$HOME/.pyenv/versions/$1.*/bin/python$1")
	return 1
}

main_python() {
	local name
	if is_python python3 "3, 10"; then
		command -v python3
		return
	fi
	for name in 3.13 3.12 3.11 3.10; do
		python_named "$name" && return
	done
	return 1
}

need_python() {
	main_python ||
		die "Python 3.10 or newer is needed ($(python3 -V 2>&1 || true) is here). Debian 12, Ubuntu 22.04 and later have one:
    apt-get install python3 python3-venv
  On an older system install a newer Python beside it and put it into PATH as python3.12, for example."
}

minor_of() { "$1" -c 'import sys; print("%d.%d" % sys.version_info[:2])'; }

# --- virtual environments

# make_venv DIRECTORY PYTHON PIP-ARGUMENT…: made once, and again when interpreter, place or pyproject.toml is another.
# What other calls installed into it stays.
make_venv() {
	local directory=$1 python=$2 made_from
	shift 2
	made_from="$("$python" -V) $directory $(sha256sum <"$root/pyproject.toml")"
	if [ "$(head -n 1 "$directory/.made-from" 2>/dev/null)" != "$made_from" ]; then
		say "Virtual environment ${directory#"$root"/} ($("$python" -V))"
		quietly "creating it" "$python" -m venv --clear "$directory" &&
			quietly "bringing pip up to date" pip_in "$directory" --upgrade "pip>=25.1" &&
			printf '%s\n' "$made_from" >"$directory/.made-from" || return
	fi
	grep -qxF -- "$*" "$directory/.made-from" && return
	quietly "installing into ${directory#"$root"/}: $*" pip_in "$directory" "$@" &&
		printf '%s\n' "$*" >>"$directory/.made-from"
}

pip_in() {
	local directory=$1
	shift
	# Groups and "." are those of the current directory.
	(cd "$root" && "$directory/bin/python" -m pip install -q --disable-pip-version-check --no-input "$@")
}

make_main_venv() {
	local python
	python=$(need_python)
	make_venv "$venv" "$python" --editable . "$@" ||
		die "the Python packages could not be installed; pip needs an index: see PIP_INDEX_URL, or the network"
}

# --- the lab in a VM

# why_no_lab: print why the lab cannot be had on this machine, if so.
why_no_lab() {
	case $root in *' '*) say "virtme-ng does not run from a path with a space in it: $root" && return ;; esac
	local id
	# shellcheck disable=SC1091
	id=$(. /etc/os-release && printf '%s %s' "${ID:-?}" "${VERSION_ID:-?}")
	case $id in
	"debian 12" | "debian 13") ;;
	*) say "it takes its kernel from Debian's packages, so it needs Debian 12 or 13 (this is $id)" && return ;;
	esac
	[ "$(uname -m)" = x86_64 ] || { say "its kernel is for x86-64 (this is $(uname -m))" && return; }
	[ -f "$root/tests/lab/boot.py" ] || { say "tests/lab is not in this copy" && return; }
	can_be_root || say "making its kernel module needs root rights"
}

lab_packages() { sed 's/#.*//' "$root/tests/lab/packages.txt" | xargs -n1; }

lab_cache() { printf '%s\n' "${FABRICDOCTOR_LAB_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/fabricdoctor-lab}"; }

# lab_kernel: fetch and build what the lab boots. Only this needs root; the VM itself runs as the caller.
lab_kernel() {
	FABRICDOCTOR_LAB_CACHE=$(lab_cache)
	export FABRICDOCTOR_LAB_CACHE
	as_root env FABRICDOCTOR_LAB_CACHE="$FABRICDOCTOR_LAB_CACHE" "$venv/bin/python" "$root/tests/lab/kernel.py" || return
	if [ "$(id -u)" != 0 ]; then
		(cd "$FABRICDOCTOR_LAB_CACHE" && as_root chown -R "$(id -u):$(id -g)" . .lock kernels modules)
	fi
}
