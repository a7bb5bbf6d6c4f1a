#include "graven/ops/unique_ops.h"

#include <algorithm>
#include <string>
#include <vector>

#include "graven/ir/infer_context.h"
#include "graven/ir/kernel.h"
#include "graven/ops/distinct_items.h"
#include "graven/ops/elements.h"
#include "graven/ops/register_ops.h"

namespace graven::engine {
namespace {

constexpr DTypeSet kTypes = kRealTypes | kBoolType | DTypeSet{DType::kString};

// --- Unique and its kin.

// The axis that the second input says, or the only one: -1 if it is not known now.
Result<int> axis_of(const Shape& x, const Shape& axis_shape, const Tensor& axis) {
  if (axis_shape.has_rank() && axis_shape.rank() != 1) {
    return invalid_argument("axis expects a 1D vector.");
  }
  if (axis && axis.num_elements() > 1) {
    return invalid_argument("axis does not support input tensors larger than 1 elements");
  }
  if (!axis || !x.has_rank()) return -1;
  if (axis.num_elements() == 0) {
    if (x.rank() != 1) return invalid_argument("unique expects a 1D vector.");
    return 0;
  }
  const int64_t given = integer_at(axis, 0);
  if (given < -x.rank() || given >= x.rank()) {
    return invalid_argument("axis has to be between [0, ", x.rank(), "), got ", given);
  }
  return static_cast<int>(given < 0 ? given + x.rank() : given);
}

Status unique_shape(InferContext& c) {
  const Shape& x = c.shape(0);
  if (x.has_rank() && x.rank() != 1) return invalid_argument("unique expects a 1D vector.");
  const Dim count = c.new_symbol("unique");
  c.set_shape(0, {count});
  c.set_shape(1, {x.has_rank() ? x[0] : Dim::unknown()});
  if (c.num_outputs() > 2) c.set_shape(2, {count});
  return {};
}

Status unique_v2_shape(InferContext& c) {
  const Shape& x = c.shape(0);
  ASSIGN_OR_RETURN(const int axis, axis_of(x, c.shape(1), c.value(1)));
  Shape y = x;
  Dim count = Dim::unknown(), places = Dim::unknown();
  if (axis >= 0) {
    count = c.new_symbol("unique");
    places = x[axis];
    y.set(axis, count);
  } else if (x.has_rank()) {
    for (int i = 0; i < x.rank(); ++i) y.set(i, Dim::unknown());
  }
  c.set_shape(0, y);
  c.set_shape(1, {places});
  if (c.num_outputs() > 2) c.set_shape(2, {count});
  return {};
}

// The slices of a tensor along an axis: [outer, count, inner].
template <typename T>
struct Slices {
  const T* elements;
  int64_t outer, count, inner;

  const T* part(int64_t o, int64_t i) const { return elements + (o * count + i) * inner; }

