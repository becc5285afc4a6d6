// How many records a second one core turns into cells. The budget of the pipeline needs 2 million a second of the
// first.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <string>
#include <vector>

#include "core/format/json_format.h"

namespace {

using namespace sluice;

constexpr std::size_t records_per_poll = 10'000;

class OneSplit : public SplitNames {
 public:
  const Split& split(SplitIndex) const override { return split_; }

 private:
  Split split_{"orders", 0};
};

RowShape shape_of(const std::vector<std::string>& sources) {
  RowShape shape;
  for (const auto& source : sources) shape.cells.push_back(*CellSource::parse(source));
  return shape;
}

std::string order(std::size_t number) {
  const auto n = std::to_string(number);
  return R"({"id":)" + n + R"(,"customer":)" + std::to_string(number * 17 % 90'000) + R"(,"amount":")" +
         std::to_string(number % 9'000) + R"(.54","status":"new","note":"order note )" + n + R"( for customer","ts":)" +
         std::to_string(1'764'000'000'000 + number) + "}";
}

std::string nested_order(std::size_t number) {
  const auto n = std::to_string(number);
  return R"({"id":)" + n + R"(,"customer":{"id":)" + std::to_string(number % 90'000) +
         R"(,"name":"Ann\u00e9 \"Q\" Lee","tags":["a","b",{"c":null}]},"amount":)" + std::to_string(number % 9'000) +
         R"(.54,"items":[{"sku":"x-1","count":3},{"sku":"x-2","count":1}],"ts":)" +
         std::to_string(1'764'000'000'000 + number) + "}";
}

void decode(benchmark::State& state, std::string (*text)(std::size_t), const RowShape& shape) {
  std::vector<std::string> values;
  std::vector<Record> records(records_per_poll);
  for (std::size_t i = 0; i < records_per_poll; ++i) values.push_back(text(i));
  std::int64_t bytes = 0;
  for (std::size_t i = 0; i < records_per_poll; ++i) {
    records[i].offset = static_cast<std::int64_t>(i);
    records[i].value = values[i];
    bytes += static_cast<std::int64_t>(values[i].size());
  }
  const OneSplit names;
  JsonFormat format;
  const auto decoder = format.decoder(shape, names);
  Batch rows(shape.cells.size());
  std::vector<Reject> rejects;
  for (auto _ : state) {
    rows.clear();
    decoder->decode(records, rows, rejects);
    benchmark::DoNotOptimize(rows.row(records_per_poll - 1).data());
  }
  if (!rejects.empty()) state.SkipWithError(rejects.front().reason.c_str());
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(records_per_poll));
  state.SetBytesProcessed(state.iterations() * bytes);
}

void json_flat(benchmark::State& state) {
  decode(state, order, shape_of({"id", "customer", "amount", "status", "note", "ts"}));
}
BENCHMARK(json_flat)->Unit(benchmark::kMillisecond);

// Two of six fields, and the record's place.
void json_flat_few_fields(benchmark::State& state) {
  decode(state, order, shape_of({"id", "ts", "@topic", "@partition", "@offset"}));
}
BENCHMARK(json_flat_few_fields)->Unit(benchmark::kMillisecond);

void json_nested(benchmark::State& state) {
  decode(state, nested_order, shape_of({"id", "customer.id", "customer.name", "amount", "items", "ts"}));
}
BENCHMARK(json_nested)->Unit(benchmark::kMillisecond);

}  // namespace
