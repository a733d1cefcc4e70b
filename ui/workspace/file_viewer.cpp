// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "ui/workspace/file_viewer.h"

#include "core/base/pool.h"
#include "ui/paint/figures.h"
#include "ui/text/code_view.h"
#include "ui/text/hex_text.h"
#include "ui/text/markdown_view.h"

#include <QBuffer>
#include <QImageReader>
#include <QLabel>
#include <QScrollArea>
#include <QStackedWidget>
#include <QVBoxLayout>

namespace paddock {

namespace {
constexpr int mostImageMegabytes = 128;
constexpr qsizetype mostHexBytes = 256 * 1024;
} // namespace

FileViewer::FileViewer(QWidget *parent)
    : QWidget(parent), m_notice(new QLabel(this)), m_stack(new QStackedWidget(this)), m_message(new QLabel(this)),
      m_code(new CodeView(this)), m_markdown(new MarkdownView(this)), m_image(new QLabel(this))
{
    m_message->setAlignment(Qt::AlignCenter);
    m_message->setWordWrap(true);
    m_message->setForegroundRole(QPalette::PlaceholderText);
    m_image->setAlignment(Qt::AlignCenter);
    m_notice->setWordWrap(true);
    m_notice->setMargin(6);
    m_notice->hide();
    auto *scroll = new QScrollArea(this);
    scroll->setWidget(m_image);
    scroll->setWidgetResizable(true);
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setFocusPolicy(Qt::StrongFocus); // arrows scroll a large picture
    scroll->setAccessibleName(tr("Picture"));
    setAccessibleName(tr("File"));
    for (QWidget *w : {static_cast<QWidget *>(m_message), static_cast<QWidget *>(m_code), static_cast<QWidget *>(m_markdown), static_cast<QWidget *>(scroll)})
        m_stack->addWidget(w);
    auto *layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addWidget(m_notice);
    layout->addWidget(m_stack, 1);
    clear();
}

void FileViewer::clear()
{
    ++m_request;
    m_virtualPath.clear();
    m_hostPath.clear();
    m_notice->hide();
    m_message->setText(tr("Choose a file to see it."));
    m_stack->setCurrentWidget(m_message);
}

void FileViewer::showFile(const QString &virtualPath, const QString &hostPath)
{
    m_virtualPath = virtualPath;
    m_hostPath = hostPath;
    reload();
}

void FileViewer::reload()
{
    if (m_virtualPath.isEmpty())
        return;
    const quint64 request = ++m_request;
    if (m_hostPath.isEmpty()) {
        m_notice->hide();
        m_message->setText(tr("The folder of this run is gone; only the record of its changes is left."));
        m_stack->setCurrentWidget(m_message);
        return;
    }
    computeThen(this, [path = m_hostPath] { return readForView(path); }, [this, request](const FileContent &content) {
        if (request == m_request)
            display(content);
    });
}

void FileViewer::displayImage(const FileContent &content)
{
    QBuffer buffer;
    buffer.setData(content.bytes);
    QImageReader reader(&buffer);
    reader.setAllocationLimit(mostImageMegabytes);
    reader.setAutoTransform(true);
    const QImage image = reader.read();
    if (image.isNull()) {
        m_message->setText(tr("This picture cannot be shown: %1").arg(reader.errorString()));
        m_stack->setCurrentWidget(m_message);
        return;
    }
    m_image->setPixmap(QPixmap::fromImage(image));
    m_image->setAccessibleName(tr("Picture, %1 by %2").arg(image.width()).arg(image.height()));
    m_stack->setCurrentIndex(3);
}

void FileViewer::display(const FileContent &content)
{
    const qint64 shownBytes = content.binary ? std::min<qint64>(mostHexBytes, content.bytes.size()) : content.bytes.size();
    const QString suffix = m_virtualPath.section(QLatin1Char('.'), -1).toLower();
    static const QStringList images{QStringLiteral("png"), QStringLiteral("jpg"), QStringLiteral("jpeg"), QStringLiteral("gif"),
                                    QStringLiteral("bmp"), QStringLiteral("webp")};
    const bool isImage = images.contains(suffix) && !content.cut;
    const bool cut = content.problem.isEmpty() && !isImage && shownBytes < content.size;
    m_notice->setVisible(cut);
    if (cut)
        m_notice->setText(tr("Only the first %1 of %2 are shown.").arg(formatBytes(shownBytes), formatBytes(content.size)));
    if (!content.problem.isEmpty()) {
        m_message->setText(tr("%1 cannot be shown: %2.").arg(visibleName(m_virtualPath), content.problem));
        m_stack->setCurrentWidget(m_message);
    } else if (isImage) {
        displayImage(content);
    } else if (content.binary) {
        m_code->setText(hexText(content.bytes.left(mostHexBytes)), QStringLiteral("bytes.hexdump"));
        m_stack->setCurrentWidget(m_code);
    } else if (suffix == u"md" || suffix == u"markdown") {
        m_markdown->setText(QString::fromUtf8(content.bytes), m_shownPath == m_virtualPath);
        m_stack->setCurrentWidget(m_markdown);
    } else {
        m_code->setText(QString::fromUtf8(content.bytes), m_virtualPath.section(QLatin1Char('/'), -1));
        m_stack->setCurrentWidget(m_code);
    }
    m_shownPath = m_virtualPath;
    Q_EMIT shown(m_virtualPath);
}

} // namespace paddock
