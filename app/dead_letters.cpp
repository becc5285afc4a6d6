// `sluice dead-letters`: the records that could not be written: shown, tried again, or thrown away.
#include <algorithm>
#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>

#include "app/commands.h"
#include "app/exit_code.h"
#include "app/status_line.h"
#include "app/wiring.h"
#include "core/format/job_reader.h"
#include "core/model/error.h"

namespace sluice::app {

namespace {

constexpr std::size_t letters_per_page = 1000;

// Without key, value and headers: those may hold what must not be on a screen. They are in the table.
nlohmann::ordered_json to_json(const sql::StoredLetter& stored) {
  const DeadLetter& letter = stored.letter;
  nlohmann::ordered_json out{{"topic", letter.split.topic},   {"partition", letter.split.partition},
                             {"offset", letter.offset},       {"error_class", std::string(to_string(letter.of))},
                             {"error_code", letter.code},     {"error_message", letter.message},
                             {"epoch", number(letter.epoch)}, {"created_at", stored.created_at}};
  return out;
}

void print_line(const sql::StoredLetter& stored) {
  const DeadLetter& letter = stored.letter;
  std::printf("%-32s  %-10s  %-7s  %s\n", to_string(letter.split, letter.offset).c_str(),
              std::string(to_string(letter.of)).c_str(), letter.code.empty() ? "-" : letter.code.c_str(),
              letter.message.c_str());
}

int list(sql::SqlSink& sink, const DeadLettersArguments& arguments) {
  const std::uint64_t count = sink.letter_count();
  std::uint64_t shown = 0;
  std::optional<DeadLetter> last;
  while (shown < arguments.limit) {
    const auto page =
        sink.letters(std::min<std::uint64_t>(letters_per_page, arguments.limit - shown), last ? &*last : nullptr);
    if (page.empty()) break;
    for (const auto& stored : page) {
      if (arguments.json) {
        std::cout << to_json(stored).dump() << '\n';
      } else {
        print_line(stored);
      }
    }
    shown += page.size();
    last = page.back().letter;
  }
  if (arguments.json) return done;
  if (count == 0) std::puts("no dead letters");
  if (count > shown)
    std::printf("%s of %s shown; --limit shows more\n", with_commas(shown).c_str(), with_commas(count).c_str());
  return done;
}

int retry(sql::SqlSink& sink, Format& format) {
  const auto result = sink.retry_letters(format);
  std::printf("%s written and removed, %s refused again\n", with_commas(result.written).c_str(),
              with_commas(result.refused).c_str());
  return result.refused == 0 ? done : failed;
}

int discard(sql::SqlSink& sink) {
  std::printf("%s discarded\n", with_commas(sink.discard_letters()).c_str());
  return done;
}

}  // namespace

int dead_letters_command(const JobArguments& arguments, const DeadLettersArguments& what, const Log& log) {
  const format::Job job = format::read_job(arguments.file, arguments.overrides);
  const Wiring wiring = wire(job, nullptr, log);
  require_recovery_tables(wiring);
  if (!what.json && job.errors.deadletter.to == format::DeadLetterConfig::To::topic) {
    std::printf("new dead letters go to topic %s; these are in the table:\n", job.errors.deadletter.topic.c_str());
  }
  int worst = done;
  for (const auto& wired : wiring.sinks) {
    if (wiring.sinks.size() > 1 && !what.json) std::printf("sink %s\n", wired.name.c_str());
    const int code = what.retry     ? retry(*wired.sink, *wiring.format)
                     : what.discard ? discard(*wired.sink)
                                    : list(*wired.sink, what);
    worst = std::max(worst, code);
  }
  return worst;
}

}  // namespace sluice::app
