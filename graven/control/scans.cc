#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "graven/control/define_control_flow.h"
#include "graven/control/elements.h"
#include "graven/control/loops.h"
#include "graven/control/row_types.h"
#include "graven/control/structures.h"
#include "graven/ir/structural_ops.h"
#include "graven/library/function.h"
#include "graven/runtime/eager_builder.h"

namespace graven::engine {
namespace {

constexpr std::string_view kFnDoc =
    "Called with what was accumulated so far and the rows of one number; gives what is accumulated "
    "then, in the same structure.";
constexpr std::string_view kElemsDoc =
    "Tensors of rank 1 or more and of one length, which may be nested.";
constexpr std::string_view kInitializerDoc =
    "What is there before the first row; None means that first row itself.";
constexpr std::string_view kSame = "Results are the same.";

struct FoldParameters {
  Ref<Callable> fn;
  Value elems, initializer;
  int64_t parallel_iterations = 10;
  bool back_prop = true, reverse = false;
  int64_t recompute = 0;
  static constexpr auto fields() {
    using P = FoldParameters;
    return std::tuple(required_field("fn", &P::fn, kFnDoc),
                      required_field("elems", &P::elems, kElemsDoc),
                      field("initializer", &P::initializer, kInitializerDoc),
                      field("parallel_iterations", &P::parallel_iterations, kSame),
                      field("back_prop", &P::back_prop, "False stops gradients in a graph."),
                      ignored_field("swap_memory", kSame), name_field());
  }
};

struct ScanParameters : FoldParameters {
  static constexpr auto fields() {
    using P = ScanParameters;
    return std::tuple(required_field("fn", &P::fn, kFnDoc),
                      required_field("elems", &P::elems, kElemsDoc),
                      field("initializer", &P::initializer, kInitializerDoc),
                      field("parallel_iterations", &P::parallel_iterations, kSame),
                      field("back_prop", &P::back_prop, "False stops gradients in a graph."),
                      ignored_field("swap_memory", kSame),
                      ignored_field("infer_shape", "Shapes that are known are said in any case."),
                      field("reverse", &P::reverse, "Begin with the last row."), name_field(),
                      field("recompute", &P::recompute, kRecomputeDoc));
  }
};

// A loop over the rows that carries what is accumulated, with or without all values on the way.
class Scanner {
 public:
  Scanner(FunctionContext& c, const FoldParameters& p, bool keeps_all)
      : c_(c), p_(p), keeps_all_(keeps_all) {}

  Outputs scan() {
    if (p_.parallel_iterations < 1) {
      return c_.fail(type_error("The argument `parallel_iterations` must be a positive integer."));
    }
    auto elements = Elements::create(c_, p_.elems);
    if (!elements.ok()) return c_.fail(elements.status());
    elements_ = std::move(*elements);
    const bool has_initializer = p_.initializer.kind != Value::Kind::kLiteral ||
                                 !std::holds_alternative<None>(p_.initializer.literal);
    num_taken_ = has_initializer ? 0 : 1;
    if (!has_initializer && elements_.length_if_known() == 0) {
      const std::string_view message = "There is no element and no initializer";
      // TensorFlow reads the first row eagerly, and a list of rows in a graph.
      return c_.fail(c_.is_graph() ? invalid_argument(message)
                                   : Status(Code::kOutOfRange, std::string(message)));
    }
    first_ = has_initializer ? with_tensor_leaves(c_, p_.initializer)
                             : elements_.row(c_, row_number(c_, c_.scalar(0)));
    if (!c_.status().ok()) return Tensor();
    if (Status status = find_results(); !status.ok()) return c_.fail(status);
    for (const Tensor& tensor : tensors_of(first_)) {
      rows_.emplace_back(tensor.dtype(), tensor.shape());
    }
    return c_.is_graph() ? scan_in_graph() : scan_at_once();
  }

 private:
  // The number of the row that comes as the i-th.
  Tensor row_number(Emitter& emit, const Tensor& i) const {
    if (!p_.reverse) return i;
    const Tensor one = emit.constant(Tensor::scalar<int32_t>(1));
    return emit(kSub, {emit(kSub, {elements_.length(), one}), i});
  }

