// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/middleware/pii_redactor.h"

#include <QMessageAuthenticationCode>
#include <QRegularExpression>

#include <algorithm>
#include <array>
#include <vector>

namespace paddock {

namespace {

constexpr int tokenLetters = 27;
constexpr int tokenBytes = 16; ///< of the digest, read as one big-endian number
constexpr int alphabetSize = 26;
constexpr qsizetype residentIdChars = 18;
constexpr qsizetype cpfDigits = 11;

// --- checks of what the patterns find --------------------------------------------------------------------------------

/// The decimal digits of any script, as ASCII.
QString onlyDigits(QStringView text)
{
    QString digits;
    for (const char32_t c : text.toUcs4()) {
        if (QChar::isDigit(c))
            digits += QChar(char16_t(u'0' + QChar::digitValue(c)));
    }
    return digits;
}

int digitAt(QStringView text, qsizetype index)
{
    return text.at(index).unicode() - u'0';
}

bool isBetween(int value, int least, int most)
{
    return value >= least && value <= most;
}

/// `digits` are the first 17, `check` is the last character.
bool isResidentId(QStringView digits, QChar check)
{
    static constexpr std::array weights{7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2};
    if (!isBetween(digits.sliced(6, 4).toInt(), 1900, 2100) || !isBetween(digits.sliced(10, 2).toInt(), 1, 12)
        || !isBetween(digits.sliced(12, 2).toInt(), 1, 31))
        return false;
    int sum = 0;
    for (std::size_t i = 0; i < weights.size(); ++i)
        sum += digitAt(digits, qsizetype(i)) * weights[i];
    const QChar upper = check.isDigit() ? QChar(char16_t(u'0' + check.digitValue())) : check.toUpper();
    return QStringView(u"10X98765432").at(sum % 11) == upper;
}

bool isCpf(QStringView written)
{
    const QString digits = onlyDigits(written);
    if (digits.size() != cpfDigits || digits.count(digits.at(0)) == cpfDigits)
        return false;
    for (qsizetype leading : {cpfDigits - 2, cpfDigits - 1}) {
        qsizetype sum = 0;
        for (qsizetype i = 0; i < leading; ++i)
            sum += digitAt(digits, i) * (leading + 1 - i);
        if (sum * 10 % 11 % 10 != digitAt(digits, leading))
            return false;
    }
    return true;
}

bool isNationalId(QStringView id)
{
    if (id.contains(u'.'))
        return isCpf(id);
    if (id.size() != residentIdChars)
        return true; // format only
    const QString digits = onlyDigits(id.first(residentIdChars - 1));
    return digits.size() != residentIdChars - 1 || isResidentId(digits, id.back());
}

bool isCard(QStringView written)
{
    const QString digits = onlyDigits(written);
    if (!isBetween(int(digits.size()), 13, 19))
        return false;
    int sum = 0;
    for (qsizetype i = 0; i < digits.size(); ++i) {
        const bool doubled = (digits.size() - i) % 2 == 0;
        const int digit = digitAt(digits, i) * (doubled ? 2 : 1);
        sum += digit > 9 ? digit - 9 : digit;
    }
    return sum % 10 == 0;
}

bool isPhone(QStringView written)
{
    return isBetween(int(onlyDigits(written).size()), 8, 15);
}

bool anyMatch(QStringView)
{
    return true;
}

// --- detectors -------------------------------------------------------------------------------------------------------

struct PiiDetector {
    const char *category;
    bool PiiOptions::*enabled;
    QRegularExpression pattern;
    bool (*holds)(QStringView);
};

QRegularExpression piiPattern(const QString &pattern)
{
    QRegularExpression compiled(pattern, QRegularExpression::UseUnicodePropertiesOption);
    compiled.optimize();
    return compiled;
}

/// In the order they run: a resident id with a valid check sum of a card must not be taken for one.
const std::vector<PiiDetector> &piiDetectors()
{
    static const std::vector<PiiDetector> detectors{
        {"email", &PiiOptions::email,
         // Starts at the border of a run only: within one, a later start finds what an earlier one would have found.
         piiPattern(QStringLiteral(R"((?:\G|(?<![A-Za-z0-9._%+-]))[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,})")), anyMatch},
        {"api_key", &PiiOptions::apiKey,
         piiPattern(QStringLiteral(R"(\b(?:sk-[A-Za-z0-9_-]{20,}|AKIA[0-9A-Z]{16}|gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{20,})"
                                   R"(|xox[baprs]-[A-Za-z0-9-]{10,}|AIza[0-9A-Za-z_-]{35})\b)")),
         anyMatch},
        {"national_id", &PiiOptions::nationalId,
         piiPattern(QStringLiteral(R"((?<![\dXx])\d{17}[\dXx](?![\dXx])|(?<!\d)\d{3}\.\d{3}\.\d{3}-\d{2}(?!\d)|(?<!\d)\d{2}-\d{8}-\d(?!\d))"
                                   u"|(?<![A-Z0-9\u00d1&])[A-Z\u00d1&]{4}\\d{6}[0-9A-Z]{3}(?![A-Z0-9\u00d1&])")),
         isNationalId},
        {"credit_card", &PiiOptions::creditCard,
         piiPattern(QStringLiteral(R"((?<!\d)(?:\d{4}[ -]){3}\d{1,7}(?!\d)|(?<!\d)\d{13,19}(?!\d))")), isCard},
        {"phone", &PiiOptions::phone,
         piiPattern(QStringLiteral(R"((?<!\d)\+\d{1,3}(?:[ \-]?\d{1,4}){3,6}(?!\d)|(?<!\d)1[3-9]\d{9}(?!\d)|\(\d{3}\) ?\d{3}[-.]?\d{4}(?!\d))")),
         isPhone}};
    return detectors;
}

/// 27 letters of a keyed digest; letters only, so that no later detector finds digits in it.
QString placeholder(const QString &category, QStringView value, const QByteArray &secret)
{
    const QByteArray message = category.toUtf8() + '\0' + value.toUtf8();
    const QByteArray digest = QMessageAuthenticationCode::hash(message, secret, QCryptographicHash::Sha256);
    std::array<unsigned, tokenBytes> number{};
    std::transform(digest.begin(), digest.begin() + tokenBytes, number.begin(), [](char c) { return unsigned(static_cast<unsigned char>(c)); });
    QString letters;
    for (int i = 0; i < tokenLetters; ++i) {
        unsigned rest = 0; // long division of the whole number
        for (unsigned &byte : number) {
            const unsigned part = rest * 256 + byte;
            byte = part / alphabetSize;
            rest = part % alphabetSize;
        }
        letters += QChar(char16_t(u'a' + rest));
    }
    return u'[' + category.toUpper() + u'_' + letters + u']';
}

/// `text` is valid UTF-16. Of a match that hit its limits QRegularExpression says only that it is not valid.
Result<int> redactWith(const PiiDetector &detector, const QByteArray &secret, QString &text)
{
    const QString category = QString::fromLatin1(detector.category);
    QString out;
    qsizetype copied = 0;
    int hits = 0;
    for (qsizetype at = 0; at <= text.size();) {
        // Checking the whole text again for each hit would take time with the square of its length.
        const QRegularExpressionMatch match = detector.pattern.match(text, at, QRegularExpression::NormalMatch,
                                                                     QRegularExpression::DontCheckSubjectStringMatchOption);
        if (!match.isValid())
            return fail(ErrorCode::ResourceExhausted, QStringLiteral("the search for %1 hit its limit").arg(category));
        if (!match.hasMatch())
            break;
        at = match.capturedEnd();
        if (!detector.holds(match.capturedView()))
            continue;
        out += QStringView(text).sliced(copied, match.capturedStart() - copied);
        out += placeholder(category, match.capturedView(), secret);
        copied = match.capturedEnd();
        ++hits;
    }
    if (hits > 0) {
        out += QStringView(text).sliced(copied);
        text = out;
    }
    return hits;
}

} // namespace

Result<RedactedText> redactPii(const QString &text, const PiiOptions &options)
{
    RedactedText out{text.isValidUtf16() ? text : QString::fromUtf8(text.toUtf8()), {}}; // half a pair would end the search
    const QByteArray secret = options.tokenSecret.toUtf8();
    for (const PiiDetector &detector : piiDetectors()) {
        if (!(options.*detector.enabled))
            continue;
        const Result<int> hits = redactWith(detector, secret, out.text);
        if (!hits)
            return std::unexpected(hits.error());
        if (*hits > 0)
            out.counts.insert(QString::fromLatin1(detector.category), *hits);
    }
    return out;
}

QString redactedForModel(const QString &text, const PiiOptions &options)
{
    const Result<RedactedText> redacted = redactPii(text, options);
    if (redacted)
        return redacted->text;
    return options.failClosed ? QString::fromLatin1(withheldText) : text;
}

} // namespace paddock
