#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "graven/autodiff/apply_bodies.h"
#include "graven/base/strings.h"
#include "graven/batching/batch_graph.h"
#include "graven/control/define_control_flow.h"
#include "graven/control/row_gradients.h"
#include "graven/control/row_types.h"
#include "graven/control/structures.h"
#include "graven/function/trace_body.h"
#include "graven/ir/frame.h"
#include "graven/ir/structural_ops.h"
#include "graven/library/function.h"
#include "graven/ops/debug_ops.h"
#include "graven/ops/math_ops.h"
#include "graven/ops/movement_ops.h"
#include "graven/ops/sizes.h"

namespace graven::engine {
namespace {

struct VectorizedMapParameters {
  Ref<Callable> fn;
  Value elems;
  bool fallback_to_while_loop = true, warn = true;
  static constexpr auto fields() {
    using P = VectorizedMapParameters;
    return std::tuple(
        required_field("fn", &P::fn, "Called once, with a row of elems, in their structure."),
        required_field("elems", &P::elems,
                       "Tensors of rank 1 or more and of one length, which may be nested. One of "
                       "length 1 is the same for all rows."),
        field("fallback_to_while_loop", &P::fallback_to_while_loop,
              "Run an op that has no rule for many rows in a loop over them; else it is an error."),
        field("warn", &P::warn, "Tell of ops that run in a loop."));
  }
};

class VectorizedMapper {
 public:
  VectorizedMapper(FunctionContext& c, const VectorizedMapParameters& p) : c_(c), p_(p) {}

  Outputs map() {
    auto made = mapped();
    return made.ok() ? Outputs(std::move(*made)) : Outputs(c_.fail(made.status()));
  }

 private:
  Result<Value> mapped() {
    const Value elems = with_tensor_leaves(c_, p_.elems);
    RETURN_IF_ERROR(c_.status());
    RETURN_IF_ERROR(check_dense(elems, "elems may not hold"));
    ASSIGN_OR_RETURN(std::vector<BatchedTensor> inputs, inputs_of(tensors_of(elems)));
    ASSIGN_OR_RETURN(const Value row, row_of(elems));
    ASSIGN_OR_RETURN(TracedGraph traced, trace(row, inputs));
    for (const GraphBuilder::Capture& capture : traced.captures) {
      inputs.push_back({capture.external});
      if (capture.external.dtype() != DType::kResource) continue;
      for (Listener* listener : Frame::current().listeners) listener->on_variable(capture.external);
    }
    BatchSettings settings;
    settings.num_rows = num_rows_;
    settings.on_loop = [this](const Op& op) { return note_loop(op); };
    settings.apply_bodies = [](Builder& builder, const Op& op, std::span<const Tensor> all,
                               AttrsRef attrs) { return apply_bodies(builder, op, all, attrs); };
    ASSIGN_OR_RETURN(std::vector<BatchedTensor> outputs, batched(traced.graph, inputs, settings));
    std::vector<Tensor> results;
    for (const BatchedTensor& output : outputs) {
      if (is_object(output.tensor)) {
        return unimplemented("fn may not return a ", dtype_name(output.tensor.dtype()));
      }
      results.push_back(output.is_batched ? output.tensor : repeated(output.tensor));
    }
    RETURN_IF_ERROR(c_.status());
    const auto length = c_.number_if_known(num_rows_);
    ASSIGN_OR_RETURN(Value made, rows_of(std::move(traced.outputs), length));
    RETURN_IF_ERROR(check_dense(made, "fn may not return"));
    return with_tensors(std::move(made), results);
  }

  // The rows of ragged tensors differ in shape, so nothing runs for all of them at once.
  static Status check_dense(const Value& rows, std::string_view cannot) {
    ASSIGN_OR_RETURN(const auto ranks, ragged_ranks_of(rows, cannot));
    if (std::ranges::all_of(ranks, [](int rank) { return rank == 0; })) return {};
    return unimplemented("vectorized_map: ", cannot,
                         " ragged tensors, whose rows differ in shape; ",
                         "map_fn takes and gives them");
  }

  Result<std::vector<BatchedTensor>> batched(const Ref<Graph>& graph,
                                             std::span<const BatchedTensor> inputs,
                                             const BatchSettings& settings) {
    const bool may_be_differentiated = c_.is_graph() || !Frame::current().listeners.empty();
    if (!may_be_differentiated || !has_custom_gradient(*graph)) {
      return batch_graph(c_.builder(), graph, inputs, settings);
    }
    const Ref<Body> body = body_of(graph);
    ASSIGN_OR_RETURN(auto outputs, batch_with_row_gradient(c_.builder(), body, inputs, settings));
    if (outputs) return std::move(*outputs);
    return batch_graph(c_.builder(), graph, inputs, settings);
  }

  static bool is_object(const Tensor& tensor) {
    return tensor.dtype() == DType::kVariant || tensor.dtype() == DType::kResource;
  }

