#include "core/format/json_format.h"

#include "core/format/json_decoder.h"

namespace sluice {

std::unique_ptr<Decoder> JsonFormat::decoder(const RowShape& shape, const SplitNames& names) {
  return std::make_unique<JsonDecoder>(shape, names);
}

}  // namespace sluice
