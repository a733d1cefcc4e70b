# SPDX-FileCopyrightText: The Paddock authors
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# Makes a root (a folder with a small, newer Debian or Ubuntu in it) from the host's own package mirror, without
# being root: packages are resolved and downloaded by the host's apt with state of its own, and unpacked, not installed
# (no maintainer script runs). Sourced by ./dev.
#
#   <cache>/root-KEY       a finished root; KEY is a hash of all that decides its contents
#   <cache>/root-KEY.tmp.N one being unpacked; without its process it is rubbish and removed by the next set-up
#   <cache>/debs           the packages of all roots, and KEY.list: which ones a root is made of, with their checksums
#   <cache>/apt            apt's lists and state
#   <cache>/lock           held while any of these change
#   <cache>/setup.log      what the programs said; shown when a step fails

# Raise it when a change below makes a different root out of the same packages.
readonly RECIPE=1
# A root that nobody entered for so many days is removed by the next set-up.
readonly KEEP_DAYS=30

# The newer system that the root is made of, by family.
root_suite()
{
    case $(host_family) in
    ubuntu) printf '%s' "${PADDOCK_DEV_SUITE:-resolute}" ;;
    *) printf '%s' "${PADDOCK_DEV_SUITE:-trixie}" ;;
    esac
}

packages_for_root()
{
    packages_of "$PARTS/packages-root.txt"
    packages_for_host "$1"
}

root_key()
{
    { packages_for_root "$1" && printf '%s\n' "$RECIPE" "$(root_suite)" "$(dpkg --print-architecture)"; } |
        sha256sum | cut -c 1-12
}

root_path() { printf '%s/root-%s' "$CACHE" "$(root_key "$1")"; }

# ensure_root FLAVOUR: prints nothing, sets ROOT. Instant when the root is there.
ROOT=''
ensure_root()
{
    local flavour=$1 tool
    for tool in apt-get dpkg dpkg-deb tar unshare flock sha256sum xargs; do
        have "$tool" || die "the program $tool is missing on this host; install it and try again." 2
    done
    ROOT=$(root_path "$flavour")
    if root_is_whole; then
        touch -c "$ROOT" 2>/dev/null || true
        return
    fi
    mkdir -p "$CACHE" 2>/dev/null || true
    [[ -w $CACHE ]] ||
        die "cannot write the cache folder $CACHE; set PADDOCK_CACHE to one that can be written."
    take_lock "$CACHE/lock" 'another set-up is running, waiting' SETUP_LOCK
    root_is_whole || make_root "$flavour"
    release_lock "$SETUP_LOCK"
}

# The mark is made last, and somebody who removes a root by hand may have got only half of it.
root_is_whole() { [[ -f $ROOT/.whole && -x $ROOT/usr/bin/bash ]]; }

make_root()
{
    local flavour=$1 began
    began=$(now_ms)
    LOG=$CACHE/setup.log
    : >"$LOG"
    say "making a $(host_family_name) $(root_suite) root for this ${HOST_ID} ${HOST_VERSION} host in $ROOT (once; \
roughly half a minute and $(root_size "$flavour"))"
    remove_rubbish
    [[ -n $(way_in '') || $(id -u) == 0 ]] || have_userns_or_die
    mkdir -p "$CACHE"/debs/partial "$CACHE"/apt/lists/partial "$CACHE"/apt/none/partial
    TEMPORARY=$ROOT.tmp.$$
    # An interrupt removes the half-made root at once; the packages stay, which is what takes long.
    trap 'stop_worker; rm -rf "$TEMPORARY"' EXIT
    trap 'interrupted 130' INT
    trap 'interrupted 143' TERM HUP
    write_apt_configuration
    step resolve resolve_packages "$flavour"
    step download download_packages
    step unpack unpack_packages
    step verify verify_root
    [[ ! -e $ROOT ]] || mv -T "$ROOT" "$ROOT.tmp.broken"
    : >"$TEMPORARY/.whole"
    mv -T "$TEMPORARY" "$ROOT"
    trap - EXIT INT TERM HUP
    rm -rf "$ROOT.tmp.broken"
    remove_old_packages
    say "the root is ready after $(seconds_since "$began")"
}

