#include "graven/api/location.h"

#include <map>
#include <string_view>
#include <tuple>

#include "graven/base/heap_bytes.h"
#include "graven/base/mutex.h"
#include "graven/function/process_bytes.h"

namespace graven::internal {
namespace {

constinit thread_local std::source_location t_location;
constinit thread_local const std::source_location* t_line = nullptr;  // of the LineScope
constinit thread_local engine::LocationSource* t_foreign = nullptr;   // of the ForeignLines

// The texts of a source_location are literals of the program, so it is kept as it is.
class CppLocation final : public engine::Location {
 public:
  explicit CppLocation(const std::source_location& location) : location_(location) {}
  std::vector<engine::SourceFrame> frames() const override {
    return {
        {location_.file_name(), static_cast<int>(location_.line()), location_.function_name(), ""}};
  }

 private:
  std::source_location location_;
};

class CppLocations final : public engine::LocationSource {
 public:
  engine::Ref<engine::Location> current() override {
    const std::source_location location = t_location;
    if (location.line() == 0) return t_foreign ? t_foreign->current() : nullptr;
    engine::MutexLock lock(mutex_);
    auto& known = known_[{location.file_name(), location.line(), location.function_name()}];
    if (!known) known = engine::make_ref<CppLocation>(location);
    return known;
  }

  int64_t bytes() const {
    engine::MutexLock lock(mutex_);
    return engine::heap_bytes(known_) +
           static_cast<int64_t>(known_.size()) * engine::bytes_of_object<CppLocation>();
  }

 private:
  mutable engine::Mutex mutex_;
  std::map<std::tuple<std::string_view, unsigned, std::string_view>, engine::Ref<engine::Location>>
      known_ GUARDED_BY(mutex_);  // as many as the program has lines that call ops
};

}  // namespace

LocationScope::LocationScope(const std::source_location& location) : outer_(t_location) {
  t_location = users_line(location);
}

LocationScope::~LocationScope() { t_location = outer_; }

LineScope::LineScope(const std::source_location& line) : line_(line), is_outermost_(!t_line) {
  if (is_outermost_) t_line = &line_;
}

LineScope::~LineScope() {
  if (is_outermost_) t_line = nullptr;
}

UsersLines::UsersLines() : outer_(t_line) { t_line = nullptr; }

UsersLines::~UsersLines() { t_line = outer_; }

ForeignLines::ForeignLines(engine::LocationSource& lines)
    : outer_location_(t_location), outer_(t_foreign) {
  t_location = {};
  t_foreign = &lines;
}

ForeignLines::~ForeignLines() {
  t_location = outer_location_;
  t_foreign = outer_;
}

const std::source_location& users_line(const std::source_location& given) {
  return t_line ? *t_line : given;
}

engine::LocationSource& cpp_locations() {
  static auto* const locations = [] {
    static CppLocations* made = new CppLocations();
    engine::add_process_bytes("locations of C++", [] { return made->bytes(); });
    return made;
  }();
  return *locations;
}

}  // namespace graven::internal
