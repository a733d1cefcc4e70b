# SPDX-FileCopyrightText: The Paddock authors
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# What ./dev says about itself. Sourced by ./dev.

print_help()
{
    cat <<EOF
./dev builds, runs and tests Paddock. On Debian 13, or Ubuntu with Qt 6.8, it uses the system's packages; on an older
Debian or Ubuntu it first unpacks a small Debian 13 into the cache (once, about half a minute, no need to be root) and
works in there, on this same checkout.

Start here
  ./dev run                 build, then the sample run: in the window where there is a display, else in the terminal
  ./dev test                build, then all tests

Build and run
  ./dev setup [--extra]     get what is missing now (the other subcommands do it by themselves); --extra: also what
                            lint and test --fuzz use
  ./dev build [PRESET] [TARGET...]
                            PRESET: release (default), debug, asan, tsan; the programs are in build/PRESET/bin
  ./dev paddock ARGS...     build, then the program with these arguments, as in ./dev paddock run --help
  ./dev screenshot OUT.png [--scenario NAME] [--panel NAME] [--theme dark|light] [--size WxH]
                            a picture of the window, without a display; also --workspace DIR
  ./dev shell [CMD...]      a shell, or one command, where everything is installed

Test
  ./dev test [--asan|--tsan] [CTEST ARGS...]
                            as in ./dev test -R lease; with a sanitizer in a build of its own
  ./dev test --fuzz SECONDS [NAME...]
                            every fuzz target, or those named, for so long
  ./dev cases FILE...       case files through the same runners as the tests; prints every mismatch
  ./dev bench [NAME...]     the benchmarks, against their budgets

Tidy up
  ./dev format [--check] [FILE...]
                            clang-format on these sources, or on all
  ./dev lint [--all|FILE...]
                            licences, shellcheck, clang-tidy and clazy, on changed sources unless told otherwise

Settings
  PADDOCK_CACHE             where the system, its packages and the compiler cache are kept, outside the checkout so that
                            a second clone starts warm; now $CACHE
                            (safe to remove: it is made again)
  CI=true                   warnings are errors
  PADDOCK_DEV_HOST          host or root: don't choose, use the system's packages, or a root
  PADDOCK_DEV_ENTER         pivot, userns, bwrap or chroot: how a root is entered; the first that works otherwise
  PADDOCK_DEV_MIRROR, PADDOCK_DEV_KEYRING, PADDOCK_DEV_SUITE
                            where packages of a root come from; this system's own mirror and keys otherwise
EOF
}
