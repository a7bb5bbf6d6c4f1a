#pragma once
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "graven/base/export.h"
#include "graven/base/ref.h"
#include "graven/base/status.h"
#include "graven/ir/attributes.h"
#include "graven/tensor/tensor.h"
#include "graven/tensor/variant.h"

namespace graven::engine {

class HostRecord;

// What a function of the program computed. record: for gradients; null if none flows.
struct HostResults {
  std::vector<Tensor> outputs;
  Ref<HostRecord> record;
};

// How a call of a function of the program came about, for its gradients. Of inputs and outputs only
// those of floating or complex dtypes count. Lives as long as a handle of the variant that holds
// it; any thread may use it.
class GRAVEN_API HostRecord : public Variant {
 public:
  static constexpr std::string_view kName = "HostRecord";
  std::string_view kind() const override { return kName; }
  // No gradient flows through it: the zero is an empty handle.
  Result<Ref<Resource>> zeros_like() const override { return Ref<Resource>(); }

  // Of floating and complex dtypes; gradient() gives as many.
  virtual size_t num_inputs() const = 0;
  // The gradients of the inputs, one each (an empty tensor where there is no path), from those of
  // the outputs; and the record of this computation, whose inputs are those of the call and dy.
  virtual Result<HostResults> gradient(std::span<const Tensor> dy) = 0;
};

// The door to a function of the program that runs whenever a graph runs (tf.py_function): the
// front ends implement it. Any thread may call it.
class GRAVEN_API HostFunction {
 public:
  virtual ~HostFunction() = default;
  HostFunction(const HostFunction&) = delete;
  HostFunction& operator=(const HostFunction&) = delete;

  // Runs it on eager tensors, with no lock held, on the thread that runs the graph and never on the
  // pool's. An error of the program is a HostError, or the program's own exception as payload.
  virtual Result<HostResults> call(std::span<const Tensor> inputs) const = 0;
  // True if the other one, on the node of the same place in an equal graph, does the same.
  virtual bool is_same(const HostFunction& other) const { return this == &other; }

 protected:
  HostFunction() = default;
};

// A HostFunction as attribute of a node, which owns it. Its value and its text are a token, such as
// "pyfunc_3", by which this process finds the function as long as it lives.
class GRAVEN_API HostFunctionToken {
 public:
  HostFunctionToken() = default;
  // Gives the function a token of its own.
  explicit HostFunctionToken(std::shared_ptr<HostFunction> function);
  // Finds the function of a token. There may be none: then calls are errors.
  explicit HostFunctionToken(std::string token);

  // The name of such attributes, and of no others.
  static constexpr std::string_view kName = "token";

  const std::string& text() const { return token_; }
  const std::shared_ptr<HostFunction>& function() const { return function_; }
  explicit operator std::string() const { return token_; }
  Result<HostResults> call(std::span<const Tensor> inputs) const;

 private:
  std::string token_;
  std::shared_ptr<HostFunction> function_;
};

template <>
struct attributes_internal::Stored<HostFunctionToken> {
  using type = std::string;
};

// The function that a node of these attributes calls; null if there is none.
GRAVEN_API std::shared_ptr<HostFunction> host_function_of(AttrsRef attrs);

// Whether attributes own such a function: what keeps them keeps it alive.
GRAVEN_API bool owns_host_function(AttrsRef attrs);

// The payload of an error that an exception of the program's became.
class GRAVEN_API HostError : public Payload {
 public:
  explicit HostError(Ref<Payload> cause) : cause_(std::move(cause)) {}
  // The exception itself, which belongs to the front end that made it.
  const Ref<Payload>& cause() const { return cause_; }

 private:
  const Ref<Payload> cause_;
};

}  // namespace graven::engine
