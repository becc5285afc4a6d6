#include "core/format/job_tree.h"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <utility>

namespace sluice::format {

namespace {

// Deeper than any job needs; bounds the recursion of whoever walks the tree.
constexpr std::size_t depth_max = 32;

// Walks over the tokens in step with the parser, which does not tell where it is. It sees only what the parser has
// accepted, so it need not judge.
class TokenCursor {
 public:
  explicit TokenCursor(std::string_view text) : text_(text) {
    constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
    if (text_.starts_with(byte_order_mark)) next_ = line_start_ = byte_order_mark.size();
  }

  // The next token as written; place() is then where it starts.
  std::string_view take() {
    pass_over_gap();
    start_ = next_;
    if (next_ == text_.size()) return {};
    if (text_[next_] == '"') {
      pass_over_string();
    } else if (std::string_view("{}[]").find(text_[next_]) != std::string_view::npos) {
      ++next_;
    } else {
      while (next_ < text_.size() && is_word(text_[next_])) ++next_;
    }
    return text_.substr(start_, next_ - start_);
  }

  Place place() const { return place(start_); }

  // Where the text stopped being JSON; `seen` bytes of it were read by then.
  Place place_of_error(std::size_t seen) {
    const auto before = *this;
    pass_over_gap();
    const auto last_seen = seen == 0 ? 0 : seen - 1;
    if (next_ <= last_seen) return place(next_);
    // The gap itself is at fault: two commas, a comma for a colon.
    *this = before;
    while (next_ < last_seen && next_ < text_.size()) step();
    return place(next_);
  }

 private:
  static bool is_word(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '+' || c == '.';
  }

  Place place(std::size_t offset) const {
    const auto line = text_.substr(line_start_, offset - line_start_);
    const auto continues = [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; };
    const auto characters = line.size() - static_cast<std::size_t>(std::count_if(line.begin(), line.end(), continues));
    return {.override_path = {}, .line = line_, .column = characters + 1};
  }

  void step() {
    if (text_[next_++] != '\n') return;
    ++line_;
    line_start_ = next_;
  }

  void step_until(std::string_view end) {
    const auto found = text_.find(end, next_);
    const auto stop = found == std::string_view::npos ? text_.size() : found + end.size();
    while (next_ < stop) step();
  }

  void pass_over_gap() {
    constexpr std::string_view gap = " \t\r\n,:";
    while (next_ < text_.size()) {
      const auto rest = text_.substr(next_);
      if (rest.starts_with("//")) {
        step_until("\n");
      } else if (rest.starts_with("/*")) {
        next_ += 2;
        step_until("*/");
      } else if (gap.find(rest.front()) != std::string_view::npos) {
        step();
      } else {
        return;
      }
    }
  }

  void pass_over_string() {
    for (++next_; next_ < text_.size() && text_[next_] != '"'; ++next_) {
      if (text_[next_] == '\\') ++next_;
    }
    next_ = std::min(next_ + 1, text_.size());
  }

  std::string_view text_;
  std::size_t start_ = 0;
  std::size_t next_ = 0;
  std::size_t line_ = 1;
  std::size_t line_start_ = 0;
};

class TreeBuilder : public nlohmann::json_sax<nlohmann::json> {
 public:
  TreeBuilder(std::string_view text, std::vector<Problem>& problems) : cursor_(text), problems_(problems) {}

  Node take_root() { return std::move(root_); }

  bool null() override { return add_scalar(NodeKind::null); }
  bool boolean(bool) override { return add_scalar(NodeKind::boolean); }
  bool number_integer(number_integer_t) override { return add_scalar(NodeKind::number); }
  bool number_unsigned(number_unsigned_t) override { return add_scalar(NodeKind::number); }
  bool number_float(number_float_t, const string_t&) override { return add_scalar(NodeKind::number); }
  bool binary(binary_t&) override { return false; }  // JSON text has none

  bool string(string_t& value) override {
    cursor_.take();
    add(NodeKind::text).text = std::move(value);
    return true;
  }

  bool start_object(std::size_t) override { return open(NodeKind::object); }
  bool end_object() override { return close(); }
  bool start_array(std::size_t) override { return open(NodeKind::list); }
  bool end_array() override { return close(); }

  bool key(string_t& name) override {
    cursor_.take();
    auto& object = *open_.back();
    if (const auto* first = object.find(name)) {
      problems_.push_back({cursor_.place(), "the key \"" + name + "\" stands twice, first in line " +
                                                std::to_string(first->place.line) + "; remove one of them"});
    }
    object.members.push_back({.key = std::move(name), .place = cursor_.place(), .value = {}});
    return true;
  }

  // The message quotes what was read last, which may be a part of a password: that piece is cut out.
  bool parse_error(std::size_t seen, const std::string& last_token, const nlohmann::json::exception& error) override {
    std::string reason = error.what();
    if (const auto start = reason.find("syntax error"); start != std::string::npos) {
      reason.erase(0, start);
    } else {
      reason = "a number is out of range";
    }
    const auto quoted = "; last read: '" + last_token + "'";
    if (const auto at = reason.find(quoted); at != std::string::npos) reason.erase(at, quoted.size());
    problems_.push_back({cursor_.place_of_error(seen), "not JSON: " + reason + "; correct it here or just before"});
    return false;
  }

 private:
  Node& add(NodeKind kind) {
    Node* node = &root_;
    if (!open_.empty()) {
      auto& parent = *open_.back();
      node = parent.kind == NodeKind::list ? &parent.items.emplace_back() : &parent.members.back().value;
    }
    node->kind = kind;
    node->place = cursor_.place();
    return *node;
  }

  bool add_scalar(NodeKind kind) {
    const auto written = cursor_.take();
    add(kind).text = written;
    return true;
  }

  bool open(NodeKind kind) {
    cursor_.take();
    auto& node = add(kind);
    if (open_.size() == depth_max) {
      problems_.push_back({node.place, "nested deeper than any key of a job; remove the extra brackets"});
      return false;
    }
    open_.push_back(&node);
    return true;
  }

  bool close() {
    cursor_.take();
    open_.pop_back();
    return true;
  }

  TokenCursor cursor_;
  std::vector<Problem>& problems_;
  Node root_;
  std::vector<Node*> open_;  // stays valid: a list grows only while none of its nodes is open
};

}  // namespace

std::string_view describe(NodeKind kind) {
  switch (kind) {
    case NodeKind::null:
      return "null";
    case NodeKind::boolean:
      return "true or false";
    case NodeKind::number:
      return "a number";
    case NodeKind::text:
      return "a string";
    case NodeKind::list:
      return "a list";
    case NodeKind::object:
      return "an object";
  }
  return "?";
}

const Member* Node::find(std::string_view key) const {
  const auto found = std::find_if(members.begin(), members.end(), [&](const Member& m) { return m.key == key; });
  return found == members.end() ? nullptr : &*found;
}

Member* Node::find(std::string_view key) {
  return const_cast<Member*>(std::as_const(*this).find(key));
}

std::optional<Node> parse_json(std::string_view text, std::vector<Problem>& problems) {
  TreeBuilder builder(text, problems);
  constexpr bool strict = true;  // nothing may follow
  constexpr bool comments = true;
  if (!nlohmann::json::sax_parse(text.begin(), text.end(), &builder, nlohmann::json::input_format_t::json, strict,
                                 comments)) {
    return std::nullopt;
  }
  return builder.take_root();
}

}  // namespace sluice::format
