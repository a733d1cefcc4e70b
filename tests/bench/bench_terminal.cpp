// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
//
// Bytes into a terminal beside libvterm's own screen, and what a window waits for its picture while sixteen shells flood.
#include "core/term/terminal.h"
#include "tests/bench/bench.h"

#include <atomic>
#include <thread>
#include <vterm.h>

namespace paddock::bench {
namespace {

constexpr int columns = 160;
constexpr int rows = 50;

/// Output of a build: coloured words, long and short lines.
QByteArray flood(qsizetype bytes)
{
    QByteArray text;
    for (int i = 0; text.size() < bytes; ++i) {
        text += "\x1b[32m[" + QByteArray::number(i) + "]\x1b[0m Building CXX object core/base/CMakeFiles/base.dir/"
            + QByteArray(i % 90, 'x') + ".cpp.o\r\n";
        if (i % 50 == 0)
            text += "\x1b[1;31mwarning:\x1b[0m größer als erlaubt \xE6\xBC\xA2\r\n";
    }
    return text;
}

/// libvterm with its screen layer, as most programs use it.
class VtermScreen
{
public:
    VtermScreen() : m_term(vterm_new(rows, columns))
    {
        vterm_set_utf8(m_term, 1);
        VTermScreen *screen = vterm_obtain_screen(m_term);
        vterm_screen_set_damage_merge(screen, VTERM_DAMAGE_SCROLL);
        vterm_screen_reset(screen, 1);
    }
    ~VtermScreen() { vterm_free(m_term); }
    VtermScreen(const VtermScreen &) = delete;
    VtermScreen &operator=(const VtermScreen &) = delete;

    void feed(QByteArrayView bytes) { vterm_input_write(m_term, bytes.data(), size_t(bytes.size())); }

private:
    VTerm *m_term;
};

constexpr qsizetype piece = 64 * 1024; ///< what one read of a pty gives at most

Reading speed(const Scale &scale)
{
    const QByteArray text = flood(scale.of(16 * 1024 * 1024, 20'000));
    const double megabytes = double(text.size()) / 1e6;
    std::vector<double> ours;
    std::vector<double> peers;
    for (int round = 0; round < scale.of(5, 1); ++round) {
        Terminal terminal(columns, rows);
        ours.push_back(megabytes / secondsOf([&] {
            for (qsizetype at = 0; at < text.size(); at += piece)
                terminal.feed(text.sliced(at, std::min(piece, text.size() - at)));
        }));
        VtermScreen screen;
        peers.push_back(megabytes / secondsOf([&] {
            for (qsizetype at = 0; at < text.size(); at += piece)
                screen.feed(QByteArrayView(text).sliced(at, std::min(piece, text.size() - at)));
        }));
    }
    return {QStringLiteral("terminal, one session of %1 x %2").arg(columns).arg(rows), QStringLiteral("%1 MB/s").arg(median(ours), 0, 'f', 1),
            QStringLiteral("libvterm's screen %1 MB/s").arg(median(peers), 0, 'f', 1), median(ours) / median(peers), 1,
            QStringLiteral("x libvterm's screen"), true};
}

/// One worker feeds all sessions in turn; this thread takes a picture of each, sixty times a second.
Reading pictures(const Scale &scale)
{
    constexpr int sessions = 16;
    const QByteArray text = flood(piece);
    std::vector<std::unique_ptr<Terminal>> terminals;
    for (int i = 0; i < sessions; ++i)
        terminals.push_back(std::make_unique<Terminal>(columns, rows));
    std::atomic<qint64> fed = 0;
    std::vector<double> frames;
    {
        const std::jthread worker([&](const std::stop_token &stop) {
            for (std::size_t i = 0; !stop.stop_requested(); i = (i + 1) % sessions) {
                terminals[i]->feed(text);
                fed += text.size();
            }
        });
        for (int frame = 0; frame < scale.of(240, 3); ++frame) {
            std::this_thread::sleep_for(std::chrono::milliseconds(16)); // the pace of a window, not a wait for something
            frames.push_back(secondsOf([&] {
                for (const auto &terminal : terminals)
                    (void)terminal->screen();
            }));
        }
    }
    const double longest = *std::ranges::max_element(frames) * 1e3;
    return {QStringLiteral("terminal, %1 sessions flooding: pictures of all of them").arg(sessions),
            QStringLiteral("longest %1 ms, with %2 MB parsed meanwhile").arg(longest, 0, 'f', 2).arg(double(fed) / 1e6, 0, 'f', 0),
            QStringLiteral("usual %1 ms").arg(median(frames) * 1e3, 0, 'f', 2), longest, 8, QStringLiteral("ms")};
}

} // namespace

Readings terminalBytes(const Scale &scale)
{
    return QList<Reading>{speed(scale), pictures(scale)};
}

} // namespace paddock::bench
