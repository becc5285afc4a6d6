// What a format offers: from a record's bytes to cells.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/api/source.h"
#include "core/model/batch.h"
#include "core/model/reject.h"
#include "core/model/schema.h"

namespace sluice {

// One per task and table, used by that task's thread only.
class Decoder {
 public:
  virtual ~Decoder() = default;

  // Appends a row for each record that decodes, in order; the others go to `rejects`. Cells are in the order of the
  // RowShape that the decoder was made with; a path that a record lacks leaves NULL. Nothing in `rows` points into
  // the records afterwards: bytes are copied into the batch's arena once.
  virtual void decode(std::span<const Record> records, Batch& rows, std::vector<Reject>& rejects) = 0;
};

class Format {
 public:
  virtual ~Format() = default;

  // `names` serves cells like @topic; it outlives the decoder.
  virtual std::unique_ptr<Decoder> decoder(const RowShape& shape, const SplitNames& names) = 0;

  // Top-level fields of a sample in the order of their first appearance, each with the narrowest kind that holds all
  // its values: integer, real, boolean, json, else text. Records that do not decode are passed over. Fields that are
  // always null are left out.
  virtual std::vector<Field> infer(std::span<const Record> sample) = 0;
};

}  // namespace sluice
