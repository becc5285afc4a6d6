// What a sink offers beyond core/api/sink.h, so that an epoch is decided by a checkpoint and shown by several sinks
// together: first all prepare, then the checkpoint is durable, then all commit.
#pragma once

#include <cstddef>
#include <memory>
#include <set>
#include <string>

#include "core/api/sink.h"

namespace sluice {

// Made for one generation of the checkpoint store and one task. Life: settle, take_over, { (write | set_aside)*,
// (precommit, commit_prepared) | abort }*, release. commit() is not for it.
class TwoPhaseWriter : public SinkWriter {
 public:
  // Of the transactions that this job has left prepared in this sink: commits those whose names a checkpoint holds, and
  // rolls the others back, but for those of a newer generation and of other tasks of this one. Foreign ones are never
  // touched. Ends the sessions of owners of these splits first, so that none of them can prepare any more.
  // Returns the decided ones that neither are prepared nor were ever committed: somebody has rolled them back by hand.
  virtual std::set<std::string> settle(const std::set<std::string>& decided, const std::vector<Split>& splits) = 0;

  // Ends the epoch: rows, then the ledger by compare-and-set, then prepare. On return it can be committed or rolled
  // back from anywhere, and no epoch is open. Returns the transaction's name on the server.
  virtual std::string precommit(const Cut& cut) = 0;

  // After the checkpoint that holds the name is durable, and only then.
  virtual void commit_prepared(const std::string& transaction) = 0;
};

class TwoPhaseSink : public Sink {
 public:
  // Throws fatal, with the next step, where this server cannot prepare transactions.
  virtual void require_two_phase() = 0;
  virtual std::unique_ptr<TwoPhaseWriter> open_two_phase_writer(std::size_t task, Generation generation) = 0;
};

}  // namespace sluice
