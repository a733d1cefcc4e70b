#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Paddock authors
# SPDX-License-Identifier: Apache-2.0
#
# The half of entering a root that runs inside the new mount namespace. Started by enter.sh, never by hand:
#   enter-root.sh probe
#   enter-root.sh pivot|userns|chroot MOUNT-POINT FOLDER UID GID N (KIND SOURCE TARGET)... COMMAND...
# The root is put together on a small file system in memory: the folders of the Debian root, beside them those of the
# host. Nothing is written on disk, and everything is gone with the last process of the namespace.

set -eu
PATH=$PATH:/usr/sbin:/sbin

way=$1
if [[ $way == probe ]]; then
    mount -t tmpfs paddock /tmp
    mkdir /tmp/old
    # Where / is the kernel's first file system there is no way to pivot away from it.
    cd /tmp
    pivot_root . old
    exit 0
fi

new=$2 folder=$3 uid=$4 gid=$5 count=$6
shift 6
mounts=("${@:1:count}")
shift "$count"

mount -t tmpfs -o mode=755 paddock "$new"
# Kept out of the copies below, which may contain this very mount point (a cache in the home folder).
mount --make-unbindable "$new"

for ((i = 0; i < count; i += 3)); do
    source=${mounts[i + 1]} target=$new${mounts[i + 2]}
    case ${mounts[i]} in
    symlink) ln -s "$source" "$target" ;;
    tmpfs)
        mkdir -p "$target"
        mount -t tmpfs -o mode=755 paddock "$target"
        ;;
    file)
        [[ -e $target ]] || { mkdir -p "$(dirname "$target")" && : >"$target"; }
        mount --bind "$source" "$target"
        # A mount that a user namespace inherited may keep flags that we must not drop: then it stays writable, with
        # the rights that the user has anyway.
        mount -o remount,bind,ro "$target" 2>/dev/null || true
        ;;
    *)
        [[ -e $target ]] || mkdir -p "$target"
        mount --rbind "$source" "$target"
        ;;
    esac
done

# Sockets of a session live here. Where the host has no such folder, one that goes with the namespace will do.
if [[ ! -d $new${XDG_RUNTIME_DIR:-/nothing} ]]; then
    export XDG_RUNTIME_DIR=/run/user/$uid
    mkdir -p "$new/run/user"
    mkdir -m 700 "$new/run/user/$uid"
fi

cd "$new"
if [[ $way == chroot ]]; then
    mount --make-private "$new"
    # shellcheck disable=SC2016
    exec chroot . /bin/sh -c 'cd "$0" && exec "$@"' "$folder" "$@"
fi
mkdir .old
pivot_root . .old
hash -r
cd /
umount -l /.old
rmdir /.old
# Nested sandboxes bind / once more, which the mark from above would forbid.
mount --make-private /
cd "$folder"
if [[ $way == userns ]]; then
    exec unshare --user --map-user="$uid" --map-group="$gid" -- "$@"
fi
exec "$@"
