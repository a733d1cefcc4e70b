# SPDX-FileCopyrightText: The Paddock authors
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# Runs every fuzz target for a while. A target is a program fuzz_NAME, its seeds are in tests/fuzz/corpus/NAME; what a
# run learns is kept in the cache, what breaks it is written to build/fuzz. Ends the script. Sourced by commands.sh.

run_fuzzers()
{
    local seconds=$1 program name code=0 failed=() count=0
    shift
    [[ -f $CHECKOUT/tests/fuzz/CMakeLists.txt ]] || die 'there are no fuzz targets in tests/fuzz yet.' 2
    have clang++ || die 'clang is missing in this shell; leave it and run ./dev test --fuzz from outside.' 2
    build_with -DCMAKE_C_COMPILER=clang -DCMAKE_CXX_COMPILER=clang++ -DPADDOCK_FUZZ=ON -DPADDOCK_GUI=OFF \
        -DPADDOCK_SANITIZE=address
    build_preset debug:fuzz loud paddock_fuzz
    for program in "$CHECKOUT"/build/fuzz/bin/fuzz_*; do
        [[ -x $program ]] || continue
        name=${program##*/fuzz_}
        [[ -z ${1:-} || " $* " == *" $name "* ]] || continue
        count=$((count + 1))
        mkdir -p "$CACHE/fuzz/$name"
        local seeds=()
        [[ ! -d $CHECKOUT/tests/fuzz/corpus/$name ]] || seeds=("$CHECKOUT/tests/fuzz/corpus/$name")
        say "fuzzing $name for $seconds s"
        "$program" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
            -artifact_prefix="$CHECKOUT/build/fuzz/$name-" "$CACHE/fuzz/$name" "${seeds[@]}" || failed+=("$name")
    done
    ((count)) || die 'no fuzz target has that name.' 2
    ((${#failed[@]} == 0)) || code=1
    printf '%d fuzz targets ran, %d failed%s\n' "$count" "${#failed[@]}" "${failed[*]:+: ${failed[*]}}"
    exit "$code"
}