interrupted()
{
    say 'interrupted; what was downloaded is kept. Run ./dev setup again to resume.'
    exit "$1"
}

host_family_name() { case $(host_family) in ubuntu) printf Ubuntu ;; *) printf Debian ;; esac }

root_size()
{
    case $1 in extra) printf '400 MB of packages, 2 GB on disk' ;; *) printf '330 MB of packages, 1.4 GB on disk' ;; esac
}

have_userns_or_die()
{
    # The root's own bubblewrap may still have a way that we cannot test before it is there; only a setuid one does,
    # and a root unpacked by an ordinary user has none.
    die_no_way_in
}

# step NAME FUNCTION ARGUMENTS...: runs it with its output in the log; the function reports through STEP_NOTE.
step()
{
    local name=$1 began
    shift
    began=$(now_ms)
    STEP_NOTE=''
    printf '== %s\n' "$name" >>"$LOG"
    if ! "$@"; then
        printf 'dev: %s failed. The last lines of the log:\n' "$name" >&2
        tail -n 20 "$LOG" | sed 's/^/    /' >&2
        die "the whole log is $LOG; what was downloaded is kept. Run ./dev setup again to resume."
    fi
    say "$(printf '%-9s %6s  %s' "$name" "$(seconds_since "$began")" "$STEP_NOTE")"
}

remove_rubbish()
{
    local path
    # We hold the lock, so nobody is unpacking.
    for path in "$CACHE"/root-*.tmp.*; do
        [[ -e $path ]] || continue
        say "removing what an interrupted set-up left: ${path##*/}"
        rm -rf "$path"
    done
    for path in "$CACHE"/root-*; do
        [[ -d $path && $path != *.tmp.* && -n $(find "$path" -maxdepth 0 -mtime +"$KEEP_DAYS") ]] || continue
        say "removing ${path##*/}, which nobody used for $KEEP_DAYS days"
        mv -T "$path" "$path.tmp.old"
        rm -rf "$path.tmp.old" "$CACHE/debs/${path##*/root-}.list"
    done
}

# Packages that no list names any more.
remove_old_packages()
{
    local path
    for path in "$CACHE"/debs/*.deb; do
        grep -qsF "  ${path##*/}" "$CACHE"/debs/*.list || rm -f "$path"
    done
}

# The host's own mirror: the first archive that serves the host's own release, not its security updates. Both forms of
# apt's sources are understood; so is an address like mirror+file:.
host_mirror()
{
    if [[ -n ${PADDOCK_DEV_MIRROR:-} ]]; then
        printf '%s' "$PADDOCK_DEV_MIRROR"
        return
    fi
    local apt=${PADDOCK_DEV_APT:-/etc/apt} files=()
    local names="$HOST_CODENAME stable oldstable oldoldstable testing unstable sid"
    shopt -s nullglob
    files=("$apt"/sources.list "$apt"/sources.list.d/*.list)
    local found=''
    ((${#files[@]})) && found=$(awk -v names="$names" '
        BEGIN { n = split(names, list, " "); for (i = 1; i <= n; ++i) if (list[i] != "") known[list[i]] = 1 }
        $1 == "deb" {
            sub(/#.*/, ""); sub(/\[[^]]*\]/, "")
            if ($3 in known && !done) { print $2; done = 1 }
        }' "${files[@]}" 2>/dev/null)
    files=("$apt"/sources.list.d/*.sources)
    [[ -z $found ]] && ((${#files[@]})) && found=$(awk -v names="$names" '
        BEGIN { n = split(names, list, " "); for (i = 1; i <= n; ++i) if (list[i] != "") known[list[i]] = 1; reset() }
        function reset() { uri = suites = types = field = ""; enabled = 1 }
        function flush(    i, n, parts) {
            n = split(suites, parts, " ")
            for (i = 1; i <= n && !done; ++i)
                if (enabled && types ~ /(^| )deb( |$)/ && parts[i] in known && uri != "") { print uri; done = 1 }
            reset()
        }
        FNR == 1 { flush() }
        /^#/ { next }
        /^[ \t]*$/ { flush(); next }
        {
            if ($0 ~ /^[ \t]/) value = $0
            else { field = tolower($0); sub(/:.*/, "", field); value = $0; sub(/^[^:]*:/, "", value) }
            gsub(/^[ \t]+|[ \t]+$/, "", value)
            if (field == "uris" && uri == "") { uri = value; sub(/[ \t].*/, "", uri) }
            else if (field == "suites") suites = suites " " value
            else if (field == "types") types = types " " value
            else if (field == "enabled" && tolower(value) ~ /^(no|false|0|off)$/) enabled = 0
        }
        END { flush() }' "${files[@]}" 2>/dev/null)
    shopt -u nullglob
    [[ -n $found ]] || return 1
    printf '%s' "$found"
}

