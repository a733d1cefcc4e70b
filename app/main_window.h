// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "app/window_panels.h"
#include "core/run/run_service.h"
#include "ui/dock/layout_store.h"
#include "ui/paint/time_range.h"
#include "ui/settings/view_settings.h"
#include "ui/store/event_feed.h"
#include "ui/store/selection.h"

#include <QMainWindow>
#include <QSettings>

#include <optional>

namespace paddock {

class ActionRegistry;
class CommandPalette;
class StatusStrip;

/// Assembles the panels over one RunService and forwards commands to it; decides nothing (style.md D). Owner: runGui;
/// GUI thread. The service must outlive it.
class MainWindow : public QMainWindow
{
    Q_OBJECT
public:
    struct Options {
        bool keepLayout = true; ///< false: neither reads nor writes what was kept (pictures, tests)
        std::optional<QSize> size;
    };
    MainWindow(RunService *service, const Options &options);
    ~MainWindow() override;

    StoreHub *hub() { return &m_hub; }
    Selection *selection() { return &m_selection; }
    TimeRange *range() { return &m_range; }
    ActionRegistry *registry() const { return m_actions; }
    CommandPalette *commandPalette() const { return m_palette; }
    const WindowPanels &panels() const { return m_panels; }
    static QStringList panelNames();
    /// Brings a dock or a page of the centre to the front.
    void showPanel(const QString &name);
    QWidget *panelWidget(const QString &name) const;

    // Commands, called by actions and the command line.
    void start(const RunRequest &request);
    void startSample();
    void askForRun(bool task);
    void openFolder();
    /// A run by id, beginning of an id, or "last".
    void openByName(const QString &name);
    void openRun(const RunId &run);
    void cancelRun();
    void cancelAgent();
    void exportRun();
    void toggleFollow(bool on);
    void find();
    void nextAgent(int by);
    void setTheme(ThemeChoice theme);
    void resetLayout();
    void showKeys();
    void about();
    /// Ends what runs, then the event loop.
    void quit(int code);

Q_SIGNALS:
    /// Something that was asked for could not be begun; one sentence.
    void failed(const QString &sentence);

protected:
    void closeEvent(QCloseEvent *event) override;

private:
    void connectParts();
    void addPaletteProviders();
    void updateActions();
    void updateCentre();
    void refreshPast();
    void say(const QString &sentence);

    RunService *m_service;
    Options m_options;
    QSettings m_settings;
    ViewSettings m_view;
    StoreHub m_hub;
    Selection m_selection;
    TimeRange m_range;
    LayoutStore m_layout;
    ActionRegistry *m_actions;
    CommandPalette *m_palette = nullptr;
    StatusStrip *m_status = nullptr;
    WindowPanels m_panels;
    std::unique_ptr<EventFeed> m_feed;
    QString m_wanted; ///< run to open once the list is here
    bool m_listed = false;
    bool m_quitting = false;
};

} // namespace paddock
