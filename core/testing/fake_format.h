// Records as small as a test can write them: "id=7,note=seven".
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/api/decoder.h"

namespace sluice::testing {

// A cell is an integer where all of its text is one, else text; what a record lacks is NULL. Commas and equal signs
// cannot be part of a value. A tombstone, or a value with something that is no "name=value" in it, is a Reject. infer()
// may be called from any thread.
class FakeFormat final : public Format {
 public:
  // Cells by value path of one step, @partition and @offset; others throw fatal.
  std::unique_ptr<Decoder> decoder(const RowShape& shape, const SplitNames& names) override;
  std::vector<Field> infer(std::span<const Record> sample) override;
};

}  // namespace sluice::testing
