#include "graven/ops/sequence_ops.h"

#include <cmath>
#include <limits>

#include "graven/ir/infer_context.h"
#include "graven/ir/kernel.h"
#include "graven/ops/batch_rules.h"
#include "graven/ops/elements.h"
#include "graven/ops/register_ops.h"
#include "graven/ops/shape_rules.h"
#include "graven/ops/strided_copy.h"

namespace graven::engine {
namespace {

constexpr int64_t kGrain = 1 << 16;

// Calls f(i) for all i below n, as an int32 if n allows it: vectors of those are what processors
// turn into floats.
template <typename F>
void for_places(int64_t n, const F& f) {
  const bool is_short = n <= std::numeric_limits<int32_t>::max();
  for_ranges(n, kGrain, [&](int64_t begin, int64_t end) {
    const F own = f;  // in registers: its stores cannot alias it
    if (is_short) {
      for (auto i = static_cast<int32_t>(begin); i < static_cast<int32_t>(end); ++i) own(i);
    } else {
      for (int64_t i = begin; i < end; ++i) own(i);
    }
  });
}

Status check_scalar(const InferContext& c, int input, const char* name) {
  const Shape& shape = c.shape(input);
  if (!shape.has_rank() || shape.rank() == 0) return {};
  // A size that is not known yet is looked at again when the graph runs.
  if (shape.rank() == 1 && (!shape[0].is_number() || shape[0] == Dim(1))) return {};
  return invalid_argument(name, " must be a scalar, not shape ", shape.to_message());
}

// --- Range.

template <typename T>
std::string text(T value) {
  if constexpr (std::is_integral_v<T>) {
    return str_cat(value);
  } else {
    return shortest(static_cast<float>(value));
  }
}

template <>
std::string text(double value) {
  return shortest(value);
}

// How many numbers from start on lie before limit, in the arithmetic of the dtype.
template <typename T>
Result<int64_t> range_size(T start, T limit, T delta) {
  using Wide = std::conditional_t<std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>, float, T>;
  auto first = static_cast<Wide>(start), last = static_cast<Wide>(limit),
       step = static_cast<Wide>(delta);
  if (step == 0) return invalid_argument("Requires delta != 0: ", text(step));
  if (step > 0 && first > last) {
    return invalid_argument("Requires start <= limit when delta > 0: ", text(first), "/",
                            text(last));
  }
  if (step < 0 && first < last) {
    return invalid_argument("Requires start >= limit when delta < 0: ", text(first), "/",
                            text(last));
  }
  if constexpr (std::is_integral_v<T>) {
    auto distance = first < last ? static_cast<uint64_t>(last) - static_cast<uint64_t>(first)
                                 : static_cast<uint64_t>(first) - static_cast<uint64_t>(last);
    uint64_t magnitude = step > 0 ? static_cast<uint64_t>(step) : 0 - static_cast<uint64_t>(step);
    uint64_t count = distance / magnitude + (distance % magnitude != 0 ? 1 : 0);
    if (count > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
      return invalid_argument("Requires ((limit - start) / delta) <= ",
                              std::numeric_limits<int64_t>::max());
    }
    return static_cast<int64_t>(count);
  } else {
    Wide count =
        std::ceil(std::abs(static_cast<Wide>(T(static_cast<Wide>(T(last - first)) / step))));
    if (!(count <= static_cast<Wide>(1e18))) {
      return invalid_argument("Requires ((limit - start) / delta) to be a size, got ", text(count));
    }
    return static_cast<int64_t>(count);
  }
}

template <typename F>
auto visit_range_type(DType dtype, F&& f) {
  switch (dtype) {
    case DType::kInt32:
      return f(int32_t{});
    case DType::kInt64:
      return f(int64_t{});
    case DType::kHalf:
      return f(Half{});
    case DType::kBFloat16:
      return f(BFloat16{});
    case DType::kFloat32:
      return f(float{});
    default:
      return f(double{});
  }
}

Status range_shape(InferContext& c) {
  RETURN_IF_ERROR(check_scalar(c, 0, "start"));
  RETURN_IF_ERROR(check_scalar(c, 1, "limit"));
  RETURN_IF_ERROR(check_scalar(c, 2, "delta"));
  Tensor start = c.value(0), limit = c.value(1), delta = c.value(2);
  if (start && limit && delta) {
    ASSIGN_OR_RETURN(int64_t size, visit_range_type(c.dtype(0), [&](auto zero) {
                       using T = decltype(zero);
                       return range_size(start.item<T>(), limit.item<T>(), delta.item<T>());
                     }));
    c.set_shape(0, {size});
    return {};
  }
  Dim size;
  auto last = c.sizes(1);
  bool counts_up = start && delta && kIndexTypes.contains(c.dtype(0)) &&
                   integer_at(start, 0) >= 0 && integer_at(delta, 0) > 0;
  if (counts_up && last && !last->empty() && !(*last)[0].is_unknown()) {
    Dim first = integer_at(start, 0);
    Dim distance = first == Dim(0) ? (*last)[0] : c.subtract(c.max((*last)[0], first), first);
    int64_t step = integer_at(delta, 0);
    size = step == 1 ? distance : c.ceil_div(distance, step);
  }
  c.set_shape(0, {size.is_unknown() ? c.new_symbol("range") : size});
  return {};
}

Status range_kernel(KernelContext& c) {
  visit_range_type(c.output(0).dtype(), [&](auto zero) {
    using T = decltype(zero);
    const T start = c.input(0).item<T>(), delta = c.input(2).item<T>();
    auto out = c.out<T>(0);
    T* to = out.data();
    if constexpr (std::is_integral_v<T>) {
      for_ranges(static_cast<int64_t>(out.size()), kGrain, [=](int64_t begin, int64_t end) {
        using U = std::make_unsigned_t<T>;  // wraps around
        const auto step = static_cast<U>(delta);
        U value = static_cast<U>(start) + static_cast<U>(begin) * step;
        for (int64_t i = begin; i < end; ++i, value += step) to[i] = static_cast<T>(value);
      });
    } else {
      for_places(static_cast<int64_t>(out.size()), [=](auto i) {
        if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>) {
          to[i] = start + static_cast<T>(i) * delta;
        } else {
          T place(static_cast<float>(i));
          T step(static_cast<float>(place) * static_cast<float>(delta));
          to[i] = T(static_cast<float>(start) + static_cast<float>(step));
        }
      });
    }
  });
  return {};
}

void define_range(OpRegistry& ops) {
  kRange = ops.define<NoAttrs>({
      .name = "Range",
      .summary = "The numbers start, start + delta, start + 2 * delta, ... before limit.",
      .inputs = {"start: Tidx", "limit: Tidx", "delta: Tidx"},
      .outputs = {"output: Tidx"},
      .types = {{"Tidx", kFloatTypes | kIndexTypes,
                 kFloatTypes | kSignedIntTypes |
                     DTypeSet{DType::kUInt16, DType::kUInt32, DType::kUInt64}}},
      .infer = range_shape,
      .gradient = not_differentiable,
      .body = kernel(range_kernel),
      .values_for_inference = {0, 1, 2},
      .default_node_name = "range",
  });
}

// --- LinSpace.

Status linspace_shape(InferContext& c) {
  for (int i = 0; i < 3; ++i) {
    const char* names[] = {"start", "stop", "num"};
    RETURN_IF_ERROR(check_scalar(c, i, names[i]));
  }
  if (Tensor num = c.value(2); num && integer_at(num, 0) <= 0) {
    return invalid_argument("Requires num > 0: ", integer_at(num, 0));
  }
  auto size = c.sizes(2);
  bool known = size && !size->empty() && !(*size)[0].is_unknown();
  c.set_shape(0, {known ? (*size)[0] : c.new_symbol("linspace")});
  return {};
}

template <typename T>
void linspace(T start, T stop, std::span<T> out) {
  if (out.size() == 1) {
    out[0] = start;
    return;
  }
  const T step = (stop - start) / static_cast<T>(out.size() - 1);
  const auto count = static_cast<int64_t>(out.size());
  T* to = out.data();
  for_places(count, [=](auto i) { to[i] = start + step * static_cast<T>(i); });
  out[0] = start;
  out.back() = stop;
}

Status linspace_kernel(KernelContext& c) {
  if (c.output(0).dtype() == DType::kFloat32) {
    linspace(c.input(0).item<float>(), c.input(1).item<float>(), c.out<float>(0));
  } else {
    linspace(c.input(0).item<double>(), c.input(1).item<double>(), c.out<double>(0));
  }
  return {};
}

void define_lin_space(OpRegistry& ops) {
  kLinSpace = ops.define<NoAttrs>({
      .name = "LinSpace",
      .summary = "num evenly spaced numbers, of which the first is start and the last is stop.",
      .inputs = {"start: T", "stop: T", "num: Tidx"},
      .outputs = {"output: T"},
      .types = {{"T", {DType::kFloat32, DType::kFloat64}, kFloatTypes}, {"Tidx", kIndexTypes}},
      .infer = linspace_shape,
      .gradient = not_differentiable,
      .body = kernel(linspace_kernel),
      .values_for_inference = {2},
  });
}

// --- OneHot.

Status one_hot_shape(InferContext& c) {
  RETURN_IF_ERROR(check_scalar(c, 1, "depth"));
  RETURN_IF_ERROR(check_scalar(c, 2, "on_value"));
  RETURN_IF_ERROR(check_scalar(c, 3, "off_value"));
  const Shape& indices = c.shape(0);
  if (Tensor depth = c.value(1); depth && integer_at(depth, 0) < 0) {
    return invalid_argument("depth must be non-negative, got: ", integer_at(depth, 0));
  }
  if (!indices.has_rank()) return unknown_outputs(c);
  int64_t axis = c.attrs<OneHotAttrs>().axis;
  if (axis < -1 || axis > indices.rank()) {
    return invalid_argument("Expected axis to be -1 or between [0, ", indices.rank() + 1,
                            ").  But received: ", axis);
  }
  auto depth = c.sizes(1);
  bool known = depth && !depth->empty() && !(*depth)[0].is_unknown();
  Shape out = indices;
  out.insert(static_cast<int>(axis < 0 ? indices.rank() : axis),
             known ? (*depth)[0] : c.new_symbol("depth"));
  c.set_shape(0, out);
  return {};
}

int64_t class_at(const Tensor& indices, int64_t i) {
  switch (indices.dtype()) {
    case DType::kUInt8:
      return indices.data<uint8_t>()[i];
    case DType::kInt8:
      return indices.data<int8_t>()[i];
    default:
      return integer_at(indices, i);
  }
}

Status one_hot_kernel(KernelContext& c) {
  const Tensor &indices = c.input(0), &out = c.output(0);
  if (out.num_elements() == 0) return {};
  fill_elements(out.dtype(), c.input(3).raw_data(), out.num_elements(), out.mutable_raw_data());
  const int64_t depth = integer_at(c.input(1), 0), axis = c.attrs<OneHotAttrs>().axis;
  int64_t inner = 1;  // indices behind the new axis
  for (int i = axis < 0 ? indices.rank() : static_cast<int>(axis); i < indices.rank(); ++i) {
    inner *= indices.shape().size(i);
  }
  visit_copied(out.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const T& on = *static_cast<const T*>(c.input(2).raw_data());
    T* to = static_cast<T*>(out.mutable_raw_data());
    for_ranges(indices.num_elements(), kGrain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        int64_t index = class_at(indices, i);
        if (index < 0 || index >= depth) continue;
        to[(i / inner * depth + index) * inner + i % inner] = on;
      }
    });
  });
  return {};
}

