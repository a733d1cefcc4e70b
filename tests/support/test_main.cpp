// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "tests/support/test_main.h"

#include <cstdio>
#include <map>
#include <string_view>

namespace paddock::test {

namespace {

std::map<std::string_view, TestRun> &tests()
{
    static std::map<std::string_view, TestRun> all;
    return all;
}

} // namespace

TestRegistrar::TestRegistrar(const char *name, TestRun run)
{
    tests().emplace(name, run);
}

} // namespace paddock::test

int main(int argc, char **argv)
{
    const auto &tests = paddock::test::tests();
    const auto named = argc > 1 ? tests.find(argv[1]) : tests.end();
    if (named != tests.end()) {
        argv[1] = argv[0];
        return named->second(argc - 1, argv + 1);
    }
    std::fprintf(stderr, "Usage: %s TEST [function[:row]…]\nTests:\n", argv[0]);
    for (const auto &[name, run] : tests)
        std::fprintf(stderr, "  %s\n", name.data());
    return 2;
}
