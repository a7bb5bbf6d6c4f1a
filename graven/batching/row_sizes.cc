#include "graven/batching/row_sizes.h"

#include <algorithm>
#include <limits>

#include "graven/ir/graph.h"
#include "graven/ir/infer_context.h"
#include "graven/ir/moving_ops.h"
#include "graven/ir/structural_ops.h"

namespace graven::engine {
namespace {

const OutputType& type_of_input(const BatchContext& c, int i) {
  const OutputRef input = c.node().inputs()[static_cast<size_t>(i)];
  return input.node->output(input.index);
}

bool is_fully_known(const BatchContext& c) {
  for (int i = 0; i < c.num_inputs(); ++i) {
    if (!type_of_input(c, i).shape.is_fully_known()) return false;
  }
  for (int i = 0; i < c.num_outputs(); ++i) {
    if (!c.row_shape_of_y(i).is_fully_known()) return false;
  }
  return true;
}

// Sizes that are known are arithmetic on numbers, which needs no table.
std::unique_ptr<SymbolTable> copy_of_symbols(const BatchContext& c) {
  if (is_fully_known(c)) return nullptr;
  auto copy = std::make_unique<SymbolTable>();
  copy->copy_from(c.node().graph().symbols());
  return copy;
}

Tensor int_vector(Emitter& emit, const std::vector<int32_t>& values) {
  return emit.constant(Tensor::vector(std::span<const int32_t>(values)));
}

bool fits_int32(int64_t number) { return number <= std::numeric_limits<int32_t>::max(); }

}  // namespace

// Elements of the shape of an input in a row, or of the integers that the input holds.
struct RowSizes::Run {
  int input = 0;
  bool is_shape = true;
  size_t first = 0, count = 0, all = 0;
};

RowSizes::RowSizes(BatchContext& c) : c_(c), symbols_(copy_of_symbols(c)), dims_(symbols_.get()) {}

Tensor RowSizes::known_value(int i) const {
  if (c_.is_batched(i) || !c_.x(i)) return {};
  return InferContext(c_.op(), c_.raw_attrs(), {&c_.x(i), 1}, {}, 0, nullptr).value(0);
}

std::optional<Movement> RowSizes::movement_of(int output) const {
  if (!c_.op().record().reads || !c_.row_shape_of_y(output).has_rank()) return std::nullopt;
  InlineVector<const Shape*, 4> shapes;
  InlineVector<Tensor, 4> values;
  for (int i = 0; i < c_.num_inputs(); ++i) {
    shapes.push_back(&type_of_input(c_, i).shape);
    if (!shapes.back()->has_rank()) return std::nullopt;
    values.push_back(known_value(i));
  }
  // The output's shape must not rest on what an input will tell.
  for (int given : c_.op().record().values_for_inference) {
    const int i = given < 0 ? c_.num_inputs() + given : given;
    if (values[static_cast<size_t>(i)]) continue;
    const auto& sizes = type_of_input(c_, i).sizes;
    if (!sizes || std::ranges::any_of(*sizes, &Dim::is_unknown)) return std::nullopt;
  }
  return engine::movement_of(
      c_.op(), ReadsContext(c_.raw_attrs(), shapes, values, c_.row_shape_of_y(output), output,
                            symbols_.get()));
}

RowSizes::Run RowSizes::longest_run(std::span<const Dim> sizes) const {
  Run best;
  const auto try_all = [&](int input, bool is_shape, std::span<const Dim> source) {
    for (size_t first = 0; first < source.size(); ++first) {
      const size_t most = std::min(sizes.size(), source.size() - first);
      size_t count = 0;
      while (count < most && sizes[count] == source[first + count]) ++count;
      if (count > best.count) best = {input, is_shape, first, count, source.size()};
    }
  };
  // A vector of sizes is at hand; a shape is asked for.
  for (int i = 0; i < c_.num_inputs(); ++i) {
    const auto& values = type_of_input(c_, i).sizes;
    if (values && !c_.is_batched(i)) try_all(i, false, *values);
  }
  for (int i = 0; i < c_.num_inputs(); ++i) try_all(i, true, type_of_input(c_, i).shape.dims());
  return best;
}

Tensor RowSizes::elements(const Run& run) {
  size_t first = run.first, all = run.all;
  Tensor from;
  if (run.is_shape) {
    shapes_.resize(static_cast<size_t>(c_.num_inputs()));
    Tensor& shape = shapes_[static_cast<size_t>(run.input)];
    if (!shape) shape = c_(kShape, {c_.x(run.input)});
    from = shape;
    first += c_.is_batched(run.input) ? 1 : 0;
    all += c_.is_batched(run.input) ? 1 : 0;
  } else {
    from = c_.x(run.input);
    if (c_.dtype(run.input) != DType::kInt32) from = c_(kCast, {from}, {.DstT = DType::kInt32});
    if (c_.rank(run.input) == 0) {
      return c_(kExpandDims, {from, c_.constant(Tensor::scalar<int32_t>(0))});
    }
  }
  if (run.count == all) return from;
  const Tensor begin = int_vector(c_, {static_cast<int32_t>(first)});
  const Tensor end = int_vector(c_, {static_cast<int32_t>(first + run.count)});
  return c_(kStridedSlice, {from, begin, end, int_vector(c_, {1})});
}

Tensor RowSizes::vector(bool with_rows, std::span<const Dim> sizes) {
  std::vector<Tensor> parts;
  std::vector<int32_t> numbers;
  const auto close_numbers = [&] {
    if (!numbers.empty()) parts.push_back(int_vector(c_, numbers));
    numbers.clear();
  };
  const auto rows = c_.num_rows_if_known();
  if (with_rows && rows) numbers.push_back(static_cast<int32_t>(*rows));
  if (with_rows && !rows) parts.push_back(c_.num_rows_as_vector());
  for (size_t at = 0; at < sizes.size();) {
    if (sizes[at].is_number()) {
      if (!fits_int32(sizes[at].number())) return {};
      numbers.push_back(static_cast<int32_t>(sizes[at++].number()));
      continue;
    }
    const Run run = longest_run(sizes.subspan(at));
    if (run.count == 0) return {};
    close_numbers();
    parts.push_back(elements(run));
    at += run.count;
  }
  close_numbers();
  if (parts.empty()) return int_vector(c_, {});
  if (parts.size() == 1) return parts[0];
  parts.push_back(c_.constant(Tensor::scalar<int32_t>(0)));
  const Tensors made = c_.apply(*kConcatV2.op, parts, NoAttrs());
  return made.empty() ? Tensor() : made[0];
}

Tensor RowSizes::vector_for_reshape(bool with_rows, std::span<const Dim> sizes) {
  // Beside a size of 0 no other can be found.
  const auto is_positive = [](Dim dim) { return dim.is_number() && dim.number() > 0; };
  const auto rows = c_.num_rows_if_known();
  const bool knows_rows = !with_rows || (rows && *rows > 0);
  const auto others = std::ranges::count_if(sizes, is_positive);
  const auto unknown = static_cast<int64_t>(sizes.size()) - others;
  const auto symbols = std::ranges::count_if(sizes, &Dim::is_term);
  const bool finds_rows = with_rows && !rows && unknown == 0;
  if (!finds_rows) {
    if (Tensor all = vector(with_rows, sizes)) return all;
    if (!knows_rows || unknown != 1 || symbols != 1) return {};
  }
  std::vector<int32_t> numbers;
  if (with_rows) numbers.push_back(finds_rows ? -1 : static_cast<int32_t>(*rows));
  for (Dim dim : sizes) {
    if (dim.is_number() && !fits_int32(dim.number())) return {};
    numbers.push_back(static_cast<int32_t>(dim.number_or_minus_one()));
  }
  return int_vector(c_, numbers);
}

}  // namespace graven::engine
