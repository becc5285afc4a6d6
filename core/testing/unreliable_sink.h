// A sink on which anything may go wrong at any call, as a simulation wants it: for the tests of runtimes and sinks.
#pragma once

#include <cstddef>
#include <functional>
#include <list>
#include <memory>
#include <string>

#include "core/api/sink.h"

namespace sluice::testing {

enum class SinkCall { connect, known, take_over, write, commit, release, settle };

enum class Mishap {
  none,
  fails,        // before the call has an effect
  answer_lost,  // after it had its effect
  dies_before,  // the process dies on its way to the server
  dies_after,   // the process dies on the way back
  in_flight,  // commit only: the server has it, will carry it out or roll it back when it likes, and the answer is lost
  dies_in_flight,
  refuses,  // commit only: a row of a streamed epoch is at fault, not said which one
};

// Thrown where the process dies. It is no std::exception, so that nothing on its way takes it for a failure to handle.
struct Death {};

// Passes calls on to another sink, which it borrows, and asks before each what shall go wrong. For one thread.
class UnreliableSink final : public Sink {
 public:
  // Asked with `settle` it answers for a commit in flight: `none` carries it out, all else rolls it back.
  using Dice = std::function<Mishap(SinkCall)>;

  UnreliableSink(Sink& inner, Dice dice);
  ~UnreliableSink() override;

  void prepare(bool migrate) override { inner_.prepare(migrate); }
  RowShape bind(const std::string& topic, const std::function<std::vector<Field>()>& infer) override {
    return inner_.bind(topic, infer);
  }
  std::unique_ptr<SinkWriter> open_writer(std::size_t task) override;
  Positions positions() override { return inner_.positions(); }

  // The server decides what is in flight now.
  void settle();

 private:
  friend class UnreliableWriter;

  struct InFlight {
    std::unique_ptr<SinkWriter> session;
    Cut cut;
  };

  // The row locks of what is in flight make everybody wait who wants the same splits.
  void settle_those_of(const std::function<bool(const Split&)>& wanted);

  Sink& inner_;
  Dice dice_;
  std::list<InFlight> in_flight_;
};

}  // namespace sluice::testing
