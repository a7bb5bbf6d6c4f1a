#include <doctest/doctest.h>
#include <malloc.h>
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <numeric>
#include <thread>
#include <vector>

#include "graven/base/heap_bytes.h"
#include "graven/base/inline_vector.h"
#include "graven/base/ref.h"
#include "graven/base/stack.h"
#include "graven/base/status.h"
#include "graven/base/waiting_lock.h"

namespace graven::engine {
namespace {

TEST_CASE("a good status has no message and costs one pointer") {
  Status status;
  CHECK(status.ok());
  CHECK(status.message().empty());
  CHECK(sizeof(Status) == sizeof(void*));
}

TEST_CASE("a note keeps code, kind and payload of an error") {
  struct Own : Payload {};
  Status status = Status::user_exception("boom", make_ref<Own>()).with_prefix("in f: ");
  CHECK(status.message() == "in f: boom");
  CHECK(status.kind() == ErrorKind::kUserException);
  CHECK(status.payload());
}

TEST_CASE("a result passes its error on") {
  auto half = [](int x) -> Result<int> {
    if (x % 2) return invalid_argument(x, " is odd");
    return x / 2;
  };
  auto quarter = [&](int x) -> Result<int> {
    ASSIGN_OR_RETURN(int h, half(x));
    return half(h);
  };
  CHECK(*quarter(8) == 2);
  CHECK(quarter(6).status().message() == "3 is odd");
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // they have another malloc
TEST_CASE("bytes of text are those that malloc gave it") {
  for (size_t size = 0; size < 200; ++size) {
    std::string text(size, 'a');
    text.shrink_to_fit();
    // With the header of a block, which malloc does not count as usable.
    const size_t given = size > 15 ? malloc_usable_size(text.data()) + 8 : 0;
    CHECK(heap_bytes(text) == static_cast<int64_t>(given));
  }
}
#endif

TEST_CASE("an inline vector grows, shrinks, moves and compares") {
  InlineVector<std::string, 2> v = {"a", "b"};
  v.push_back("c");
  v.insert(v.begin(), "z");
  CHECK(str_join(v, "") == "zabc");
  auto moved = std::move(v);
  CHECK(v.empty());
  moved.erase(moved.begin());
  CHECK(moved == InlineVector<std::string, 2>{"a", "b", "c"});
  moved.resize(1);
  auto copy = moved;
  copy = InlineVector<std::string, 2>{"q"};
  CHECK(copy[0] == "q");
}

TEST_CASE("an inline vector is filled and copied, within itself or not") {
  for (size_t size : {0, 1, 2, 3, 100}) {
    const InlineVector<std::string, 2> filled(size, "a string too long to lie in itself");
    InlineVector<std::string, 2> copy = filled, assigned = {"x", "y", "z"};
    assigned = filled;
    CHECK(filled.size() == size);
    CHECK(std::ranges::all_of(filled, [&](auto& text) { return text == filled[0]; }));
    CHECK((copy == filled && assigned == filled));
    copy.resize(size + 3, "b");
    CHECK((copy.size() == size + 3 && copy.back() == "b" && (size == 0 || copy[0] == filled[0])));
    copy.resize(size);
    CHECK(copy == filled);
  }
}

TEST_CASE("the last reference destroys the object") {
  static int alive;
  alive = 0;
  struct Counted : RefCounted {
    Counted() { ++alive; }
    ~Counted() override { --alive; }
  };
  {
    auto a = make_ref<Counted>();
    Ref<Counted> b = a;
    CHECK(!a->is_unique());
    a = nullptr;
    CHECK(alive == 1);
    CHECK(b->is_unique());
  }
  CHECK(alive == 0);
}

TEST_CASE("who waits for a lock lets go of the front end's meanwhile") {
  static std::mutex shared;
  set_wait_hooks({[]() -> void* {
                    shared.unlock();
                    return &shared;
                  },
                  [](void*) { shared.lock(); }});
  Mutex own;
  std::atomic<bool> is_held{false}, is_done{false};
  shared.lock();
  std::thread other([&] {
    WaitingLock lock(own);
    is_held = true;
    std::lock_guard needed(shared);  // which the thread that waits for `own` has
    is_done = true;
  });
  while (!is_held) std::this_thread::yield();
  {
    WaitingLock lock(own);
    CHECK(is_done);
  }
  shared.unlock();
  other.join();
  set_wait_hooks({nullptr, nullptr});
}

// Uses a page or so of the stack for each level; how deep it came before Stack said that it is
// short.
__attribute__((noinline)) int levels_until_short(int level) {
  volatile char used[4096];
  used[0] = 0;
  if (Stack::is_short()) return level;
  const int deepest = levels_until_short(level + 1);
  used[1] = 0;
  return deepest + used[1];  // so that this is no loop
}

TEST_CASE("a stack is short while half a MiB is left, of a small one half") {
  struct Depth {
    int levels = 0;
    double pages = 0;  // that levels may use
  };
  auto run = [](void* argument) -> void* {
    // The size is not always what was asked for, and thread-local memory may take some of it.
    pthread_attr_t attributes;
    REQUIRE(pthread_getattr_np(pthread_self(), &attributes) == 0);
    void* low = nullptr;
    size_t size = 0;
    REQUIRE(pthread_attr_getstack(&attributes, &low, &size) == 0);
    pthread_attr_destroy(&attributes);
    // Not the address of a variable, which the address sanitizer may keep elsewhere.
    const auto left = static_cast<char*>(__builtin_frame_address(0)) - static_cast<char*>(low);
    const size_t kept = std::min(size_t{512} << 10, size / 2);
    auto& depth = *static_cast<Depth*>(argument);
    depth.pages = (static_cast<double>(left) - static_cast<double>(kept)) / 4096;
    depth.levels = levels_until_short(0);
    return nullptr;
  };
  for (size_t stack : {size_t{3} << 19, size_t{256} << 10}) {
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, stack);
    pthread_t thread;
    Depth depth;
    REQUIRE(pthread_create(&thread, &attributes, run, &depth) == 0);
    pthread_join(thread, nullptr);
    pthread_attr_destroy(&attributes);
    CHECK(depth.levels <= depth.pages + 1);
    CHECK(depth.levels > depth.pages / 2);  // fewer where frames are larger
    CHECK(depth.levels > 10);
  }
}

TEST_CASE("floats print as the shortest text that reads back") {
  CHECK(shortest(0.1f) == "0.1");
  CHECK(shortest(1.0 / 3) == "0.3333333333333333");
  CHECK(str_cat("x", 3, ' ', 2.5, true) == "x3 2.5true");
}

}  // namespace
}  // namespace graven::engine
