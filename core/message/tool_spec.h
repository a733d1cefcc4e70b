// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/base/json.h"

#include <QString>

namespace paddock {

/// What a model is told of a tool: name, description and the JSON Schema of its arguments.
struct ToolSpec {
    QString name;
    QString description;
    Json parameters = Json{{"type", "object"}, {"properties", Json::object()}};
};

} // namespace paddock
