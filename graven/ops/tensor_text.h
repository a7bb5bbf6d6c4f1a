#pragma once
#include <string>

#include "graven/tensor/tensor.h"

namespace graven::engine {

// The elements of an eager tensor as NumPy prints them: str(array) and repr(array), with NumPy's
// default options (8 digits, lines of 75, more than 1000 elements abridged).
std::string elements_text(const Tensor& tensor);
std::string elements_repr(const Tensor& tensor);

}  // namespace graven::engine
