#include "graven/ops/variable_kernels.h"

#include <cmath>
#include <vector>

#include "graven/base/strings.h"
#include "graven/ir/kernel.h"
#include "graven/ops/elements.h"
#include "graven/ops/variable_ops.h"
#include "graven/tensor/add_elements.h"
#include "graven/tensor/resource_as.h"

namespace graven::engine {
namespace {

// --- Places in a tensor that indices name, as multiples of `width` elements.

struct Slices {
  std::vector<int64_t> places;  // -1: nothing, the index was bad and is ignored
  int64_t width = 1;
};

// indices: any shape; each names a row of `shape`.
Result<Slices> rows_at(const Tensor& indices, const Shape& shape) {
  if (shape.rank() == 0) {
    return invalid_argument("a scalar variable has no rows to index");
  }
  Slices slices;
  slices.places.resize(static_cast<size_t>(indices.num_elements()));
  for (int i = 1; i < shape.rank(); ++i) slices.width *= shape.size(i);
  for (int64_t i = 0; i < indices.num_elements(); ++i) {
    int64_t index = integer_at(indices, i);
    if (index < 0 || index >= shape.size(0)) {
      return invalid_argument("indices[", i, "] = ", index, " is not in [0, ", shape.size(0), ")");
    }
    slices.places[i] = index;
  }
  return slices;
}

// indices: [..., depth]; each vector of depth integers names a slice of `shape`.
Result<Slices> slices_at(const Tensor& indices, const Shape& shape, bool ignore_bad) {
  if (indices.rank() == 0) return invalid_argument("indices must be at least a vector");
  const int64_t depth = indices.shape().size(indices.rank() - 1);
  if (depth > shape.rank()) {
    return invalid_argument("index vectors of ", depth, " integers do not fit a variable of shape ",
                            shape.to_message());
  }
  Slices slices;
  for (int i = static_cast<int>(depth); i < shape.rank(); ++i) slices.width *= shape.size(i);
  int64_t count = 1;
  for (int i = 0; i + 1 < indices.rank(); ++i) count *= indices.shape().size(i);
  slices.places.resize(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) {
    int64_t place = 0;
    for (int d = 0; d < depth && place >= 0; ++d) {
      int64_t index = integer_at(indices, i * depth + d);
      bool is_good = index >= 0 && index < shape.size(d);
      place = is_good ? place * shape.size(d) + index : -1;
    }
    if (place < 0 && !ignore_bad) {
      std::vector<int64_t> vector;
      for (int d = 0; d < depth; ++d) vector.push_back(integer_at(indices, i * depth + d));
      return invalid_argument("indices[", i, "] = [", str_join(vector, ", "),
                              "] does not index into shape ", shape.to_message());
    }
    slices.places[i] = place;
  }
  return slices;
}

void copy_slices(const Tensor& from, const Slices& slices, const Tensor& to) {
  visit_copied(from.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const T* source = static_cast<const T*>(from.raw_data());
    T* target = static_cast<T*>(to.mutable_raw_data());
    const int64_t width = slices.width;
    for_ranges(static_cast<int64_t>(slices.places.size()), (1 << 16) / std::max<int64_t>(width, 1),
               [&](int64_t begin, int64_t end) {
                 for (int64_t i = begin; i < end; ++i) {
                   std::copy_n(source + slices.places[i] * width, width, target + i * width);
                 }
               });
  });
}

// --- Writing.

template <ScatterKind kind, typename T>
T combine(T x, T y) {
  if constexpr (kind == ScatterKind::kUpdate) {
    return y;
  } else if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
    return T(combine<kind>(static_cast<float>(x), static_cast<float>(y)));
  } else if constexpr (kind == ScatterKind::kAdd) {
    return add_elements(x, y);
  } else if constexpr (std::is_same_v<T, bool>) {
    return kind == ScatterKind::kSub ? x != y : x && y;
  } else if constexpr (kind == ScatterKind::kMin || kind == ScatterKind::kMax) {
    if constexpr (std::is_arithmetic_v<T>) {
      if (x != x) return x;  // NaN wins
      bool takes_y = kind == ScatterKind::kMin ? y < x : x < y;
      return takes_y || y != y ? y : x;
    } else {
      return x;  // complex numbers have no order; the records do not take them
    }
  } else if constexpr (std::is_integral_v<T>) {
    // Unsigned and wide, so that nothing overflows; a division by zero was refused before.
    auto a = static_cast<uint64_t>(x), b = static_cast<uint64_t>(y);
    if constexpr (kind == ScatterKind::kSub) return static_cast<T>(a - b);
    if constexpr (kind == ScatterKind::kMul) return static_cast<T>(a * b);
    if (std::is_signed_v<T> && y == static_cast<T>(-1)) return static_cast<T>(0 - a);
    return static_cast<T>(x / y);
  } else {
    if constexpr (kind == ScatterKind::kSub) return x - y;
    if constexpr (kind == ScatterKind::kMul) return x * y;
    return x / y;
  }
}

