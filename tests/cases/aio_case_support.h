// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/base/loop.h"
#include "core/sandbox/aio/aio_client.h"
#include "tests/cases/case_registry.h"
#include "tests/support/fake_aio.h"
#include "tests/support/spin.h"

#include <QSet>

namespace paddock::cases {

using namespace paddock::test;

/// The `response` of a client case as replies of the fake server.
FakeReply replyOf(const Json &step);
std::vector<FakeReply> repliesOf(const Json &response);

/// What a failed call is, in the words of the case files.
Json factsOf(const wire::Failure &failure);
/// Compares, leaving out the keys that speak to people or that the runner has judged itself.
Verdict judge(Json expect, const Json &actual, const QSet<QString> &judged = {});

/// A case that is one call and its reply.
Verdict runSingleCall(const Json &testCase);

inline aio::AioClient clientFor(const FakeAio &fake, const QString &prefix = {})
{
    return aio::AioClient(LoopRef::current(), aio::Endpoint::url(fake.url(prefix)));
}

} // namespace paddock::cases
