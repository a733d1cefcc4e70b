// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include <QObject>

namespace tst_tool_output {

/// What the case files do not show of the members that rewrite results and requests: files, failures, hostile content.
class TestToolOutput : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    // --- results to files --------------------------------------------------------------------------------------------
    void aLargeResultGoesToAFileOfTheThread();
    void commandsAreBudgetedToo();
    void whatCannotBeStoredFallsBack_data();
    void whatCannotBeStoredFallsBack();
    void remoteSandboxesAreWrittenThrough_data();
    void remoteSandboxesAreWrittenThrough();
    void parallelCallsWriteFilesOfTheirOwn();
    void hostileNamesAndContent();
    // --- the synopsis ------------------------------------------------------------------------------------------------
    void synopsesOfHostileContentAreBounded_data();
    void synopsesOfHostileContentAreBounded();
    void kindsBesideTheCases_data();
    void kindsBesideTheCases();
    void cutsNeverSplitACharacter();
    // --- history -----------------------------------------------------------------------------------------------------
    void historyIsTrimmedInTheRequestOnly();
    void nothingToTrimIsTheSameList();
    // --- personal data -----------------------------------------------------------------------------------------------
    void onlyTextOfPeopleIsRedactedAndOnlyInTheRequest();
    void filesHoldRedactedText();
    void commandsAreRedactedToo();
    void whatCannotBeSearched_data();
    void whatCannotBeSearched();
    void detectorsBesideTheCases_data();
    void detectorsBesideTheCases();
    void searchingIsLinear_data();
    void searchingIsLinear();
    // --- knowledge scope ---------------------------------------------------------------------------------------------
    void aScopeIsPutIntoTheContextOnce();
    void aScopeThatIsNotValidEndsTheRun();
    void aRefusedToolRunsNoInnerMember();
    void limitsOfAScope_data();
    void limitsOfAScope();
    void shownDocumentsFollowTheirFilter();
    // --- builds and configuration ------------------------------------------------------------------------------------
    void twoBuildsShareNothing();
    void configurationIsChecked_data();
    void configurationIsChecked();
    void redactionNeedsASecret();
};

} // namespace tst_tool_output
