#include "sinks/sql/letter_retry.h"

#include <algorithm>
#include <iterator>
#include <optional>

namespace sluice::sql {

namespace {
constexpr std::size_t letters_per_transaction = 500;
}

SplitIndex LetterSplits::index_of(const Split& split) {
  const auto [found, added] = indexes_.try_emplace(split, static_cast<SplitIndex>(splits_.size()));
  if (added) splits_.push_back(split);
  return found->second;
}

LetterRetry::Result LetterRetry::run() {
  Result result;
  std::optional<DeadLetter> last;
  for (;;) {
    const auto page = writer_.letters(letters_per_transaction, last ? &*last : nullptr);
    if (page.empty()) break;
    try_page(page);
    result.written += written_.size();
    result.refused += refused_.size();
    last = page.back().letter;
  }
  writer_.abort();
  return result;
}

void LetterRetry::try_page(const std::vector<StoredLetter>& page) {
  written_.clear();
  refused_.clear();
  // Tables are bound before the transaction opens, which could lock the binding session out.
  for (const StoredLetter& stored : page) bind(stored.letter.split.topic, page);
  std::span<const StoredLetter> rest(page);
  while (!rest.empty()) {
    const std::string& topic = rest.front().letter.split.topic;
    const auto end = std::find_if(rest.begin(), rest.end(),
                                  [&](const StoredLetter& stored) { return stored.letter.split.topic != topic; });
    const auto length = static_cast<std::size_t>(end - rest.begin());
    try_topic(rest.first(length));
    rest = rest.subspan(length);
  }
  writer_.commit_retried(written_, refused_);
}

void LetterRetry::try_topic(std::span<const StoredLetter> letters) {
  const std::string& topic = letters.front().letter.split.topic;
  const auto records = records_of(letters);
  Lane& to = lanes_.at(topic);
  std::vector<Reject> rejects;
  to.batch->clear();
  to.decoder->decode(records, *to.batch, rejects);
  if (!to.batch->empty()) writer_.write(topic, *to.batch, WriteMode::strict, rejects);
  for (std::size_t i = 0; i < letters.size(); ++i) {
    const Origin origin{records[i].split, records[i].offset};
    const auto reject =
        std::find_if(rejects.begin(), rejects.end(), [&](const Reject& other) { return other.origin == origin; });
    if (reject == rejects.end()) {
      written_.push_back(letters[i].letter);
      continue;
    }
    DeadLetter& refused = refused_.emplace_back(letters[i].letter);
    refused.of = reject->of;
    refused.code = reject->code;
    refused.message = reject->text();
  }
}

// They point into the letters.
std::vector<Record> LetterRetry::records_of(std::span<const StoredLetter> letters) {
  headers_.clear();
  headers_.reserve(letters.size());
  std::vector<Record> records;
  for (const auto& [letter, created_at] : letters) {
    auto& headers = headers_.emplace_back();
    for (const auto& [name, value] : letter.headers) headers.push_back({name, value});
    Record& record = records.emplace_back();
    record.split = splits_.index_of(letter.split);
    record.offset = letter.offset;
    record.timestamp_ms = letter.timestamp_ms;
    if (letter.key) record.key = *letter.key;
    if (letter.value) record.value = *letter.value;
    record.headers = headers;
  }
  return records;
}

void LetterRetry::bind(const std::string& topic, std::span<const StoredLetter> page) {
  if (lanes_.contains(topic)) return;
  const RowShape shape = sink_.bind(topic, [&] {
    std::vector<StoredLetter> sample;
    std::copy_if(page.begin(), page.end(), std::back_inserter(sample),
                 [&](const StoredLetter& stored) { return stored.letter.split.topic == topic; });
    return format_.infer(records_of(sample));
  });
  lanes_.emplace(topic, Lane{format_.decoder(shape, splits_), std::make_unique<Batch>(shape.cells.size())});
}

}  // namespace sluice::sql
