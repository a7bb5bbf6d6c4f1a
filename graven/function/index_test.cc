#include "graven/function/index.h"

#include <doctest/doctest.h>
#include <malloc.h>

#include <random>
#include <thread>

#include "graven/function/function.h"

namespace graven::engine {
namespace {

using Words = std::vector<uint64_t>;

Words row_of(const Shape& shape, int64_t literal = 0) {
  KeyWriter key(true);
  key.add_spec(DType::kFloat32, shape, /*is_named=*/false);
  key.add_integer(literal);
  return Words(key.row().begin(), key.row().end());
}

Words object_row(uintptr_t address) {
  KeyWriter key(true);
  key.add_address(reinterpret_cast<const void*>(address));
  return Words(key.row().begin(), key.row().end());
}

Ref<Entry> insert(Index& index, const Words& row, uint64_t skeleton = 1,
                  std::vector<Ref<LifeGuard>> guards = {}) {
  auto entry = make_ref<Entry>();
  index.insert(entry, {1, row, skeleton, std::move(guards)});
  return entry;
}

const Entry* found(const Index& index, const Words& row, uint64_t context = 1) {
  return index.find(context, row).get();
}

constexpr Dim kAny = Dim::unknown();

TEST_CASE("a row finds its entry, by all of its words and the context") {
  Index index;
  CHECK_FALSE(found(index, row_of({2})));
  auto entry = insert(index, row_of({2}));
  CHECK(found(index, row_of({2})) == entry.get());
  CHECK_FALSE(found(index, row_of({2}), /*context=*/2));
  CHECK_FALSE(found(index, row_of({3})));
  CHECK_FALSE(found(index, row_of({2}, 1)));
  CHECK_FALSE(found(index, {}));
  auto nothing = insert(index, {});  // a function without arguments
  CHECK(found(index, {}) == nothing.get());
}

TEST_CASE("any number of entries is found, and none of those that were removed") {
  Index index;
  std::vector<Ref<Entry>> entries;
  for (int i = 0; i < 5000; ++i) entries.push_back(insert(index, row_of({i}), i));
  int wrong = 0;
  for (int i = 0; i < 5000; ++i) wrong += found(index, row_of({i})) != entries[i].get();
  CHECK(wrong == 0);
  CHECK(index.entries() == entries);
  const int64_t bytes = index.bytes();
  for (int i = 0; i < 5000; i += 2) CHECK(index.remove(*entries[i]) == entries[i]);
  CHECK_FALSE(index.remove(*entries[0]));
  for (int i = 0; i < 5000; ++i) {
    wrong += found(index, row_of({i})) != (i % 2 ? entries[i].get() : nullptr);
  }
  CHECK(wrong == 0);
  for (int i = 1; i < 5000; i += 2) index.remove(*entries[i]);
  CHECK(index.size() == 0);
  CHECK(index.bytes() < bytes / 100);
}

TEST_CASE("a row with wildcards is found for all sizes, without being remembered") {
  Index index;
  auto general = insert(index, row_of({kAny, 3}));
  const int64_t bytes = index.bytes();
  for (int n = 0; n < 3000; ++n) CHECK(found(index, row_of({n, 3})) == general.get());
  CHECK(index.bytes() == bytes);
  CHECK_FALSE(found(index, row_of({2, 4})));
  CHECK_FALSE(found(index, row_of({2})));
  CHECK(found(index, row_of({kAny, 3})) == general.get());
  CHECK_FALSE(found(index, row_of({kAny, kAny})));
}

TEST_CASE("the most specific entry that fits is found, whatever the order of making") {
  const std::vector<Shape> shapes = {{1, 2}, {1, kAny}, {kAny, kAny}, Shape::unknown_rank()};
  std::vector<int> order = {0, 1, 2, 3};
  do {
    Index index;
    std::vector<Ref<Entry>> entries(4);
    for (int i : order) entries[i] = insert(index, row_of(shapes[i]));
    CHECK(found(index, row_of({1, 2})) == entries[0].get());
    CHECK(found(index, row_of({1, 5})) == entries[1].get());
    CHECK(found(index, row_of({3, 4})) == entries[2].get());
    CHECK(found(index, row_of({3})) == entries[3].get());
    CHECK(found(index, row_of({1, kAny})) == entries[1].get());
    CHECK(found(index, row_of({kAny, 2})) == entries[2].get());
  } while (std::ranges::next_permutation(order).found);
}

TEST_CASE("of entries that are equally good the first made is found, and the next when it goes") {
  Index index;
  auto first = insert(index, row_of({2, kAny})), second = insert(index, row_of({kAny, 2}));
  CHECK(found(index, row_of({2, 2})) == first.get());
  index.remove(*first);
  CHECK(found(index, row_of({2, 2})) == second.get());
  auto same = insert(index, row_of({kAny, 2}));
  CHECK(found(index, row_of({2, 2})) == second.get());
  index.remove(*second);
  CHECK(found(index, row_of({2, 2})) == same.get());
  index.remove(*same);
  CHECK_FALSE(found(index, row_of({2, 2})));
}

TEST_CASE("comparison is asked for entries of the same skeleton, and those that have none") {
  Index index;
  auto a = insert(index, row_of({1}), 1);
  auto b = make_ref<Entry>(), c = make_ref<Entry>();
  index.insert(b, {1, std::nullopt, std::nullopt, {}});
  index.insert(c, {1, std::nullopt, 1, {}});
  auto d = insert(index, row_of({1}, 5), 2);
  CHECK(index.related(1) == std::vector{a, b, c});
  CHECK(index.related(2) == std::vector{b, d});
  CHECK(index.related(std::nullopt) == std::vector{a, b, c, d});
  CHECK(index.related_without_row(1) == std::vector{b, c});
  CHECK(index.related_without_row(2) == std::vector{b});
  CHECK_FALSE(index.is_only_one_without_row(*b));
  index.remove(*c);
  CHECK(index.is_only_one_without_row(*b));
}

TEST_CASE("what was found by comparison is remembered until an entry of its skeleton comes") {
  Index index;
  auto entry = insert(index, object_row(8), 1);
  index.remember(*entry, {1, object_row(16), 1, {}}, index.next_serial());
  CHECK(found(index, object_row(16)) == entry.get());
  insert(index, row_of({2}), 2);
  CHECK(found(index, object_row(16)) == entry.get());
  uint64_t before = index.next_serial();
  insert(index, object_row(24), 1);
  CHECK_FALSE(found(index, object_row(16)));
  index.remember(*entry, {1, object_row(16), 1, {}}, before);  // what was found then is old
  CHECK_FALSE(found(index, object_row(16)));
  index.remember(*entry, {1, object_row(16), 1, {}}, index.next_serial());
  index.remove(*entry);
  CHECK_FALSE(found(index, object_row(16)));
  CHECK_FALSE(found(index, object_row(8)));
}

TEST_CASE("what is remembered is bounded, and the oldest goes first") {
  Index index;
  auto entry = insert(index, object_row(0), 1);
  for (uint64_t i = 1; i <= Index::kMaxRemembered + 1; ++i) {
    index.remember(*entry, {1, object_row(i), 1, {}}, index.next_serial());
  }
  CHECK(found(index, object_row(0)) == entry.get());
  CHECK_FALSE(found(index, object_row(1)));
  CHECK(found(index, object_row(2)) == entry.get());
}

TEST_CASE("the end of an object is the end of its entry, and of rows that were remembered for it") {
  Index index;
  auto guard = make_ref<LifeGuard>(index.listener()), other = make_ref<LifeGuard>(index.listener());
  auto entry = insert(index, object_row(8), 1, {guard});
  index.remember(*entry, {1, object_row(16), 1, {other}}, index.next_serial());
  other->end();
  CHECK_FALSE(found(index, object_row(16)));
  CHECK(found(index, object_row(8)) == entry.get());
  CHECK(index.num_removed() == 0);
  guard->end();
  CHECK_FALSE(found(index, object_row(8)));
  CHECK(index.size() == 0);
  CHECK(index.num_removed() == 1);
  CHECK(entry->is_retired());
  CHECK_FALSE(index.insert(entry, {1, object_row(8), 1, {guard}}));  // too late
  CHECK(index.size() == 0);
}

TEST_CASE("an object may outlive the index that its row was in") {
  auto index = std::make_unique<Index>();
  auto guard = make_ref<LifeGuard>(index->listener());
  insert(*index, object_row(8), 1, {guard});
  index = nullptr;
  guard->end();
  CHECK_FALSE(guard->is_alive());
}

// An object of a front end whose end uses the index again.
class CallsBack final : public LifeGuard {
 public:
  CallsBack(Index& index, int& calls) : index_(index), calls_(calls) {}
  ~CallsBack() override {
    insert(index_, row_of({9}), 3);
    ++calls_;
  }

