// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/wire/sandbox_api.h"

namespace paddock::wire {

ToolSpec ToolSpec::read(FieldReader &in)
{
    return {in.optionalString("ver"), in.optionalString("bin"), in.optionalStrings("alias").value_or(QStringList())};
}

Json ToolSpec::write() const
{
    return {{"ver", orNull(ver)}, {"bin", orNull(bin)}, {"alias", toJson(alias)}};
}

UtilityTool UtilityTool::read(FieldReader &in)
{
    return {in.string("name"), in.optionalString("description")};
}

Json UtilityTool::write() const
{
    return {{"name", paddock::toJson(name)}, {"description", orNull(description)}};
}

UtilityCategory UtilityCategory::read(FieldReader &in)
{
    return {in.string("category"), in.list<UtilityTool>("tools")};
}

Json UtilityCategory::write() const
{
    return {{"category", paddock::toJson(category)}, {"tools", writeList(tools)}};
}

SandboxSystem SandboxSystem::read(FieldReader &in)
{
    SandboxSystem r;
    r.os = in.stringOr("os");
    r.osVersion = in.stringOr("os_version");
    r.arch = in.stringOr("arch");
    r.user = in.stringOr("user");
    r.homeDir = in.stringOr("home_dir");
    r.workspace = in.optionalString("workspace");
    r.timezone = in.stringOr("timezone");
    // Some images send numbers: accepted, the type on our side stays text.
    if (const Json &ports = in.value("occupied_ports"); ports.is_array()) {
        for (const Json &port : ports)
            r.occupiedPorts << (port.is_string() ? textOf(port) : QString::fromStdString(port.dump()));
    }
    return r;
}

Json SandboxSystem::write() const
{
    return {{"os", paddock::toJson(os)},
            {"os_version", paddock::toJson(osVersion)},
            {"arch", paddock::toJson(arch)},
            {"user", paddock::toJson(user)},
            {"home_dir", paddock::toJson(homeDir)},
            {"workspace", orNull(workspace)},
            {"timezone", paddock::toJson(timezone)},
            {"occupied_ports", toJson(occupiedPorts)}};
}

SandboxDetail SandboxDetail::read(FieldReader &in)
{
    SandboxDetail r;
    if (in.value("system").is_object()) {
        FieldReader system = in.child("system");
        r.system = SandboxSystem::read(system);
    }
    if (in.value("runtime").is_object()) {
        FieldReader runtime = in.child("runtime");
        r.python = runtime.list<ToolSpec>("python");
        r.nodejs = runtime.list<ToolSpec>("nodejs");
    }
    r.utils = in.list<UtilityCategory>("utils");
    return r;
}

Json SandboxDetail::write() const
{
    return {{"system", system.write()},
            {"runtime", {{"python", writeList(python)}, {"nodejs", writeList(nodejs)}}},
            {"utils", writeList(utils)}};
}

SandboxContext SandboxContext::read(FieldReader &in)
{
    SandboxContext r;
    if (in.value("data").is_string())
        r.data = in.optionalString("data");
    r.homeDir = in.string("home_dir");
    r.workspace = in.optionalString("workspace");
    r.version = in.stringOr("version");
    if (in.value("detail").is_object()) {
        FieldReader reader = in.child("detail");
        r.detail = SandboxDetail::read(reader);
    }
    return r;
}

Json SandboxContext::write() const
{
    Json out = succeeded(orNull(data)).write();
    out["home_dir"] = paddock::toJson(homeDir);
    out["workspace"] = orNull(workspace);
    out["version"] = paddock::toJson(version);
    out["detail"] = detail ? detail->write() : Json(nullptr);
    return out;
}

Decoded<SandboxContext> decodeSandboxContext(const RawReply &reply)
{
    if (Decoded<Envelope> envelope = decodeEnvelope(reply); !envelope)
        return std::unexpected(std::move(envelope.error()));
    const Decoded<Json> body = decodeBody(reply);
    FieldReader reader(*body, Json::array());
    SandboxContext context = SandboxContext::read(reader);
    if (!reader.ok())
        return std::unexpected(decodeFailure(reply, reader.issues().first()));
    return context;
}

} // namespace paddock::wire
