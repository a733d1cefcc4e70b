# SPDX-FileCopyrightText: The Paddock authors
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# Runs a command inside a root: same checkout path, same working directory, same user, same exit code. Sourced by ./dev.
#
# Four ways, the first that the kernel allows (PADDOCK_DEV_ENTER forces one):
#   pivot   needs root and a mount namespace
#   userns  the same inside a user namespace of one's own, for everybody else and for a root who may not mount
#   bwrap   bubblewrap of the host or of the root, where it may do what `unshare` may not (a setuid or profiled one)
#   chroot  the last resort, for root only: user namespaces are refused inside, so nested sandboxes do not work there
# pivot and userns replace the process instead of standing beside it, so a signal reaches the command itself.

# Folders of the host that the root has its own of, or that are made anew. Every other top-level folder is shown
# as it is, so that a workspace may lie anywhere.
readonly OWN_FOLDERS=' bin sbin lib lib32 lib64 libx32 usr etc var dev proc sys run tmp boot lost+found .old '

# Variables of the host that would make a compiler, linker or interpreter of the root look for the host's files.
readonly HOST_ONLY_VARIABLES='^(LD_.*|DYLD_.*|PYTHON.*|PERL.*|BASH_ENV|ENV|CDPATH|GCC_.*|CPATH|C_INCLUDE_PATH|CPLUS_INCLUDE_PATH|OBJC_INCLUDE_PATH|LIBRARY_PATH|PKG_CONFIG.*|CMAKE_.*|CC|CXX|CPP|LD|AR|CFLAGS|CXXFLAGS|CPPFLAGS|LDFLAGS|MAKEFLAGS|MAKEOVERRIDES|NINJA_.*|CCACHE_.*|QT_PLUGIN_PATH|QT_QPA_PLATFORM_PLUGIN_PATH|QT_QPA_PLATFORMTHEME|QT_STYLE_OVERRIDE|QML.*|QTDIR|QMAKE.*|XDG_DATA_DIRS|XDG_CONFIG_DIRS|GIO_.*|GTK_.*|GDK_PIXBUF.*|LOCPATH|LC_.*|LANG|SNAP.*|NIX_.*|VIRTUAL_ENV|CONDA_.*|TMPDIR|SHELL|DEBUGINFOD_.*|ASAN_OPTIONS|UBSAN_OPTIONS|TSAN_OPTIONS|LSAN_OPTIONS)$'

clean_environment()
{
    local name
    while read -r name; do
        [[ $name =~ $HOST_ONLY_VARIABLES ]] && unset "$name"
    done < <(compgen -e)
    export PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin
    export LANG=C.UTF-8 SHELL=/bin/bash TERM="${TERM:-dumb}"
}

