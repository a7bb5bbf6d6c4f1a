#include "graven/ir/recorded_body.h"

#include <doctest/doctest.h>

#include <array>

#include "graven/ir/recorded_body_bytes.h"
#include "graven/ops/math_ops.h"

namespace graven::engine {
namespace {

Ref<const RecordedBody> body_of_maximum(DType dtype) {
  const std::array inputs = {dtype, dtype};
  auto body = RecordedBody::get(*kMaximum.op, NoAttrs(), inputs, dtype);
  REQUIRE(body.ok());
  return *body;
}

TEST_CASE("a body is recorded once, and its bytes are counted once") {
  const int64_t before = recorded_body_bytes();
  const auto first = body_of_maximum(DType::kUInt16);
  const int64_t bytes = recorded_body_bytes() - before;
  CHECK(bytes > 0);
  CHECK(body_of_maximum(DType::kUInt16) == first);
  CHECK(recorded_body_bytes() - before == bytes);
  CHECK(body_of_maximum(DType::kUInt32) != first);
  CHECK(recorded_body_bytes() - before == 2 * bytes);
}

}  // namespace
}  // namespace graven::engine
