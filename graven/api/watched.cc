#include "graven/api/watched.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <memory>

#include "graven/api/error.h"
#include "graven/base/heap_bytes.h"
#include "graven/base/strings.h"
#include "graven/function/watched_values.h"

namespace graven::internal {
namespace {

constinit thread_local WatchScope* t_scope = nullptr;
constinit thread_local engine::Ref<engine::Watches> t_finished;

}  // namespace

WatchedCell::WatchedCell(engine::Ref<WatchedVersion> version, const std::source_location& made)
    : place_(engine::str_cat(std::filesystem::path(made.file_name()).filename().string(), ":",
                             made.line())),
      version_(std::move(version)) {}

engine::Ref<WatchedVersion> WatchedCell::now() const {
  engine::MutexLock lock(mutex_);
  return version_;
}

engine::Ref<WatchedVersion> WatchedCell::seen() const {
  const auto* watched = t_scope ? t_scope->find(*this) : nullptr;
  return watched ? *watched : now();
}

void WatchedCell::set(engine::Ref<WatchedVersion> version) {
  engine::MutexLock lock(mutex_);
  std::swap(version_, version);  // the old one goes after the lock
  number_.fetch_add(1, std::memory_order_release);
}

// The watches of a trace of C++'s.
class CppWatches final : public engine::Watches, public engine::HasWatchedValues {
 public:
  CppWatches(std::vector<WatchScope::Watch> watches,
             std::vector<engine::Ref<engine::Watches>> foreign, Stale stale)
      : stale_(stale),
        num_watches_(watches.size()),
        has_foreign_(!foreign.empty()),
        watches_(std::move(watches)),
        foreign_(std::move(foreign)) {
    numbers_ = std::make_unique<std::atomic<uint64_t>[]>(num_watches_);
    for (size_t i = 0; i < num_watches_; ++i) {
      cells_.push_back(watches_[i].cell);
      numbers_[i] = watches_[i].number;
    }
  }

  bool hold() override {
    if (stale_ == Stale::kIgnore || are_unchanged()) return true;
    if (stale_ == Stale::kRetrace) return false;
    // A trace around this one looks for news, too.
    if (stale_ == Stale::kError || has_foreign_ || changes() != told_changes_) has_news_ = true;
    return true;
  }

  std::string change() override {
    {
      engine::MutexLock lock(mutex_);
      for (const WatchScope::Watch& watch : watches_) {
        const auto now = watch.cell->now();
        if (now->equals(*watch.version)) continue;
        return engine::str_cat("the watched value of ", watch.cell->place(), " changed from ",
                               watch.version->text(), " to ", now->text());
      }
    }
    for (const auto& watches : foreign()) {
      if (std::string text = watches->change(); !text.empty()) return text;
    }
    return "";
  }

  bool gradients_hold() override {
    return std::ranges::all_of(foreign(), [](const auto& w) { return w->gradients_hold(); });
  }
  std::unique_ptr<Retracing> begin_retrace() override { return nullptr; }

  void adopt(engine::Watches& fresh, Retracing*) override {
    auto& other = static_cast<CppWatches&>(fresh);
    std::vector<WatchScope::Watch> watches = other.watches();
    std::vector<engine::Ref<engine::Watches>> others = other.foreign();
    engine::MutexLock lock(mutex_);
    if (has_foreign_) std::swap(foreign_, others);  // the old ones go after the lock
    for (size_t i = 0; i < num_watches_; ++i) {
      for (const WatchScope::Watch& watch : watches) {
        if (watch.cell != cells_[i]) continue;
        watches_[i] = watch;
        numbers_[i].store(watch.number, std::memory_order_relaxed);
      }
    }
  }

  void precede(engine::Watches&, double) override {}
  // The program has said itself what the function reads: it hears of the error.
  bool revert(const engine::Status&, Retracing*) override { return false; }

  int64_t bytes() const override {
    return engine::bytes_of_object<CppWatches>() +
           static_cast<int64_t>(num_watches_ *
                                (sizeof(WatchScope::Watch) + sizeof(std::atomic<uint64_t>) +
                                 sizeof(engine::Ref<WatchedCell>))) +
           engine::heap_bytes(foreign());
  }

  std::vector<std::string> watched_values() const override {
    std::vector<std::string> lines;
    for (const WatchScope::Watch& watch : watches()) {
      lines.push_back(engine::str_cat("the watched value of ", watch.cell->place(), " = ",
                                      watch.version->text()));
    }
    for (const auto& watches : foreign()) {
      const auto* values = dynamic_cast<const engine::HasWatchedValues*>(watches.get());
      if (values) std::ranges::move(values->watched_values(), std::back_inserter(lines));
    }
    return lines;
  }

  std::vector<std::pair<std::string, std::string>> plain_values(bool now) const override {
    std::vector<std::pair<std::string, std::string>> values;
    for (const WatchScope::Watch& watch : watches()) {
      const auto version = now ? watch.cell->now() : watch.version;
      values.emplace_back(engine::str_cat("the watched value of ", watch.cell->place()),
                          version->text());
    }
    for (const auto& watches : foreign()) {
      const auto* others = dynamic_cast<const engine::HasWatchedValues*>(watches.get());
      if (others) std::ranges::move(others->plain_values(now), std::back_inserter(values));
    }
    std::ranges::sort(values);
    return values;
  }

