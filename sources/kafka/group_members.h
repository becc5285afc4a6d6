// Who else reads in the group of a reader.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "sources/kafka/client.h"

namespace sluice::kafka {

// Whether the group has a member whose group.instance.id does not begin with `prefix`. Nothing where the brokers do not
// say within about `wait_max`.
std::optional<bool> others_in_group(Client& client, const std::string& group, const std::string& prefix,
                                    std::chrono::milliseconds wait_max);

}  // namespace sluice::kafka
