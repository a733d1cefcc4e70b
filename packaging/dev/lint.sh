# SPDX-FileCopyrightText: The Paddock authors
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# format and lint. Both take files, or --all; without either, lint looks at what changed. Sourced by commands.sh.

in_checkout() { git -c safe.directory="$CHECKOUT" -C "$CHECKOUT" "$@"; }

all_sources() { in_checkout ls-files -z -- '*.h' '*.cpp'; }

# What differs from the last commit and what is new; on a clean tree, what the last commit changed.
changed_sources()
{
    local changed
    changed=$({
        in_checkout diff --name-only --diff-filter=d HEAD -- '*.h' '*.cpp'
        in_checkout ls-files --others --exclude-standard -- '*.h' '*.cpp'
    } | sort -u)
    [[ -n $changed ]] || changed=$(in_checkout diff --name-only --diff-filter=d HEAD~1 HEAD -- '*.h' '*.cpp' 2>/dev/null)
    [[ -z $changed ]] || tr '\n' '\0' <<<"$changed"
}

# Sets SOURCES from the arguments: files, or --all, or nothing.
choose_sources()
{
    local otherwise=$1
    shift
    if [[ ${1:-} == --all ]]; then
        mapfile -d '' SOURCES < <(all_sources)
    elif (($#)); then
        mapfile -d '' SOURCES < <(realpath -z --relative-to="$CHECKOUT" -- "$@")
    else
        mapfile -d '' SOURCES < <("$otherwise")
    fi
    cd "$CHECKOUT" || exit
}

format_sources()
{
    local check=()
    if [[ ${1:-} == --check ]]; then
        check=(--dry-run -Werror)
        shift
    fi
    choose_sources all_sources "$@"
    ((${#SOURCES[@]})) || die 'there is nothing to format.' 2
    have clang-format || die 'clang-format is missing here; leave this shell and run ./dev format from outside.' 2
    if ((${#check[@]})); then
        printf '%s\0' "${SOURCES[@]}" | xargs -0 -n 40 -P "$(job_count)" clang-format "${check[@]}" ||
            die 'some files are not formatted; ./dev format does it.'
        say "${#SOURCES[@]} files are formatted"
        return
    fi
    printf '%s\0' "${SOURCES[@]}" | xargs -0 -n 40 -P "$(job_count)" clang-format -i
    say "formatted ${#SOURCES[@]} files"
}

lint_sources()
{
    local failed=() file sources=() began complaints
    choose_sources changed_sources "$@"
    have clang-tidy || die 'clang-tidy is missing here; leave this shell and run ./dev lint from outside.' 2
    began=$(now_ms)
    say 'reuse: every file names its licence'
    reuse --root "$CHECKOUT" lint --quiet || { reuse --root "$CHECKOUT" lint --lines >&2 || true; failed+=(reuse); }
    say 'shellcheck: the scripts'
    shellcheck -x dev .ci/run packaging/dev/*.sh || failed+=(shellcheck)
    # Headers are seen through the sources that include them; only what is compiled has a command line.
    for file in "${SOURCES[@]}"; do
        [[ $file != *.cpp || $file == tests/fuzz/* || $file == tests/bench/* ]] || sources+=("$file")
    done
    if ((${#sources[@]})); then
        configure_for_lint
        say "clang-tidy: ${#sources[@]} files"
        printf '%s\0' "${sources[@]}" | xargs -0 -n 1 -P "$(job_count)" \
            clang-tidy -p build/lint --quiet --warnings-as-errors='*' 2>/dev/null || failed+=(clang-tidy)
        say "clazy: ${#sources[@]} files"
        complaints=$(printf '%s\0' "${sources[@]}" | xargs -0 -n 4 -P "$(job_count)" \
            clazy-standalone -p build/lint --checks=level0,level1 2>&1 | grep -E ' (warning|error): ' | sort -u || true)
        [[ -z $complaints ]] || { printf '%s\n' "$complaints" && failed+=(clazy); }
    fi
    ((${#failed[@]} == 0)) || die "lint found something: ${failed[*]}."
    say "lint is clean (${#sources[@]} sources, $(seconds_since "$began"))"
}

# Command lines for clang: no precompiled header of GCC's, and what moc makes.
configure_for_lint()
{
    local generated
    build_with -DPADDOCK_PCH=OFF -DCMAKE_C_COMPILER=clang -DCMAKE_CXX_COMPILER=clang++
    compiler_cache
    mkdir -p build/lint
    take_lock build/lint/.dev-lock 'another lint is running, waiting' BUILD_LOCK
    configure_if_needed debug "$CHECKOUT/build/lint" quiet
    mapfile -t generated < <(ninja -C build/lint -t targets all | sed -n 's/^\([^/:]*_autogen\):.*/\1/p')
    ((${#generated[@]} == 0)) || ninja -C build/lint "${generated[@]}" >build/lint/autogen.log 2>&1 || true
    release_lock "$BUILD_LOCK"
}
