// A program outside the source tree that uses the installed headers and library.
#include <iostream>

#include "core/api/source.h"
#include "core/model/error.h"

int main() {
  const sluice::Error error(sluice::Fault::retryable, "from outside");
  std::cout << sluice::to_string(error.fault()) << ": " << error.what() << '\n';
}
