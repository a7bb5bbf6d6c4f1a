// Arithmetic of rows with one element for each row. Vectors go over the rows as if they were one,
// so that they stay aligned; where a row ends within a vector, the elements of two rows are mixed.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "graven/kernels/row_operand_blocks.cc"
#include "hwy/foreach_target.h"
//
#include "graven/kernels/block_functions.h"
#include "graven/kernels/highway_model-inl.h"
#include "graven/kernels/simd_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace graven::engine::HWY_NAMESPACE {
namespace {

template <Instruction kInstruction, class V>
HWY_INLINE V apply(V a, V b) {
  if constexpr (kInstruction == Instruction::kAdd) return a + b;
  if constexpr (kInstruction == Instruction::kSub) return a - b;
  if constexpr (kInstruction == Instruction::kMul) return a * b;
  if constexpr (kInstruction == Instruction::kDiv) return a / b;
}

template <Instruction kInstruction, typename T>
void row_loop(void* out, const void* a, const void* b, int64_t rows, int64_t columns) {
  using V = Vector<hn::ScalableTag<T>>;
  constexpr hn::ScalableTag<T> d;
  constexpr auto kLanes = static_cast<int64_t>(hn::MaxLanes(d));
  static_assert(kLanes <= kFewestColumnsByRow);
  T* o = static_cast<T*>(out);
  const T *x = static_cast<const T*>(a), *values = static_cast<const T*>(b);
  int64_t left = columns;  // elements of the row from x on
  for (int64_t row = 0;;) {
    const V value(values[row]);
    for (; left >= kLanes; left -= kLanes, x += kLanes, o += kLanes) {
      hn::StoreU(apply<kInstruction>(V(hn::LoadU(d, x)), value).v, d, o);
    }
    if (++row == rows) {
      return store_some(apply<kInstruction>(load_some(d, x, left), value), d, o, left);
    }
    if (left == 0) {
      left = columns;
      continue;
    }
    const auto is_of_row = hn::FirstN(d, static_cast<size_t>(left));
    const V mixed(hn::IfThenElse(is_of_row, value.v, hn::Set(d, values[row])));
    hn::StoreU(apply<kInstruction>(V(hn::LoadU(d, x)), mixed).v, d, o);
    left += columns - kLanes;
    x += kLanes;
    o += kLanes;
  }
}

template <typename T>
ByRowFunction of_type(Instruction instruction) {
  switch (instruction) {
    case Instruction::kAdd:
      return row_loop<Instruction::kAdd, T>;
    case Instruction::kSub:
      return row_loop<Instruction::kSub, T>;
    case Instruction::kMul:
      return row_loop<Instruction::kMul, T>;
    case Instruction::kDiv:
      return row_loop<Instruction::kDiv, T>;
    default:
      return nullptr;
  }
}

ByRowFunction find(Instruction instruction, DType type) {
  if (type == DType::kFloat32) return of_type<float>(instruction);
  if (type == DType::kFloat64) return of_type<double>(instruction);
  return nullptr;
}

}  // namespace
}  // namespace graven::engine::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace graven::engine {
ByRowFunction by_row_function(Instruction instruction, DType type) {
  return GRAVEN_SIMD_DISPATCH(find)(instruction, type);
}
}  // namespace graven::engine
#endif
