// Walks one JSON text token by token and checks all of it, also what nobody wants.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "core/format/json_tokens.h"
#include "core/model/batch.h"
#include "core/model/value.h"

namespace sluice {

// A cursor in front of the next token. A verb that returns false has found the text wrong: problem() says why, and no
// verb but start() may follow. Views point into the text, which the caller keeps, or into the arena that it passes.
class JsonReader {
 public:
  // Begins a text. The byte behind its end must be readable and 0, so that the end needs no check of its own.
  bool start(std::string_view text);

  // First byte of the next token; 0 at the end.
  char peek() const { return text_.data()[*token_]; }
  bool at_end() const { return token_ == tokens_.end(); }
  // The text is one value, and that has been read.
  bool finish() { return at_end() || fail("the JSON value has ended, and more follows"); }

  // Steps over the next token if it is this bracket or comma.
  bool take(char structural) {
    if (peek() != structural) return false;
    ++token_;
    return true;
  }

  // Steps over a key and its colon if the key is written exactly as `quoted`, quotes included.
  bool take_key(std::string_view quoted) {
    const std::size_t start = *token_;
    if (text_.size() - start < quoted.size() || quoted.empty()) return false;
    if (!same_bytes(text_.data() + start, quoted.data(), quoted.size())) return false;
    if (text_.data()[token_[1]] != ':') return false;
    token_ += 2;
    return true;
  }

  // Steps over any key and its colon. `name` is unescaped and valid until the next read_key() or skip.
  bool read_key(std::string_view& name);

  // Steps over a value. A nested one becomes Json with its text as it is written.
  bool read_value(Value& value, Arena& arena);
  bool skip_value();

  // The text from the byte at `first` to the token before the cursor, which must be a bracket.
  std::string_view text_from(std::size_t first) const { return text_.substr(first, token_[-1] + 1 - first); }
  // Offset of the next token.
  std::size_t offset() const { return *token_; }

  // Notes what is wrong at the next token; the first problem is the one that counts. Returns false.
  bool fail(std::string_view reason) { return fail(reason, *token_); }
  // " at byte 17: a colon is needed", or ": the bytes are not UTF-8" where the position is not known.
  std::string problem() const;

 private:
  // Keys are short: two overlapping words compare them without the call.
  static bool same_bytes(const char* a, const char* b, std::size_t size) {
    if (size < sizeof(std::uint32_t) || size > 2 * sizeof(std::uint64_t)) return std::memcmp(a, b, size) == 0;
    if (size < sizeof(std::uint64_t)) return same_ends<std::uint32_t>(a, b, size);
    return same_ends<std::uint64_t>(a, b, size);
  }
  template <typename Word>
  static bool same_ends(const char* a, const char* b, std::size_t size) {
    const auto load = [](const char* from) {
      Word word;
      std::memcpy(&word, from, sizeof word);
      return word;
    };
    const std::size_t last = size - sizeof(Word);
    return load(a) == load(b) && load(a + last) == load(b + last);
  }

  bool fail(std::string_view reason, std::size_t byte);
  std::string_view token() const;
  bool take_string(std::string_view& raw);
  bool unescape_to_scratch(std::string_view raw);
  bool read_string(Value& value, Arena& arena);
  bool read_literal(Value& value);
  bool skip_key();
  bool skip_scalar();
  bool skip_nested();
  bool open_bracket();
  bool take_closing();

  JsonTokens tokens_;
  std::string_view text_;
  const std::uint32_t* token_ = nullptr;
  bool has_escapes_ = false;  // a backslash anywhere: most texts have none, and then no string need be searched for one
  std::string scratch_;
  std::vector<bool> open_;  // of skip_nested: for each open bracket, whether it is a brace
  std::string_view reason_;
  std::size_t byte_ = 0;
  bool has_position_ = false;
};

}  // namespace sluice