host_keyring()
{
    local keyring
    for keyring in "${PADDOCK_DEV_KEYRING:-}" "/usr/share/keyrings/$(host_family)-archive-keyring.gpg" \
        "/usr/share/keyrings/$(host_family)-archive-keyring.pgp" "/etc/apt/trusted.gpg.d/$(host_family)-archive-keyring.gpg"; do
        [[ -n $keyring && -r $keyring ]] && printf '%s' "$keyring" && return
    done
    return 1
}

# apt with lists, state and archive of our own, and without the host's hooks, pins and extra indexes.
write_apt_configuration()
{
    local mirror keyring components=main
    mirror=$(host_mirror) ||
        die "found no package mirror for ${HOST_CODENAME:-this release} in /etc/apt; set PADDOCK_DEV_MIRROR to the \
address of one."
    keyring=$(host_keyring) ||
        die "the keys of the $(host_family) archive are missing; install $(host_family)-archive-keyring or set \
PADDOCK_DEV_KEYRING to its file."
    [[ $(host_family) == ubuntu ]] && components='main universe'
    printf 'deb [signed-by=%s] %s %s %s\n' "$keyring" "$mirror" "$(root_suite)" "$components" >"$CACHE/apt/sources.list"
    : >"$CACHE/apt/status"
    cat >"$CACHE/apt/apt.conf" <<EOF
#clear APT::Update::Pre-Invoke;
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
#clear DPkg::Pre-Install-Pkgs;
#clear DPkg::Pre-Invoke;
#clear DPkg::Post-Invoke;
#clear APT::Architectures;
APT::Architecture "$(dpkg --print-architecture)";
APT::Architectures { "$(dpkg --print-architecture)"; };
APT::Install-Recommends "false";
APT::Install-Suggests "false";
APT::Sandbox::User "";
APT::Get::Assume-Yes "true";
Acquire::Languages "none";
Acquire::ForceHash "SHA256";
Acquire::Retries "3";
Acquire::IndexTargets::deb::DEP-11::DefaultEnabled "false";
Acquire::IndexTargets::deb::CNF::DefaultEnabled "false";
Acquire::IndexTargets::deb::Contents-deb::DefaultEnabled "false";
Debug::NoLocking "true";
Dir::State "$CACHE/apt";
Dir::State::lists "$CACHE/apt/lists";
Dir::State::status "$CACHE/apt/status";
Dir::Cache "$CACHE/apt";
Dir::Cache::archives "$CACHE/debs";
Dir::Cache::pkgcache "";
Dir::Cache::srcpkgcache "";
Dir::Etc::sourcelist "$CACHE/apt/sources.list";
Dir::Etc::sourceparts "/dev/null";
Dir::Etc::preferences "/dev/null";
Dir::Etc::preferencesparts "/dev/null";
EOF
}

