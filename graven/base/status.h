#pragma once
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "graven/base/export.h"
#include "graven/base/ref.h"
#include "graven/base/strings.h"

namespace graven::engine {

// TensorFlow's error codes, with its numbers.
enum class Code : uint8_t {
  kOk = 0,
  kCancelled = 1,
  kUnknown = 2,
  kInvalidArgument = 3,
  kDeadlineExceeded = 4,
  kNotFound = 5,
  kAlreadyExists = 6,
  kPermissionDenied = 7,
  kResourceExhausted = 8,
  kFailedPrecondition = 9,
  kAborted = 10,
  kOutOfRange = 11,
  kUnimplemented = 12,
  kInternal = 13,
  kUnavailable = 14,
  kDataLoss = 15,
  kUnauthenticated = 16,
};

// The class of an error in the front end. kOpError is the error class of the code
// (errors.InvalidArgumentError, ...); the others are the language's own classes, where programs
// written for TensorFlow expect those.
enum class ErrorKind : uint8_t {
  kOpError,
  kValueError,
  kTypeError,
  kIndexError,
  kKeyError,
  kAttributeError,
  kLookupError,
  kRuntimeError,
  kNotImplementedError,
  kAssertionError,
  kOverflowError,
  kOperatorNotAllowedInGraphError,
  kInaccessibleTensorError,
  kKeyboardInterrupt,
  kUserException,  // the payload is the user's own exception
  kRecursionError,
};

// An object of a front end that travels through the engine untouched, such as the exception
// that the user's code raised.
class GRAVEN_API Payload : public RefCounted {};

// The outcome of an operation that can fail. A good one costs one null pointer.
class [[nodiscard]] GRAVEN_API Status {
 public:
  Status() = default;
  Status(Code code, std::string message, ErrorKind kind = ErrorKind::kOpError);
  // The user's own exception, which the outermost front end raises again.
  static Status user_exception(std::string message, Ref<Payload> payload);

  bool ok() const { return !rep_; }
  Code code() const { return rep_ ? rep_->code : Code::kOk; }
  ErrorKind kind() const { return rep_ ? rep_->kind : ErrorKind::kOpError; }
  const std::string& message() const;
  const Ref<Payload>& payload() const;

  // The same error with a note in front of its message, or as another kind of error. On the way up
  // one adds notes, never new wording.
  Status with_prefix(std::string_view note) const;
  Status with_suffix(std::string_view note) const;
  Status as_kind(ErrorKind kind) const;
  // The same error with this payload in place of its own.
  Status with_payload(Ref<Payload> payload) const;

 private:
  struct Rep : RefCounted {
    Code code;
    ErrorKind kind;
    std::string message;
    Ref<Payload> payload;
  };
  Status copy_with(std::string message, ErrorKind kind) const;
  Ref<Rep> rep_;
};

template <typename... Args>
Status invalid_argument(const Args&... args) {
  return Status(Code::kInvalidArgument, str_cat(args...));
}
template <typename... Args>
Status value_error(const Args&... args) {
  return Status(Code::kInvalidArgument, str_cat(args...), ErrorKind::kValueError);
}
template <typename... Args>
Status type_error(const Args&... args) {
  return Status(Code::kInvalidArgument, str_cat(args...), ErrorKind::kTypeError);
}
template <typename... Args>
Status unimplemented(const Args&... args) {
  return Status(Code::kUnimplemented, str_cat(args...));
}
template <typename... Args>
Status internal_error(const Args&... args) {
  return Status(Code::kInternal, str_cat(args...));
}

// A value, or the error why there is none.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}
  Result(Status status) : status_(std::move(status)) {}
  template <typename U>
  requires(std::is_convertible_v<U, T> && !std::is_same_v<std::remove_cvref_t<U>, T> &&
           !std::is_same_v<std::remove_cvref_t<U>, Status>) Result(U&& value)
      : value_(std::forward<U>(value)) {}

  bool ok() const { return value_.has_value(); }
  const Status& status() const { return status_; }
  T& value() { return *value_; }
  const T& value() const { return *value_; }
  T& operator*() { return *value_; }
  const T& operator*() const { return *value_; }
  T* operator->() { return &*value_; }
  const T* operator->() const { return &*value_; }

 private:
  std::optional<T> value_;
  Status status_;
};

#define GRAVEN_CONCAT_INNER(a, b) a##b
#define GRAVEN_CONCAT(a, b) GRAVEN_CONCAT_INNER(a, b)

#define RETURN_IF_ERROR(expression)                                                 \
  do {                                                                              \
    if (::graven::engine::Status graven_status = (expression); !graven_status.ok()) \
      return graven_status;                                                         \
  } while (false)

#define ASSIGN_OR_RETURN(declaration, expression) \
  ASSIGN_OR_RETURN_INNER(GRAVEN_CONCAT(graven_result_, __LINE__), declaration, expression)
#define ASSIGN_OR_RETURN_INNER(result, declaration, expression) \
  auto result = (expression);                                   \
  if (!result.ok()) return result.status();                     \
  declaration = std::move(*result)

}  // namespace graven::engine
