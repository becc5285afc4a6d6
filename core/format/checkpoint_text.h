// A checkpoint as it is written down. Pure.
#pragma once

#include <string>

#include "core/api/checkpoint.h"

namespace sluice::format {

std::string checkpoint_text(const Checkpoint& checkpoint);
// Throws Error(fatal) where the text is no checkpoint, or not whole, with `where` in the message.
Checkpoint parse_checkpoint(const std::string& text, const std::string& where);

}  // namespace sluice::format
