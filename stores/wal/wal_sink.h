// commit.protocol wal: the rows of an epoch go to a file in the checkpoint directory; when it is whole and durable, one
// short transaction of the sink behind applies it, with that sink's own ledger. So the transaction does not last as
// long as the epoch, and an epoch that was read once is not read again after a crash.
//
// The ledger alone decides: a file is applied where the ledger still says what the file begins with, else it is thrown
// away. What is in no whole file is read again from the source.
#pragma once

#include <atomic>
#include <cstddef>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/api/log.h"
#include "core/api/sink.h"
#include "stores/wal/epoch_file.h"

namespace sluice {

class WalSink final : public Sink {
 public:
  // `inner` is borrowed. The files lie in `<directory>/<job>.<sink>.epochs`.
  WalSink(Sink& inner, const std::filesystem::path& directory, const std::string& job, const std::string& sink,
          Log log);

  void prepare(bool migrate) override;
  RowShape bind(const std::string& topic, const std::function<std::vector<Field>()>& infer) override;
  std::unique_ptr<SinkWriter> open_writer(std::size_t task) override;
  Positions positions() override { return inner_.positions(); }

 private:
  friend class WalWriter;

  // A text that tells the topic's rows from those of another mapping; nothing: its table does not exist.
  std::optional<std::string> shape_of(const std::string& topic);
  std::string next_name(std::size_t task);

  Sink& inner_;
  std::filesystem::path folder_;
  Log log_;
  std::string process_;  // told apart from every other one
  std::atomic<std::uint64_t> files_{0};
  std::mutex mutex_;                           // guards what follows
  std::map<std::string, std::string> shapes_;  // by topic
};

class WalWriter final : public SinkWriter {
 public:
  WalWriter(WalSink& sink, std::unique_ptr<SinkWriter> inner, std::size_t task);

  void name_splits(const SplitNames& names) override { inner_->name_splits(names); }
  std::map<Split, Known> known(const std::vector<Split>& splits) override { return inner_->known(splits); }
  Claims take_over(const Positions& starts, const Claims& held, const TopicIds& topics) override;
  void write(const std::string& topic, const Batch& batch, WriteMode mode, std::vector<Reject>& rejects) override;
  void set_aside(std::span<const DeadLetter> letters) override;
  void commit(const Cut& cut) override;
  void abort() noexcept override;
  void release(const Claims& claims) override { inner_->release(claims); }

 private:
  wal::EpochFileWriter& file();
  void apply_left(Claims& claims, const TopicIds& topics);
  bool apply_left(const std::filesystem::path& path, Claims& claims, const TopicIds& topics);
  bool passed(const Cut& cut);
  void go_direct();
  TopicIds topics_of(const Cut& cut) const;
  bool fits(const wal::EpochFile& file, const TopicIds& topics) const;
  // False: rows were refused.
  bool apply(const wal::EpochFile& file, const Cut& cut);

  WalSink& sink_;
  std::unique_ptr<SinkWriter> inner_;
  std::size_t task_;
  TopicIds topics_;                             // of what was taken over
  std::unique_ptr<wal::EpochFileWriter> file_;  // of the open epoch
  bool direct_ = false;                         // the open epoch goes to the sink behind, row by row
  std::vector<DeadLetter> early_letters_;       // of the open epoch, while neither is decided
};

}  // namespace sluice
