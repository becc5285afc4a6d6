#include "core/format/json_reader.h"

#include "core/format/json_string.h"
#include "core/format/number_text.h"

namespace sluice {

namespace {

// Nobody nests deeper on purpose, and databases have limits of that order for their own JSON types.
constexpr std::size_t depth_max = 1024;

bool is_space(char c) {
  return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}
bool has_backslash(std::string_view raw) {
  return raw.find('\\') != std::string_view::npos;
}

}  // namespace

bool JsonReader::start(std::string_view text) {
  text_ = text;
  reason_ = tokens_.find(text);
  has_position_ = false;
  if (!reason_.empty()) return false;
  token_ = tokens_.begin();
  has_escapes_ = has_backslash(text);
  return true;
}

bool JsonReader::read_key(std::string_view& name) {
  if (peek() != '"') return fail("a field name in double quotes is needed");
  if (!take_string(name)) return false;
  if (has_escapes_ && has_backslash(name)) {
    if (!unescape_to_scratch(name)) return false;
    name = scratch_;
  }
  return take(':') || fail("a colon is needed");
}

bool JsonReader::read_value(Value& value, Arena& arena) {
  const char first = peek();
  if (first == '"') return read_string(value, arena);
  if (first == '-' || (first >= '0' && first <= '9')) {
    if (!read_number(token(), value)) return fail("this is not a number by JSON's rules");
    ++token_;
    return true;
  }
  if (first != '{' && first != '[') return read_literal(value);
  const std::size_t start = *token_;
  if (!skip_nested()) return false;
  value = Json{text_from(start)};
  return true;
}

bool JsonReader::skip_value() {
  const char first = peek();
  return first == '{' || first == '[' ? skip_nested() : skip_scalar();
}

std::string JsonReader::problem() const {
  if (!has_position_) return ": " + std::string(reason_);
  return " at byte " + std::to_string(byte_) + ": " + std::string(reason_);
}

bool JsonReader::fail(std::string_view reason, std::size_t byte) {
  if (!reason_.empty()) return false;
  // Where the text ends too early, the end is what is wrong.
  reason_ = byte < text_.size() ? reason : "the value ends in the middle";
  byte_ = byte;
  has_position_ = true;
  return false;
}

// The next token up to the white space behind it.
std::string_view JsonReader::token() const {
  const std::size_t start = *token_;
  std::size_t end = token_[1];
  while (end > start && is_space(text_[end - 1])) --end;
  return text_.substr(start, end - start);
}

// The text between the quotes, as it is written.
bool JsonReader::take_string(std::string_view& raw) {
  const std::string_view quoted = token();
  if (quoted.size() < 2 || quoted.back() != '"') return fail("a string is not closed");
  raw = quoted.substr(1, quoted.size() - 2);
  ++token_;
  return true;
}

bool JsonReader::unescape_to_scratch(std::string_view raw) {
  scratch_.resize(raw.size());
  std::size_t length = 0;
  if (!unescape_json(raw, scratch_.data(), length)) return fail("a string holds a wrong escape", token_[-1]);
  scratch_.resize(length);
  return true;
}

bool JsonReader::read_string(Value& value, Arena& arena) {
  std::string_view raw;
  if (!take_string(raw)) return false;
  if (has_escapes_ && has_backslash(raw)) {
    char* const out = arena.allocate(raw.size());
    std::size_t length = 0;
    if (!unescape_json(raw, out, length)) return fail("a string holds a wrong escape", token_[-1]);
    raw = {out, length};
  }
  value = Text{raw};
  return true;
}

bool JsonReader::read_literal(Value& value) {
  if (at_end()) return fail("a value is needed");
  const std::string_view literal = token();
  if (literal == "null") {
    value = Null{};
  } else if (literal == "true") {
    value = true;
  } else if (literal == "false") {
    value = false;
  } else {
    return fail("a value is needed");
  }
  ++token_;
  return true;
}

bool JsonReader::skip_key() {
  if (peek() != '"') return fail("a field name in double quotes is needed");
  return skip_scalar() && (take(':') || fail("a colon is needed"));
}

bool JsonReader::skip_scalar() {
  const char first = peek();
  if (first == '"') {
    std::string_view raw;
    return take_string(raw) && (!has_escapes_ || !has_backslash(raw) || unescape_to_scratch(raw));
  }
  Value ignored;
  if (first != '-' && (first < '0' || first > '9')) return read_literal(ignored);
  if (!read_number(token(), ignored)) return fail("this is not a number by JSON's rules");
  ++token_;
  return true;
}

// A loop and a stack of bits instead of recursion: the depth is the sender's choice. The cursor is at a bracket.
bool JsonReader::skip_nested() {
  open_.clear();
  do {
    if (!open_.empty() && open_.back() && !skip_key()) return false;
    if (peek() == '{' || peek() == '[') {
      if (!open_bracket()) return false;
      if (!take_closing()) continue;
    } else if (!skip_scalar()) {
      return false;
    }
    while (!open_.empty() && !take(',')) {
      if (!take_closing()) return fail(open_.back() ? "a comma or } is needed" : "a comma or ] is needed");
    }
  } while (!open_.empty());
  return true;
}

bool JsonReader::open_bracket() {
  if (open_.size() == depth_max) return fail("it is nested deeper than 1024 levels");
  open_.push_back(peek() == '{');
  ++token_;
  return true;
}

bool JsonReader::take_closing() {
  if (!take(open_.back() ? '}' : ']')) return false;
  open_.pop_back();
  return true;
}

}  // namespace sluice
