// What is checked of a value before it reaches the server, in words.
#pragma once

#include <string>

#include "sinks/sql/table.h"

namespace sluice::sql {

std::string checks_of(const Column& column);

}  // namespace sluice::sql
