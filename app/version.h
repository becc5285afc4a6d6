#pragma once

#include <string>

namespace sluice::app {

std::string version();

}  // namespace sluice::app
