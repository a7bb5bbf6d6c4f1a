#pragma once
#include <string>
#include <tuple>
#include <vector>

#include "graven/ir/host_function.h"
#include "graven/ir/op.h"
#include "graven/tensor/dtype.h"

namespace graven::engine {

// Calls of functions of the program (ir/host_function.h).

struct EagerPyFuncAttrs {
  HostFunctionToken token;
  std::vector<DType> Tin, Tout;
  bool is_async = false;  // has no effect: every call is finished when its step is
  static constexpr auto fields() {
    using A = EagerPyFuncAttrs;
    return std::tuple(required_field(HostFunctionToken::kName, &A::token), field("Tin", &A::Tin),
                      required_field("Tout", &A::Tout), field("is_async", &A::is_async));
  }
};
// input: Tin -> output: Tout, record. The function's gradient is that of what it computed.
GRAVEN_API inline OpHandle<EagerPyFuncAttrs> kEagerPyFunc;

struct PyFuncAttrs {
  HostFunctionToken token;
  std::vector<DType> Tin, Tout;
  static constexpr auto fields() {
    using A = PyFuncAttrs;
    return std::tuple(required_field(HostFunctionToken::kName, &A::token), field("Tin", &A::Tin),
                      required_field("Tout", &A::Tout));
  }
};
// input: Tin -> output: Tout. No gradient; the second is dropped where nothing reads its outputs.
GRAVEN_API inline OpHandle<PyFuncAttrs> kPyFunc, kPyFuncStateless;

struct HostGradientAttrs {
  std::vector<DType> Tin, Tx;
  // The gradients of the outputs, and so dx, have an axis of rows in front.
  bool for_rows = false;
  static constexpr auto fields() {
    using A = HostGradientAttrs;
    return std::tuple(field("Tin", &A::Tin), field("Tx", &A::Tx), field("for_rows", &A::for_rows));
  }
};
// record, input: Tin -> dx: Tx, next. What kEagerPyFunc's gradient is: input are the floating and
// complex inputs of the call, of dtypes Tx, and the gradients of such outputs; next is the record
// of this computation.
GRAVEN_API inline OpHandle<HostGradientAttrs> kHostGradient;

}  // namespace graven::engine
