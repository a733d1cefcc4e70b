# SPDX-FileCopyrightText: The Paddock authors
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# What every part of ./dev uses: messages, the cache, small helpers. Sourced, never run.

# Everything that ./dev makes outside the checkout lives here, so that a second clone starts warm.
cache_dir()
{
    if [[ -n ${PADDOCK_CACHE:-} ]]; then
        printf '%s' "$PADDOCK_CACHE"
    elif [[ -n ${XDG_CACHE_HOME:-} ]]; then
        printf '%s' "$XDG_CACHE_HOME/paddock"
    elif [[ -n ${HOME:-} ]]; then
        printf '%s' "$HOME/.cache/paddock"
    else
        printf '%s' "${TMPDIR:-/tmp}/paddock-cache-$(id -u)"
    fi
}

say() { printf 'dev: %s\n' "$*" >&2; }

# die SENTENCE [EXIT CODE]
die()
{
    printf 'dev: %s\n' "$1" >&2
    exit "${2:-1}"
}

have() { command -v "$1" >/dev/null 2>&1; }

# The packages named in a list, one a line, comments dropped.
packages_of() { sed -e 's/#.*//' -e 's/[[:space:]]//g' -e '/^$/d' "$@"; }

# Seconds since $1 (a value of now_ms), one decimal.
now_ms()
{
    local t=${EPOCHREALTIME/[.,]/}
    printf '%s' "${t%???}"
}

seconds_since()
{
    local ms=$(($(now_ms) - $1))
    printf '%d.%d s' $((ms / 1000)) $((ms % 1000 / 100))
}

# with_lock FILE WAIT-MESSAGE FD-NAME: takes an exclusive lock for the life of this shell. The file descriptor is
# named so that children can be kept from inheriting it.
take_lock()
{
    local file=$1 message=$2 fd
    exec {fd}>>"$file" || die "cannot write $file; is the disk full or the folder read-only?"
    if ! flock --nonblock "$fd"; then
        say "$message"
        flock "$fd"
    fi
    printf -v "$3" '%s' "$fd"
}

release_lock()
{
    local fd=$1
    exec {fd}>&-
}
