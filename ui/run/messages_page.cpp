// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "ui/run/messages_page.h"

#include "ui/paint/figures.h"

#include <QComboBox>
#include <QFontDatabase>
#include <QHeaderView>
#include <QPlainTextEdit>
#include <QPointer>
#include <QSplitter>
#include <QTableView>
#include <QVBoxLayout>

namespace paddock {

namespace {

QString firstLine(const MessagePtr &message)
{
    QString text = textOf(message).simplified().left(300);
    for (const ToolCall &call : message->toolCalls)
        text += QStringLiteral(" → %1 %2").arg(call.name, QString::fromUtf8(dumpJson(call.args)).left(120));
    return text.trimmed();
}

QString wholeText(const MessagePtr &message)
{
    QString text = textOf(message);
    for (const ToolCall &call : message->toolCalls)
        text += QStringLiteral("\n\n→ %1 (%2)\n%3").arg(call.name, call.id, QString::fromUtf8(dumpJsonPretty(call.args)));
    for (const InvalidToolCall &call : message->invalidToolCalls)
        text += QStringLiteral("\n\n→ %1 (%2) %3\n%4").arg(call.name, call.id, call.error, QString::fromUtf8(dumpJson(call.args)));
    return text;
}

/// Gives a table a height of whole rows; else the topmost of a list that ends at the foot is cut.
class WholeRows : public QWidget
{
public:
    WholeRows(QTableView *view, QWidget *parent) : QWidget(parent), m_view(view)
    {
        view->setParent(this);
        setBackgroundRole(QPalette::Base);
        setAutoFillBackground(true);
    }
    QSize sizeHint() const override { return m_view->sizeHint(); }
    QSize minimumSizeHint() const override { return m_view->minimumSizeHint(); }

protected:
    void resizeEvent(QResizeEvent *) override
    {
        const int row = std::max(1, m_view->verticalHeader()->defaultSectionSize());
        const int head = m_view->horizontalHeader()->sizeHint().height();
        m_view->setGeometry(0, 0, width(), std::max(head + row, height() - std::max(0, height() - head) % row));
    }

private:
    QTableView *m_view;
};

} // namespace

MessagesModel::MessagesModel(MessageFetch fetch, QObject *parent) : QAbstractTableModel(parent), m_fetch(std::move(fetch)) {}

void MessagesModel::setHashes(const QStringList &hashes)
{
    beginResetModel();
    m_hashes = hashes.mid(std::max<qsizetype>(0, hashes.size() - mostRows));
    m_messages.removeIf([this](const auto &entry) { return !m_hashes.contains(entry.key()); });
    endResetModel();
    if (!m_fetch)
        return;
    const QPointer<MessagesModel> self(this);
    const QStringList wanted = m_hashes;
    for (const QString &hash : wanted) {
        if (!self || m_messages.contains(hash))
            continue;
        m_fetch(hash, [self, hash](const MessagePtr &message) {
            if (self)
                self->arrived(hash, message);
        });
    }
}

void MessagesModel::arrived(const QString &hash, const MessagePtr &message)
{
    if (m_messages.contains(hash))
        return;
    if (message) {
        m_missing.remove(hash);
        m_messages.insert(hash, message);
    } else {
        m_missing.insert(hash);
    }
    tellRowsOf(hash);
}

void MessagesModel::tellRowsOf(const QString &hash)
{
    for (int row = 0; row < m_hashes.size(); ++row) {
        if (m_hashes.at(row) == hash)
            Q_EMIT dataChanged(index(row, 0), index(row, ColumnCount - 1));
    }
}

int MessagesModel::rowCount(const QModelIndex &parent) const
{
    return parent.isValid() ? 0 : int(m_hashes.size());
}

int MessagesModel::columnCount(const QModelIndex &parent) const
{
    return parent.isValid() ? 0 : ColumnCount;
}

QVariant MessagesModel::data(const QModelIndex &index, int role) const
{
    if (!index.isValid())
        return {};
    const MessagePtr message = this->message(index.row());
    if (role == Qt::TextAlignmentRole && (index.column() == NumberColumn || index.column() == TokensColumn))
        return int(Qt::AlignRight | Qt::AlignVCenter);
    if (role != Qt::DisplayRole)
        return {};
    switch (index.column()) {
    case NumberColumn: return index.row() + 1;
    case RoleColumn: return message ? roleName(message->role) : QStringLiteral("…");
    case TokensColumn: return message ? formatTokens(estimateTokens(*message)) : QString();
    case TextColumn: return message ? firstLine(message)
        : m_missing.contains(m_hashes.at(index.row())) ? tr("The journal keeps no text for this message.") : QString();
    default: return {};
    }
}

QVariant MessagesModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole)
        return {};
    switch (section) {
    case NumberColumn: return tr("No.");
    case RoleColumn: return tr("Role");
    case TokensColumn: return tr("Tokens");
    case TextColumn: return tr("Text");
    default: return {};
    }
}

