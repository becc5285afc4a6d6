// From KafkaConfig to librdkafka's configuration.
#pragma once

#include <cstddef>
#include <string>

#include "sources/kafka/handles.h"
#include "sources/kafka/kafka_source.h"

namespace sluice::kafka {

// Both throw Error(fatal) that names the property at fault. Callbacks are set by Client.
ConfHandle member_conf(const KafkaConfig& config, std::size_t task);  // joins the group
ConfHandle query_conf(const KafkaConfig& config);                     // asks for metadata and offsets only

// "sluice-orders-0": under this name the client appears in the broker's log and in ours.
std::string client_name(const KafkaConfig& config, const std::string& suffix);

// As librdkafka's subscribe() wants it: the whole name must match.
std::string whole_name_pattern(const std::string& topics_regex);

}  // namespace sluice::kafka
