// Questions to the brokers that are asked with a short-lived or a reader's client, all partitions at once.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/model/ids.h"
#include "sources/kafka/client.h"
#include "sources/kafka/kafka_source.h"

namespace sluice::kafka {

constexpr std::chrono::milliseconds query_wait_max{15'000};

// Offsets by `spec`: RD_KAFKA_OFFSET_SPEC_EARLIEST, RD_KAFKA_OFFSET_SPEC_LATEST (of what is committed) or a timestamp
// in ms, which yields -1 where all records are older. Tries again until `wait_max` is over; Error(retryable) then, and
// Error(fatal) at once for what no repetition cures.
Positions list_offsets(Client& client, const std::vector<Split>& splits, std::int64_t spec,
                       std::chrono::milliseconds wait_max = query_wait_max);

// Every partition that the job reads. Error(fatal) for a topic that does not exist.
std::vector<Split> find_splits(Client& client, const KafkaConfig& config,
                               std::chrono::milliseconds wait_max = query_wait_max);

// What the broker says now, nothing when it does not say.
std::optional<bool> topic_exists(Client& client, const std::string& topic, std::chrono::milliseconds wait_max);

// Where splits begin that the sink does not know, by the start mode.
Positions start_positions(Client& client, const KafkaConfig& config, const std::vector<Split>& splits,
                          std::chrono::milliseconds wait_max = query_wait_max);

// What the group has committed, of the splits where it has.
Positions group_positions(Client& client, const KafkaConfig& config, const std::vector<Split>& splits,
                          std::chrono::milliseconds wait_max = query_wait_max);

// Empty where the brokers are too old to have any (before 2.8).
TopicIds topic_ids(Client& client, const std::vector<Split>& splits);

}  // namespace sluice::kafka
