#include "sources/kafka/group_members.h"

#include <string_view>

#include "sources/kafka/handles.h"

namespace sluice::kafka {

std::optional<bool> others_in_group(Client& client, const std::string& group, const std::string& prefix,
                                    std::chrono::milliseconds wait_max) {
  const int wait_ms = static_cast<int>(wait_max.count());
  const AdminOptionsHandle options = admin_options(client.get(), RD_KAFKA_ADMIN_OP_DESCRIBECONSUMERGROUPS, wait_ms);
  const QueueHandle queue{rd_kafka_queue_new(client.get())};
  const char* name = group.c_str();
  rd_kafka_DescribeConsumerGroups(client.get(), &name, 1, options.get(), queue.get());
  const EventHandle event{rd_kafka_queue_poll(queue.get(), wait_ms + 100)};
  if (!event || rd_kafka_event_error(event.get()) != RD_KAFKA_RESP_ERR_NO_ERROR) return std::nullopt;
  std::size_t groups = 0;
  const auto* const* const found =
      rd_kafka_DescribeConsumerGroups_result_groups(rd_kafka_event_DescribeConsumerGroups_result(event.get()), &groups);
  if (groups != 1 || rd_kafka_ConsumerGroupDescription_error(found[0]) != nullptr) return std::nullopt;
  for (std::size_t i = 0; i < rd_kafka_ConsumerGroupDescription_member_count(found[0]); ++i) {
    const char* const instance =
        rd_kafka_MemberDescription_group_instance_id(rd_kafka_ConsumerGroupDescription_member(found[0], i));
    if (instance == nullptr || !std::string_view(instance).starts_with(prefix)) return true;
  }
  return false;
}

}  // namespace sluice::kafka
