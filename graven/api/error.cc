#include "graven/api/error.h"

#include <exception>

#include "graven/api/location.h"
#include "graven/base/strings.h"
#include "graven/function/trace_lock.h"
#include "graven/runtime/program.h"

namespace graven {
namespace {

class CppException final : public engine::Payload {
 public:
  explicit CppException(std::exception_ptr exception) : exception_(std::move(exception)) {}
  const std::exception_ptr& get() const { return exception_; }

 private:
  std::exception_ptr exception_;
};

// "file:12: in f: message". For an error of a run, the place where the failing node was made.
std::string described(const engine::Status& status, const std::source_location& location) {
  std::string place;
  if (location.line() > 0) {
    place = engine::str_cat(location.file_name(), ":", location.line(), ": in ",
                            location.function_name(), ": ");
  }
  const auto* run = dynamic_cast<const engine::ExecutionError*>(status.payload().get());
  if (!run) return place + status.message();
  std::string text =
      engine::str_cat(place, "Graph execution error:\n\nDetected at node ", run->node_name);
  if (run->location) {
    text += " defined at (most recent call last):";
    for (const engine::SourceFrame& frame : run->location->frames()) {
      text += engine::str_cat("\n  ", frame.file, ":", frame.line, ": in ", frame.function);
    }
  }
  return engine::str_cat(text, "\n\n", status.message());
}

}  // namespace

Error::Error(const engine::Status& status, const std::source_location& location)
    : std::runtime_error(described(status, location)), status_(status), location_(location) {}

void throw_error(const engine::Status& status, const std::source_location& location) {
  if (const auto* user = dynamic_cast<const CppException*>(status.payload().get())) {
    std::rethrow_exception(user->get());
  }
  if (dynamic_cast<const engine::TraceLockRefusal*>(status.payload().get())) {
    throw TraceLockError(status, internal::users_line(location));
  }
  throw Error(status, internal::users_line(location));
}

engine::Status status_of_current_exception() {
  std::exception_ptr exception = std::current_exception();
  std::string message = "an exception";
  try {
    std::rethrow_exception(exception);
  } catch (const std::exception& known) {
    message = known.what();
  } catch (...) {
  }
  return engine::Status::user_exception(std::move(message),
                                        engine::make_ref<CppException>(std::move(exception)));
}

}  // namespace graven
