// Dead letters are tried again: `sluice dead-letters --retry`.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/api/decoder.h"
#include "core/api/sink.h"
#include "core/api/source.h"
#include "sinks/sql/sql_writer.h"

namespace sluice::sql {

// The names behind the splits of letters.
class LetterSplits final : public SplitNames {
 public:
  const Split& split(SplitIndex index) const override { return splits_.at(index); }
  SplitIndex index_of(const Split& split);

 private:
  std::map<Split, SplitIndex> indexes_;
  std::deque<Split> splits_;  // references stay valid
};

// Some hundred letters in a transaction: their rows are written and they are removed in one commit. Those that still
// cannot be written stay, with their new reason. For one thread.
class LetterRetry {
 public:
  struct Result {
    std::uint64_t written = 0;
    std::uint64_t refused = 0;
  };

  // All is borrowed. `sink` binds the topics, `writer` is one of its own.
  LetterRetry(Sink& sink, SqlWriter& writer, Format& format) : sink_(sink), writer_(writer), format_(format) {}

  // Until every letter that was there was tried once.
  Result run();

 private:
  struct Lane {
    std::unique_ptr<Decoder> decoder;
    std::unique_ptr<Batch> batch;
  };

  void try_page(const std::vector<StoredLetter>& page);
  void try_topic(std::span<const StoredLetter> letters);
  std::vector<Record> records_of(std::span<const StoredLetter> letters);
  void bind(const std::string& topic, std::span<const StoredLetter> page);

  Sink& sink_;
  SqlWriter& writer_;
  Format& format_;
  LetterSplits splits_;
  std::map<std::string, Lane> lanes_;
  std::vector<std::vector<Header>> headers_;  // of the records that are tried
  std::vector<DeadLetter> written_;           // of this page
  std::vector<DeadLetter> refused_;
};

}  // namespace sluice::sql