  Status find_results() {
    if (!keeps_all_) return {};
    constexpr std::string_view kCannot = "What is accumulated may not hold";
    if (const auto own = ragged_ranks_of(first_, kCannot); !own.ok()) return own.status();
    ASSIGN_OR_RETURN(results_, rows_of(first_, elements_.length_if_known()));
    ASSIGN_OR_RETURN(const auto ranks, ragged_ranks_of(results_, kCannot));
    if (std::ranges::all_of(ranks, [](int rank) { return rank == 0; })) return {};
    return Status(Code::kUnimplemented,
                  "tf.scan: Graven does not stack ragged tensors that are accumulated; tf.foldl "
                  "gives the last one",
                  ErrorKind::kNotImplementedError);
  }

  Result<Value> call(Emitter& emit, const Value& accumulated, const Tensor& number) {
    const Value arguments[] = {accumulated, elements_.row(emit, number)};
    RETURN_IF_ERROR(emit.status());
    const bool at_once = !c_.is_graph();
    ASSIGN_OR_RETURN(Value next, p_.fn->call(arguments, at_once ? Callable::As::kParts
                                                                : Callable::As::kTensors));
    if (at_once) {
      next = keeps_all_ ? with_tensor_leaves_like(c_, std::move(next), first_)
                        : with_tensor_leaves(c_, std::move(next));
      RETURN_IF_ERROR(c_.status());
    }
    constexpr std::string_view kMustNest = "fn must return the structure of what is accumulated";
    RETURN_IF_ERROR(check_nested_like(first_, next, kMustNest, keeps_all_ || at_once));
    RETURN_IF_ERROR(check_composites_like(first_, next));
    if (tensors_of(next).size() != rows_.size()) return value_error(kMustNest);
    const std::vector<Tensor> tensors = tensors_of(next);
    for (size_t i = 0; i < tensors.size(); ++i) {
      if (tensors[i].dtype() == rows_[i].dtype() || (at_once && !keeps_all_)) continue;
      return type_error("fn changed the dtype of what is accumulated from ",
                        dtype_name(rows_[i].dtype()), " to ", dtype_name(tensors[i].dtype()));
    }
    return next;
  }

  Outputs scan_at_once() {
    const int64_t length = elements_.length_if_known().value_or(0);
    Value accumulated = first_;
    if (num_taken_ == 1) keep(accumulated, p_.reverse ? length - 1 : 0);
    for (int64_t i = num_taken_; i < length; ++i) {
      const int64_t number = p_.reverse ? length - 1 - i : i;
      auto next = call(c_, accumulated, Tensor::scalar(static_cast<int32_t>(number)));
      if (!next.ok()) return c_.fail(next.status());
      const std::vector<Tensor> before = tensors_of(accumulated), after = tensors_of(*next);
      for (size_t r = 0; r < after.size() && keeps_all_; ++r) {
        if (after[r].shape() == before[r].shape()) continue;
        return c_.fail(value_error("fn changed the shape of what is accumulated from ",
                                   before[r].shape().to_text(), " to ",
                                   after[r].shape().to_text()));
      }
      accumulated = with_tensors(first_, after);
      keep(accumulated, number);
    }
    if (!keeps_all_) return accumulated;
    std::vector<Tensor> stacked;
    for (const ResultRows& rows : rows_) stacked.push_back(rows.stacked(c_, length));
    if (!c_.status().ok()) return Tensor();
    return with_tensors(results_, stacked);
  }
  void keep(const Value& accumulated, int64_t number) {
    if (!keeps_all_) return;
    const std::vector<Tensor> tensors = tensors_of(accumulated);
    for (size_t r = 0; r < rows_.size(); ++r) rows_[r].put(number, tensors[r]);
  }

  Value with_rows(Emitter& emit, std::span<const Value> lists, const Tensor& number,
                  const Value& accumulated) {
    std::vector<Value> made;
    const std::vector<Tensor> tensors = tensors_of(accumulated);
    for (size_t r = 0; r < lists.size(); ++r) {
      made.push_back(
          Value::of_tensor(rows_[r].with_row(emit, lists[r].tensor, number, tensors[r])));
    }
    return Value::of_container(Container::tuple(), std::move(made));
  }

