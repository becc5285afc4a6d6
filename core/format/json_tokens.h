// Where the tokens of a JSON text begin, found by simdjson's vectorised first stage.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

namespace simdjson::internal {
class dom_parser_implementation;
}

namespace sluice {

// After find() it is certain that the text is valid UTF-8, that every string is closed and free of bare control
// characters, and that between the end of a string and the next token there is nothing but white space. Anything else
// (which token may follow which, numbers, escapes) is for the reader to judge.
//
// Only the first stage is used: simdjson's own second stages either build a tree that would be thrown away or leave
// whatever is skipped unchecked. simdjson counts that stage to its inner interface, which may change with a new
// version: this class is the only place that knows it.
class JsonTokens {
 public:
  JsonTokens();
  ~JsonTokens();
  JsonTokens(const JsonTokens&) = delete;
  JsonTokens& operator=(const JsonTokens&) = delete;

  // Empty on success, else what is wrong with the text. Reads no byte behind it.
  std::string_view find(std::string_view text);

  // Offsets of the first byte of each token, in order, until the next find(). *end() can be read and is text.size().
  const std::uint32_t* begin() const { return begin_; }
  const std::uint32_t* end() const { return end_; }

 private:
  bool fit(std::size_t size);

  std::unique_ptr<simdjson::internal::dom_parser_implementation> parser_;
  const std::uint32_t* begin_ = nullptr;
  const std::uint32_t* end_ = nullptr;
};

}  // namespace sluice
