#pragma once
#include <functional>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "graven/base/export.h"
#include "graven/base/status.h"
#include "graven/ir/op.h"
#include "graven/ir/value.h"
#include "graven/library/function_context.h"
#include "graven/library/parameters.h"
#include "graven/ops/formulas.h"
#include "graven/tensor/tensor.h"

namespace graven::engine {

// The results of a body: its tensors in one flat list, or a nested value where the record says
// structure(). Not used after an error.
struct Outputs {
  Outputs(Tensor tensor) : tensors{std::move(tensor)} {}
  Outputs(Value value) : structure(std::move(value)) {}
  Outputs(const Formula& formula) : Outputs(formula.tensor()) {}
  Outputs(Tensors list) : tensors(std::move(list)) {}
  Outputs(std::initializer_list<Tensor> list) : tensors(list) {}
  Tensors tensors;
  Value structure;
};

// How front ends pack the flat list.
struct Results {
  struct Part {
    std::string name = {};
    bool is_list = false;      // takes the tensors that the other parts leave; one part at most
    bool may_be_none = false;  // it, or a tensor of the list: None
  };
  std::vector<Part> parts = {};  // none: nothing is returned
  std::string type_name = {};    // of a named tuple
  bool is_structure = false;     // Outputs::structure as it is, and no list
};
inline Results one_tensor() { return {.parts = {{}}}; }
inline Results tensor_list() { return {.parts = {{.is_list = true}}}; }
inline Results nothing() { return {}; }
inline Results structure() { return {.is_structure = true}; }
// Several named parts; a name that ends in "..." names a list.
GRAVEN_API Results tuple(std::initializer_list<std::string_view> names);
GRAVEN_API Results named_tuple(std::string_view type_name,
                               std::initializer_list<std::string_view> names);

// The body of a public function: made of a callable (FunctionContext& c, const P& p) whose result
// becomes Outputs. P is the struct of its parameters.
class FunctionBody {
 public:
  FunctionBody() = default;
  template <typename F>
  requires(!std::is_same_v<F, FunctionBody>) FunctionBody(F f) { set(std::function(std::move(f))); }

  const ParametersType& parameters() const { return *parameters_; }
  Outputs operator()(FunctionContext& c, const void* parameters) const {
    return call_(c, parameters);
  }

 private:
  template <typename R, typename P>
  void set(std::function<R(FunctionContext&, const P&)> f) {
    parameters_ = &parameters_type<P>();
    call_ = [f = std::move(f)](FunctionContext& c, const void* p) -> Outputs {
      return f(c, *static_cast<const P*>(p));
    };
  }
  const ParametersType* parameters_ = nullptr;
  std::function<Outputs(FunctionContext& c, const void* parameters)> call_;
};

// An error that a function documents: {"ValueError", "There is no such mode."}.
struct Raised {
  std::string_view error, when;
};

// All that the engine knows about a public function (DESIGN 3). Docstrings, signatures, stubs, the
// functions of C++ and the page of compatibility are made from it.
struct FunctionRecord {
  std::string names = {};  // "math.reduce_sum, reduce_sum": the first is the one of messages
  // The name scope in which arguments become constants and the body adds its nodes, if a program
  // gives no `name`. The node of the result takes this very name where the body passes c.name().
  // Empty: Python's signature has no `name`.
  std::string scope = {};
  // The dtypes of type parameters, which the body or its ops check; and of parameters that are a
  // dtype ("dtype"), which are checked before the body runs.
  std::vector<TypeConstraint> types = {};
  Results results = one_tensor();
  std::string summary = {};  // what it computes, in one or two sentences
  std::string details = {};  // more of it, where the summary leaves doubt
  std::string returns = {};
  std::vector<Raised> raises = {};
  std::string source = {};  // beside its name: `OpDef "Sum"`, a paper
  FunctionBody body = {};
};

// A record after define. Lives for ever, never changes.
class GRAVEN_API PublicFunction {
 public:
  const FunctionRecord& record() const { return record_; }
  const ParametersType& parameters() const { return record_.body.parameters(); }
  std::span<const std::string> names() const { return names_; }
  // The first name, "math.reduce_sum", and its part behind the last point, "reduce_sum".
  const std::string& name() const { return names_.front(); }
  std::string_view short_name() const;

  // The source of the dtype of each field's tensors: a dtype, or the index of a type parameter, or
  // neither; and the words of parameters.h.
  struct TensorType {
    DType fixed = DType::kInvalid;
    int type_param = -1;
    bool is_mutual = false, is_like = false, is_each = false, is_common = false;
    bool is_sole = false, is_own = false, may_be_none = false;
  };
  std::span<const TensorType> tensor_types() const { return tensor_types_; }
  // The type parameters: those of the record, and others that only require equal dtypes.
  struct TypeParam {
    std::string_view name;
    DType only = DType::kInvalid;  // where the record allows one dtype
    int dtype_field = -1;          // the field of kind DType that gives it ("dtype")
  };
  std::span<const TypeParam> type_params() const { return type_params_; }

  // A ValueError if a parameter that is a dtype has one that the record does not allow. Binders
  // call it before they convert tensors, whose dtype it may decide.
  Status check_dtypes(void* parameters) const;
  // Runs the body on a struct of parameters that a binder filled in: the results, or the first
  // error.
  Result<Outputs> call(FunctionContext& c, const void* parameters) const;

 private:
  friend class FunctionRegistry;
  FunctionRecord record_;
  void find_types();
  std::vector<std::string> names_;
  std::vector<TensorType> tensor_types_;
  std::vector<TypeParam> type_params_;
};

// All public functions except those of single ops. Filled at the first use, constant afterwards.
class GRAVEN_API FunctionRegistry {
 public:
  static FunctionRegistry& global();

  // A duplicate name, or a record without a text, is a programming mistake. It goes into errors(),
  // which a test expects to be empty.
  void define(FunctionRecord record);

  // The function of any of its names; null if there is none.
  const PublicFunction* find(std::string_view name) const;
  std::span<const std::unique_ptr<PublicFunction>> functions() const { return functions_; }
  std::span<const std::string> errors() const { return errors_; }

 private:
  std::vector<std::unique_ptr<PublicFunction>> functions_;
  std::vector<std::string> errors_;
};

}  // namespace graven::engine