 private:
  Index& index_;
  int& calls_;
};

TEST_CASE("what rows hold goes with no lock held, so that it may use the index") {
  Index index;
  int calls = 0;
  auto entry = insert(index, object_row(8), 1, {make_ref<CallsBack>(index, calls)});
  index.remove(*entry);
  CHECK(calls == 1);
  CHECK(found(index, row_of({9})));
}

TEST_CASE("an entry in use stays until its call ends, however deep calls nest") {
  Index index;
  std::vector<EntryInUse> calls;
  Words rows[] = {row_of({1}), row_of({2})};
  Ref<Entry> entries[] = {insert(index, rows[0]), insert(index, rows[1])};
  for (int depth = 0; depth < 20; ++depth) calls.push_back(index.find(1, rows[depth % 2]));
  for (Ref<Entry>& entry : entries) {
    retire(index.remove(*entry));
    CHECK(entry->is_retired());
    CHECK_FALSE(entry->is_unique());  // that of the index has not been dropped
  }
  while (!calls.empty()) calls.pop_back();
  for (const Ref<Entry>& entry : entries) CHECK(entry->is_unique());
}

TEST_CASE("an entry that no call uses goes at once") {
  Index index;
  const Ref<Entry> entry = insert(index, row_of({1}));
  retire(index.remove(*entry));
  CHECK(entry->is_unique());
}

TEST_CASE("hits of entries that are removed are kept") {
  Index index;
  const Ref<Entry> entry = insert(index, row_of({1}));
  for (int i = 0; i < 3; ++i) index.count_hit(*entry);
  CHECK(index.hits_of_removed() == 0);
  index.remove(*entry);
  CHECK(index.hits_of_removed() == 3);
  index.count_hit(*entry);
  CHECK(index.hits_of_removed() == 4);
}

// Inserts entries of all kinds and takes them out again. The guards' objects live on.
void insert_and_remove(Index& index, std::vector<Ref<LifeGuard>>& guards) {
  auto guard = [&] { return guards.emplace_back(make_ref<LifeGuard>(index.listener())); };
  insert(index, row_of({2}), 1);
  insert(index, row_of({2}), 1);
  insert(index, row_of({kAny}), 2);
  const Ref<Entry> of_object = insert(index, object_row(8), 3, {guard()});
  insert(index, object_row(8), 3, {guard()});
  index.insert(make_ref<Entry>(), {1, std::nullopt, std::nullopt, {}});
  index.remember(*of_object, {1, object_row(16), 3, {guard()}}, index.next_serial());
  for (const Ref<Entry>& entry : index.entries()) index.remove(*entry);
}

TEST_CASE("what was taken out leaves nothing behind") {
  std::vector<Ref<LifeGuard>> guards;
  Index index;
  insert_and_remove(index, guards);
  const int64_t bytes = index.bytes();
  for (int i = 0; i < 1000; ++i) insert_and_remove(index, guards);
  CHECK(index.bytes() < bytes + 1024);  // the table may have grown by a few rows
  CHECK(index.related(1).empty());
  CHECK(index.related_without_row(std::nullopt).empty());
  for (const Ref<LifeGuard>& guard : guards) CHECK(guard->is_unique());
  guards.back()->end();  // finds no row
  CHECK(index.num_removed() == 6 * 1001);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // they have another malloc
TEST_CASE("an index that changes all the time takes no more memory") {
  auto bytes_after = [](int rounds) {
    for (int i = 0; i < rounds; ++i) {
      std::vector<Ref<LifeGuard>> guards;
      Index index;
      std::vector<Ref<Entry>> entries;
      for (int n = 0; n < 40; ++n) entries.push_back(insert(index, row_of({n})));
      insert_and_remove(index, guards);
      for (int n = 0; n < 20; ++n) insert(index, row_of({n, kAny}));
    }
    free_retired();
    return static_cast<int64_t>(mallinfo2().uordblks);
  };
  const int64_t before = bytes_after(10);
  CHECK(bytes_after(1000) < before + 10'000);
}
#endif

TEST_CASE("rows are found while entries come and go, and while the table grows and shrinks") {
  Index index;
  auto fixed = insert(index, row_of({42})), general = insert(index, row_of({kAny, 7}));
  std::atomic<bool> stop{false};
  std::atomic<int64_t> misses{0};
  std::vector<std::thread> readers;
  for (int t = 0; t < 3; ++t) {
    readers.emplace_back([&, t] {
      for (int64_t n = t; !stop; ++n) {
        misses += found(index, row_of({42})) != fixed.get();
        misses += found(index, row_of({n % 100, 7})) != general.get();
        EntryInUse other = index.find(1, row_of({n % 500, 8}));
        if (other) other->count_hit();
      }
    });
  }
  for (int round = 0; round < 5; ++round) {
    std::vector<Ref<Entry>> entries;
    for (int i = 0; i < 500; ++i) entries.push_back(insert(index, row_of({i, 8})));
    for (Ref<Entry>& entry : entries) {
      index.remove(*entry);
      retire(std::move(entry));
    }
  }
  stop = true;
  for (auto& reader : readers) reader.join();
  CHECK(misses == 0);
}

}  // namespace
}  // namespace graven::engine
