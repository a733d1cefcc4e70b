<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="en_US" sourcelanguage="en">
<context>
    <name>BlockWords</name>
    <message numerus="yes">
        <source>(%n more character(s) are not shown here.)</source>
        <translation>
            <numerusform>(%n more character is not shown here.)</numerusform>
            <numerusform>(%n more characters are not shown here.)</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Thought, %n word(s)</source>
        <translation>
            <numerusform>Thought, %n word</numerusform>
            <numerusform>Thought, %n words</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>LeaseWords</name>
    <message numerus="yes">
        <source>alive because %n owner(s) hold it: %1; %2 is leaving</source>
        <translation>
            <numerusform>alive because %n owner holds it: %1; %2 is leaving</numerusform>
            <numerusform>alive because %n owners hold it: %1; %2 is leaving</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>alive because %n owner(s) hold it: %1</source>
        <translation>
            <numerusform>alive because %n owner holds it: %1</numerusform>
            <numerusform>alive because %n owners hold it: %1</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>RunWords</name>
    <message numerus="yes">
        <source>done · %n turn(s)</source>
        <translation>
            <numerusform>done · %n turn</numerusform>
            <numerusform>done · %n turns</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n file(s)</source>
        <translation>
            <numerusform>%n file</numerusform>
            <numerusform>%n files</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>TraceWords</name>
    <message numerus="yes">
        <source>%n message(s) added</source>
        <translation>
            <numerusform>%n message added</numerusform>
            <numerusform>%n messages added</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n message(s) removed</source>
        <translation>
            <numerusform>%n message removed</numerusform>
            <numerusform>%n messages removed</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n message(s) edited</source>
        <translation>
            <numerusform>%n message edited</numerusform>
            <numerusform>%n messages edited</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>paddock::ApprovalsPanel</name>
    <message numerus="yes">
        <source>%n waiting</source>
        <translation>
            <numerusform>%n waiting</numerusform>
            <numerusform>%n waiting</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>paddock::DiffView</name>
    <message numerus="yes">
        <source>  … %n equal line(s)</source>
        <translation>
            <numerusform>  … %n equal line</numerusform>
            <numerusform>  … %n equal lines</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>paddock::InspectorPanel</name>
    <message numerus="yes">
        <source>%n message(s)</source>
        <translation>
            <numerusform>%n message</numerusform>
            <numerusform>%n messages</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>paddock::LaneView</name>
    <message numerus="yes">
        <source>%1, %n span(s)</source>
        <translation>
            <numerusform>%1, %n span</numerusform>
            <numerusform>%1, %n spans</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>paddock::MainWindow</name>
    <message numerus="yes">
        <source>Quitting cancels %n run(s). Commands are ended and sandboxes released first.</source>
        <translation>
            <numerusform>Quitting cancels %n run. Commands are ended and sandboxes released first.</numerusform>
            <numerusform>Quitting cancels %n runs. Commands are ended and sandboxes released first.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>paddock::MessagesPage</name>
    <message numerus="yes">
        <source>Turn %1 · %n message(s)</source>
        <translation>
            <numerusform>Turn %1 · %n message</numerusform>
            <numerusform>Turn %1 · %n messages</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>paddock::ShellPane</name>
    <message numerus="yes">
        <source>recovered %n time(s)</source>
        <translation>
            <numerusform>recovered %n time</numerusform>
            <numerusform>recovered %n times</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>paddock::ShellPanel</name>
    <message numerus="yes">
        <source>%n shell(s)</source>
        <translation>
            <numerusform>%n shell</numerusform>
            <numerusform>%n shells</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source> · %n running</source>
        <translation>
            <numerusform> · %n running</numerusform>
            <numerusform> · %n running</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>paddock::StatusStrip</name>
    <message numerus="yes">
        <source>● %n agent(s) running</source>
        <translation>
            <numerusform>● %n agent running</numerusform>
            <numerusform>● %n agents running</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>paddock::WorkspacePanel</name>
    <message numerus="yes">
        <source>%n file(s) changed</source>
        <translation>
            <numerusform>%n file changed</numerusform>
            <numerusform>%n files changed</numerusform>
        </translation>
    </message>
</context>
</TS>
