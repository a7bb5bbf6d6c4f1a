#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "graven/base/strings.h"
#include "graven/control/define_control_flow.h"
#include "graven/control/elements.h"
#include "graven/control/loops.h"
#include "graven/control/ragged_rows.h"
#include "graven/control/row_types.h"
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
                       "Tensors of rank 1 or more and of one length, which may be nested. A ragged "
                       "tensor's rows are tensors, or ragged ones of one dimension less."),
        field("dtype", &P::dtype, "The old name of fn_output_signature."),
        field("parallel_iterations", &P::parallel_iterations, "Results are the same."),
        field("back_prop", &P::back_prop, "False stops gradients of a loop in a graph."),
        ignored_field("swap_memory", "Results are the same."),
        ignored_field("infer_shape", "Shapes that are known are said in any case."), name_field(),
        field("fn_output_signature", &P::fn_output_signature,
              "The structure of fn's results, with a dtype or a TensorSpec for each tensor and a "
              "spec for each composite one; None means that of elems."));
  }
};

// The results for all rows of one part of fn's result: a tensor, or a ragged one.
class PartRows {
 public:
  explicit PartRows(ResultRows dense) : dense_(std::move(dense)) {}
  explicit PartRows(RaggedRows ragged) : ragged_(std::move(ragged)) {}
  size_t num_tensors() const { return ragged_ ? ragged_->num_tensors() : 1; }

  void put(int64_t number, std::span<const Tensor> row) {
    ragged_ ? ragged_->put(number, row) : dense_->put(number, row[0]);
  }
  std::vector<Tensor> stacked(FunctionContext& c, int64_t length) const {
    if (ragged_) return ragged_->stacked(c);
    return {dense_->stacked(c, length)};
  }
  std::vector<Tensor> new_lists(FunctionContext& c, const Elements& elements) const {
    if (ragged_) return ragged_->new_lists(c, elements.length());
    return {dense_->new_list(c, elements)};
  }
  std::vector<Tensor> with_row(Emitter& emit, std::span<const Tensor> lists, const Tensor& number,
                               std::span<const Tensor> row) {
    if (ragged_) return ragged_->with_row(emit, lists, number, row);
    return {dense_->with_row(emit, lists[0], number, row[0])};
  }
  std::vector<Tensor> stacked(FunctionContext& c, const Elements& elements,
                              std::span<const Tensor> lists) const {
    if (ragged_) return ragged_->stacked(c, lists, elements.length_if_known());
    return {dense_->stacked(c, elements, lists[0])};
  }

 private:
  std::optional<ResultRows> dense_;
  std::optional<RaggedRows> ragged_;
};