apt_quietly() { LC_ALL=C apt-get -q -c "$CACHE/apt/apt.conf" "$@" >>"$LOG" 2>&1; }

# Sets LIST to the file that names the root's packages: "SHA256  FILE" a line, and beside it their order.
resolve_packages()
{
    local flavour=$1 wanted
    LIST=$CACHE/debs/$(root_key "$flavour").list
    mapfile -t WANTED < <(packages_for_root "$flavour" | sort -u)
    if [[ -s $LIST ]] && all_cached; then
        STEP_NOTE="$(wc -l <"$LIST") packages, known from before"
        return
    fi
    # apt calls it a success when nothing could be fetched.
    if ! apt_quietly update || grep -q '^[EW]: Failed to fetch' "$LOG"; then
        [[ -n $(find "$CACHE/apt/lists" -maxdepth 1 -name '*_Packages*' -print -quit) ]] || return 1
        STEP_NOTE=', the mirror was not reached: lists from before'
    fi
    # With an empty archive folder, because apt leaves out what it has already.
    wanted=$(LC_ALL=C apt-get -qq -c "$CACHE/apt/apt.conf" -o Dir::Cache::archives="$CACHE/apt/none" --print-uris \
        install "${WANTED[@]}" 2>>"$LOG") || return 1
    # 'ADDRESS' FILE SIZE SHA256:HASH; the file's name is as apt stores it.
    sed -n "s/^'[^']*' \([^ ]*\.deb\) [0-9]* SHA256:\([0-9a-f]*\)$/\2  \1/p" <<<"$wanted" | LC_ALL=C sort -k 2 >"$LIST.new"
    [[ -s $LIST.new ]] || return 1
    mv "$LIST.new" "$LIST"
    STEP_NOTE="$(wc -l <"$LIST") packages$STEP_NOTE"
}

# True if every package of LIST is there and whole; removes those that are not.
all_cached()
{
    local bad
    bad=$(cd "$CACHE/debs" && split_work "$LIST" 2>/dev/null)
    [[ -z $bad ]] && return
    while read -r file; do rm -f "$CACHE/debs/$file"; done <<<"$bad"
    return 1
}

# Checks the sums of LIST on two processors; prints the names that fail.
split_work()
{
    xargs -d '\n' -n 40 -P 2 sh -c 'printf "%s\n" "$@" | LC_ALL=C sha256sum --check --quiet 2>/dev/null' _ <"$1" |
        sed -n 's/: FAILED.*//p'
}

cached_count() { (cd "$CACHE/debs" && cut -c 67- "$LIST" | xargs -d '\n' ls -d 2>/dev/null | wc -l); }

# Runs a command with its output in the log, in a process group of its own that dies with us, and meanwhile shows
# "LABEL n of m", where COUNT is a command that prints n.
WORKER=''
run_watched()
{
    local label=$1 total=$2 count=$3 code=0 shown=0 n
    shift 3
    local leash=()
    setpriv --pdeathsig KILL true 2>/dev/null && leash=(setpriv --pdeathsig KILL)
    setsid "${leash[@]}" "$@" >>"$LOG" 2>&1 </dev/null &
    WORKER=$!
    while kill -0 "$WORKER" 2>/dev/null; do
        sleep 0.25
        n=$($count)
        if [[ -t 2 ]]; then
            printf '\rdev: %s %s of %s ' "$label" "$n" "$total" >&2
        elif ((SECONDS - shown >= 10)); then
            shown=$SECONDS
            say "$label $n of $total"
        fi
    done
    [[ -t 2 ]] && printf '\r\033[K' >&2
    wait "$WORKER" || code=$?
    WORKER=''
    return "$code"
}

stop_worker()
{
    [[ -n $WORKER ]] || return 0
    kill -- "-$WORKER" 2>/dev/null || true
    wait "$WORKER" 2>/dev/null || true
    WORKER=''
}