MessagesPage::MessagesPage(MessageFetch fetch, Selection *selection, QWidget *parent)
    : QWidget(parent), m_selection(selection), m_model(new MessagesModel(std::move(fetch), this)),
      m_view(new QTableView(this)), m_text(new QPlainTextEdit(this)), m_turns(new QComboBox(this))
{
    m_view->setModel(m_model);
    m_view->setSelectionBehavior(QAbstractItemView::SelectRows);
    m_view->setSelectionMode(QAbstractItemView::SingleSelection);
    m_view->setShowGrid(false);
    m_view->setWordWrap(false);
    m_view->setFrameShape(QFrame::NoFrame);
    m_view->verticalHeader()->hide();
    m_view->verticalHeader()->setDefaultSectionSize(fontMetrics().height() * 3 / 2);
    m_view->horizontalHeader()->setStretchLastSection(true);
    m_view->horizontalHeader()->setHighlightSections(false);
    m_view->setTabKeyNavigation(false);
    m_view->setAccessibleName(tr("Messages that the model saw"));
    const int letter = fontMetrics().averageCharWidth();
    m_view->setColumnWidth(MessagesModel::NumberColumn, letter * 6);
    m_view->setColumnWidth(MessagesModel::RoleColumn, letter * 10);
    m_view->setColumnWidth(MessagesModel::TokensColumn, letter * 9);
    m_text->setReadOnly(true);
    m_text->setFrameShape(QFrame::NoFrame);
    m_text->setFont(QFontDatabase::systemFont(QFontDatabase::FixedFont));
    m_text->setAccessibleName(tr("Text of the chosen message"));
    m_text->setPlaceholderText(tr("Choose a message to read it whole."));
    m_turns->setAccessibleName(tr("Turn"));
    m_turns->setSizeAdjustPolicy(QComboBox::AdjustToContents);
    auto *splitter = new QSplitter(Qt::Vertical, this);
    splitter->addWidget(new WholeRows(m_view, splitter));
    splitter->addWidget(m_text);
    splitter->setStretchFactor(0, 2);
    splitter->setStretchFactor(1, 3);
    auto *layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(splitter);
    setFocusProxy(m_view);
    connect(m_turns, &QComboBox::activated, this, &MessagesPage::showTurn);
    connect(m_view->selectionModel(), &QItemSelectionModel::currentRowChanged, this,
            [this](const QModelIndex &current) { showMessage(current.row()); });
    connect(m_model, &QAbstractItemModel::dataChanged, this, [this] { showMessage(m_view->currentIndex().row()); });
    connect(selection, &Selection::runChanged, this, &MessagesPage::follow);
    connect(selection, &Selection::agentChanged, this, &MessagesPage::refresh);
    follow(selection->run());
}

QWidget *MessagesPage::trailing() const
{
    return m_turns;
}

void MessagesPage::follow(RunStore *run)
{
    if (m_shownRun)
        disconnect(m_shownRun, nullptr, this, nullptr);
    if (run)
        connect(run, &RunStore::requestsChanged, this, &MessagesPage::refresh);
    m_shownRun = run;
    m_shownAgent = AgentId();
    refresh();
}

void MessagesPage::refresh()
{
    const auto *requests = m_shownRun ? m_shownRun->requests().find(m_selection->agent()) : nullptr;
    const int count = requests ? int(requests->size()) : 0;
    const bool otherAgent = m_shownAgent != m_selection->agent();
    // Stay on the newest turn while it is the one looked at.
    const bool atEnd = otherAgent || m_turns->currentIndex() < 0 || m_turns->currentIndex() == m_turns->count() - 1;
    m_shownAgent = m_selection->agent();
    if (otherAgent)
        m_turns->clear();
    for (int i = m_turns->count(); i < count; ++i) {
        const ModelRequestEntry &request = (*requests)[size_t(i)];
        m_turns->addItem(tr("Turn %1 · %n message(s)", nullptr, int(request.messageHashes.size())).arg(request.turn));
    }
    m_turns->setEnabled(count > 0);
    if (count == 0)
        m_model->setHashes({});
    else if (atEnd && m_turns->currentIndex() != count - 1)
        m_turns->setCurrentIndex(count - 1);
    if (count > 0 && atEnd)
        showTurn(count - 1);
}

void MessagesPage::showTurn(int index)
{
    const auto *requests = m_shownRun ? m_shownRun->requests().find(m_selection->agent()) : nullptr;
    if (!requests || index < 0 || index >= int(requests->size()))
        return;
    if (m_model->hashes() == (*requests)[size_t(index)].messageHashes)
        return; // what the reader chose stays chosen
    m_model->setHashes((*requests)[size_t(index)].messageHashes);
    if (m_model->rowCount() > 0)
        m_view->selectRow(m_model->rowCount() - 1);
}

void MessagesPage::showMessage(int row)
{
    const MessagePtr message = row < 0 ? nullptr : m_model->message(row);
    m_text->setPlainText(message ? wholeText(message) : QString());
}

} // namespace paddock
