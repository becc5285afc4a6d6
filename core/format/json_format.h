// Records whose value is one JSON object, as most producers write them.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "core/api/decoder.h"

namespace sluice {

// Cells by what JSON says: an integer that fits becomes int64, any other number a Decimal with its digits as written,
// true and false bool, null and what is missing NULL, a string Text, an object or array Json. Where a field comes twice
// the last one counts. The whole value is checked, also what no cell wants.
//
// infer() may be called from any thread; decoders as core/api/decoder.h says.
class JsonFormat : public Format {
 public:
  std::unique_ptr<Decoder> decoder(const RowShape& shape, const SplitNames& names) override;

  // Integers beyond int64 make a field decimal, a fraction or an exponent makes it real, both together decimal.
  std::vector<Field> infer(std::span<const Record> sample) override;
};

}  // namespace sluice
