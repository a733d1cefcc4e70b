# SPDX-FileCopyrightText: The Paddock authors
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# Which system this is, and whether it can build Paddock itself or needs a root. Sourced by ./dev.

HOST_ID='' HOST_LIKE='' HOST_VERSION='' HOST_CODENAME=''

read_host()
{
    local file=${PADDOCK_DEV_OS_RELEASE:-/etc/os-release}
    [[ -r $file ]] || file=/usr/lib/os-release
    [[ -r $file ]] || return 0
    local key value
    while IFS='=' read -r key value; do
        value=${value#[\"\']}
        value=${value%[\"\']}
        case $key in
        ID) HOST_ID=$value ;;
        ID_LIKE) HOST_LIKE=$value ;;
        VERSION_ID) HOST_VERSION=$value ;;
        VERSION_CODENAME) HOST_CODENAME=${HOST_CODENAME:-$value} ;;
        UBUNTU_CODENAME | DEBIAN_CODENAME) HOST_CODENAME=$value ;;
        esac
    done <"$file"
}

# debian, ubuntu or other: the family decides names of packages, suite and keyring.
host_family()
{
    case " $HOST_ID $HOST_LIKE " in
    *' ubuntu '*) printf ubuntu ;;
    *' debian '*) printf debian ;;
    *) printf other ;;
    esac
}

# True where the distribution itself has GCC 14 and Qt 6.8 or newer. Debian testing and unstable have no VERSION_ID.
host_is_new_enough()
{
    local major=${HOST_VERSION%%.*}
    case $HOST_ID in
    debian) [[ -z $major || $major -ge 13 ]] ;;
    ubuntu) [[ -n $major && $major -ge 25 ]] ;;
    *) return 1 ;;
    esac
}

# missing_on_host PACKAGE...: prints those that are not installed.
missing_on_host()
{
    local installed
    installed=$(dpkg-query -W -f '${db:Status-Abbrev}\t${binary:Package}\n' 2>/dev/null |
        sed -n -e 's/^.i.\?\t//p' | sed -e 's/:.*//')
    # Names first, installed ones second: what only the first has is missing.
    comm -23 <(printf '%s\n' "$@" | sort -u) <(printf '%s\n' "$installed" | sort -u)
}

# Prints how this machine can work: "host" (packages are there), "install" (root may install them), "root", "other".
# PADDOCK_DEV_HOST=root|host overrides.
host_plan()
{
    local flavour=$1
    case ${PADDOCK_DEV_HOST:-} in
    root | host)
        printf '%s' "$PADDOCK_DEV_HOST"
        return
        ;;
    esac
    if [[ $(host_family) == other ]]; then
        printf other
        return
    fi
    if host_is_new_enough; then
        local wanted
        mapfile -t wanted < <(packages_for_host "$flavour")
        if [[ -z $(missing_on_host "${wanted[@]}") ]]; then
            printf host
            return
        fi
        if [[ $(id -u) == 0 ]]; then
            printf 'install'
            return
        fi
    fi
    printf root
}

packages_for_host()
{
    packages_of "$PARTS/packages-base.txt"
    [[ $1 == extra ]] && packages_of "$PARTS/packages-extra.txt"
    return 0
}

install_on_host()
{
    local flavour=$1 wanted missing log
    mapfile -t wanted < <(packages_for_host "$flavour")
    mapfile -t missing < <(missing_on_host "${wanted[@]}")
    log=$CACHE/setup.log
    mkdir -p "$CACHE"
    take_lock "$CACHE/lock" 'another set-up is running, waiting' SETUP_LOCK
    say "installing ${#missing[@]} packages with apt-get (log: $log)"
    if ! { DEBIAN_FRONTEND=noninteractive apt-get update -q &&
        DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "${missing[@]}"; } >"$log" 2>&1 \
        {SETUP_LOCK}>&-; then
        tail -n 20 "$log" >&2
        die "apt-get failed; the whole log is $log. Run ./dev setup again to resume."
    fi
    release_lock "$SETUP_LOCK"
}

die_other_system()
{
    die "this system (${HOST_ID:-unknown}) is neither Debian nor Ubuntu, and ./dev can set up only those: install a \
C++23 compiler (GCC 14 or newer), CMake 3.28, Ninja, Qt 6.8 (Base, Svg, WebSockets, Tools), KF6 SyntaxHighlighting, \
QCoro, QtKeychain, yaml-cpp, nlohmann-json, SQLite 3, zstd, libvterm, libmicrohttpd, libseccomp and bubblewrap, then \
build with cmake as README.md shows." 2
}
