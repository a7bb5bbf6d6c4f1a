#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "graven/base/export.h"
#include "graven/base/status.h"

namespace graven::engine {

// A value of JSON (RFC 8259), for small files and for what front ends turn into objects of their
// own. Members of an object keep their order.
class GRAVEN_API Json {
 public:
  using Array = std::vector<Json>;
  using Object = std::vector<std::pair<std::string, Json>>;

  Json() = default;  // null
  Json(bool value) : value_(value) {}
  Json(int value) : value_(int64_t{value}) {}
  Json(int64_t value) : value_(value) {}
  Json(double value) : value_(value) {}
  Json(const char* value) : value_(std::string(value)) {}
  Json(std::string value) : value_(std::move(value)) {}
  Json(Array value) : value_(std::move(value)) {}
  Json(Object value) : value_(std::move(value)) {}

  // Null if the value is of another kind.
  const int64_t* integer() const { return std::get_if<int64_t>(&value_); }
  const std::string* text() const { return std::get_if<std::string>(&value_); }
  const Array* array() const { return std::get_if<Array>(&value_); }
  const Object* object() const { return std::get_if<Object>(&value_); }
  // The member of an object; null if there is none.
  const Json* find(std::string_view key) const;

  // One line. Bytes of texts that are no UTF-8 become U+FFFD; a number that is not finite is null.
  std::string to_text() const;
  // Reads one value. A kInvalidArgument error says the position of what is wrong.
  static Result<Json> parse(std::string_view text);

 private:
  void append_to(std::string& out) const;
  std::variant<std::monostate, bool, int64_t, double, std::string, Array, Object> value_;
};

}  // namespace graven::engine
