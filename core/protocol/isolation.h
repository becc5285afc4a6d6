// When a task writes rows so that the server's refusal of one names it, and when it is fast again. Pure.
//
// A server that refuses a streamed epoch does not say which record it means: the epoch is replayed in isolating mode.
// Where one record is bad the next one often is, too, and each look back costs the epoch twice. So isolating goes on
// until an epoch has passed in which the server refused nothing.
#pragma once

#include "core/model/ids.h"

namespace sluice {

class Isolation {
 public:
  bool on() const { return on_; }

  // The server refused an epoch that had come to `reached`.
  void start(Positions reached);
  // In the open epoch the server refused a row by name.
  void found() { found_ = true; }
  void rolled_back() { found_ = false; }
  // An epoch was committed, and the ledger says this now.
  void committed(const Positions& ledger);

 private:
  Positions until_;  // the refused epoch may come again in several pieces
  bool on_ = false;
  bool found_ = false;
};

}  // namespace sluice
