# SPDX-FileCopyrightText: The Paddock authors
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# The subcommands. They run where a build is possible (PADDOCK_DEV_INSIDE: a root, or "host"). Sourced by ./dev.
# A command that ends in a program replaces itself by it (exec), so that signals and exit codes are the program's own.

# shellcheck source=packaging/dev/build.sh
source "$PARTS/build.sh"

BIN=$CHECKOUT/build/release/bin
readonly BIN

command_setup()
{
    local where='this system'
    [[ $PADDOCK_DEV_INSIDE == host ]] || where="the root ${PADDOCK_DEV_INSIDE##*/} (entered by ${PADDOCK_DEV_WAY:-?})"
    say "set up: $where, $(g++ --version | sed -n 1p), CMake $(cmake --version | sed -n '1s/.* //p'), Qt \
$(pkg-config --modversion Qt6Core). Next: ./dev run"
}

command_build()
{
    local preset=release
    if [[ ${1:-} && $1 != -* ]]; then
        preset=$1
        shift
    fi
    build_preset "$preset" loud "$@"
}

command_paddock()
{
    build_preset release quiet paddock paddock-sandboxd
    exec "$BIN/paddock" "$@"
}

display_answers()
{
    [[ -n ${WAYLAND_DISPLAY:-} ]] && return
    [[ -n ${DISPLAY:-} ]] || return
    ! have xdpyinfo || timeout 5 xdpyinfo >/dev/null 2>&1
}

# The sample works on this checkout, unless told otherwise; it only reads it.
command_run()
{
    local arguments=("$@")
    [[ " $* " == *' --workspace'* || " $* " == *' -w '* ]] || arguments=(--workspace "$CHECKOUT" "$@")
    build_preset release quiet paddock paddock-sandboxd
    if display_answers; then
        say 'opening the window with the sample run'
        exec "$BIN/paddock" --sample "${arguments[@]}"
    fi
    [[ -z ${DISPLAY:-} ]] || say "the display $DISPLAY does not answer"
    say 'no display: the sample run without a window. Its model is scripted, its commands are real.'
    local began code=0
    began=$(date +%s.%N)
    # Ctrl-C is for the run, which cancels and drains; we wait for it and go on with its exit code.
    trap : INT
    "$BIN/paddock" run --scenario survey "${arguments[@]}" || code=$?
    ((code != 0)) || show_report "$began"
    exit "$code"
}

# The newest report of a run that began after a moment, and its first lines.
show_report()
{
    local report
    report=$(find "${XDG_DATA_HOME:-$HOME/.local/share}/paddock" -path '*/outputs/report.md' -newermt "@$1" \
        -printf '%T@ %p\n' 2>/dev/null | sort -n | tail -n 1 | cut -d ' ' -f 2-)
    [[ -n $report ]] || return 0
    printf '\n%s\n\n' "$report"
    sed -n 1,24p "$report"
}

command_test()
{
    local preset=release seconds='' arguments=()
    while (($#)); do
        case $1 in
        --asan) preset=asan ;;
        --tsan) preset=tsan ;;
        --fuzz)
            seconds=${2:-}
            [[ $seconds =~ ^[1-9][0-9]*$ ]] || die '--fuzz wants a number of seconds, as in ./dev test --fuzz 60.' 2
            shift
            ;;
        --preset)
            preset=${2:?--preset wants a name}
            shift
            ;;
        *) arguments+=("$1") ;;
        esac
        shift
    done
    if [[ -n $seconds ]]; then
        # shellcheck source=packaging/dev/fuzz.sh
        source "$PARTS/fuzz.sh"
        run_fuzzers "$seconds" "${arguments[@]}"
    fi
    build_preset "$preset" loud
    test_environment
    exec ctest --test-dir "$CHECKOUT/build/$preset" --output-on-failure -j"$(job_count)" "${arguments[@]}"
}

# What the tests find around them. Parts in test-setup.d may export more (and may be slow the first time).
test_environment()
{
    local suppressions=$CHECKOUT/tests/support part
    export QT_QPA_PLATFORM=offscreen
    export ASAN_OPTIONS="detect_leaks=1:detect_stack_use_after_return=1:abort_on_error=0"
    export UBSAN_OPTIONS="print_stacktrace=1:halt_on_error=1"
    # Qt is not instrumented, so what is seen inside it means nothing.
    export TSAN_OPTIONS="ignore_noninstrumented_modules=1:second_deadlock_stack=1"
    [[ ! -f $suppressions/tsan.supp ]] || TSAN_OPTIONS+=":suppressions=$suppressions/tsan.supp"
    [[ ! -f $suppressions/lsan.supp ]] || export LSAN_OPTIONS="suppressions=$suppressions/lsan.supp"
    for part in "$PARTS"/test-setup.d/*.sh; do
        # shellcheck source=/dev/null
        [[ ! -f $part ]] || source "$part"
    done
}

command_cases()
{
    (($#)) || die 'which case files? ./dev cases FILE… (the shared ones are in tests/cases/data).' 2
    build_preset release quiet paddock_cases
    export QT_QPA_PLATFORM=offscreen
    exec "$BIN/paddock_cases" "$@"
}

command_bench()
{
    build_preset release quiet paddock_bench
    exec "$BIN/paddock_bench" "$@"
}

command_screenshot()
{
    # shellcheck source=packaging/dev/screenshot.sh
    source "$PARTS/screenshot.sh"
    take_screenshot "$@"
}

command_format()
{
    # shellcheck source=packaging/dev/lint.sh
    source "$PARTS/lint.sh"
    format_sources "$@"
}

command_lint()
{
    # shellcheck source=packaging/dev/lint.sh
    source "$PARTS/lint.sh"
    lint_sources "$@"
}

command_shell()
{
    compiler_cache
    (($#)) && [[ $1 == --extra ]] && shift
    (($#)) && exec "$@"
    say 'a shell where Paddock builds; leave it with exit'
    exec /bin/bash
}
