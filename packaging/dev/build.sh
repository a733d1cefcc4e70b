# SPDX-FileCopyrightText: The Paddock authors
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# Configures and builds a preset of CMakePresets.json. Sourced by commands.sh.

# Options of CMake for the builds that follow, on top of the preset's.
BUILD_OPTIONS=()
build_with() { BUILD_OPTIONS=("$@"); }

compiler_cache()
{
    export CCACHE_DIR=$CACHE/ccache CCACHE_MAXSIZE=5G CCACHE_BASEDIR=$CHECKOUT CCACHE_NOHASHDIR=1
    # Without these ccache keeps nothing that uses the precompiled header.
    export CCACHE_SLOPPINESS=pch_defines,time_macros
}

# As many compilers as there are processors, but none without a gigabyte for it.
job_count()
{
    local jobs memory
    jobs=$(nproc)
    memory=$(awk '/^MemAvailable:/ { print int($2 / 1048576) }' /proc/meminfo 2>/dev/null || true)
    [[ -n $memory && $memory -lt $jobs ]] && jobs=$memory
    printf '%s' $((jobs > 0 ? jobs : 1))
}

# build_preset PRESET[:FOLDER] loud|quiet [TARGET…]. Quiet says something
# only when there is something to do, and on the error stream, because standard output belongs to the program that
# comes after.
build_preset()
{
    local preset=${1%%:*} folder=${1#*:} mode=$2 began code=0
    shift 2
    local build=$CHECKOUT/build/$folder
    grep -q "\"name\": *\"$preset\"" "$CHECKOUT/CMakePresets.json" 2>/dev/null ||
        die "there is no preset \"$preset\"; CMakePresets.json has release, debug, asan and tsan." 2
    began=$(now_ms)
    compiler_cache
    mkdir -p "$build" || die "cannot write $build"
    take_lock "$build/.dev-lock" "another build of $folder is running, waiting" BUILD_LOCK
    configure_if_needed "$preset" "$build" "$mode"
    local ninja=(ninja -C "$build" -j "$(job_count)" "$@")
    if [[ $mode == loud ]]; then
        "${ninja[@]}" {BUILD_LOCK}>&- || code=$?
    elif [[ $("${ninja[@]}" -n 2>/dev/null | tail -n 1) != *'no work to do'* ]]; then
        say "building $folder"
        "${ninja[@]}" >&2 {BUILD_LOCK}>&- || code=$?
        mode=loud
    fi
    release_lock "$BUILD_LOCK"
    ((code != 130)) || die "the build of $folder was interrupted; the next one goes on from here." 130
    ((code == 0)) || die "the build of $folder failed; the first error above counts." "$code"
    [[ $mode != loud ]] || say "built $folder in $(seconds_since "$began")"
}

# Configures where nothing is configured, and again when what decides the configuration changed. Changed CMake files
# are ninja's business.
configure_if_needed()
{
    local preset=$1 build=$2 mode=$3 options=("${BUILD_OPTIONS[@]}") stamp where fresh=() log=$2/configure.log
    if [[ ${CI:-} == true ]]; then options+=(-DPADDOCK_WERROR=ON); else options+=(-DPADDOCK_WERROR=OFF); fi
    # Another compiler under the same path must not meet the answers of the old one.
    where=$(g++ -dumpfullversion)-$(pkg-config --modversion Qt6Core 2>/dev/null || true)
    stamp="$where ${options[*]} $(cksum <"$CHECKOUT/CMakePresets.json")"
    if [[ -f $build/build.ninja && $(cat "$build/.dev-configured" 2>/dev/null) == "$stamp" ]]; then
        return
    fi
    say "configuring ${build##*/}"
    [[ $(cat "$build/.dev-configured" 2>/dev/null) == "$where "* ]] || fresh=(--fresh)
    if ! (cd "$CHECKOUT" && cmake --preset "$preset" -B "$build" "${fresh[@]}" "${options[@]}") >"$log" 2>&1 \
        {BUILD_LOCK}>&-; then
        tail -n 30 "$log" >&2
        die "CMake failed; the whole log is $log."
    fi
    printf '%s' "$stamp" >"$build/.dev-configured"
}