void batch_one_hot(BatchContext& c) {
  if (gives_up_if_batched(c, {1, 2, 3})) return;
  const Tensor inputs[] = {c.x(0), c.x(1), c.x(2), c.x(3)};
  apply_to_rows(c, inputs, OneHotAttrs{shifted_axis(c.attrs<OneHotAttrs>().axis)});
}

void define_one_hot(OpRegistry& ops) {
  kOneHot = ops.define<OneHotAttrs>({
      .name = "OneHot",
      .summary = "on_value where a place along the new axis equals the index, else off_value.",
      .details = "An index outside [0, depth) has off_value everywhere.",
      .inputs = {"indices: TI", "depth: int32", "on_value: T", "off_value: T"},
      .outputs = {"output: T"},
      .types = {{"T", kAllTypes}, {"TI", kIndexTypes | DTypeSet{DType::kUInt8, DType::kInt8}}},
      .infer = one_hot_shape,
      .gradient = not_differentiable,
      .batch = batch_one_hot,
      .body = kernel(one_hot_kernel),
      .values_for_inference = {1},
      .default_node_name = "one_hot",
  });
}

}  // namespace

void define_sequence_ops(OpRegistry& ops) {
  define_range(ops);
  define_lin_space(ops);
  define_one_hot(ops);
}

}  // namespace graven::engine
