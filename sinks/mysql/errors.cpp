#include "sinks/mysql/errors.h"

#include <algorithm>
#include <array>

namespace sluice::mysql {

namespace {

struct Rule {
  int number;
  Fault fault;
  std::string_view next_step = {};
};

constexpr std::array rules = std::to_array<Rule>({
    // resources
    {1021, Fault::retryable, "free space on the server's disk"},
    {1114, Fault::retryable, "free space on the server's disk, or let the tablespace grow"},
    {1028, Fault::retryable},
    {1030, Fault::retryable, "look at the server's log"},
    {1037, Fault::retryable},
    {1038, Fault::retryable},
    {1041, Fault::retryable},
    {1040, Fault::retryable, "raise max_connections or lower the number of clients"},
    {1203, Fault::retryable, "raise max_user_connections or lower the number of clients"},
    {1226, Fault::retryable, "raise the limits of the job's user"},
    {1135, Fault::retryable},
    // locks and conflicts
    {1020, Fault::retryable},
    {1205, Fault::retryable, "another session holds the lock"},
    {1213, Fault::retryable},
    {1180, Fault::retryable},
    {1412, Fault::retryable},
    {1615, Fault::retryable},
    {3101, Fault::retryable},
    {3572, Fault::retryable, "another session holds the lock"},
    // the server goes, comes, or is not the primary
    {1053, Fault::retryable},
    {1077, Fault::retryable},
    {1079, Fault::retryable},
    {1047, Fault::retryable, "the node is not ready"},
    {1129, Fault::retryable, "the server has blocked this host after failed connections: FLUSH HOSTS there"},
    {1158, Fault::retryable},
    {1159, Fault::retryable},
    {1160, Fault::retryable},
    {1161, Fault::retryable},
    {1184, Fault::retryable},
    {1290, Fault::retryable, "if the server is read-only: connect to the primary"},
    {1317, Fault::retryable, "somebody cancelled the statement"},
    {1792, Fault::retryable, "the server is read-only: connect to the primary"},
    {1836, Fault::retryable, "the server is read-only: connect to the primary"},
    {1927, Fault::retryable},
    {1969, Fault::retryable, "the server was too slow"},
    {3024, Fault::retryable, "the server was too slow"},
    {4031, Fault::retryable},
    {1397, Fault::retryable, "the session that prepared the branch is still connected"},
    {1398, Fault::retryable},
    {1399, Fault::retryable},
    {1401, Fault::retryable, "a lock on the whole server, as of a backup, may be in the way"},
    {1402, Fault::retryable},
    {1440, Fault::retryable, "a branch of that name is prepared already"},
    {1613, Fault::retryable},
    {1614, Fault::retryable},
    // definition and rights
    {1044, Fault::fatal, "GRANT the right to the job's user"},
    {1045, Fault::fatal, "mend user or password in connection.url"},
    {1049, Fault::fatal, "create the database or mend connection.url"},
    {1054, Fault::fatal,
     "the table was altered while the job ran: restore the column or mend \"columns\", then start again"},
    {1130, Fault::fatal, "let the job's user connect from this host"},
    {1142, Fault::fatal, "GRANT the right to the job's user"},
    {1143, Fault::fatal, "GRANT the right to the job's user"},
    {1146, Fault::fatal, "create the table, or set \"auto.create\": true"},
    {1227, Fault::fatal, "GRANT the right to the job's user"},
    {1251, Fault::fatal, "give the job's user an authentication plugin that the client library knows"},
    {1370, Fault::fatal, "GRANT the right to the job's user"},
    {1698, Fault::fatal, "mend user or password in connection.url"},
    {3105, Fault::fatal, "the column is generated: take it out of \"columns\""},
    {1906, Fault::fatal, "the column is generated: take it out of \"columns\""},
    {3948, Fault::retryable, "local_infile was turned off while the job ran"},
    {4166, Fault::retryable, "local_infile was turned off while the job ran"},
    // records
    {1048, Fault::bad_record},
    {1062, Fault::bad_record},
    {1118, Fault::bad_record},
    {1153, Fault::bad_record, "raise max_allowed_packet of the server"},
    {1169, Fault::bad_record},
    {1216, Fault::bad_record},
    {1217, Fault::bad_record},
    {1242, Fault::bad_record},
    {1263, Fault::bad_record},
    {1264, Fault::bad_record},
    {1265, Fault::bad_record},
    {1292, Fault::bad_record},
    {1300, Fault::bad_record},
    {1364, Fault::bad_record},
    {1365, Fault::bad_record},
    {1366, Fault::bad_record},
    {1367, Fault::bad_record},
    {1369, Fault::bad_record},
    {1406, Fault::bad_record},
    {1411, Fault::bad_record},
    {1416, Fault::bad_record},
    {1451, Fault::bad_record},
    {1452, Fault::bad_record},
    {1526, Fault::bad_record},
    {1586, Fault::bad_record},
    {1644, Fault::bad_record},
    {1690, Fault::bad_record},
    {1748, Fault::bad_record},
    {1761, Fault::bad_record},
    {1762, Fault::bad_record},
    {1977, Fault::bad_record},
    {3140, Fault::bad_record},
    {3141, Fault::bad_record},
    {3144, Fault::bad_record},
    {3150, Fault::bad_record},
    {3156, Fault::bad_record},
    {3157, Fault::bad_record},
    {3158, Fault::bad_record},
    {3819, Fault::bad_record},
    {3854, Fault::bad_record},
    {3988, Fault::bad_record},
    {4025, Fault::bad_record},
});

// Below 1000 are the errors of the server's own library, as of a temporary file that it cannot write or delete
// (EE_CANTCREATEFILE and its like in mysys_err.h). No record and no setting of the job is to blame.
constexpr int library_errors_end = 1000;
constexpr Rule library_error = {
    0, Fault::retryable, "the server is at odds with a file of its own: look at its log, its disk and its tmpdir"};

const Rule* rule_for(int number) {
  if (number > 0 && number < library_errors_end) return &library_error;
  const auto* const found = std::find_if(rules.begin(), rules.end(), [&](const Rule& r) { return r.number == number; });
  return found == rules.end() ? nullptr : found;
}

// "Duplicate entry '4711' for key 'orders.PRIMARY'": what stands between the two words is the value.
std::string without_quoted(std::string_view message, std::string_view before, std::string_view after) {
  const auto from = message.find(before);
  if (from == std::string_view::npos) return std::string(message);
  const auto to = message.rfind(after);
  std::string text(message.substr(0, from));
  if (to != std::string_view::npos && to > from) text += message.substr(to + 1);
  return text;
}

}  // namespace

Fault classify(int number, std::string_view sqlstate) {
  if (is_connection_loss(number)) return Fault::retryable;
  if (const Rule* const rule = rule_for(number)) return rule->fault;
  if (sqlstate.starts_with("08") || sqlstate.starts_with("40")) return Fault::retryable;
  if (sqlstate.starts_with("22") || sqlstate.starts_with("23") || sqlstate.starts_with("45")) return Fault::bad_record;
  return Fault::fatal;
}

// 2000 to 2999 are the client library's own; 5000 and up MariaDB's client's.
bool is_connection_loss(int number) {
  return (number >= 2000 && number < 3000) || (number >= 5000 && number < 6000) || number == 1053 || number == 1927 ||
         number == 4031;
}

std::string_view next_step(int number) {
  const Rule* const rule = rule_for(number);
  return rule == nullptr ? std::string_view() : rule->next_step;
}

bool is_rule(int number, std::string_view sqlstate) {
  static constexpr auto numbers =
      std::to_array({1062, 1169, 1216, 1217, 1242, 1369, 1451, 1452, 1586, 1644, 1761, 1762, 3819, 4025});
  return std::find(numbers.begin(), numbers.end(), number) != numbers.end() || sqlstate.starts_with("45");
}

std::string shown(int number, std::string_view sqlstate, std::string_view message) {
  switch (number) {
    case 1242:  // by our upsert, see insert_tail()
      return "a row with another key has the same value in a unique index";
    case 1062:
    case 1586:
      return without_quoted(message, " '", "' for key");
    case 1366:
    case 1292:
    case 1411:
      return without_quoted(message, ": '", "' for column");
    case 1367:
      return "a number in the record cannot be read";
    case 1064:
      return std::string(message.substr(0, message.find(" near '")));
    case 1526:
      return "the table has no partition for the row";
    case 1300:
    case 1977:
    case 3854:
    case 3988:
      return "text cannot be converted to the column's character set";
    default:
      break;
  }
  // Of a trigger: nobody knows what its author put into it.
  if (number == 1644 || sqlstate.starts_with("45")) return "a trigger or procedure of the database refused the row";
  return std::string(message.substr(0, message.find('\n')));
}

}  // namespace sluice::mysql
