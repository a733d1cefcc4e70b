// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
// Tests of several files are one program, so that the compiler reads their headers once: `program NAME [Qt Test's options]`.
// Each file has a namespace of its own name, in which names are free, and registers itself after it.
#pragma once

#include <QTest>

namespace paddock::test {

using TestRun = int (*)(int argc, char **argv);

/// Only for the macros below; before main().
struct TestRegistrar {
    TestRegistrar(const char *name, TestRun run);
};

} // namespace paddock::test

#define PADDOCK_TEST_RUN(name, function) static const paddock::test::TestRegistrar registered_##name(#name, &name::function);

#define PADDOCK_TEST_WITH(name, Class, Application) \
    static const paddock::test::TestRegistrar registered_##name(#name, [](int argc, char **argv) { \
        Application application(argc, argv); \
        name::Class test; \
        QTEST_SET_MAIN_SOURCE_PATH \
        return QTest::qExec(&test, argc, argv); \
    });

#define PADDOCK_TEST(name, Class) PADDOCK_TEST_WITH(name, Class, QCoreApplication)
#define PADDOCK_GUI_TEST(name, Class) PADDOCK_TEST_WITH(name, Class, QApplication)
