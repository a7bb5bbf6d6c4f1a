#pragma once
#include <cstdint>
#include <optional>
#include <source_location>
#include <string>
#include <type_traits>
#include <vector>

#include "graven/api/arguments.h"
#include "graven/api/operand.h"
#include "graven/api/tensor.h"
#include "graven/base/export.h"

// Checks and messages. While a function is traced they become nodes, which run in the order of the
// program with every call. A check that fails is an InvalidArgument; a check of shapes and dtypes
// that are known fails at once, as a ValueError or TypeError.

namespace graven {

// An argument of print: a text is written as it is; numbers, true and false as in Python; tensors
// and the values of variables by their elements.
class GRAVEN_API Printable {
 public:
  Printable(const char* text) : text_(text) {}
  Printable(std::string text) : text_(std::move(text)) {}
  Printable(const Tensor& tensor) : tensor_(tensor) {}
  Printable(const Variable& variable,
            std::source_location location = std::source_location::current());
  template <typename T>
  requires std::is_arithmetic_v<T> Printable(T number)
      : text_(std::is_same_v<T, bool> ? (number ? "True" : "False")
              : std::is_integral_v<T> ? std::to_string(static_cast<int64_t>(number))
                                      : float_text(static_cast<double>(number))) {}

  const std::string& text() const { return text_; }
  const Tensor& tensor() const { return tensor_; }  // none: it is a text

 private:
  static std::string float_text(double number);
  std::string text_;
  Tensor tensor_;
};

struct PrintOptions {
  // "stdout", "stderr", "log(info)", "log(warning)", "log(error)", or "file://" and a path.
  std::string output_stream = "stderr";
  int64_t summarize = 3;  // elements shown at both ends of an axis; -1: all
  std::string sep = " ", end = "\n";
};

// Writes the values when the program reaches this call: print({"loss:", loss}).
GRAVEN_API void print(const std::vector<Printable>& inputs, const PrintOptions& options = {},
                      Here location = Here::current());

// Fails if the condition, a bool scalar, is false; the message shows the first elements of the
// data.
GRAVEN_API void Assert(const Operand& condition, const std::vector<Tensor>& data,
                       int64_t summarize = 3);

namespace debugging {
using graven::Assert;

// The one floating dtype of all tensors, which `dtype` says if it is given; float32 if nothing
// does.
GRAVEN_API DType assert_same_float_dtype(const std::vector<Tensor>& tensors,
                                         std::optional<DType> dtype = std::nullopt,
                                         Here location = Here::current());

// From now on NaN or an infinity in a floating output of any op is an InvalidArgument error that
// names the op, its inputs and the lines where it was made: of ops that this thread computes at
// once, and in Functions that it calls, which it traces anew, with checks. Of the lines the last
// stack_height_limit are shown, and of a path the last path_length_limit characters; none: all.
// Calling it again changes nothing.
GRAVEN_API void enable_check_numerics(std::optional<int64_t> stack_height_limit = 30,
                                      std::optional<int64_t> path_length_limit = 50);
GRAVEN_API void disable_check_numerics();
}  // namespace debugging

}  // namespace graven
