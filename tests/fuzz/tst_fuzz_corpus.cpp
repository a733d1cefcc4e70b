// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
//
// Every fuzz target over its corpus and over seeded mutations of it, so that builds without libFuzzer run them too.
// With PADDOCK_FUZZ_INPUT=FILE each input is written there first: after a crash it is what did it. With
// PADDOCK_FUZZ_MUTATIONS=N it goes on longer.
#include "tests/fuzz/fuzz_targets.h"
#include "tests/support/test_main.h"

#include <QDir>
#include <QFile>
#include <QTest>

#include <random>

namespace tst_fuzz_corpus {

using namespace paddock;

namespace {

struct Target {
    const char *name; ///< of its program and of its corpus
    void (*run)(const QByteArray &);
};

constexpr Target targets[] = {
    {"event_jsonl", fuzz::eventJsonl}, {"scenario", fuzz::scenario},   {"config", fuzz::config},
    {"wire_json", fuzz::wireJson},     {"http_reply", fuzz::httpReply}, {"multipart", fuzz::multipart},
    {"websocket", fuzz::websocket},    {"shell_records", fuzz::shellRecords}, {"terminal", fuzz::terminal},
    {"skill", fuzz::skill},
};

constexpr int usualMutations = 400;
constexpr qsizetype longest = 6000;

QList<QByteArray> corpusOf(const char *name)
{
    QList<QByteArray> out;
    const QDir folder(QStringLiteral(PADDOCK_SOURCE_DIR "/tests/fuzz/corpus/") + QString::fromLatin1(name));
    for (const QString &entry : folder.entryList(QDir::Files, QDir::Name)) {
        QFile file(folder.filePath(entry));
        if (file.open(QIODevice::ReadOnly))
            out << file.readAll();
    }
    return out;
}

/// Small damages, the way streams and hands make them.
class Mutator
{
public:
    explicit Mutator(const QList<QByteArray> &corpus) : m_corpus(corpus) {}

    QByteArray next()
    {
        QByteArray out = any();
        for (int n = 1 + below(4); n > 0; --n)
            damage(out);
        return out.left(longest);
    }

private:
    int below(qsizetype limit) { return limit <= 0 ? 0 : int(m_random() % std::uint32_t(limit)); }
    const QByteArray &any() { return m_corpus[below(m_corpus.size())]; }

    void damage(QByteArray &text)
    {
        static const QByteArrayList tokens{"\"",  "\\", "{", "}}", "[",   "]]",  ":",   ",",    "null", "-1",   "1e999", "18446744073709551616", "\n",
                                           "\r\n", "\r", " ", "\t", "\xff", "\xc3", "\xf0\x9f\x98\x80", QByteArray(1, '\0'), "--", "&a", "*a",
                                           "!!x ", "? ", "- ", "\x1b[", "\x1b]0;", "9999999", ";", "\x1b[?1049h", "0\r\n\r\n"};
        const int at = below(text.size() + 1);
        const int length = below(std::min<qsizetype>(40, text.size() - at) + 1);
        switch (below(7)) {
        case 0: text.remove(at, length); break;
        case 1: text.insert(at, tokens[below(tokens.size())]); break;
        case 2: text.insert(at, text.mid(at, length).repeated(1 + below(5))); break;
        case 3: text.truncate(at); break;
        case 4: text.insert(at, any().mid(below(200), 60)); break;
        case 5:
            if (at < text.size())
                text[at] = char(text[at] ^ (1 << below(8)));
            break;
        default:
            if (at < text.size())
                text[at] = char(below(256));
        }
    }

    const QList<QByteArray> &m_corpus;
    std::mt19937 m_random{20261202};
};

/// What went wrong; empty when nothing did.
QString complaintOf(const Target &target, const QByteArray &input)
{
    static const QString keep = qEnvironmentVariable("PADDOCK_FUZZ_INPUT");
    if (QFile file(keep); !keep.isEmpty() && file.open(QIODevice::WriteOnly))
        file.write(input);
    try {
        target.run(input);
        return {};
    } catch (const std::exception &e) {
        return QStringLiteral("%1, with the input %2 (%3)")
            .arg(QString::fromUtf8(e.what()), QString::fromLatin1(input.toBase64()), QString::fromLatin1(input.left(300).toPercentEncoding(" \"{}[]:,")));
    }
}

} // namespace

class TestFuzzCorpus : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void targetsHold_data()
    {
        QTest::addColumn<int>("index");
        for (std::size_t i = 0; i < std::size(targets); ++i)
            QTest::newRow(targets[i].name) << int(i);
    }

    void targetsHold()
    {
        QFETCH(int, index);
        const Target &target = targets[index];
        const QList<QByteArray> corpus = corpusOf(target.name);
        QVERIFY2(corpus.size() >= 3, "its corpus is missing");
        QCOMPARE(complaintOf(target, {}), QString());
        for (const QByteArray &input : corpus)
            QCOMPARE(complaintOf(target, input), QString());
        const int asked = qEnvironmentVariableIntValue("PADDOCK_FUZZ_MUTATIONS");
        const int mutations = asked > 0 ? asked : usualMutations;
        Mutator mutator(corpus);
        for (int i = 0; i < mutations; ++i)
            QCOMPARE(complaintOf(target, mutator.next()), QString());
    }
};

} // namespace tst_fuzz_corpus

PADDOCK_TEST(tst_fuzz_corpus, TestFuzzCorpus)
#include "tst_fuzz_corpus.moc"
