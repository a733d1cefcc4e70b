// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include <QByteArray>

#include <stdexcept>
#include <string>

// A target feeds any bytes to one parser of foreign bytes and throws when the parser breaks a promise. The same functions
// run under libFuzzer (./dev test --fuzz) and, over corpus and mutations, in tst_fuzz_corpus.
namespace paddock::fuzz {

struct BrokenPromise : std::logic_error {
    using std::logic_error::logic_error;
};

inline void promise(bool kept, const char *what)
{
    if (!kept)
        throw BrokenPromise(what);
}

/// Calls `take` with the input cut into pieces whose lengths follow from the input itself.
template<typename Take>
void inPieces(const QByteArray &input, Take take)
{
    qsizetype length = 1 + (input.isEmpty() ? 0 : uchar(input.back()) % 7);
    for (qsizetype at = 0; at < input.size(); at += length, length = 1 + (length * 5 + 3) % 11) {
        length = std::min(length, input.size() - at);
        take(input.sliced(at, length));
    }
}

void eventJsonl(const QByteArray &input);   ///< one line of an events file
void scenario(const QByteArray &input);     ///< a scenario's YAML
void config(const QByteArray &input);       ///< config.yaml
void skill(const QByteArray &input);        ///< a SKILL.md, and a slash command
void wireJson(const QByteArray &input);     ///< bodies of the AIO API, both ways
void httpReply(const QByteArray &input);    ///< what a server answers
void multipart(const QByteArray &input);    ///< an upload's body
void websocket(const QByteArray &input);    ///< frames of a browser's terminal
void shellRecords(const QByteArray &input); ///< what a session's bash says, and what a person typed
void terminal(const QByteArray &input);     ///< output of any program

} // namespace paddock::fuzz