  Outputs scan_in_graph() {
    std::vector<Value> lists;
    for (size_t r = 0; keeps_all_ && r < rows_.size(); ++r) {
      lists.push_back(Value::of_tensor(rows_[r].new_list(c_, elements_)));
    }
    Value all = Value::of_container(Container::tuple(), lists);
    if (num_taken_ == 1) all = with_rows(c_, all.items, row_number(c_, c_.scalar(0)), first_);
    const auto step = [&](std::span<const Value> v, Callable::As) -> Result<Value> {
      Emitter emit(current_builder());
      const Tensor number = row_number(emit, v[0].tensor);
      ASSIGN_OR_RETURN(Value next, call(emit, v[1], number));
      std::vector<Value> items = {
          Value::of_tensor(emit(kAddV2, {v[0].tensor, emit.constant(Tensor::scalar<int32_t>(1))})),
          with_tensors(first_, tensors_of(next)), with_rows(emit, v[2].items, number, next)};
      RETURN_IF_ERROR(emit.status());
      return Value::of_container(Container::tuple(), std::move(items));
    };
    WhileLoopParameters loop;
    loop.cond = counts_up_to(elements_.length());
    loop.body = make_ref<OwnCallable>(step);
    loop.loop_vars = Value::of_container(
        Container::tuple(), {Value::of_tensor(c_.scalar(num_taken_)), first_, std::move(all)});
    loop.parallel_iterations = p_.parallel_iterations;
    loop.back_prop = p_.back_prop;
    loop.recompute = p_.recompute;
    if (!c_.status().ok()) return Tensor();
    const Value after = while_loop(c_, loop).structure;
    if (!c_.status().ok()) return Tensor();
    if (!keeps_all_) return after.items[1];
    std::vector<Tensor> stacked;
    for (size_t r = 0; r < rows_.size(); ++r) {
      stacked.push_back(rows_[r].stacked(c_, elements_, after.items[2].items[r].tensor));
    }
    if (!c_.status().ok()) return Tensor();
    return with_tensors(results_, stacked);
  }

  FunctionContext& c_;
  const FoldParameters& p_;
  const bool keeps_all_;
  Elements elements_;
  int num_taken_ = 0;             // rows that are part of the first value
  Value first_;                   // what is accumulated before the loop, of tensors
  Value results_;                 // the same of all rows
  std::vector<ResultRows> rows_;  // of each tensor that is accumulated
};

Outputs fold(FunctionContext& c, FoldParameters p, bool reverse) {
  if (!p.fn) return c.fail(type_error("The argument `fn` must be callable."));
  p.reverse = reverse;
  return Scanner(c, p, /*keeps_all=*/false).scan();
}

std::vector<Raised> errors() {
  return {{"ValueError",
           "elems holds no tensor, a scalar, or tensors of several lengths; fn changes the "
           "structure or "
           "a shape of what is accumulated."},
          {"TypeError", "fn changes a dtype of what is accumulated."},
          {"InvalidArgumentError", "In a graph, there is no row and no initializer."},
          {"OutOfRangeError", "At once, there is no row and no initializer."}};
}

}  // namespace

void define_scans(FunctionRegistry& functions) {
  functions.define({
      .names = "scan",
      .scope = "scan",
      .results = structure(),
      .summary = "What fn accumulates over the rows of elems, after each of them.",
      .returns = "Tensors of the length of elems, in the structure of what is accumulated; that of "
                 "a row stands in its place.",
      .raises = errors(),
      .body = [](FunctionContext& c, const ScanParameters& p) -> Outputs {
        if (!p.fn) return c.fail(type_error("The argument `fn` must be callable."));
        return Scanner(c, p, /*keeps_all=*/true).scan();
      },
  });
  functions.define({
      .names = "foldl",
      .scope = "foldl",
      .results = structure(),
      .summary = "What fn accumulates over the rows of elems, from the first to the last.",
      .returns = "What is accumulated after the last row.",
      .raises = errors(),
      .body = [](FunctionContext& c, const FoldParameters& p) { return fold(c, p, false); },
  });
  functions.define({
      .names = "foldr",
      .scope = "foldr",
      .results = structure(),
      .summary = "What fn accumulates over the rows of elems, from the last to the first.",
      .returns = "What is accumulated after the first row.",
      .raises = errors(),
      .body = [](FunctionContext& c, const FoldParameters& p) { return fold(c, p, true); },
  });
}

}  // namespace graven::engine