  // The tensors with one length; one of length 1 beside longer ones as its row.
  Result<std::vector<BatchedTensor>> inputs_of(const std::vector<Tensor>& tensors) {
    if (tensors.empty()) return value_error("elems must hold at least one tensor");
    std::optional<int64_t> length;
    bool all_known = true;
    for (const Tensor& tensor : tensors) {
      if (is_object(tensor)) {
        return unimplemented("elems may not hold a ", dtype_name(tensor.dtype()));
      }
      if (c_.rank_if_known(tensor) == 0) {
        return value_error("elems must hold tensors of rank 1 or more, not scalars");
      }
      const auto own = c_.size_if_known(tensor, 0);
      all_known &= own.has_value();
      if (!own || (*own == 1 && length)) continue;
      if (length && *length != 1 && *length != *own) {
        return value_error("The tensors of elems must have the same first dimension, or 1, not ",
                           *length, " and ", *own);
      }
      length = own;
    }
    if (length && *length == 1 && !all_known) length.reset();
    Size rows(1);
    if (length) {
      rows = Size(*length);
    } else {
      for (const Tensor& tensor : tensors) {
        if (c_.size_if_known(tensor, 0)) continue;
        const Size own(element_of(c_, c_(kShape, {tensor}), 0));
        rows = rows.is_number() ? own : maximum(c_, rows, own);
      }
    }
    num_rows_ =
        rows.is_number() ? Tensor::scalar(static_cast<int32_t>(rows.number())) : rows.tensor(c_);
    std::vector<BatchedTensor> inputs;
    for (const Tensor& tensor : tensors) {
      const auto own = c_.size_if_known(tensor, 0);
      if (own ? *own == length : tensors.size() == 1) {
        inputs.push_back({tensor, true});
      } else if (own) {
        inputs.push_back({c_(kSqueeze, {tensor}, {{0}}), false});
      } else {  // of one row, or of all
        const Tensor shape = c_(kShape, {tensor});
        const Tensor sizes = elements_between(c_, shape, c_.constant(int32_vector(1)));
        inputs.push_back({c_(kBroadcastTo, {tensor, joined(c_, rows_vector(), sizes)}), true});
      }
    }
    RETURN_IF_ERROR(c_.status());
    return inputs;
  }

  static Tensor int32_vector(int32_t number) {
    return Tensor::vector(std::span<const int32_t>(&number, 1));
  }
  Tensor rows_vector() {
    if (!num_rows_.is_symbolic()) return c_.constant(int32_vector(num_rows_.data<int32_t>()[0]));
    return c_(kExpandDims, {num_rows_, c_.scalar(0)});
  }
  Tensor repeated(const Tensor& tensor) {
    return c_(kBroadcastTo, {tensor, joined(c_, rows_vector(), c_(kShape, {tensor}))});
  }

  Result<TracedGraph> trace(const Value& elems, std::span<const BatchedTensor> inputs) {
    const auto placeholders = [&](GraphBuilder& builder) -> Result<std::vector<Value>> {
      std::vector<Tensor> rows;
      for (const BatchedTensor& input : inputs) rows.push_back(placeholder(builder, input));
      return std::vector<Value>{with_tensors(elems, rows)};
    };
    return trace_graph({.name = "vectorized_map_fn"}, placeholders,
                       [this](std::span<const Value> arguments) {
                         return p_.fn->call(arguments, Callable::As::kDense);
                       });
  }
  // A row, whose sizes are those of the tensor.
  static Tensor placeholder(GraphBuilder& builder, const BatchedTensor& input) {
    if (!input.is_batched) return builder.add_placeholder_like(input.tensor, "row");
    const Shape& all = input.tensor.shape();
    Shape shape = all.has_rank() ? Shape() : Shape::unknown_rank();
    for (int d = 1; d < all.rank(); ++d) shape.push_back(all[d]);
    Tensor made = builder.add_placeholder(input.tensor.dtype(), shape, "row");
    Shape& own = symbolic(made).node().output(0).shape;
    for (int d = 0; d < shape.rank(); ++d) {
      if (!shape[d].is_term()) continue;
      own.set(d, builder.inner_dim(*symbolic(input.tensor).graph(), shape[d]));
    }
    return made;
  }

  Status note_loop(const Op& op) {
    if (!p_.fallback_to_while_loop) {
      return value_error("[", op.name(), "] cannot run for many rows at once, and ",
                         "fallback_to_while_loop is False");
    }
    if (!p_.warn || !told_.insert(&op).second) return {};
    FunctionContext at_once = c_.at_once();
    const std::string text =
        str_cat("vectorized_map runs ", op.name(),
                " in a loop over the rows, as it has no rule for many rows at once.\n");
    at_once(kPrintV2, {Tensor::string_scalar(text)}, {"log(warning)", ""});
    return at_once.status();
  }

  FunctionContext& c_;
  const VectorizedMapParameters& p_;
  Tensor num_rows_;
  std::set<const Op*> told_;
};

Outputs vectorized_map(FunctionContext& c, const VectorizedMapParameters& p) {
  if (!p.fn) return c.fail(type_error("The argument `fn` must be callable."));
  return VectorizedMapper(c, p).map();
}

}  // namespace

void define_vectorized_maps(FunctionRegistry& functions) {
  functions.define({
      .names = "vectorized_map",
      .results = structure(),
      .summary = "The results of fn for the rows of elems, stacked, computed for all rows at once.",
      .details = "fn is traced once, also where values are computed at once, and each op that "
                 "depends on the row runs once for all rows. Ops that draw random numbers give "
                 "each row its own. What does not depend on the row is computed once and repeated. "
                 "A branch that differs between rows runs for the rows that chose it, and a loop "
                 "goes on for the rows whose condition holds.",
      .returns = "Tensors of the length of elems, in the structure of fn's result.",
      .raises = {{"ValueError",
                  "elems holds no tensor, a scalar, or tensors of several lengths other than 1; an "
                  "op would run in a loop and fallback_to_while_loop is False."}},
      .body = vectorized_map,
  });
}

}  // namespace graven::engine
