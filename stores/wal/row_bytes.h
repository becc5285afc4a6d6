// Rows as bytes. Numbers are written as the machine has them: a file is read by the machine that wrote it.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

#include "core/model/batch.h"

namespace sluice::wal {

void put_text(std::string& out, std::string_view text);
void put_rows(std::string& out, const std::string& topic, const std::string& shape, const Batch& batch);

// What put_rows() has written. Cells point into `bytes`.
struct RowFrame {
  std::string topic;
  std::string shape;
  Batch batch;
};
// Throws std::runtime_error where the bytes are no rows.
RowFrame take_rows(std::string_view bytes);

}  // namespace sluice::wal
