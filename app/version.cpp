#include "app/version.h"

namespace sluice::app {

std::string version() {
  return SLUICE_VERSION;
}

}  // namespace sluice::app