template <ScatterKind kind, typename T>
void write_slices(const Slices& slices, const Tensor& updates, bool one_for_all, T* to) {
  const T* from = static_cast<const T*>(updates.raw_data());
  const int64_t width = slices.width;
  // Cut by columns: one place may be named several times, and its updates keep their order.
  const auto count = static_cast<int64_t>(slices.places.size());
  const int64_t grain = std::max<int64_t>((1 << 18) / std::max<int64_t>(count, 1), 256);
  for_ranges(width, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = 0; i < count; ++i) {
      if (slices.places[i] < 0) continue;
      T* slice = to + slices.places[i] * width;
      const T* row = from + (one_for_all ? 0 : i * width);
      if (one_for_all) {
        for (int64_t k = begin; k < end; ++k) slice[k] = combine<kind>(slice[k], row[0]);
      } else if constexpr (kind == ScatterKind::kUpdate) {
        std::copy(row + begin, row + end, slice + begin);
      } else {
        for (int64_t k = begin; k < end; ++k) slice[k] = combine<kind>(slice[k], row[k]);
      }
    }
  });
}

template <ScatterKind kind>
void write_all(const Slices& slices, const Tensor& updates, const Tensor& value) {
  bool one_for_all = updates.rank() == 0 && slices.places.size() * slices.width != 1;
  if constexpr (kind == ScatterKind::kUpdate) {
    visit_copied(value.dtype(), [&](auto zero) {
      write_slices<kind>(slices, updates, one_for_all,
                         static_cast<decltype(zero)*>(value.mutable_raw_data()));
    });
  } else {
    visit_plain(value.dtype(), [&](auto zero) {
      write_slices<kind>(slices, updates, one_for_all,
                         static_cast<decltype(zero)*>(value.mutable_raw_data()));
    });
  }
}

bool has_integer_zero(const Tensor& tensor) {
  return visit_plain(tensor.dtype(), [&](auto zero) {
    using T = decltype(zero);
    if constexpr (!std::is_integral_v<T>) return false;
    auto elements = tensor.data<T>();
    return std::find(elements.begin(), elements.end(), zero) != elements.end();
  });
}

Result<Tensor> copy_of(const Tensor& tensor) {
  ASSIGN_OR_RETURN(Tensor copy, Tensor::allocate(tensor.dtype(), tensor.shape()));
  visit_copied(tensor.dtype(), [&](auto zero) {
    using T = decltype(zero);
    std::copy_n(static_cast<const T*>(tensor.raw_data()), tensor.num_elements(),
                static_cast<T*>(copy.mutable_raw_data()));
  });
  return copy;
}

// Finds the slices, checks everything, then writes: over the value itself if nobody else sees it.
template <ScatterKind kind>
Status scatter(KernelContext& c, FunctionRef<Result<Slices>(const Shape& value)> find,
               FunctionRef<Shape(const Shape& value)> shape_of_updates) {
  ASSIGN_OR_RETURN(Variable * variable, variable_of(c));
  const Tensor& updates = c.input(2);
  if (updates.dtype() != variable->dtype()) {
    return invalid_argument("variable '", variable->name(), "' holds ",
                            dtype_name(variable->dtype()), ", the updates are ",
                            dtype_name(updates.dtype()));
  }
  return variable->update([&](Tensor& value) -> Result<Tensor> {
    ASSIGN_OR_RETURN(Slices slices, find(value.shape()));
    Shape expected = shape_of_updates(value.shape());
    if (updates.rank() != 0 && !(updates.shape() == expected)) {
      return invalid_argument("updates for a variable of shape ", value.shape().to_message(),
                              " by indices of shape ", c.input(1).shape().to_message(),
                              " must be a scalar or have shape ", expected.to_message(), ", got ",
                              updates.shape().to_message());
    }
    if (kind == ScatterKind::kDiv && is_integer(updates.dtype()) && has_integer_zero(updates)) {
      return invalid_argument("Integer division by zero");
    }
    if (!value.owns_its_elements()) {
      ASSIGN_OR_RETURN(Tensor copy, copy_of(value));
      write_all<kind>(slices, updates, copy);
      return copy;
    }
    write_all<kind>(slices, updates, value);
    return std::move(value);
  });
}

}  // namespace

Result<Variable*> variable_of(const KernelContext& c, int input) {
  return resource_as<Variable>(c.input(input), "Variable");
}

