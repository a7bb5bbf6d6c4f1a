#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "graven/base/strings.h"
#include "graven/control/define_control_flow.h"
#include "graven/control/elements.h"
#include "graven/control/loops.h"
#include "graven/control/structures.h"
#include "graven/function/trace_type.h"
#include "graven/ir/frame.h"
#include "graven/ir/static_shape.h"
#include "graven/ir/structural_ops.h"
#include "graven/library/function.h"
#include "graven/runtime/eager_builder.h"

namespace graven::engine {
namespace {

struct MapParameters {
  Ref<Callable> fn;
  Value elems;
  ShapeStructure dtype, fn_output_signature;
  std::optional<int64_t> parallel_iterations;
  bool back_prop = true;
  static constexpr auto fields() {
    using P = MapParameters;
    return std::tuple(
        required_field("fn", &P::fn, "Called with the rows of one number, in elems' structure."),
        required_field("elems", &P::elems,
                       "Tensors of rank 1 or more and of one length, which may be nested."),
        field("dtype", &P::dtype, "The old name of fn_output_signature."),
        field("parallel_iterations", &P::parallel_iterations, "Results are the same."),
        field("back_prop", &P::back_prop, "False stops gradients of a loop in a graph."),
        ignored_field("swap_memory", "Results are the same."),
        ignored_field("infer_shape", "Shapes that are known are said in any case."), name_field(),
        field("fn_output_signature", &P::fn_output_signature,
              "The structure of fn's results, with a dtype or a TensorSpec for each tensor; None "
              "means that of elems."));
  }
};

// The types of the leaves of a signature; null for None.
void collect_types(const Value& value, std::vector<const TensorType*>& types) {
  if (value.kind == Value::Kind::kTyped) {
    types.push_back(dynamic_cast<const TensorType*>(value.type.get()));
  }
  for (size_t i = 0; i < value.items.size(); ++i) {
    collect_types(value.item_in_order(i), types);
  }
}

class Mapper {
 public:
  Mapper(FunctionContext& c, const MapParameters& p) : c_(c), p_(p) {}

  Outputs map() {
    if (p_.parallel_iterations && *p_.parallel_iterations < 0) {
      return c_.fail(type_error("The argument `parallel_iterations` must be a positive integer."));
    }
    auto elements = Elements::create(c_, p_.elems);
    if (!elements.ok()) return c_.fail(elements.status());
    elements_ = std::move(*elements);
    if (Status status = find_results(); !status.ok()) return c_.fail(status);
    return c_.is_graph() ? map_in_graph() : map_at_once();
  }

 private:
  bool has_signature() const { return signature_->kind != Value::Kind::kLiteral; }

  Status find_results() {
    signature_ = &p_.fn_output_signature.value;
    if (!has_signature()) signature_ = &p_.dtype.value;
    if (!has_signature()) {
      for (const Tensor& tensor : elements_.tensors()) {
        results_.emplace_back(tensor.dtype(), Shape::unknown_rank());
      }
      return {};
    }
    std::vector<const TensorType*> types;
    collect_types(*signature_, types);
    for (const TensorType* type : types) {
      if (!type) return unimplemented("fn_output_signature may hold dtypes and TensorSpecs only");
      results_.emplace_back(type->dtype(), type->shape());
    }
    return {};
  }

  // The tensors that fn gives for the rows of this number.
  Result<std::vector<Tensor>> call(Emitter& emit, const Tensor& number) {
    const Value rows = elements_.row(emit, number);
    RETURN_IF_ERROR(emit.status());
    const Value arguments[] = {rows};
    ASSIGN_OR_RETURN(Value result, p_.fn->call(arguments, Callable::As::kParts));
    const Value& expected = has_signature() ? *signature_ : elements_.structure();
    FunctionContext c(current_builder(), eager_builder(), Frame::current().name_scope);
    result = with_tensor_leaves_like(c, std::move(result), expected);
    RETURN_IF_ERROR(c.status());
    std::vector<Tensor> tensors = tensors_of(result);
    const std::string must_nest = str_cat("fn must return the structure of ",
                                          has_signature() ? "fn_output_signature" : "elems",
                                          "; fn_output_signature tells another one");
    RETURN_IF_ERROR(check_nested_like(expected, result, must_nest));
    if (tensors.size() != results_.size()) return value_error(must_nest);
    for (size_t i = 0; i < tensors.size(); ++i) {
      if (tensors[i].dtype() == results_[i].dtype()) {
        if (are_compatible(static_shape(tensors[i].shape()), results_[i].shape())) continue;
        return value_error("Incompatible shape for value (", tensors[i].shape().to_text(),
                           "), expected (", results_[i].shape().to_text(), ")");
      }
      return invalid_argument("fn returned a tensor of dtype ", dtype_name(tensors[i].dtype()),
                              " where ", dtype_name(results_[i].dtype()),
                              " is expected; fn_output_signature tells another dtype");
    }
    last_ = std::move(result);
    return tensors;
  }

