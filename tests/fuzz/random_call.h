#pragma once
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "graven/ir/attributes.h"
#include "graven/ir/op.h"
#include "graven/tensor/tensor.h"

namespace graven::engine {

// Inputs and attributes for one application of an op.
struct RandomCall {
  std::vector<Tensor> inputs;
  Attrs attrs;
  // "Sum(float32[2,3] = 1 2 ..., int32[] = 1) {keep_dims=true}"
  std::string to_text(const Op& op) const;
};

// Makes calls that are mostly right in their types, often in their shapes, and seldom harmless in
// their values: sizes and indices at the ends of their ranges, NaNs, empty tensors, axes that are
// not there.
class CallMaker {
 public:
  explicit CallMaker(uint64_t seed) : random_(seed) {}
  RandomCall call(const Op& op);

 private:
  uint64_t below(uint64_t n) { return random_() % n; }
  bool chance(int percent) { return below(100) < static_cast<uint64_t>(percent); }
  int64_t integer();
  int64_t small();  // mostly 1, 2 or 3
  double number();
  std::string text(std::string_view attribute);
  DType dtype(DTypeSet allowed);
  Shape shape();
  Shape like_base();
  Tensor tensor(DType dtype, const Shape& shape);
  Tensor input(DType dtype, DType behind_resource);
  AttrValue attribute(const AttrField& field, AttrValue usual);
  template <typename T, typename Make>
  std::vector<T> list(size_t usual_size, Make make);

  std::mt19937_64 random_;
  Shape base_;  // what many shapes of one call have in common
};

}  // namespace graven::engine
