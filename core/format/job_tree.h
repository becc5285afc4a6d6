// A JSON text (comments allowed) as a tree that remembers where everything stood, so that messages can point there.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::format {

// Where something stands: in the file, or in a --set on the command line. Lines and columns count from 1, columns in
// characters; line 0 is the file as a whole.
struct Place {
  std::string override_path;  // "checkpoint.interval" for --set checkpoint.interval=…; empty: in the file
  std::size_t line = 0;
  std::size_t column = 0;

  auto operator<=>(const Place&) const = default;
};

struct Problem {
  Place place;
  std::string text;  // never a substituted value, a URL or a property
};

enum class NodeKind { null, boolean, number, text, list, object };

// "a string", "an object": for messages.
std::string_view describe(NodeKind kind);

struct Member;

struct Node {
  NodeKind kind = NodeKind::null;
  Place place;
  std::string text;             // a string without quotes and escapes; a number, true, false or null as written
  std::vector<Node> items;      // of a list
  std::vector<Member> members;  // of an object, in the order of the file

  const Member* find(std::string_view key) const;
  Member* find(std::string_view key);
};

struct Member {
  std::string key;
  Place place;  // of the key
  Node value;
};

// Nothing if the text is not JSON. Keys that stand twice are problems, too, of which there may be several; then the
// first one is kept.
std::optional<Node> parse_json(std::string_view text, std::vector<Problem>& problems);

}  // namespace sluice::format