# True if the path can be seen inside without a mount of its own.
shown_inside()
{
    local top=${1#/}
    top=${top%%/*}
    [[ -d /$top && ! -L /$top && $OWN_FOLDERS != *" $top "* || $top == tmp ]]
}

# A mount point in the root for a file or folder of the host. The root is ours, so an empty one may be left there.
mount_point_for()
{
    local root=$1 source=$2 target=$3
    [[ -e $root$target ]] && return
    if [[ -d $source ]]; then
        mkdir -p "$root$target"
    else
        mkdir -p "$root$(dirname "$target")"
        : >>"$root$target"
    fi 2>/dev/null || true
}

# Fills MOUNTS with triples (kind, source, target), in the order in which they must be made.
MOUNTS=()
list_mounts()
{
    local root=$1 entry name path
    MOUNTS=(bind "$root/usr" /usr bind "$root/etc" /etc bind "$root/var" /var)
    for entry in "$root"/*; do
        [[ -L $entry ]] && MOUNTS+=(symlink "$(readlink "$entry")" "/${entry##*/}")
    done
    MOUNTS+=(device /dev /dev device /proc /proc device /sys /sys tmpfs - /run bind /tmp /tmp)
    [[ -d /var/tmp ]] && MOUNTS+=(bind /var/tmp /var/tmp)
    for entry in /* /.[!.]*; do
        name=${entry#/}
        [[ -d $entry && $OWN_FOLDERS != *" $name "* ]] || continue
        if [[ -L $entry ]]; then
            MOUNTS+=(symlink "$(readlink "$entry")" "$entry")
        else
            MOUNTS+=(bind "$entry" "$entry")
        fi
    done
    # Folders that may lie where the root has its own.
    for path in "$CHECKOUT" "$PWD" "$CACHE" "${XDG_RUNTIME_DIR:-}" "${PIP_FIND_LINKS:-}" "${HOME:-}"; do
        [[ $path == /?* && -d $path ]] || continue
        shown_inside "$path" || {
            mount_point_for "$root" "$path" "$path"
            MOUNTS+=(bind "$path" "$path")
        }
    done
    # The network's names, the time zone, and how this machine reaches package registries: shown, never copied.
    for path in /etc/resolv.conf /etc/hosts /etc/localtime /etc/pip.conf /etc/npmrc \
        /etc/ssl/certs/ca-certificates.crt "${SSL_CERT_FILE:-}" "${CURL_CA_BUNDLE:-}" "${REQUESTS_CA_BUNDLE:-}" \
        "${PIP_CERT:-}" "${PIP_CONFIG_FILE:-}" "${GIT_SSL_CAINFO:-}" "${NODE_EXTRA_CA_CERTS:-}" \
        "${NPM_CONFIG_CAFILE:-}" "${npm_config_cafile:-}" "${NPM_CONFIG_GLOBALCONFIG:-}" "${XAUTHORITY:-}"; do
        [[ $path == /?* && -f $path && " ${MOUNTS[*]} " != *" $path $path "* ]] || continue
        shown_inside "$path" || {
            mount_point_for "$root" "$path" "$path"
            MOUNTS+=(file "$(realpath "$path")" "$path")
        }
    done
}

# Programs ask who they are; the root knows only Debian's own users until told.
know_user()
{
    local root=$1 uid gid
    uid=$(id -u) gid=$(id -g)
    grep -q "^[^:]*:[^:]*:$uid:" "$root/etc/passwd" ||
        printf '%s:x:%s:%s::%s:/bin/bash\n' "$(id -un 2>/dev/null || echo user)" "$uid" "$gid" "${HOME:-/}" \
            >>"$root/etc/passwd" 2>/dev/null || true
    grep -q "^[^:]*:[^:]*:$gid:" "$root/etc/group" ||
        printf '%s:x:%s:\n' "$(id -gn 2>/dev/null || echo user)" "$gid" >>"$root/etc/group" 2>/dev/null || true
}

# bubblewrap of the host, else that of the root, through the root's own loader. Sets BWRAP.
BWRAP=()
find_bwrap()
{
    local root=$1 loader
    if have bwrap; then
        BWRAP=("$(command -v bwrap)")
        return
    fi
    for loader in "$root"/usr/lib64/ld-linux-*.so.2 "$root"/usr/lib/ld-linux-*.so.* "$root"/usr/lib/*/ld-linux-*.so.*; do
        [[ -x $loader && -x $root/usr/bin/bwrap ]] || continue
        local folders=("$root"/usr/lib/*-linux-gnu*)
        BWRAP=("$loader" --library-path "${folders[0]}" "$root/usr/bin/bwrap")
        return
    done
    return 1
}

# Prints the first way that works here, or nothing. Needs a root only for its bubblewrap.
way_in()
{
    local root=${1:-}
    if [[ -n ${PADDOCK_DEV_ENTER:-} ]]; then
        case $PADDOCK_DEV_ENTER in
        pivot | userns | bwrap | chroot) printf '%s' "$PADDOCK_DEV_ENTER" ;;
        *) die "PADDOCK_DEV_ENTER is \"$PADDOCK_DEV_ENTER\"; it must be pivot, userns, bwrap or chroot." ;;
        esac
        return
    fi
    local probe=(bash "$PARTS/enter-root.sh" probe)
    if [[ $(id -u) == 0 ]] && unshare --mount "${probe[@]}" 2>/dev/null; then
        printf pivot
        return
    fi
    if unshare --user --map-root-user --mount "${probe[@]}" 2>/dev/null; then
        printf userns
        return
    fi
    if find_bwrap "$root" && "${BWRAP[@]}" --dev-bind / / true 2>/dev/null; then
        printf bwrap
    elif [[ $(id -u) == 0 ]]; then
        printf chroot
    fi
}

die_no_way_in()
{
    local hints=() value
    value=$(cat /proc/sys/kernel/unprivileged_userns_clone 2>/dev/null || true)
    [[ $value == 0 ]] && hints+=('sysctl -w kernel.unprivileged_userns_clone=1')
    value=$(cat /proc/sys/user/max_user_namespaces 2>/dev/null || true)
    [[ $value == 0 ]] && hints+=('sysctl -w user.max_user_namespaces=15000')
    value=$(cat /proc/sys/kernel/apparmor_restrict_unprivileged_userns 2>/dev/null || true)
    [[ $value == 1 ]] && hints+=('sysctl -w kernel.apparmor_restrict_unprivileged_userns=0')
    local how='the settings are kernel.unprivileged_userns_clone, user.max_user_namespaces and
kernel.apparmor_restrict_unprivileged_userns, and in a container its seccomp profile'
    if ((${#hints[@]})); then
        how="as root: ${hints[0]}"
        for value in "${hints[@]:1}"; do how+="; $value"; done
    fi
    die "this user may not make user namespaces, which entering the Debian root needs; enable them (${how//$'\n'/ }) \
or run ./dev as root." 2
}

# enter_root ROOT COMMAND...: replaces this process.
enter_root()
{
    local root=$1 way
    shift
    way=$(way_in "$root")
    [[ -n $way ]] || die_no_way_in
    clean_environment
    know_user "$root"
    list_mounts "$root"
    export PADDOCK_DEV_WAY=$way
    mkdir -p "$CACHE/mnt"
    local script=$PARTS/enter-root.sh
    local call=("$CACHE/mnt" "$PWD" "$(id -u)" "$(id -g)" "${#MOUNTS[@]}" "${MOUNTS[@]}" "$@")
    case $way in
    pivot) exec unshare --mount --propagation private bash "$script" pivot "${call[@]}" ;;
    userns) exec unshare --user --map-root-user --mount --propagation private bash "$script" userns "${call[@]}" ;;
    bwrap) enter_with_bwrap "$root" "$@" ;;
    chroot)
        export PADDOCK_NO_NESTED_SANDBOX=1
        if unshare --mount "bash" "$script" probe 2>/dev/null; then
            exec unshare --mount --propagation private bash "$script" chroot "${call[@]}"
        fi
        enter_bare_chroot "$root" "$@"
        ;;
    esac
}

enter_with_bwrap()
{
    local root=$1 i arguments=(--die-with-parent --chdir "$PWD")
    shift
    find_bwrap "$root" || die 'there is no bubblewrap on this host nor in the root; run ./dev setup first.'
    for ((i = 0; i < ${#MOUNTS[@]}; i += 3)); do
        case ${MOUNTS[i]} in
        # /proc is bound, not made anew: with a new one a nested bubblewrap cannot mount its own.
        device) arguments+=(--dev-bind "${MOUNTS[i + 1]}" "${MOUNTS[i + 2]}") ;;
        bind) arguments+=(--bind "${MOUNTS[i + 1]}" "${MOUNTS[i + 2]}") ;;
        file) arguments+=(--ro-bind "${MOUNTS[i + 1]}" "${MOUNTS[i + 2]}") ;;
        symlink) arguments+=(--symlink "${MOUNTS[i + 1]}" "${MOUNTS[i + 2]}") ;;
        tmpfs) arguments+=(--tmpfs "${MOUNTS[i + 2]}") ;;
        esac
    done
    if [[ ! -d ${XDG_RUNTIME_DIR:-/nothing} ]]; then
        XDG_RUNTIME_DIR=/run/user/$(id -u)
        arguments+=(--dir "$XDG_RUNTIME_DIR" --setenv XDG_RUNTIME_DIR "$XDG_RUNTIME_DIR")
    fi
    # bubblewrap waits beside the command. Ctrl-C must end the command, not bubblewrap, which would kill it at once.
    trap '' INT QUIT
    # shellcheck disable=SC2016
    exec "${BWRAP[@]}" "${arguments[@]}" /usr/bin/env --default-signal=INT --default-signal=QUIT \
        /bin/sh -c 'case $XDG_RUNTIME_DIR in /run/user/*) chmod 700 "$XDG_RUNTIME_DIR" ;; esac; exec "$@"' sh "$@"
}

# Not even root may mount here (a container with default capabilities). The root cannot show the checkout, so it gets
# a copy, refreshed before; what the command makes outside build/ is copied back after it.
enter_bare_chroot()
{
    local root=$1 code=0
    shift
    say 'this container may not mount: working on a copy of the checkout inside the root; nested sandboxes are off.'
    mkdir -p "$root"/{dev,proc,run,tmp,root} "$root$CHECKOUT" "$root$CACHE/ccache"
    chmod 1777 "$root/tmp"
    local name
    for name in null:3 zero:5 full:7 random:8 urandom:9; do
        [[ -e $root/dev/${name%:*} ]] || mknod -m 666 "$root/dev/${name%:*}" c 1 "${name#*:}" 2>/dev/null || true
    done
    [[ -e $root/dev/tty ]] || mknod -m 666 "$root/dev/tty" c 5 0 2>/dev/null || true
    cp -L /etc/resolv.conf /etc/hosts "$root/etc/" 2>/dev/null || true
    export XDG_RUNTIME_DIR=/run/user/0
    mkdir -p "$root/run/user" && mkdir -pm 700 "$root$XDG_RUNTIME_DIR"
    mirror_tree "$CHECKOUT" "$root$CHECKOUT"
    [[ -d $CHECKOUT/../shared/cases ]] && mirror_tree "$CHECKOUT/../shared" "$root$CHECKOUT/../shared"
    local inside=$PWD
    [[ -d $root$inside ]] || inside=$CHECKOUT
    trap : INT
    # shellcheck disable=SC2016
    chroot "$root" /usr/bin/env --default-signal=INT /bin/sh -c 'cd "$0" && exec "$@"' "$inside" "$@" || code=$?
    copy_new_files "$root$CHECKOUT" "$CHECKOUT"
    exit "$code"
}

# Makes TO equal to FROM but for build/, keeping the time stamps so that nothing is built twice.
mirror_tree()
{
    local from=$1 to=$2
    mkdir -p "$to"
    # Files that are gone from the checkout must go from the copy too.
    (cd "$to" && find . -path ./build -prune -o -path ./.git -prune -o \( -type f -o -type l \) -print0) |
        while IFS= read -r -d '' file; do
            [[ -e $from/$file || -L $from/$file ]] || rm -f "$to/$file"
        done
    tar -C "$from" --exclude=./build -cf - . | tar -C "$to" --no-same-owner -xpf -
}

copy_new_files()
{
    local from=$1 to=$2 file
    (cd "$from" && find . -path ./build -prune -o -path ./.git -prune -o -type f -print0) |
        while IFS= read -r -d '' file; do
            cmp -s "$from/$file" "$to/$file" && continue
            mkdir -p "$to/$(dirname "$file")"
            cp -p "$from/$file" "$to/$file"
        done
}