void append(std::vector<Tensor>& all, const std::vector<Tensor>& more) {
  all.insert(all.end(), more.begin(), more.end());
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
      ASSIGN_OR_RETURN(row_signature_, signature_of_row(elements_.structure()));
    } else {
      row_signature_ = *signature_;
    }
    ASSIGN_OR_RETURN(const Value row, value_of(row_signature_));
    constexpr std::string_view kCannot = "map_fn can not generate";
    if (const auto own = ragged_ranks_of(row, kCannot); !own.ok()) return own.status();
    ASSIGN_OR_RETURN(results_structure_, rows_of(row, elements_.length_if_known()));
    ASSIGN_OR_RETURN(const auto ranks, ragged_ranks_of(results_structure_, kCannot));
    ASSIGN_OR_RETURN(const auto types, tensor_types_of(row_signature_));
    ASSIGN_OR_RETURN(const auto stacked_types, tensor_types_of(results_structure_));
    size_t next = 0, next_stacked = 0;
    for (const int rank : ranks) {
      const TensorType& type = *types[next];
      if (rank == 0) {
        results_.emplace_back(ResultRows(type.dtype(), type.shape()));
      } else {
        const DType splits = stacked_types[next_stacked + 1]->dtype();
        results_.emplace_back(RaggedRows(type.dtype(), type.shape(), rank, splits));
      }
      next += results_.back().num_tensors();
      next_stacked += static_cast<size_t>(rank) + 1;
    }
    types_ = types;
    has_composites_ = holds_composite(row_signature_);
    must_nest_ = str_cat("fn must return the structure of ",
                         has_signature() ? "fn_output_signature" : "elems",
                         "; fn_output_signature tells another one");
    return {};
  }

  // Whether what fn returned is as the signature says, and its tensors from the number `next` on.
  Status check_leaves(const Value& signature, const Value& result, std::span<const Tensor> tensors,
                      size_t& next) const {
    if (const CompositeType* expected = composite_type_of(signature)) {
      TraceTypeRef type = own_type_of(result);
      if (result.kind == Value::Kind::kTensor && result.tensor) {
        type = make_ref<TensorType>(static_shape(result.tensor.shape()), result.tensor.dtype());
      }
      if (!type || !expected->is_compatible_with(*type)) {
        return value_error(
            "Error in map_fn:\n  Expected `fn` to return a:\n    ", expected->repr(),
            "\n  But it returned a:\n    ", type ? type->repr() : std::string("value of no type"),
            "\n  To fix, update the `fn_output_signature` (or `dtype`) argument to ", "`map_fn`.");
      }
      next += std::max<size_t>(result.items.size(), 1);
      return {};
    }
    if (signature.kind == Value::Kind::kTyped) {
      if (result.kind != Value::Kind::kTensor) return value_error(must_nest_);
      const size_t number = next++;
      return check_tensor(*types_[number], tensors[number]);
    }
    for (size_t i = 0; i < signature.items.size(); ++i) {
      RETURN_IF_ERROR(
          check_leaves(signature.item_in_order(i), result.item_in_order(i), tensors, next));
    }
    return {};
  }
  Status check_tensor(const TensorType& expected, const Tensor& tensor) const {
    const std::string_view source = has_signature() ? "fn_output_signature" : "elems";
    if (tensor.dtype() != expected.dtype()) {
      return invalid_argument("fn returned a tensor of dtype ", dtype_name(tensor.dtype()),
                              " where that of ", source, ", ", dtype_name(expected.dtype()),
                              ", is expected; fn_output_signature tells another dtype");
    }
    if (are_compatible(static_shape(tensor.shape()), expected.shape())) return {};
    return value_error("Incompatible shape for value (", tensor.shape().to_text(), "), expected (",
                       expected.shape().to_text(), ") of ", source,
                       "; fn_output_signature tells another shape");
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
    RETURN_IF_ERROR(check_nested_like(expected, result, must_nest_));
    std::vector<Tensor> tensors = tensors_of(result);
    if (has_composites_) {
      size_t next = 0;
      RETURN_IF_ERROR(check_leaves(row_signature_, result, tensors, next));
    }
    if (tensors.size() != types_.size()) return value_error(must_nest_);
    for (size_t i = 0; i < tensors.size() && !has_composites_; ++i) {
      RETURN_IF_ERROR(check_tensor(*types_[i], tensors[i]));
    }
    return tensors;
  }

  Outputs map_at_once() {
    const int64_t length = elements_.length_if_known().value_or(0);
    for (int64_t i = 0; i < length; ++i) {
      auto tensors = call(c_, Tensor::scalar(static_cast<int32_t>(i)));
      if (!tensors.ok()) return c_.fail(tensors.status());
      std::span<const Tensor> left(*tensors);
      for (PartRows& rows : results_) {
        rows.put(i, left.first(rows.num_tensors()));
        left = left.subspan(rows.num_tensors());
      }
    }
    std::vector<Tensor> stacked;
    for (const PartRows& rows : results_) append(stacked, rows.stacked(c_, length));
    return pack(stacked);
  }

  Outputs map_in_graph() {
    std::vector<Tensor> variables{c_.scalar(0)};
    for (const PartRows& rows : results_) append(variables, rows.new_lists(c_, elements_));
    if (!c_.status().ok()) return Tensor();
    const auto step = [&](std::span<const Value> v, Callable::As) -> Result<Value> {
      Emitter emit(current_builder());
      const Tensor& number = v[0].tensor;
      ASSIGN_OR_RETURN(const std::vector<Tensor> tensors, call(emit, number));
      const Tensor one = emit.constant(Tensor::scalar<int32_t>(1));
      std::vector<Tensor> next{emit(kAddV2, {number, one})};
      for (PartRows& rows : results_) {
        std::vector<Tensor> own;
        const size_t first = next.size() - 1;
        for (size_t i = 0; i < rows.num_tensors(); ++i) own.push_back(v[first + i + 1].tensor);
        append(next, rows.with_row(emit, own, number,
                                   std::span(tensors).subspan(first, rows.num_tensors())));
        RETURN_IF_ERROR(emit.status());
      }
      return tuple_of(next);
    };
    WhileLoopParameters loop;
    loop.cond = counts_up_to(elements_.length());
    loop.body = make_ref<OwnCallable>(step);
    loop.loop_vars = tuple_of(variables);
    const int64_t at_a_time = p_.parallel_iterations.value_or(0);
    loop.parallel_iterations = at_a_time == 0 ? 10 : at_a_time;
    loop.back_prop = p_.back_prop;
    const Value after = while_loop(c_, loop).structure;
    if (!c_.status().ok()) return Tensor();
    const std::vector<Tensor> all = tensors_of(after);
    std::span<const Tensor> left = std::span(all).subspan(1);
    std::vector<Tensor> stacked;
    for (const PartRows& rows : results_) {
      append(stacked, rows.stacked(c_, elements_, left.first(rows.num_tensors())));
      left = left.subspan(rows.num_tensors());
    }
    return pack(stacked);
  }
  static Value tuple_of(std::span<const Tensor> tensors) {
    std::vector<Value> items;
    for (const Tensor& tensor : tensors) items.push_back(Value::of_tensor(tensor));
    return Value::of_container(Container::tuple(), std::move(items));
  }

  static bool holds_composite(const Value& signature) {
    return composite_type_of(signature) || std::ranges::any_of(signature.items, holds_composite);
  }

  Outputs pack(std::span<const Tensor> stacked) {
    if (!c_.status().ok()) return Tensor();
    return with_tensors(results_structure_, stacked);
  }

  FunctionContext& c_;
  const MapParameters& p_;
  Elements elements_;
  const Value* signature_ = nullptr;
  Value row_signature_;                       // of fn's result for a row
  bool has_composites_ = false;               // in that
  std::string must_nest_;                     // the error about another structure
  std::vector<Ref<const TensorType>> types_;  // of the tensors of that
  Value results_structure_;                   // of all results, with empty tensors
  std::vector<PartRows> results_;
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
