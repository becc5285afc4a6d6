// Where splits begin that the sink does not know.
#include <chrono>
#include <string>

#include "core/model/error.h"
#include "sources/kafka/errors.h"
#include "sources/kafka/offset_query.h"

namespace sluice::kafka {

namespace {

// The ends are asked for first: a record that arrives between the two questions is then read, not passed over.
Positions by_timestamp(Client& client, const KafkaConfig& config, const std::vector<Split>& splits,
                       std::chrono::milliseconds wait_max) {
  const Positions ends = list_offsets(client, splits, RD_KAFKA_OFFSET_SPEC_LATEST, wait_max);
  Positions found = list_offsets(client, splits, config.start_timestamp_ms, wait_max);
  for (auto& [split, offset] : found) {
    if (offset < 0) offset = ends.at(split);  // no record is that young
  }
  return found;
}

Positions by_configuration(const KafkaConfig& config, const std::vector<Split>& splits) {
  Positions found;
  for (const Split& split : splits) {
    const auto given = config.start_offsets.find(split);
    if (given == config.start_offsets.end()) {
      throw Error(Fault::fatal, "scan.startup.mode is specific-offsets, but it names no offset for " +
                                    to_string(split) + ". Add one, or choose another mode in the job file.");
    }
    found.insert(*given);
  }
  return found;
}

}  // namespace

Positions group_positions(Client& client, const KafkaConfig& config, const std::vector<Split>& splits,
                          std::chrono::milliseconds wait_max) {
  const PartitionsHandle list = new_partitions();
  for (const Split& split : splits) add(list, split);
  const auto code = rd_kafka_committed(client.get(), list.get(), static_cast<int>(wait_max.count()));
  if (code != RD_KAFKA_RESP_ERR_NO_ERROR) {
    throw make_error(fault_of_query(code), "the committed offsets of group " + config.group_id + " cannot be read",
                     code);
  }
  Positions found;
  for (int i = 0; i < list->cnt; ++i) {
    const auto& one = list->elems[i];
    if (one.err != RD_KAFKA_RESP_ERR_NO_ERROR) {
      throw make_error(fault_of_query(one.err),
                       "the committed offset of " + to_string(Split{one.topic, one.partition}) + " in group " +
                           config.group_id + " cannot be read",
                       one.err);
    }
    if (one.offset >= 0) found[{one.topic, one.partition}] = one.offset;
  }
  return found;
}

namespace {

// What the group has committed, and the rest as `otherwise` says.
Positions by_group_or(Client& client, const KafkaConfig& otherwise, const std::vector<Split>& splits,
                      std::chrono::milliseconds wait_max) {
  Positions found = group_positions(client, otherwise, splits, wait_max);
  std::vector<Split> unknown;
  for (const Split& split : splits) {
    if (!found.contains(split)) unknown.push_back(split);
  }
  for (const auto& [split, offset] : start_positions(client, otherwise, unknown, wait_max)) {
    client.log().line(LogLevel::info,
                      "the group has no position here (a new partition, or one that Kafka has forgotten), so the split "
                      "begins as the start mode says",
                      {{"split", to_string(split)}, {"group", otherwise.group_id}, {"offset", std::to_string(offset)}});
    found[split] = offset;
  }
  return found;
}

}  // namespace

Positions start_positions(Client& client, const KafkaConfig& config, const std::vector<Split>& splits,
                          std::chrono::milliseconds wait_max) {
  if (splits.empty()) return {};
  const bool by_group = config.start_mode == StartMode::group_offsets;
  if (by_group || config.resume_from_group) {
    KafkaConfig otherwise = config;
    otherwise.resume_from_group = false;
    if (by_group) otherwise.start_mode = StartMode::earliest;
    return by_group_or(client, otherwise, splits, wait_max);
  }
  switch (config.start_mode) {
    case StartMode::earliest:
      return list_offsets(client, splits, RD_KAFKA_OFFSET_SPEC_EARLIEST, wait_max);
    case StartMode::latest:
      return list_offsets(client, splits, RD_KAFKA_OFFSET_SPEC_LATEST, wait_max);
    case StartMode::group_offsets:
      break;  // above
    case StartMode::timestamp:
      return by_timestamp(client, config, splits, wait_max);
    case StartMode::specific:
      return by_configuration(config, splits);
  }
  return {};
}

}  // namespace sluice::kafka
