// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/middleware/middleware.h"

#include <unordered_map>

namespace paddock {

/// First of every chain: user text can forge neither framework blocks nor the borders of its frame (middleware-base §2).
/// Request only; the stored message keeps the raw text. An internal error passes the original.
class InputSanitizationMiddleware : public Middleware
{
public:
    QString name() const override { return QStringLiteral("InputSanitizationMiddleware"); }
    Hooks hooks() const override { return Hook::WrapModelCall; }
    Task<Result<ModelResponse>> wrapModelCall(ModelCall call, ModelNext next) override;

    /// The same list (isSameAs) when nothing was to do. A message is framed once and shared by later requests, so that
    /// a request differs from the one before only by what is new.
    Result<MessageList> sanitize(const MessageList &messages);

private:
    struct Framed {
        std::weak_ptr<const Message> original;
        MessagePtr clean;
    };
    std::unordered_map<const Message *, Framed> m_framed;
};

} // namespace paddock
