#include "graven/function/table.h"

#include <doctest/doctest.h>

#include <thread>

#include "graven/function/function.h"

namespace graven::engine {
namespace {

Entry* entry_at(uintptr_t address) { return reinterpret_cast<Entry*>(address); }

TEST_CASE("a row finds what was remembered for it, by all of its words") {
  DispatchTable table;
  uint64_t row[] = {1, 2, 3}, other[] = {1, 2, 4};
  CHECK(table.find(row) == nullptr);
  table.insert(row, entry_at(8), {});
  CHECK(table.find(row) == entry_at(8));
  CHECK(table.find(other) == nullptr);
  CHECK(table.find(std::span(row, 2)) == nullptr);
  table.insert(row, entry_at(16), {});
  CHECK(table.find(row) == entry_at(16));
  table.clear();
  CHECK(table.find(row) == nullptr);
  table.insert({}, entry_at(32), {});  // a function without arguments
  CHECK(table.find({}) == entry_at(32));
}

TEST_CASE("a row whose object is gone is not found") {
  DispatchTable table;
  uint64_t row[] = {7};
  auto guard = make_ref<LifeGuard>();
  table.insert(row, entry_at(8), {guard});
  CHECK(table.find(row) == entry_at(8));
  guard->alive = false;
  CHECK(table.find(row) == nullptr);
}

// An object of a front end whose end calls the Function again.
class CallsBack final : public LifeGuard {
 public:
  CallsBack(DispatchTable& table, int& calls) : table_(table), calls_(calls) {}
  ~CallsBack() override {
    uint64_t row[] = {9};
    table_.insert(row, entry_at(24), {});
    ++calls_;
  }

 private:
  DispatchTable& table_;
  int& calls_;
};

TEST_CASE("what rows hold goes with no lock held, so that it may use the table") {
  DispatchTable table;
  uint64_t row[] = {7}, other[] = {8}, made[] = {9};
  int calls = 0;
  table.insert(row, entry_at(8), {make_ref<CallsBack>(table, calls)});
  table.clear();
  CHECK(calls == 1);
  CHECK(table.find(made) == entry_at(24));
  auto guard = make_ref<CallsBack>(table, calls);
  guard->alive = false;
  table.insert(row, entry_at(8), {guard});
  guard = nullptr;
  table.insert(other, entry_at(16), {});
  CHECK(calls == 2);
  CHECK(table.find(other) == entry_at(16));
}

TEST_CASE("the table is bounded, and the oldest row goes first") {
  DispatchTable table;
  for (uint64_t i = 0; i <= DispatchTable::kMaxRows; ++i) {
    table.insert(std::span(&i, 1), entry_at(8 + i), {});
  }
  uint64_t first = 0, second = 1;
  CHECK(table.find(std::span(&first, 1)) == nullptr);
  CHECK(table.find(std::span(&second, 1)) == entry_at(9));
}

TEST_CASE("rows are found while another thread changes the table") {
  DispatchTable table;
  uint64_t fixed[] = {42, 43};
  table.insert(fixed, entry_at(8), {});
  std::atomic<bool> stop{false};
  std::atomic<int64_t> misses{0};
  std::vector<std::thread> readers;
  for (int t = 0; t < 3; ++t) {
    readers.emplace_back([&] {
      while (!stop) misses += table.find(fixed) != entry_at(8);
    });
  }
  for (uint64_t i = 0; i < 300; ++i) table.insert(std::span(&i, 1), entry_at(16), {});
  stop = true;
  for (auto& reader : readers) reader.join();
  CHECK(misses == 0);
}

}  // namespace
}  // namespace graven::engine
