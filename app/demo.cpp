// `sluice demo`: the main job without any server. This process is the broker (in memory) and the producer; its child is
// `sluice run` into SQLite, killed -9 again and again. At the end the table is compared with what was produced.
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <thread>

#include "app/commands.h"
#include "app/exit_code.h"
#include "app/status_line.h"
#include "core/model/error.h"
#include "sinks/sqlite/sqlite_database.h"
#include "sources/kafka/mock_kafka.h"

namespace sluice::app {

namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

constexpr int partitions = 4;
constexpr auto producing_time = 20s;
constexpr auto time_limit = 240s;

// The records are numbered, so that a lost one, a doubled one and a changed one can be told apart by sums.
std::string record(std::int64_t id) {
  return R"({"id":)" + std::to_string(id) + R"(,"customer":)" + std::to_string(id * 7919 % 20011) + R"(,"amount":)" +
         std::to_string(id % 10000) + "." + std::to_string(10 + id % 90) + R"(,"note":"order note )" +
         std::to_string(id) + R"("})";
}

fs::path write_job(const fs::path& directory, const std::string& bootstrap) {
  const nlohmann::ordered_json job{
      {"name", "demo"},
      {"source",
       {{"type", "kafka"},
        {"bootstrap.servers", bootstrap},
        {"topics", {"orders"}},
        {"properties", {{"session.timeout.ms", "1000"}, {"heartbeat.interval.ms", "250"}}}}},
      {"sink",
       {{"type", "sqlite"},
        {"connection.url", "sqlite://" + (directory / "demo.db").string()},
        {"table.name.format", "orders"},
        {"auto.create", true},
        {"columns",
         {{{"name", "id"}, {"type", "BIGINT"}, {"from", "id"}},
          {{"name", "customer"}, {"type", "INTEGER"}, {"from", "customer"}},
          {{"name", "amount"}, {"type", "TEXT"}, {"from", "amount"}},
          {{"name", "note"}, {"type", "TEXT"}, {"from", "note"}}}}}},
      {"checkpoint", {{"interval", "200ms"}, {"directory", (directory / "state").string()}}}};
  fs::path path = directory / "demo.json";
  std::ofstream(path) << job.dump(2) << '\n';
  return path;
}