  uint64_t hash_of(int64_t i) const {
    uint64_t hash = 0;
    for (int64_t o = 0; o < outer; ++o) {
      const T* x = part(o, i);
      for (int64_t k = 0; k < inner; ++k) hash = mixed(hash + hash_of_element(x[k]) + 1);
    }
    return hash;
  }
  bool are_equal(int64_t i, int64_t j) const {
    bool equal = true;
    for (int64_t o = 0; equal && o < outer; ++o) {
      equal = std::equal(part(o, i), part(o, i) + inner, part(o, j));
    }
    return equal;
  }
};

// The first place of each distinct slice; writes the number of the slice at each place.
template <typename T, typename Index>
std::vector<int64_t> number_slices(const Slices<T>& slices, Index* numbers) {
  DistinctItems items;
  std::vector<int64_t> firsts;
  for (int64_t i = 0; i < slices.count; ++i) {
    // NaN equals nothing, so a table of such slices would become one long chain.
    const int64_t number =
        slices.are_equal(i, i)
            ? items.add(slices.hash_of(i),
                        [&](int64_t other) { return slices.are_equal(i, firsts[other]); })
            : items.add_alone();
    if (number == static_cast<int64_t>(firsts.size())) firsts.push_back(i);
    numbers[i] = static_cast<Index>(number);
  }
  return firsts;
}

// The same for single elements.
template <typename T, typename Index>
std::vector<int64_t> number_elements(const T* x, int64_t n, Index* numbers) {
  DistinctItems items;
  std::vector<int64_t> firsts;
  for (int64_t i = 0; i < n; ++i) {
    const auto is_same = [&](int64_t other) { return x[firsts[other]] == x[i]; };
    const int64_t number =
        x[i] == x[i] ? items.add(hash_of_element(x[i]), is_same) : items.add_alone();
    if (number == static_cast<int64_t>(firsts.size())) firsts.push_back(i);
    numbers[i] = static_cast<Index>(number);
  }
  return firsts;
}

template <typename T, typename Index>
Status unique_of(KernelContext& c, int axis) {
  const Tensor& x = c.input(0);
  Slices<T> slices{static_cast<const T*>(x.raw_data()), 1, x.shape().size(axis), 1};
  for (int i = 0; i < x.rank(); ++i) {
    if (i != axis) (i < axis ? slices.outer : slices.inner) *= x.shape().size(i);
  }
  if (slices.count > DistinctItems::kMaxItems) {
    return invalid_argument("unique does not support input tensors larger than ",
                            DistinctItems::kMaxItems, " elements");
  }
  RETURN_IF_ERROR(c.allocate_output(1, kDTypeOf<Index>, Shape{slices.count}));
  Index* numbers = c.out<Index>(1).data();
  const bool is_vector = slices.outer == 1 && slices.inner == 1;
  const std::vector<int64_t> firsts = is_vector
                                          ? number_elements(slices.elements, slices.count, numbers)
                                          : number_slices(slices, numbers);
  const auto count = static_cast<int64_t>(firsts.size());
  Shape shape = x.shape();
  shape.set(axis, count);
  RETURN_IF_ERROR(c.allocate_output(0, x.dtype(), shape));
  T* to = static_cast<T*>(c.output(0).mutable_raw_data());
  for (int64_t o = 0; o < slices.outer; ++o) {
    for (int64_t first : firsts) to = std::copy_n(slices.part(o, first), slices.inner, to);
  }
  if (c.num_outputs() < 3) return {};
  RETURN_IF_ERROR(c.allocate_output(2, kDTypeOf<Index>, Shape{count}));
  auto counts = c.out<Index>(2);
  std::fill(counts.begin(), counts.end(), Index(0));
  for (int64_t i = 0; i < slices.count; ++i) ++counts[numbers[i]];
  return {};
}

// Calls f with zeros of the types of the elements and of the indices.
template <typename F>
Status visit_types(DType dtype, DType index, F&& f) {
  const auto with_index = [&](auto zero) -> Status {
    return index == DType::kInt64 ? f(zero, int64_t{}) : f(zero, int32_t{});
  };
  if (dtype == DType::kString) return with_index(std::string());
  return visit_plain(dtype, [&](auto zero) -> Status {
    if constexpr (is_complex(kDTypeOf<decltype(zero)>)) {
      return internal_error("complex numbers are not compared here");
    } else {
      return with_index(zero);
    }
  });
}

Status unique_kernel(KernelContext& c) {
  int axis = 0;
  if (c.num_inputs() > 1) {
    ASSIGN_OR_RETURN(axis, axis_of(c.input(0).shape(), c.input(1).shape(), c.input(1)));
  }
  return visit_types(c.input(0).dtype(), c.attrs<UniqueAttrs>().out_idx,
                     [&](auto zero, auto index) -> Status {
                       return unique_of<decltype(zero), decltype(index)>(c, axis);
                     });
}

constexpr const char* kUniqueDetails =
    "y is in the order of the first places, and x is y at the places idx. NaN equals nothing.";

OpRecord unique_record(const char* name, bool has_axis, bool has_counts) {
  OpRecord record{
      .name = name,
      .summary = has_axis ? "The slices along an axis, each once." : "The elements, each once.",
      .details = kUniqueDetails,
      .inputs = {"x: T"},
      .outputs = {"y: T", "idx: out_idx"},
      .types = {{"T", kTypes, kAllTypes}, {"out_idx", kIndexTypes}},
      .infer = has_axis ? unique_v2_shape : unique_shape,
      .body = kernel(unique_kernel),
      .allocates_outputs = true,
  };
  if (has_axis) {
    record.inputs.push_back("axis: Taxis");
    record.types.push_back({"Taxis", kIndexTypes});
    record.values_for_inference = {1};
    record.details += " axis is a vector of one number, or of none where x is a vector.";
  }
  if (has_counts) {
    record.outputs.push_back("count: out_idx");
    record.details += " count is how often each is there.";
  }
  return record;
}

void define_unique_and_kin(OpRegistry& ops) {
  OpRecord unique = unique_record("Unique", false, false);
  unique.python = "unique";
  ops.define(kUnique, std::move(unique));
  ops.define(kUniqueV2, unique_record("UniqueV2", true, false));
  OpRecord with_counts = unique_record("UniqueWithCounts", false, true);
  with_counts.python = "unique_with_counts";
  ops.define(kUniqueWithCounts, std::move(with_counts));
  ops.define(kUniqueWithCountsV2, unique_record("UniqueWithCountsV2", true, true));
}

// --- ListDiff.

Status list_diff_shape(InferContext& c) {
  for (int i = 0; i < 2; ++i) {
    if (c.shape(i).has_rank() && c.shape(i).rank() != 1) {
      return invalid_argument(i == 0 ? "x" : "y", " should be a 1D vector.");
    }
  }
  const Dim count = c.new_symbol("difference");
  c.set_shape(0, {count});
  c.set_shape(1, {count});
  return {};
}

template <typename T, typename Index>
Status list_diff_of(KernelContext& c) {
  const Tensor &x = c.input(0), &y = c.input(1);
  const T* from = static_cast<const T*>(x.raw_data());
  const T* left_out = static_cast<const T*>(y.raw_data());
  if (std::max(x.num_elements(), y.num_elements()) > DistinctItems::kMaxItems) {
    return invalid_argument("ListDiff does not support more than ", DistinctItems::kMaxItems,
                            " elements");
  }
  DistinctItems items;
  std::vector<int64_t> firsts, kept;
  for (int64_t i = 0; i < y.num_elements(); ++i) {
    if (!(left_out[i] == left_out[i])) continue;
    const int64_t number = items.add(hash_of_element(left_out[i]), [&](int64_t other) {
      return left_out[firsts[other]] == left_out[i];
    });
    if (number == static_cast<int64_t>(firsts.size())) firsts.push_back(i);
  }
  for (int64_t i = 0; i < x.num_elements(); ++i) {
    const int64_t number = items.find(hash_of_element(from[i]), [&](int64_t other) {
      return left_out[firsts[other]] == from[i];
    });
    if (number < 0) kept.push_back(i);
  }
  const Shape shape{static_cast<int64_t>(kept.size())};
  RETURN_IF_ERROR(c.allocate_output(0, x.dtype(), shape));
  RETURN_IF_ERROR(c.allocate_output(1, kDTypeOf<Index>, shape));
  T* to = static_cast<T*>(c.output(0).mutable_raw_data());
  Index* places = c.out<Index>(1).data();
  for (size_t i = 0; i < kept.size(); ++i) {
    to[i] = from[kept[i]];
    places[i] = static_cast<Index>(kept[i]);
  }
  return {};
}

void define_list_diff(OpRegistry& ops) {
  ops.define(kListDiff,
             {
                 .name = "ListDiff",
                 .summary = "The elements of x that are not in y, in order, and their places.",
                 .inputs = {"x: T", "y: T"},
                 .outputs = {"out: T", "idx: out_idx"},
                 .types = {{"T", kRealTypes | DTypeSet{DType::kString}, kAllTypes},
                           {"out_idx", kIndexTypes}},
                 .infer = list_diff_shape,
                 .body = kernel([](KernelContext& c) -> Status {
                   return visit_types(c.input(0).dtype(), c.attrs<UniqueAttrs>().out_idx,
                                      [&](auto zero, auto index) -> Status {
                                        return list_diff_of<decltype(zero), decltype(index)>(c);
                                      });
                 }),
                 .allocates_outputs = true,
             });
}

}  // namespace

void define_unique_ops(OpRegistry& ops) {
  define_unique_and_kin(ops);
  define_list_diff(ops);
}

}  // namespace graven::engine
