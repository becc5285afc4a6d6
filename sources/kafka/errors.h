// What an error code of Kafka means here. Pure.
#pragma once

#include <string>

#include "core/model/error.h"
#include "sources/kafka/handles.h"

namespace sluice::kafka {

enum class Meaning {
  passing,        // heals by itself: a line in the log, and on
  end_of_split,   // no error at all
  missing_topic,  // an error when it stays
  position_gone,  // the log does not hold the position
  fenced,         // another process took this one's place
  refused,        // a person must act
  broken,         // this fetch cannot be trusted: read again from the last position that is safe
};

// `of_split`: librdkafka blames one partition, and what it does next there is not ours to know.
Meaning meaning_of(rd_kafka_resp_err_t code, bool of_split);

// What the user can do about it; a sentence, or nothing where no advice is better than "see what failed".
std::string next_step(rd_kafka_resp_err_t code);

// "<what>: <Kafka's description> (<code's name>). <next step>"
Error make_error(Fault fault, const std::string& what, rd_kafka_resp_err_t code);

// For questions that were asked in vain: refused is fatal, everything else is worth another try.
Fault fault_of_query(rd_kafka_resp_err_t code);

}  // namespace sluice::kafka
