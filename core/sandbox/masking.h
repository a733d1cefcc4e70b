// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include <QRegularExpression>
#include <QString>

#include <vector>

namespace paddock {

/// One host folder and the virtual path it is shown as.
struct MaskSource {
    QString host;
    QString virtualBase;
};

/// The one place that hides host paths from text for models (sandbox.md §1.6), of both layers. Each source is known by its
/// literal spelling and its resolved one, each with "/" and "\". One pass, the longest host path first, so the result is
/// never masked again. Immutable; thread-safe. Compile it once per set of sources: the constructor reads links.
class HostPathMasker
{
public:
    HostPathMasker() = default;
    explicit HostPathMasker(const std::vector<MaskSource> &sources);

    QString mask(const QString &text) const;

private:
    std::vector<MaskSource> m_spellings; ///< longest host first; the n-th is group n+1 of the pattern
    QRegularExpression m_pattern;
};

} // namespace paddock
