#include "sinks/postgres/copy_stream.h"

#include <array>
#include <optional>
#include <tuple>
#include <vector>

#if PQXX_VERSION_MAJOR < 7

namespace {

// libpqxx 6 escapes every field of a row by itself and allocates for each. A row of one field of this type, whose
// escaper gives it back as it is, makes it a plain pipe; one "row" may hold many lines.
struct EncodedLines {
  std::string_view text;
};

}  // namespace

namespace pqxx::internal {

template <>
inline std::string TypedCopyEscaper::operator()<EncodedLines>(const EncodedLines* lines) const {
  return std::string(lines->text);
}

}  // namespace pqxx::internal

namespace sluice::postgres {

CopyStream::CopyStream(pqxx::transaction_base& transaction, const std::string& table, const std::string& columns)
    : stream_(transaction, table, std::array<std::string, 1>{columns}) {}

void CopyStream::send(std::string_view lines) {
  stream_ << std::tuple<EncodedLines>(EncodedLines{lines});
}

}  // namespace sluice::postgres

#else

namespace sluice::postgres {

namespace {

// libpqxx 7 lets nobody past its own escaper, so that lines are taken apart again for it: right, and slower.
std::optional<std::string> decoded(std::string_view field) {
  if (field == "\\N") return std::nullopt;
  std::string text;
  for (std::size_t i = 0; i < field.size(); ++i) {
    if (field[i] != '\\' || i + 1 == field.size()) {
      text += field[i];
      continue;
    }
    const char letter = field[++i];
    text += letter == 't' ? '\t' : letter == 'n' ? '\n' : letter == 'r' ? '\r' : letter;
  }
  return text;
}

}  // namespace

CopyStream::CopyStream(pqxx::transaction_base& transaction, const std::string& table, const std::string& columns)
    : stream_(pqxx::stream_to::raw_table(transaction, table, columns)) {}

void CopyStream::send(std::string_view lines) {
  std::vector<std::optional<std::string> > row;
  std::string_view rest = lines;
  for (bool last = false; !last;) {
    const auto end = rest.find('\n');
    std::string_view line = rest.substr(0, end);
    last = end == std::string_view::npos;
    if (!last) rest.remove_prefix(end + 1);
    row.clear();
    for (;;) {
      const auto tab = line.find('\t');
      row.push_back(decoded(line.substr(0, tab)));
      if (tab == std::string_view::npos) break;
      line.remove_prefix(tab + 1);
    }
    stream_.write_row(row);
  }
}

}  // namespace sluice::postgres

#endif
