// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/middleware/side_call.h"

namespace paddock {

struct TitleOptions {
    int maxWords = 6;
    int maxChars = 60;
    QString modelName; ///< empty: the title is made from the person's words, without a model
    QString promptTemplate = QStringLiteral("Give this conversation a short title of at most {max_words} words.\n"
                                            "User: {user_msg}\nAssistant: {assistant_msg}\n\n"
                                            "Answer with the title only, without quotes or explanation.");
    ModelMaker model; ///< makes `modelName`
};

/// The person's words when the thread is due for a title: none yet, exactly one message that is no reminder, an answer.
std::optional<QString> titleSource(const AgentState &state);
/// The beginning of the text; "New Conversation" when there is none.
QString localTitle(const QString &text, int maxChars);
/// A model's answer without thoughts and quotes, cut to size; may be empty.
QString titleFromReply(const QString &reply, int maxChars);
/// The template with its names filled in, once: what is filled in is not looked at again.
QString titlePrompt(const TitleOptions &options, const QString &user, const QString &assistant);

/// Gives a thread its title after the first answer (runtime §5.5). A model that fails or takes too long is replaced by the
/// person's own words.
class TitleMiddleware : public Middleware
{
public:
    explicit TitleMiddleware(TitleOptions options) : m_options(std::move(options)) {}

    QString name() const override { return QStringLiteral("TitleMiddleware"); }
    Hooks hooks() const override { return Hook::AfterModel; }
    Task<Result<StateUpdate>> afterModel(AgentState state, RuntimePtr runtime) override;

private:
    const TitleOptions m_options;
};

} // namespace paddock
