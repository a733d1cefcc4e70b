// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

// The thread sanitizer does not see the locks inside Qt's own library. Where an object goes from one thread to another through
// Qt, these two tell it what Qt orders: all that was done before handOver() is visible after takeOver() of the same object.
// Nothing in other builds.
#if defined(__SANITIZE_THREAD__)
extern "C" void __tsan_acquire(void *address);
extern "C" void __tsan_release(void *address);
#endif

namespace paddock {

inline void handOver([[maybe_unused]] void *object)
{
#if defined(__SANITIZE_THREAD__)
    __tsan_release(object);
#endif
}

inline void takeOver([[maybe_unused]] void *object)
{
#if defined(__SANITIZE_THREAD__)
    __tsan_acquire(object);
#endif
}

} // namespace paddock
