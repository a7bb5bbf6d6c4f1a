#include "graven/base/status.h"

namespace graven::engine {

Status::Status(Code code, std::string message, ErrorKind kind) {
  if (code == Code::kOk) return;
  rep_ = make_ref<Rep>();
  rep_->code = code;
  rep_->kind = kind;
  rep_->message = std::move(message);
}

Status Status::user_exception(std::string message, Ref<Payload> payload) {
  Status status(Code::kUnknown, std::move(message), ErrorKind::kUserException);
  status.rep_->payload = std::move(payload);
  return status;
}

const std::string& Status::message() const {
  static const auto* empty = new std::string;
  return rep_ ? rep_->message : *empty;
}

const Ref<Payload>& Status::payload() const {
  static const auto* none = new Ref<Payload>;
  return rep_ ? rep_->payload : *none;
}

Status Status::copy_with(std::string message, ErrorKind kind) const {
  if (ok()) return *this;
  Status copy(rep_->code, std::move(message), kind);
  copy.rep_->payload = rep_->payload;
  return copy;
}

Status Status::with_prefix(std::string_view note) const {
  return copy_with(str_cat(note, message()), kind());
}

Status Status::with_suffix(std::string_view note) const {
  return copy_with(str_cat(message(), note), kind());
}

Status Status::as_kind(ErrorKind kind) const { return copy_with(message(), kind); }

Status Status::with_payload(Ref<Payload> payload) const {
  Status copy = copy_with(message(), kind());
  if (!copy.ok()) copy.rep_->payload = std::move(payload);
  return copy;
}

}  // namespace graven::engine
