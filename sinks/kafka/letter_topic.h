// Dead letters as records of a topic, with the header names of Kafka Connect's dead letter queue, so that the tools
// that people have for those work here, too. https://cwiki.apache.org/confluence/display/KAFKA/KIP-298
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "core/api/dead_letter.h"
#include "core/api/log.h"

namespace sluice::kafka {

struct LetterTopicConfig {
  std::string bootstrap_servers;
  std::string topic;  // must exist, or the broker creates it
  std::string job;
  std::map<std::string, std::string> properties;  // for librdkafka; may hold secrets
  Log log;
};

// Key and value of a letter's record are those of the bad one, byte for byte. May be used from any thread.
class LetterTopic final : public LetterOutbox {
 public:
  // Connects in the background. Throws Error(fatal) for a property that librdkafka refuses.
  explicit LetterTopic(LetterTopicConfig config);
  ~LetterTopic() override;

  void deliver(std::span<const DeadLetter> letters) override;

 private:
  class Producer;
  std::unique_ptr<Producer> make_producer() const;

  LetterTopicConfig config_;
  std::mutex mutex_;
  std::unique_ptr<Producer> producer_;  // none after a failure
};

}  // namespace sluice::kafka
