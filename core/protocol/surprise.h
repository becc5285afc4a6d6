// Positions that cannot be what they seem: the topic, the ledger or the whole database is not the one that was written
// to. Each is found before anything is read from there. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/api/sink.h"
#include "core/api/source.h"
#include "core/model/ids.h"

namespace sluice {

// What is known of splits that are about to be taken over.
struct TakeOverFacts {
  std::map<Split, Known> ledger;  // absent, or not whole: it begins where it `starts`
  Claims held;                    // what this task has committed itself, where it has
  Positions starts;               // where splits begin that the ledger does not know
  Positions group;                // what the source's group was told; nothing where it knows nothing
  TopicIds topics;                // as they are now; nothing where the source has none

  // The ledger's position of the splits that it knows.
  Positions known() const;
};

struct Surprise {
  enum class Kind {
    topic_recreated,   // the position belongs to a topic of the same name that is gone
    ledger_went_back,  // an older copy of the database: a replica that lagged, a backup
    ledger_lost,       // the job has run before, but not on what this ledger says
  };
  Kind kind = Kind::ledger_lost;
  Split split;
  std::string text;  // what was found, with the range of offsets; no full stop
};

std::vector<Surprise> surprises(const std::vector<Split>& splits, const TakeOverFacts& facts);

// What a person can do about all of them.
std::string next_step(const std::vector<Surprise>& found);

}  // namespace sluice