download_packages()
{
    local total before
    total=$(wc -l <"$LIST") before=$(cached_count)
    STEP_NOTE="$before of $total cached"
    ((before == total)) && return
    run_watched 'downloading' "$total" cached_count env LC_ALL=C apt-get -q -c "$CACHE/apt/apt.conf" --download-only \
        install "${WANTED[@]}" || return 1
    all_cached || { printf 'packages are missing or damaged after the download\n' >>"$LOG" && return 1; }
}

unpacked_count() { find "$TEMPORARY/.unpacked" -type f | wc -l; }

unpack_packages()
{
    local folder total
    mkdir -p "$TEMPORARY"/usr/{bin,sbin,lib,lib64} "$TEMPORARY"/{etc,var,.unpacked}
    for folder in bin sbin lib lib64; do ln -s "usr/$folder" "$TEMPORARY/$folder"; done
    total=$(wc -l <"$LIST")
    cut -c 67- "$LIST" >"$TEMPORARY/.packages"
    # No maintainer script runs. Manuals and the translations of tools that nobody reads here stay out.
    # shellcheck disable=SC2016
    run_watched 'unpacking' "$total" unpacked_count env DEBS="$CACHE/debs" TO="$TEMPORARY" \
        xargs -a "$TEMPORARY/.packages" -d '\n' -n 1 -P 2 bash -c '
            set -o pipefail
            dpkg-deb --fsys-tarfile "$DEBS/$0" |
                tar -x --no-same-owner --keep-directory-symlink -C "$TO" -f - \
                    --exclude="./usr/share/man/*" --exclude="./usr/share/doc/*" --exclude="./usr/share/info/*" \
                    --exclude="./usr/share/locale/*" --exclude="./usr/share/lintian/*" --exclude="./usr/share/bug/*" ||
                { rm -f "$DEBS/$0"; echo "cannot unpack $0" >&2; exit 255; }
            : >"$TO/.unpacked/$0"' || return 1
    [[ $(unpacked_count) == "$total" ]] || return 1
    rm -rf "$TEMPORARY/.unpacked" "$TEMPORARY/.packages"
    find "$TEMPORARY" -xdev -type f -perm /6000 -exec chmod a-s {} +
    STEP_NOTE="$total packages, $(du -sm "$TEMPORARY" | cut -f 1) MB"
}

# What maintainer scripts would have done, as far as building and running Paddock needs it; then a program is compiled.
verify_root()
{
    local bin=$TEMPORARY/usr/bin name tool pair version
    for pair in sh:dash awk:mawk cc:gcc c++:g++ which:which.debianutils pager:less; do
        [[ -e $bin/${pair%%:*} || ! -e $bin/${pair#*:} ]] || ln -s "${pair#*:}" "$bin/${pair%%:*}"
    done
    for tool in "$bin"/*-im[67].q16; do
        [[ -e $tool ]] || continue
        name=${tool##*/}
        [[ -e $bin/${name%-im*} ]] || ln -s "$name" "$bin/${name%-im*}"
    done
    name=$TEMPORARY/usr/share
    cp "$name/base-passwd/passwd.master" "$TEMPORARY/etc/passwd"
    cp "$name/base-passwd/group.master" "$TEMPORARY/etc/group"
    cp "$name/libc-bin/nsswitch.conf" "$TEMPORARY/etc/nsswitch.conf"
    mkdir -p "$TEMPORARY/etc/ssl/certs" "$TEMPORARY/var/tmp" "$TEMPORARY/var/cache/fontconfig"
    find "$name/ca-certificates" -name '*.crt' -exec cat {} + >"$TEMPORARY/etc/ssl/certs/ca-certificates.crt"
    printf 'paddock\n' >"$TEMPORARY/etc/debian_chroot"
    (cd / && enter_root "$TEMPORARY" /bin/bash "$PARTS/verify-root.sh") >>"$LOG" 2>&1 || return 1
    version=$(sed -n 's/^verified: //p' "$LOG" | tail -n 1)
    STEP_NOTE=$version
}