  // The change, if it was not told yet; empty otherwise.
  std::string news() {
    has_news_ = false;
    told_changes_ = changes();
    std::string now = change();
    engine::MutexLock lock(mutex_);
    if (now == told_) return "";
    told_ = now;
    return now;
  }
  Stale stale() const { return stale_; }
  std::vector<WatchScope::Watch> watches() const {
    engine::MutexLock lock(mutex_);
    return watches_;
  }
  std::vector<engine::Ref<engine::Watches>> foreign() const {
    if (!has_foreign_) return {};
    engine::MutexLock lock(mutex_);
    return foreign_;
  }

 private:
  // How often the program has assigned the values.
  uint64_t changes() const {
    uint64_t sum = 0;
    for (const auto& cell : cells_) sum += cell->number();
    return sum;
  }
  bool are_unchanged() {
    bool are_same = true;
    for (size_t i = 0; i < num_watches_; ++i) {
      are_same &= cells_[i]->number() == numbers_[i].load(std::memory_order_relaxed);
    }
    if (!are_same && !are_equal()) return false;
    // With no lock: they may wait for one of their language.
    return std::ranges::all_of(foreign(),
                               [](const auto& w) { return w->hold() && !w->has_news(); });
  }
  // Values that were assigned anew may be equal.
  bool are_equal() {
    engine::MutexLock lock(mutex_);
    for (size_t i = 0; i < num_watches_; ++i) {
      const uint64_t number = cells_[i]->number();  // before the value, which may be newer
      if (!cells_[i]->now()->equals(*watches_[i].version)) return false;
      numbers_[i].store(number, std::memory_order_relaxed);
    }
    return true;
  }

  const Stale stale_;
  const size_t num_watches_;
  std::vector<engine::Ref<WatchedCell>> cells_;
  std::unique_ptr<std::atomic<uint64_t>[]> numbers_;
  std::atomic<uint64_t> told_changes_{0};
  const bool has_foreign_;
  mutable engine::Mutex mutex_;
  std::vector<WatchScope::Watch> watches_ GUARDED_BY(mutex_);
  std::vector<engine::Ref<engine::Watches>> foreign_ GUARDED_BY(mutex_);  // of other languages
  std::string told_ GUARDED_BY(mutex_);
};

WatchScope::WatchScope(std::span<const engine::Ref<WatchedCell>> cells, Stale stale)
    : outer_(t_scope), stale_(stale) {
  for (const engine::Ref<WatchedCell>& cell : cells) {
    const uint64_t number = cell->number();  // before the value, which may be newer
    watches_.push_back({cell, cell->seen(), number});
  }
  t_scope = this;
}

WatchScope::~WatchScope() {
  t_scope = outer_;
  t_finished = nullptr;
  if (watches_.empty() && foreign_.empty()) return;
  t_finished = engine::make_ref<CppWatches>(std::move(watches_), std::move(foreign_), stale_);
}

WatchScope* WatchScope::current() { return t_scope; }

engine::Ref<engine::Watches> take_watches() { return std::exchange(t_finished, nullptr); }

const engine::Ref<WatchedVersion>* WatchScope::find(const WatchedCell& cell) const {
  for (const WatchScope* scope = this; scope; scope = scope->outer_) {
    for (const Watch& watch : scope->watches_) {
      if (watch.cell.get() == &cell) return &watch.version;
    }
  }
  return nullptr;
}

void WatchScope::add(engine::Watches& inner) {
  const auto add_foreign = [&](engine::Ref<engine::Watches> watches) {
    if (std::ranges::find(foreign_, watches) == foreign_.end()) foreign_.push_back(watches);
  };
  const auto* cpp = dynamic_cast<const CppWatches*>(&inner);
  if (!cpp) return add_foreign(engine::Ref(&inner));
  for (auto& watches : cpp->foreign()) add_foreign(std::move(watches));
  for (Watch& watch : cpp->watches()) {
    auto is_same = [&](const Watch& other) { return other.cell == watch.cell; };
    if (std::ranges::none_of(watches_, is_same)) watches_.push_back(std::move(watch));
  }
}

namespace {

engine::Status stale_error(const std::string& function, const std::string& change) {
  return {engine::Code::kFailedPrecondition,
          engine::str_cat(function, ": ", change, " since it was traced")};
}

void say_stale(const std::string& function, const std::string& change) {
  if (change.empty()) return;
  std::fprintf(stderr, "graven: %s: %s since it was traced; the call runs the old trace\n",
               function.c_str(), change.c_str());
}

}  // namespace

void note_watches(engine::Watches& watches, const std::string& function,
                  const std::source_location& location) {
  if (t_scope) t_scope->add(watches);
  auto* cpp = watches.has_news() ? dynamic_cast<CppWatches*>(&watches) : nullptr;
  if (!cpp) return;
  if (cpp->stale() != Stale::kError) return say_stale(function, cpp->news());
  if (std::string change = cpp->change(); !change.empty()) {
    throw_error(stale_error(function, change), location);
  }
}

void note_concrete_call(engine::Watches& watches, const std::string& function,
                        const std::source_location& location) {
  auto* cpp = dynamic_cast<CppWatches*>(&watches);
  if (!cpp || cpp->stale() == Stale::kIgnore) return;
  const std::string change = cpp->change();
  if (change.empty()) return;
  if (cpp->stale() == Stale::kError) throw_error(stale_error(function, change), location);
  say_stale(function, cpp->news());
}

}  // namespace graven::internal
