#include "sources/kafka/errors.h"

namespace sluice::kafka {

Meaning meaning_of(rd_kafka_resp_err_t code, bool of_split) {
  switch (code) {
    case RD_KAFKA_RESP_ERR__PARTITION_EOF:
      return Meaning::end_of_split;
    case RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET:
    case RD_KAFKA_RESP_ERR_OFFSET_OUT_OF_RANGE:
      return Meaning::position_gone;
    case RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART:
    case RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC:
    case RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION:
      return Meaning::missing_topic;
    case RD_KAFKA_RESP_ERR_FENCED_INSTANCE_ID:
    case RD_KAFKA_RESP_ERR_UNRELEASED_INSTANCE_ID:
      return Meaning::fenced;
    case RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED:
    case RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED:
    case RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED:
    case RD_KAFKA_RESP_ERR_TOPIC_EXCEPTION:
    case RD_KAFKA_RESP_ERR_INVALID_GROUP_ID:
    case RD_KAFKA_RESP_ERR_INCONSISTENT_GROUP_PROTOCOL:
    case RD_KAFKA_RESP_ERR_INVALID_SESSION_TIMEOUT:
    case RD_KAFKA_RESP_ERR_GROUP_MAX_SIZE_REACHED:
    case RD_KAFKA_RESP_ERR_UNSUPPORTED_VERSION:
    case RD_KAFKA_RESP_ERR__UNSUPPORTED_FEATURE:
    case RD_KAFKA_RESP_ERR__FATAL:
      return Meaning::refused;
    // librdkafka reports these for one batch of records and then reads on behind it, so they must never pass.
    case RD_KAFKA_RESP_ERR__NOT_IMPLEMENTED:
    case RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE:
      return of_split ? Meaning::refused : Meaning::passing;
    case RD_KAFKA_RESP_ERR__TRANSPORT:
    case RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN:
    case RD_KAFKA_RESP_ERR__RESOLVE:
    case RD_KAFKA_RESP_ERR__TIMED_OUT:
    case RD_KAFKA_RESP_ERR__TIMED_OUT_QUEUE:
    case RD_KAFKA_RESP_ERR_REQUEST_TIMED_OUT:
    case RD_KAFKA_RESP_ERR__MAX_POLL_EXCEEDED:
      return Meaning::passing;
    default:
      return of_split ? Meaning::broken : Meaning::passing;
  }
}

std::string next_step(rd_kafka_resp_err_t code) {
  switch (code) {
    case RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED:
      return "Grant the user of source.properties READ and DESCRIBE on the topic.";
    case RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED:
      return "Grant the user of source.properties READ on the group, or name another one with group.id.";
    case RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED:
      return "Grant the user of source.properties access to the cluster.";
    case RD_KAFKA_RESP_ERR__AUTHENTICATION:
    case RD_KAFKA_RESP_ERR_SASL_AUTHENTICATION_FAILED:
      return "Check security.protocol and the sasl and ssl settings of source.properties.";
    case RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART:
    case RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC:
    case RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION:
    case RD_KAFKA_RESP_ERR_TOPIC_EXCEPTION:
      return "Create the topic or correct topics in the job file.";
    case RD_KAFKA_RESP_ERR_INCONSISTENT_GROUP_PROTOCOL:
      return "The group has members that hand partitions over in another way; give this job a group.id of its own.";
    case RD_KAFKA_RESP_ERR_INVALID_SESSION_TIMEOUT:
      return "Set session.timeout.ms in source.properties between the broker's group.min.session.timeout.ms and "
             "group.max.session.timeout.ms.";
    case RD_KAFKA_RESP_ERR_FENCED_INSTANCE_ID:
    case RD_KAFKA_RESP_ERR_UNRELEASED_INSTANCE_ID:
      return "Another process uses the same group.instance.id: stop it, or let each process of the job run under an "
             "identity of its own.";
    case RD_KAFKA_RESP_ERR__NOT_IMPLEMENTED:
      return "This build of librdkafka cannot read these records (unknown compression); use one that can.";
    case RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE:
      return "Raise fetch.message.max.bytes and receive.message.max.bytes in source.properties.";
    case RD_KAFKA_RESP_ERR__TRANSPORT:
    case RD_KAFKA_RESP_ERR__TIMED_OUT:
    case RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN:
    case RD_KAFKA_RESP_ERR__RESOLVE:
      return "Check bootstrap.servers, and that the brokers run and can be reached.";
    default:
      return {};
  }
}

Error make_error(Fault fault, const std::string& what, rd_kafka_resp_err_t code) {
  std::string text = what + ": " + rd_kafka_err2str(code) + " (" + rd_kafka_err2name(code) + ").";
  if (const std::string step = next_step(code); !step.empty()) text += " " + step;
  return Error(fault, text, rd_kafka_err2name(code));
}

Fault fault_of_query(rd_kafka_resp_err_t code) {
  const Meaning meaning = meaning_of(code, false);
  const bool hopeless = meaning == Meaning::refused || code == RD_KAFKA_RESP_ERR__AUTHENTICATION ||
                        code == RD_KAFKA_RESP_ERR_SASL_AUTHENTICATION_FAILED;
  return hopeless ? Fault::fatal : Fault::retryable;
}

}  // namespace sluice::kafka
