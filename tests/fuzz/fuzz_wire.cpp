// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
//
// Bodies of the AIO API: requests as the server reads them, replies as the client does.
#include "core/wire/bash_api.h"
#include "core/wire/envelope.h"
#include "core/wire/file_api.h"
#include "core/wire/file_query_api.h"
#include "core/wire/sandbox_api.h"
#include "core/wire/shell_api.h"
#include "tests/fuzz/fuzz_targets.h"

namespace paddock::fuzz {
namespace {

template<typename T>
void readAs(const Json &body)
{
    wire::FieldReader reader(body, Json::array({"body"}));
    const T value = T::read(reader);
    if (!reader.ok()) {
        promise(!reader.issues().first().message.isEmpty(), "an issue without words");
        return;
    }
    const Json written = value.write();
    wire::FieldReader again(written, Json::array({"body"}));
    const T back = T::read(again);
    promise(again.ok(), "what we write we can read");
    promise(back.write() == written, "a second reading changes nothing");
}

template<typename... T>
void readAsEach(const Json &body)
{
    (readAs<T>(body), ...);
}

void readAsAny(const Json &body)
{
    using namespace wire;
    readAsEach<BashExecRequest, BashExecResult, BashOutputRequest, BashOutputResult, BashWriteRequest, BashKillRequest, BashCreateRequest,
               BashSession, FileError, FileReadRequest, FileReadResult, FileWriteRequest, FileWriteResult, FileReplaceRequest,
               FileReplaceResult, FileUploadResult, EditorRequest, EditorResult, FileSearchRequest, FileSearchResult, FileFindRequest,
               FileFindResult, FileGrepRequest, FileGrepResult, FileGlobRequest, FileGlobResult, FileListRequest, FileListResult,
               SandboxContext, ShellExecRequest, ShellExecResult, ShellIdRequest, ShellView, ShellWaitRequest, ShellStatusResult,
               ShellWriteRequest, ShellKillResult, ShellCreateRequest, ShellCreateResult, ShellUpdateRequest, ShellSessions, ShellStats,
               ShellResizeRequest>(body);
}

} // namespace

void wireJson(const QByteArray &input)
{
    const auto body = wire::parseRequestBody(input);
    if (body)
        readAsAny(*body);
    else
        promise(!body.error().isEmpty() && !wire::validationBody(body.error()).empty(), "a refusal has its issues");

    for (const int status : {200, 404, 422, 500}) {
        wire::RawReply reply;
        reply.status = status;
        reply.body = input;
        const auto envelope = wire::decodeEnvelope(reply);
        if (envelope) {
            promise(status == 200, "only a 2xx is a success");
            readAsAny(envelope->data);
            (void)wire::decodeDataList<wire::BashSession>(reply);
            (void)wire::decodeDataString(reply);
        } else {
            promise(!envelope.error().toError().message.isEmpty(), "an error without words");
            (void)envelope.error().isLostSession();
            (void)envelope.error().validation();
        }
    }
    if (const auto time = wire::parseTimestamp(QString::fromUtf8(input.left(64))))
        promise(wire::parseTimestamp(wire::formatTimestamp(*time)) == time, "a time survives being written");
}

} // namespace paddock::fuzz