  Outputs map_at_once() {
    const int64_t length = elements_.length_if_known().value_or(0);
    for (int64_t i = 0; i < length; ++i) {
      auto tensors = call(c_, Tensor::scalar(static_cast<int32_t>(i)));
      if (!tensors.ok()) return c_.fail(tensors.status());
      for (size_t r = 0; r < results_.size(); ++r) results_[r].put(i, (*tensors)[r]);
    }
    std::vector<Tensor> stacked;
    for (const ResultRows& rows : results_) stacked.push_back(rows.stacked(c_, length));
    return pack(stacked);
  }

  Outputs map_in_graph() {
    std::vector<Value> variables = {Value::of_tensor(c_.scalar(0))};
    for (const ResultRows& rows : results_) {
      variables.push_back(Value::of_tensor(rows.new_list(c_, elements_)));
    }
    if (!c_.status().ok()) return Tensor();
    const auto step = [&](std::span<const Value> v, Callable::As) -> Result<Value> {
      Emitter emit(current_builder());
      const Tensor& number = v[0].tensor;
      ASSIGN_OR_RETURN(std::vector<Tensor> tensors, call(emit, number));
      std::vector<Value> next = {
          Value::of_tensor(emit(kAddV2, {number, emit.constant(Tensor::scalar<int32_t>(1))}))};
      for (size_t r = 0; r < results_.size(); ++r) {
        next.push_back(
            Value::of_tensor(results_[r].with_row(emit, v[r + 1].tensor, number, tensors[r])));
      }
      RETURN_IF_ERROR(emit.status());
      return Value::of_container(Container::tuple(), std::move(next));
    };
    WhileLoopParameters loop;
    loop.cond = counts_up_to(elements_.length());
    loop.body = make_ref<OwnCallable>(step);
    loop.loop_vars = Value::of_container(Container::tuple(), std::move(variables));
    const int64_t at_a_time = p_.parallel_iterations.value_or(0);
    loop.parallel_iterations = at_a_time == 0 ? 10 : at_a_time;
    loop.back_prop = p_.back_prop;
    const Value after = while_loop(c_, loop).structure;
    if (!c_.status().ok()) return Tensor();
    std::vector<Tensor> stacked;
    for (size_t r = 0; r < results_.size(); ++r) {
      stacked.push_back(results_[r].stacked(c_, elements_, after.items[r + 1].tensor));
    }
    return pack(stacked);
  }

  // The results in the structure of fn's; of no row in that of the signature.
  Outputs pack(std::span<const Tensor> stacked) {
    if (!c_.status().ok()) return Tensor();
    if (last_) return with_tensors(std::move(*last_), stacked);
    if (!has_signature()) return with_tensors(elements_.structure(), stacked);
    size_t next = 0;
    return in_places_of_types(*signature_, stacked, next);
  }
  static Value in_places_of_types(const Value& signature, std::span<const Tensor> tensors,
                                  size_t& next) {
    if (signature.kind == Value::Kind::kTyped) return Value::of_tensor(tensors[next++]);
    Value value = signature;
    for (size_t i = 0; i < value.items.size(); ++i) {
      value.item_in_order(i) = in_places_of_types(signature.item_in_order(i), tensors, next);
    }
    return value;
  }

  FunctionContext& c_;
  const MapParameters& p_;
  Elements elements_;
  const Value* signature_ = nullptr;
  std::vector<ResultRows> results_;
  std::optional<Value> last_;  // what fn returned last
};

Outputs map_fn(FunctionContext& c, const MapParameters& p) {
  if (!p.fn) return c.fail(type_error("The argument `fn` must be callable."));
  return Mapper(c, p).map();
}

}  // namespace

void define_maps(FunctionRegistry& functions) {
  functions.define({
      .names = "map_fn",
      .scope = "map",
      .results = structure(),
      .summary = "The results of fn for the rows of elems, stacked.",
      .details = "Where values are computed at once fn is called for each row. In a graph it is "
                 "traced once, as the body of a loop.",
      .returns = "Tensors of the length of elems, in the structure of fn's results.",
      .raises = {{"ValueError",
                  "elems holds no tensor, a scalar, or tensors of several lengths; fn returns "
                  "another structure than expected, or rows of several shapes."},
                 {"InvalidArgumentError", "fn returns another dtype than expected."}},
      .body = map_fn,
  });
}

}  // namespace graven::engine
