#include "graven/ir/op_body.h"

#include "graven/base/inline_vector.h"

namespace graven::engine {

Result<Expression> record_expression(const OpBody& body, std::span<const DType> inputs,
                                     AttrsRef attrs) {
  if (body.kind() != OpBody::Kind::kElementwise) {
    return internal_error("The body of the op is not elementwise");
  }
  Recorder recorder;
  InlineVector<Scalar, 4> x;
  for (DType dtype : inputs) x.push_back(recorder.input(dtype));
  recorder.output(body.elementwise()({x.data(), x.size()}, attrs));
  return recorder.finish();
}

}  // namespace graven::engine