// One worker process: `sluice run`, its log in a file.
class Worker {
 public:
  Worker(const std::string& binary, const fs::path& job, const fs::path& log) {
    std::vector<std::string> arguments{binary, "run", job.string()};
    std::vector<char*> argv;
    for (auto& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    posix_spawn_file_actions_t actions{};
    posix_spawn_file_actions_init(&actions);
    for (const int stream : {STDOUT_FILENO, STDERR_FILENO}) {
      posix_spawn_file_actions_addopen(&actions, stream, log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0644);
    }
    const int error = posix_spawn(&pid_, binary.c_str(), &actions, nullptr, argv.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    if (error != 0) throw Error(Fault::fatal, "cannot start " + binary);
  }
  ~Worker() { end(SIGKILL); }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  bool alive() { return pid_ > 0 && waitpid(pid_, nullptr, WNOHANG) == 0; }
  void end(int signal) {
    if (pid_ <= 0) return;
    ::kill(pid_, signal);
    waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }

 private:
  pid_t pid_ = -1;
};

struct Audit {
  std::int64_t rows = 0;
  std::int64_t distinct = 0;
  std::int64_t sum_of_ids = 0;
  std::int64_t right = 0;  // rows that say what their record said
};

class Target {
 public:
  explicit Target(const fs::path& file) : database_({file.string(), 5s}) {}

  std::int64_t rows() { return ask("SELECT count(*) FROM orders"); }
  Audit audit() {
    return {rows(), ask("SELECT count(DISTINCT id) FROM orders"), ask("SELECT coalesce(sum(id), 0) FROM orders"),
            ask("SELECT count(*) FROM orders WHERE customer = id * 7919 % 20011 AND note = 'order note ' || id "
                "AND amount = (id % 10000) || '.' || (10 + id % 90)")};
  }

 private:
  std::int64_t ask(const std::string& sql) {
    try {
      const auto session = database_.connect();
      return std::stoll(session->query(sql).at(0).at(0).value_or("0"));
    } catch (const Error&) {
      return 0;  // the worker has not made the table yet
    }
  }

  sqlite::SqliteDatabase database_;
};

class Directory {
 public:
  explicit Directory(const std::string& wanted) : kept_(!wanted.empty()) {
    path_ = kept_ ? fs::path(wanted) : fs::temp_directory_path() / ("sluice-demo-" + std::to_string(getpid()));
    fs::create_directories(path_);
    if (fs::exists(path_ / "demo.db")) {
      throw Error(Fault::fatal, path_.string() + " holds the database of an earlier demo: name an empty directory");
    }
  }
  ~Directory() {
    std::error_code ignored;
    if (!kept_) fs::remove_all(path_, ignored);
  }
  Directory(const Directory&) = delete;
  Directory& operator=(const Directory&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
  bool kept_;
};

// Steadily, so that every kill meets a worker in the middle of its work.
void produce(kafka::MockKafka& broker, std::int64_t records, const std::atomic<bool>& stop) {
  const auto start = std::chrono::steady_clock::now();
  for (std::int64_t id = 0; id < records && !stop; ++id) {
    broker.send("orders", static_cast<int>(id % partitions), "", record(id));
    if (id % 100 == 0)
      std::this_thread::sleep_until(start + producing_time * (static_cast<double>(id) / static_cast<double>(records)));
  }
  broker.flush();
}

int verdict(const Audit& audit, std::int64_t records, std::int64_t survived) {
  const std::int64_t lost = records - audit.distinct;
  const std::int64_t doubled = audit.rows - audit.distinct;
  const bool exact =
      lost == 0 && doubled == 0 && audit.right == records && audit.sum_of_ids == records * (records - 1) / 2;
  std::printf(
      "audit: records produced %lld, rows %lld, lost %lld, duplicated %lld, changed %lld, kills survived %lld: %s\n",
      static_cast<long long>(records), static_cast<long long>(audit.rows), static_cast<long long>(lost),
      static_cast<long long>(doubled), static_cast<long long>(audit.rows - audit.right),
      static_cast<long long>(survived), exact ? "exactly once" : "NOT EXACTLY ONCE");
  return exact ? done : failed;
}

}  // namespace

int demo_command(const DemoArguments& arguments, const std::string& own_path) {
  const Directory directory(arguments.directory);
  const std::uint64_t seed = arguments.seed != 0 ? arguments.seed : std::random_device{}();
  std::mt19937_64 random(seed);
  kafka::MockKafka broker;
  broker.create_topic("orders", partitions);
  const fs::path job = write_job(directory.path(), broker.bootstrap_servers());
  const fs::path log = directory.path() / "worker.log";
  std::printf("demo: %s records, topic orders with %d partitions on an in-process broker -> %s (seed %llu)\n",
              with_commas(static_cast<std::uint64_t>(arguments.records)).c_str(), partitions,
              (directory.path() / "demo.db").c_str(), static_cast<unsigned long long>(seed));
  std::fflush(stdout);

  std::atomic<bool> stop{false};
  std::thread producer([&] { produce(broker, arguments.records, stop); });
  Target target(directory.path() / "demo.db");
  auto worker = std::make_unique<Worker>(own_path, job, log);
  std::int64_t survived = 0;
  const auto limit = std::chrono::steady_clock::now() + time_limit;
  // A kill comes only after the worker has written something since its last start: each one is survived, not avoided.
  std::int64_t seen = 0;
  auto kill_at = std::chrono::steady_clock::now();
  bool armed = false;
  while (std::chrono::steady_clock::now() < limit) {
    std::this_thread::sleep_for(20ms);
    const std::int64_t rows = target.rows();
    if (rows >= arguments.records) break;
    if (!worker->alive()) worker = std::make_unique<Worker>(own_path, job, log);
    if (survived < arguments.kills && rows > seen && !armed) {
      armed = true;
      kill_at = std::chrono::steady_clock::now() + std::chrono::milliseconds(random() % 600);
    }
    if (!armed || std::chrono::steady_clock::now() < kill_at) continue;
    worker->end(SIGKILL);
    seen = target.rows();
    ++survived;
    armed = false;
    std::printf("demo: kill -9 number %lld, %s rows in the table; starting the worker again\n",
                static_cast<long long>(survived), with_commas(static_cast<std::uint64_t>(seen)).c_str());
    std::fflush(stdout);
    worker = std::make_unique<Worker>(own_path, job, log);
  }
  stop = true;
  producer.join();
  worker->end(SIGTERM);
  return verdict(target.audit(), arguments.records, survived);
}

}  // namespace sluice::app
