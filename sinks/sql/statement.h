// A statement under construction: text and the arguments of its placeholders, in the order of the text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sinks/sql/database.h"
#include "sinks/sql/session.h"

namespace sluice::sql {

// Borrows the dialect and whatever bound values point to.
class Statement {
 public:
  explicit Statement(const Dialect& dialect) : dialect_(dialect) {}

  Statement& operator<<(std::string_view text) {
    text_ += text;
    return *this;
  }
  // Numbers of ours go into the text as they are: no server then has to guess the type of a placeholder.
  Statement& operator<<(std::int64_t number) { return *this << std::string_view(std::to_string(number)); }
  Statement& name(std::string_view identifier) { return *this << std::string_view(dialect_.quote(identifier)); }
  Statement& bind(std::string_view value) {
    arguments_.emplace_back(Text{value});
    return *this << std::string_view(dialect_.placeholder(arguments_.size()));
  }
  Statement& bind_value(const Value& value) {
    arguments_.push_back(value);
    return *this << std::string_view(dialect_.placeholder(arguments_.size()));
  }

  std::uint64_t execute(Session& session) const { return session.execute(text_, arguments_); }
  std::vector<Row> query(Session& session) const { return session.query(text_, arguments_); }

 private:
  const Dialect& dialect_;
  std::string text_;
  std::vector<Value> arguments_;
};

}  // namespace sluice::sql
