#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Paddock authors
# SPDX-License-Identifier: Apache-2.0
#
# Runs inside a freshly unpacked root: caches and links that maintainer scripts would have made, then a Qt program is
# compiled and run. The last line, "verified: ...", is what ./dev setup shows.

set -eu

ldconfig
update-mime-database /usr/share/mime
mkdir -p /etc/fonts/conf.d
for file in /usr/share/fontconfig/conf.avail/*.conf; do
    case ${file##*/} in
    # What the package leaves out or leaves to a question; the rest is its default.
    09-* | 10-no-* | 10-hinting-[fmn]* | 10-sub-pixel-* | 10-unhinted* | 10-scale-bitmap* | 11-lcdfilter-[l]* | \
        25-no-* | 70-*) continue ;;
    esac
    ln -sf "$file" /etc/fonts/conf.d/
done
fc-cache -f

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat >"$work/main.cpp" <<'EOF'
#include <QCoreApplication>
#include <QTextStream>
#include <expected>
int main(int argc, char **argv)
{
    QCoreApplication application(argc, argv);
    const std::expected<int, int> answer = 0;
    QTextStream(stdout) << "Qt " << qVersion() << '\n';
    return *answer;
}
EOF
# shellcheck disable=SC2046
g++ -std=c++23 -fPIC -o "$work/main" "$work/main.cpp" $(pkg-config --cflags --libs Qt6Core)
qt=$("$work/main")
nested='nested sandboxes work'
bwrap --ro-bind / / --unshare-user --unshare-pid --proc /proc --dev /dev true ||
    nested='nested sandboxes do not work here: tests that need one will be skipped'
printf 'verified: g++ %s, %s, %s\n' "$(g++ -dumpfullversion)" "$qt" "$nested"
