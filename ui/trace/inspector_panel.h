// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "ui/store/run_store.h"
#include "ui/trace/text_diff.h"

#include <QPointer>
#include <QWidget>

#include <functional>

class QGridLayout;
class QLabel;
class QStackedWidget;

namespace paddock {

class FlatTabBar;
class DiffText;

/// Facts of one span and what it did to the messages. Contents come by hash when they are looked at; a newer choice
/// makes older answers void. j and k go to the next and previous change. Owner: its dock; GUI thread.
class InspectorPanel : public QWidget
{
    Q_OBJECT
public:
    using Fetch = std::function<void(const QString &hash, std::function<void(MessagePtr)> done)>;
    enum Page { DiffPage, BeforePage, AfterPage, StatePage, RawPage, PageCount };

    explicit InspectorPanel(Fetch fetch, QWidget *parent = nullptr);

    void showSpan(RunStore *run, quint32 span);
    void showPage(Page page);
    /// Moves to the next (1) or previous (-1) change of the diff.
    void stepChange(int by);
    QString text(Page page) const;

Q_SIGNALS:
    void remarkChanged(const QString &remark);

protected:
    void resizeEvent(QResizeEvent *event) override;

private:
    struct Pair {
        QString heading;
        QString before;
        QString after;
        MessagePtr was;
        MessagePtr is;
    };
    void clear();
    void fitFacts();
    void showFacts();
    void addFact(const QString &name, const QString &value, bool fixed = false);
    void showHook(const EventPtr &event);
    QString sentToShell(const Event &opened, const EventPtr &closed) const;
    void showTool(const EventPtr &opened, const EventPtr &closed);
    void showModel(const EventPtr &opened, const EventPtr &closed);
    void showWaiting(const EventPtr &opened);
    void fetchPairs(const MiddlewareSpan &hook);
    void showPairs();
    /// The whole result for the After page, and below the arguments on the first one.
    void fetchResult(const QString &hash, const QString &args);

    Fetch m_fetch;
    QPointer<RunStore> m_run;
    quint32 m_span = 0xffffffffu;
    quint64 m_request = 0; ///< recognises late answers
    std::vector<Pair> m_pairs;
    int m_missing = 0;
    QWidget *m_factsBox;
    QGridLayout *m_facts;
    FlatTabBar *m_tabs;
    QStackedWidget *m_pages;
    std::array<DiffText *, PageCount> m_texts{};
    QLabel *m_empty;
};

} // namespace paddock
