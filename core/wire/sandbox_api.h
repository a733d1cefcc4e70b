// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/wire/envelope.h"

// GET /v1/sandbox (aio-api.md §1.7): the envelope plus top-level members. Our client tolerates a missing `detail`,
// the official SDKs do not, so the server always sends it.
namespace paddock::wire {

struct ToolSpec {
    std::optional<QString> ver;
    std::optional<QString> bin;
    QStringList alias;

    static ToolSpec read(FieldReader &in);
    Json write() const;
};

struct UtilityTool {
    QString name;
    std::optional<QString> description;

    static UtilityTool read(FieldReader &in);
    Json write() const;
};

struct UtilityCategory {
    QString category;
    QList<UtilityTool> tools;

    static UtilityCategory read(FieldReader &in);
    Json write() const;
};

struct SandboxSystem {
    QString os;
    QString osVersion;
    QString arch;
    QString user;
    QString homeDir;
    std::optional<QString> workspace;
    QString timezone;
    QStringList occupiedPorts; ///< strings, not numbers

    static SandboxSystem read(FieldReader &in);
    Json write() const;
};

struct SandboxDetail {
    SandboxSystem system;
    QList<ToolSpec> python;
    QList<ToolSpec> nodejs;
    QList<UtilityCategory> utils;

    static SandboxDetail read(FieldReader &in);
    Json write() const;
};

struct SandboxContext {
    std::optional<QString> data; ///< free text for an agent
    QString homeDir;
    std::optional<QString> workspace;
    QString version;
    std::optional<SandboxDetail> detail;

    /// The whole body: envelope members first.
    Json write() const;
    static SandboxContext read(FieldReader &in);
};

/// The decoding order of §1.3 for this route.
Decoded<SandboxContext> decodeSandboxContext(const RawReply &reply);

} // namespace paddock::wire
