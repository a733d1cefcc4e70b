// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "ui/shell/terminal_colors.h"

#include <array>

namespace paddock {

namespace {

bool isDarkPalette(const QPalette &palette)
{
    return palette.color(QPalette::Window).lightness() < 128;
}

QColor indexed(int index, bool dark)
{
    static const std::array<QRgb, 16> onDark = {0xff3b4048, 0xffe06c75, 0xff8ac26a, 0xffe0ad4c, 0xff61a8e8, 0xffc678dd, 0xff56b6c2, 0xffc8ccd4,
                                                0xff6b7280, 0xffff7b86, 0xffa5d984, 0xffffd479, 0xff82c0ff, 0xffde9cf0, 0xff7fd5e0, 0xffffffff};
    static const std::array<QRgb, 16> onLight = {0xff24292f, 0xffb3261e, 0xff1a7f37, 0xff8a6100, 0xff0550ae, 0xff8250df, 0xff1b7c83, 0xff57606a,
                                                 0xff6e7781, 0xffcf222e, 0xff2da44e, 0xff9a6700, 0xff0969da, 0xffa475f9, 0xff3192aa, 0xff32383f};
    if (index < 16)
        return QColor(dark ? onDark[std::size_t(index)] : onLight[std::size_t(index)]);
    if (index < 232) {
        static const std::array<int, 6> steps = {0, 95, 135, 175, 215, 255};
        const int cube = index - 16;
        return QColor(steps[std::size_t(cube / 36)], steps[std::size_t(cube / 6 % 6)], steps[std::size_t(cube % 6)]);
    }
    const int grey = 8 + (index - 232) * 10;
    return QColor(grey, grey, grey);
}

QColor color(const TermColor &c, const QColor &fallback, bool dark, bool bold)
{
    switch (c.kind) {
    case TermColor::Kind::Default: return fallback;
    case TermColor::Kind::Rgb: return QColor(c.r, c.g, c.b);
    case TermColor::Kind::Indexed: return indexed(bold && c.index < 8 ? c.index + 8 : c.index, dark);
    }
    return fallback;
}

} // namespace

QColor consoleBackground(const QPalette &palette)
{
    return isDarkPalette(palette) ? QColor(0x14, 0x15, 0x1a) : QColor(0xfb, 0xfb, 0xfc);
}

QColor consoleText(const QPalette &palette)
{
    return isDarkPalette(palette) ? QColor(0xd4, 0xd7, 0xdd) : QColor(0x24, 0x29, 0x2f);
}

CellColors cellColors(const CellStyle &style, const QPalette &palette, bool reverseVideo)
{
    const bool dark = isDarkPalette(palette);
    CellColors colors;
    colors.foreground = color(style.foreground, consoleText(palette), dark, style.bold);
    if (style.background.kind != TermColor::Kind::Default)
        colors.background = color(style.background, consoleBackground(palette), dark, false);
    if (style.reverse != reverseVideo) {
        const QColor back = colors.background.isValid() ? colors.background : consoleBackground(palette);
        colors.background = colors.foreground;
        colors.foreground = back;
    }
    if (style.conceal)
        colors.foreground = colors.background.isValid() ? colors.background : consoleBackground(palette);
    return colors;
}

} // namespace paddock