Status gather_from_variable(KernelContext& c) {
  ASSIGN_OR_RETURN(Variable * variable, variable_of(c));
  ASSIGN_OR_RETURN(Tensor value, variable->read());
  const Tensor& indices = c.input(1);
  const int batch_dims = static_cast<int>(c.attrs<ResourceGatherAttrs>().batch_dims);
  if (value.rank() <= batch_dims || indices.rank() < batch_dims) {
    return invalid_argument("a variable of shape ", value.shape().to_message(),
                            " and indices of shape ", indices.shape().to_message(),
                            " have no row after ", batch_dims, " batch dimensions");
  }
  Shape out;
  int64_t num_batches = 1;
  for (int i = 0; i < batch_dims; ++i) {
    if (indices.shape()[i] != value.shape()[i]) {
      return invalid_argument("batch dimensions differ in shapes ", value.shape().to_message(),
                              " and ", indices.shape().to_message());
    }
    out.push_back(value.shape()[i]);
    num_batches *= value.shape().size(i);
  }
  for (int i = batch_dims; i < indices.rank(); ++i) out.push_back(indices.shape()[i]);
  for (int i = batch_dims + 1; i < value.rank(); ++i) out.push_back(value.shape()[i]);
  Shape batch;  // one batch of the variable
  for (int i = batch_dims; i < value.rank(); ++i) batch.push_back(value.shape()[i]);
  ASSIGN_OR_RETURN(Slices slices, rows_at(indices, batch));
  const int64_t per_batch = num_batches ? indices.num_elements() / num_batches : 0;
  for (size_t i = 0; i < slices.places.size(); ++i) {
    slices.places[i] += static_cast<int64_t>(i) / per_batch * batch.size(0);
  }
  RETURN_IF_ERROR(c.allocate_output(0, value.dtype(), out));
  copy_slices(value, slices, c.output(0));
  return {};
}

Status gather_nd_from_variable(KernelContext& c) {
  ASSIGN_OR_RETURN(Variable * variable, variable_of(c));
  ASSIGN_OR_RETURN(Tensor value, variable->read());
  const Tensor& indices = c.input(1);
  ASSIGN_OR_RETURN(Slices slices, slices_at(indices, value.shape(), /*ignore_bad=*/false));
  Shape out;
  for (int i = 0; i + 1 < indices.rank(); ++i) out.push_back(indices.shape()[i]);
  for (int64_t i = indices.shape().size(indices.rank() - 1); i < value.rank(); ++i) {
    out.push_back(value.shape()[static_cast<int>(i)]);
  }
  RETURN_IF_ERROR(c.allocate_output(0, value.dtype(), out));
  copy_slices(value, slices, c.output(0));
  return {};
}

template <ScatterKind kind>
Status scatter_to_variable(KernelContext& c) {
  const Tensor& indices = c.input(1);
  return scatter<kind>(
      c, [&](const Shape& value) { return rows_at(indices, value); },
      [&](const Shape& value) {
        Shape updates = indices.shape();
        for (int i = 1; i < value.rank(); ++i) updates.push_back(value[i]);
        return updates;
      });
}

template <ScatterKind kind>
Status scatter_nd_to_variable(KernelContext& c) {
  const Tensor& indices = c.input(1);
  const std::string& policy = c.attrs<ResourceScatterNdAttrs>().bad_indices_policy;
  if (!policy.empty() && policy != "DEFAULT" && policy != "ERROR" && policy != "IGNORE") {
    return invalid_argument("bad_indices_policy must be '', 'DEFAULT', 'ERROR' or 'IGNORE', got '",
                            policy, "'");
  }
  return scatter<kind>(
      c, [&](const Shape& value) { return slices_at(indices, value, policy == "IGNORE"); },
      [&](const Shape& value) {
        Shape updates;
        for (int i = 0; i + 1 < indices.rank(); ++i) updates.push_back(indices.shape()[i]);
        for (int64_t i = indices.shape().size(indices.rank() - 1); i < value.rank(); ++i) {
          updates.push_back(value[static_cast<int>(i)]);
        }
        return updates;
      });
}

template Status scatter_to_variable<ScatterKind::kAdd>(KernelContext& c);
template Status scatter_to_variable<ScatterKind::kSub>(KernelContext& c);
template Status scatter_to_variable<ScatterKind::kMul>(KernelContext& c);
template Status scatter_to_variable<ScatterKind::kDiv>(KernelContext& c);
template Status scatter_to_variable<ScatterKind::kMin>(KernelContext& c);
template Status scatter_to_variable<ScatterKind::kMax>(KernelContext& c);
template Status scatter_to_variable<ScatterKind::kUpdate>(KernelContext& c);
template Status scatter_nd_to_variable<ScatterKind::kAdd>(KernelContext& c);
template Status scatter_nd_to_variable<ScatterKind::kSub>(KernelContext& c);
template Status scatter_nd_to_variable<ScatterKind::kMin>(KernelContext& c);
template Status scatter_nd_to_variable<ScatterKind::kMax>(KernelContext& c);
template Status scatter_nd_to_variable<ScatterKind::kUpdate>(KernelContext& c);

}  // namespace graven::engine
