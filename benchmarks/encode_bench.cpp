// What a cell costs on its way to a database: the text of each family, and the rows of a table of six columns as COPY
// would send them, without the escaping.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <string>
#include <vector>

#include "core/model/value.h"
#include "sinks/sql/cell_text.h"

namespace sluice::sql {
namespace {

Column column(Family family) {
  Column result;
  result.family = family;
  return result;
}

void append(const std::vector<Value>& row, const std::vector<Column>& columns, CellBuffer& buffer, std::string& out) {
  for (std::size_t i = 0; i < row.size(); ++i) out.append(cell_text(row[i], columns[i], buffer).text).push_back('\t');
}

void encode(benchmark::State& state, const std::vector<Value>& row, const std::vector<Column>& columns) {
  CellBuffer buffer;
  std::string out;
  for (auto _ : state) {
    out.clear();
    append(row, columns, buffer, out);
    benchmark::DoNotOptimize(out.data());
  }
  state.SetItemsProcessed(state.iterations());
}

void BM_Integer(benchmark::State& state) {
  encode(state, {std::int64_t{1'700'000'000'123}}, {column(Family::int64)});
}
BENCHMARK(BM_Integer);

void BM_Text(benchmark::State& state) {
  encode(state, {Text{"a text of some thirty characters"}}, {column(Family::text)});
}
BENCHMARK(BM_Text);

void BM_Numeric(benchmark::State& state) {
  Column target = column(Family::numeric);
  target.precision = 12;
  target.scale = 2;
  encode(state, {Decimal{"1234567.89"}}, {target});
}
BENCHMARK(BM_Numeric);

void BM_Float(benchmark::State& state) {
  encode(state, {Decimal{"1234567.89"}}, {column(Family::float64)});
}
BENCHMARK(BM_Float);

void BM_TimestampText(benchmark::State& state) {
  encode(state, {Text{"2024-02-29T12:34:56.789Z"}}, {column(Family::timestamptz)});
}
BENCHMARK(BM_TimestampText);

void BM_TimestampMillis(benchmark::State& state) {
  encode(state, {std::int64_t{1'700'000'000'123}}, {column(Family::timestamptz)});
}
BENCHMARK(BM_TimestampMillis);

void BM_Row(benchmark::State& state) {
  encode(state,
         {std::int64_t{4711}, Text{"customer-1234"}, Decimal{"1234567.89"}, true, std::int64_t{1'700'000'000'123},
          Text{"a text of some thirty characters"}},
         {column(Family::int64), column(Family::text), column(Family::numeric), column(Family::boolean),
          column(Family::timestamptz), column(Family::text)});
}
BENCHMARK(BM_Row);

}  // namespace
}  // namespace sluice::sql
