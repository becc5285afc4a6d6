#include "core/format/json_tokens.h"

#include <simdjson.h>

#include <algorithm>
#include <new>

namespace sluice {

namespace {

// The index takes four bytes for each byte of the text. Up to this size of text it is kept between records.
constexpr std::size_t kept_bytes_max = std::size_t{1} << 20;
constexpr std::size_t kept_bytes_min = std::size_t{16} << 10;

std::string_view explain(simdjson::error_code error) {
  switch (error) {
    case simdjson::EMPTY:
      return "there is no value in it";
    case simdjson::UTF8_ERROR:
      return "the bytes are not UTF-8";
    case simdjson::UNCLOSED_STRING:
      return "a string is not closed";
    case simdjson::UNESCAPED_CHARS:
      return "a string holds a control character that is not escaped";
    case simdjson::CAPACITY:
      return "it is larger than 4 GiB";
    default:
      return "its tokens cannot be told apart";
  }
}

}  // namespace

JsonTokens::JsonTokens() = default;
JsonTokens::~JsonTokens() = default;

std::string_view JsonTokens::find(std::string_view text) {
  begin_ = end_ = nullptr;
  if (!fit(text.size())) return explain(simdjson::CAPACITY);
  const auto error =
      parser_->stage1(reinterpret_cast<const std::uint8_t*>(text.data()), text.size(), simdjson::stage1_mode::regular);
  if (error) return explain(error);
  begin_ = parser_->structural_indexes.get();
  end_ = begin_ + parser_->n_structural_indexes;
  return {};
}

// Makes room for a text of that size. What one huge record needed is given back at the next ordinary one: memory must
// not follow the largest record ever seen.
bool JsonTokens::fit(std::size_t size) {
  const std::size_t capacity = parser_ ? parser_->capacity() : 0;
  if (parser_ && size <= capacity && (capacity <= kept_bytes_max || size > kept_bytes_max)) return true;
  if (size > simdjson::SIMDJSON_MAXSIZE_BYTES) return false;
  const std::size_t wanted =
      size > kept_bytes_max ? size : std::min(kept_bytes_max, std::max({kept_bytes_min, 2 * capacity, size}));
  // The depth is of the second stage, which is not used.
  const auto error = simdjson::get_active_implementation()->create_dom_parser_implementation(wanted, 1, parser_);
  if (error) throw std::bad_alloc();
  return true;
}

}  // namespace sluice
