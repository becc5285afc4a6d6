// When a task writes rows so that the server's refusal of one names it, and when it is fast again. Pure.
//
// A server that refuses a streamed epoch does not say which record it means: the epoch is replayed in isolating mode.
// Where one record is bad the next one often is, too, and each look back costs the epoch twice. So isolating goes on
// until an epoch has passed in which the server refused nothing. Rules that are checked at the commit only are left
// alone at first, since rows that break them for a moment are not bad; they are checked at once when the commit of an
// isolated epoch is refused.
#pragma once

#include "core/api/sink.h"
#include "core/model/ids.h"

namespace sluice {

class Isolation {
 public:
  bool on() const { return mode_ != WriteMode::streaming; }
  WriteMode mode() const { return mode_; }
  // There is no stricter way to look.
  bool exhausted() const { return mode_ == WriteMode::strict; }

  // The server refused an epoch, in whatever mode, that had come to `reached`.
  void start(Positions reached);
  // In the open epoch the server refused a row by name.
  void found() { found_ = true; }
  void rolled_back() { found_ = false; }
  // An epoch was committed, and the ledger says this now.
  void committed(const Positions& ledger);

 private:
  Positions until_;  // the refused epoch may come again in several pieces
  WriteMode mode_ = WriteMode::streaming;
  bool found_ = false;
};

}  // namespace sluice
