#pragma once
#include <atomic>
#include <concepts>
#include <cstdint>
#include <ostream>
#include <source_location>
#include <span>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "graven/base/export.h"
#include "graven/base/mutex.h"
#include "graven/base/ref.h"
#include "graven/function/watch.h"

namespace graven {

// What a function does about a watched value that has changed since a trace read it.
enum class Stale {
  kRetrace,  // use a trace of the new value, made now if there is none
  kWarn,     // run the old trace, and say so on standard error, once for each new value
  kError,    // a graven::Error until the value is back
  kIgnore,   // run the old trace
};

namespace internal {

// One value of a watched<T>.
class GRAVEN_API WatchedVersion : public engine::RefCounted {
 public:
  virtual bool equals(const WatchedVersion& other) const = 0;
  virtual std::string text() const = 0;
};

// What copies of a watched<T> share.
class GRAVEN_API WatchedCell : public engine::RefCounted {
 public:
  WatchedCell(engine::Ref<WatchedVersion> version, const std::source_location& made);
  engine::Ref<WatchedVersion> now() const;
  // The version that the trace which goes on on this thread has, if one does that watches this.
  engine::Ref<WatchedVersion> seen() const;
  void set(engine::Ref<WatchedVersion> version);
  uint64_t number() const { return number_.load(std::memory_order_acquire); }  // of the version
  const std::string& place() const { return place_; }  // "main.cc:12", where it was made

 private:
  const std::string place_;
  mutable engine::Mutex mutex_;
  engine::Ref<WatchedVersion> version_ GUARDED_BY(mutex_);
  std::atomic<uint64_t> number_{0};
};

// One trace. While it lives, reads on this thread see the versions that there were when it was
// made, and what traces within it watch becomes part of it. They nest.
class GRAVEN_API WatchScope {
 public:
  WatchScope(std::span<const engine::Ref<WatchedCell>> cells, Stale stale);
  ~WatchScope();
  WatchScope(const WatchScope&) = delete;
  // The innermost of this thread, or null.
  static WatchScope* current();
  // The version of a cell here or around; null if it is not watched.
  const engine::Ref<WatchedVersion>* find(const WatchedCell& cell) const;
  // A trace that runs within this one is part of it, with what it watches: that of another language
  // as a whole.
  void add(engine::Watches& inner);

 private:
  struct Watch {
    engine::Ref<WatchedCell> cell;
    engine::Ref<WatchedVersion> version;
    uint64_t number;
  };
  friend class CppWatches;
  WatchScope* const outer_;
  const Stale stale_;
  std::vector<Watch> watches_;
  std::vector<engine::Ref<engine::Watches>> foreign_;
};
// What the scope watched that ended last on this thread, once; null if nothing.
GRAVEN_API engine::Ref<engine::Watches> take_watches();

// Before a call runs a trace that watches something: makes that part of the trace around the call,
// and does what Stale says.
GRAVEN_API void note_watches(engine::Watches& watches, const std::string& function,
                             const std::source_location& location);
// The same for a ConcreteFunction, which runs its trace whatever has changed: that is said once, or
// an error if Stale says so.
GRAVEN_API void note_concrete_call(engine::Watches& watches, const std::string& function,
                                   const std::source_location& location);

}  // namespace internal

// A value of the program's that functions read and that may change: a rate, a flag, a size. A trace
// freezes it; a function that is told of it, by captures(), notices when it has changed.
//
//   graven::watched rate(0.1);
//   auto step = graven::function(graven::captures(rate),
//                                [&](const Tensor& x) { return x * rate.get(); });
//   step(x);      // traced with 0.1
//   rate = 0.01;  // the next call traces again, or finds a trace of 0.01
//
// Assigned as a whole, from any thread; a call sees one version, however often it reads it. Copies
// are the same value. Values are compared by ==.
template <std::equality_comparable T>
class watched {
 public:
  explicit watched(T value, std::source_location made = std::source_location::current())
      : cell_(engine::make_ref<internal::WatchedCell>(version_of(std::move(value)), made)) {}
  watched& operator=(T value) {
    cell_->set(version_of(std::move(value)));
    return *this;
  }
  T get() const { return static_cast<const Version&>(*cell_->seen()).value; }
  const engine::Ref<internal::WatchedCell>& cell() const { return cell_; }

 private:
  struct Version final : internal::WatchedVersion {
    explicit Version(T v) : value(std::move(v)) {}
    bool equals(const internal::WatchedVersion& other) const override {
      return value == static_cast<const Version&>(other).value;
    }
    std::string text() const override {
      if constexpr (requires(std::ostream & out) { out << value; }) {
        std::ostringstream out;
        out << std::boolalpha << value;
        return out.str();
      }
      return "a value";
    }
    T value;
  };
  static engine::Ref<internal::WatchedVersion> version_of(T value) {
    return engine::make_ref<Version>(std::move(value));
  }
  engine::Ref<internal::WatchedCell> cell_;
};

}  // namespace graven
