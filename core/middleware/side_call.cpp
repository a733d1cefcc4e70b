// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/middleware/side_call.h"

#include <QTimer>

namespace paddock {

namespace {

Task<Result<MessagePtr>> limited(std::shared_ptr<ChatModel> model, ModelRequest request, std::chrono::seconds longest, std::stop_token stop)
{
    std::stop_source own;
    const std::stop_callback link(stop, [own]() mutable { own.request_stop(); });
    QTimer limit; // of this loop; ends with this frame
    limit.setSingleShot(true);
    QObject::connect(&limit, &QTimer::timeout, &limit, [own]() mutable { own.request_stop(); });
    limit.start(longest);
    co_return co_await model->complete(std::move(request), {}, own.get_token());
}

} // namespace

Task<Result<QString>> askAside(ModelMaker maker, SideCall call, RuntimePtr runtime)
{
    try {
        if (!maker)
            co_return fail(ErrorCode::NotFound, QStringLiteral("There are no models here"));
        auto model = maker(call.model);
        if (!model)
            co_return fail(model.error());
        ModelRequest request;
        request.model = call.model;
        request.provider = (*model)->provider();
        request.messages.append(humanMessage(call.prompt));
        request.caller.run = stringOf(runtime->values, "run_id");
        request.caller.agent = QStringLiteral("middleware:") + call.member;
        const Result<MessagePtr> reply = co_await limited(*model, std::move(request), call.limit, runtime->stop);
        if (reply && *reply && runtime->onSideReply) // what it cost counts, whoever still wants the text
            runtime->onSideReply(QStringLiteral("middleware:") + call.member, *reply);
        if (runtime->stop.stop_requested())
            co_return cancelled();
        if (!reply && reply.error().isCancelled())
            co_return fail(ErrorCode::Timeout, QStringLiteral("The model did not answer within %1 s").arg(call.limit.count()));
        if (!reply)
            co_return fail(reply.error());
        if (!*reply)
            co_return fail(ErrorCode::Protocol, QStringLiteral("The model returned no message"));
        co_return (*reply)->content.is_null() ? QString() : textOf(*reply);
    } catch (const std::exception &e) {
        co_return fail(ErrorCode::Internal, QString::fromUtf8(e.what()));
    } catch (...) {
        co_return fail(ErrorCode::Internal, QStringLiteral("an exception of an unknown type"));
    }
}

} // namespace paddock
