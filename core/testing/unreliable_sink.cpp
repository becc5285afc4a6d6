#include "core/testing/unreliable_sink.h"

#include <algorithm>
#include <utility>

#include "core/model/error.h"

namespace sluice::testing {

class UnreliableWriter final : public SinkWriter {
 public:
  UnreliableWriter(UnreliableSink& sink, std::size_t task) : sink_(sink) {
    risk(SinkCall::connect, [&] { inner_ = sink_.inner_.open_writer(task); });
  }

  std::map<Split, Known> known(const std::vector<Split>& splits) override {
    std::map<Split, Known> all;
    risk(SinkCall::known, [&] { all = inner_->known(splits); });
    return all;
  }

  Claims take_over(const Positions& starts, const Claims& held, const TopicIds& topics) override {
    Claims claims;
    risk(SinkCall::take_over, [&] {
      sink_.settle_those_of([&](const Split& split) { return starts.contains(split); });
      claims = inner_->take_over(starts, held, topics);
    });
    return claims;
  }

  void write(const std::string& topic, const Batch& batch, WriteMode mode, std::vector<Reject>& rejects) override {
    streamed_ = mode == WriteMode::streaming;
    risk(SinkCall::write, [&] { inner_->write(topic, batch, mode, rejects); });
  }

  void set_aside(std::span<const DeadLetter> letters) override {
    risk(SinkCall::write, [&] { inner_->set_aside(letters); });
  }

  void commit(const Cut& cut) override {
    const Mishap mishap = sink_.dice_(SinkCall::commit);
    if (mishap == Mishap::in_flight || mishap == Mishap::dies_in_flight) {
      sink_.in_flight_.push_back({std::move(inner_), cut});
      if (mishap == Mishap::dies_in_flight) throw Death{};
      throw Error(Fault::in_doubt, "the answer to a commit was lost while it was carried out");
    }
    if (mishap == Mishap::refuses && std::exchange(streamed_, false)) {
      throw Error(Fault::bad_record, "a row of the epoch was refused");
    }
    around(SinkCall::commit, mishap, [&] {
      sink_.settle_those_of([&](const Split& split) {
        return std::any_of(cut.moves.begin(), cut.moves.end(), [&](const Move& move) { return move.split == split; });
      });
      inner_->commit(cut);
    });
  }

  void abort() noexcept override {
    if (inner_) inner_->abort();
  }

  void release(const Claims& claims) override {
    risk(SinkCall::release, [&] { inner_->release(claims); });
  }

 private:
  void risk(SinkCall call, const std::function<void()>& act) { around(call, sink_.dice_(call), act); }

  static void around(SinkCall call, Mishap mishap, const std::function<void()>& act) {
    if (mishap == Mishap::dies_before) throw Death{};
    if (mishap == Mishap::fails) throw Error(Fault::retryable, "a call to the sink failed");
    act();
    if (mishap == Mishap::dies_after) throw Death{};
    if (mishap != Mishap::answer_lost) return;
    const bool commits = call == SinkCall::commit || call == SinkCall::take_over || call == SinkCall::release;
    throw Error(commits ? Fault::in_doubt : Fault::retryable, "the answer to a call to the sink was lost");
  }

  UnreliableSink& sink_;
  std::unique_ptr<SinkWriter> inner_;
  bool streamed_ = false;
};

UnreliableSink::UnreliableSink(Sink& inner, Dice dice) : inner_(inner), dice_(std::move(dice)) {}

UnreliableSink::~UnreliableSink() = default;

std::unique_ptr<SinkWriter> UnreliableSink::open_writer(std::size_t task) {
  return std::make_unique<UnreliableWriter>(*this, task);
}

void UnreliableSink::settle() {
  settle_those_of([](const Split&) { return true; });
}

void UnreliableSink::settle_those_of(const std::function<bool(const Split&)>& wanted) {
  for (auto at = in_flight_.begin(); at != in_flight_.end();) {
    const auto& moves = at->cut.moves;
    if (std::none_of(moves.begin(), moves.end(), [&](const Move& move) { return wanted(move.split); })) {
      ++at;
      continue;
    }
    if (dice_(SinkCall::settle) == Mishap::none) {
      try {
        at->session->commit(at->cut);
      } catch (const Error&) {
        // The server rolls it back, and there is nobody whom it could tell.
      }
    }
    at = in_flight_.erase(at);
  }
}

}  // namespace sluice::testing
