#include "graven/api/debug_ops.h"

#include <cmath>

#include "graven/api/apply.h"
#include "graven/api/compose.h"
#include "graven/api/op_functions.h"
#include "graven/api/scopes.h"
#include "graven/api/variable.h"
#include "graven/base/strings.h"
#include "graven/ir/graph_builder.h"
#include "graven/ir/structural_ops.h"
#include "graven/ops/debug_ops.h"
#include "graven/ops/logical_ops.h"
#include "graven/ops/math_ops.h"
#include "graven/ops/shape_ops.h"
#include "graven/ops/tensor_summary.h"

namespace graven {
namespace {

using internal::apply;
using internal::Composite;
using internal::LineScope;

using Comparison = Tensor (*)(const Operand& x, const Operand& y);

std::string name_of(const Tensor& tensor) {
  if (!tensor.is_symbolic()) return "eager";
  const auto& symbolic = engine::symbolic(tensor);
  return engine::str_cat(symbolic.node().name(), ":", symbolic.output().index);
}

std::string prefixed(const std::string& message) { return message.empty() ? "" : message + ". "; }

// Fails unless `holds` is true everywhere: `claim` says of what.
void check_all(const Tensor& holds, const Tensor& x, const Tensor& y, const std::string& claim,
               const std::string& message, int64_t summarize, const Here& location) {
  Tensor all = reduce_all(holds);
  if (all.is_symbolic()) {
    std::vector<Tensor> data;
    if (!message.empty()) data.push_back(message);
    data.push_back("Condition " + claim + " did not hold element-wise:");
    data.insert(data.end(), {"x (" + name_of(x) + ") = ", x, "y (" + name_of(y) + ") = ", y});
    Assert(all, data, summarize);
    return;
  }
  if (all.item<bool>()) return;
  std::string text = message.empty() ? "" : message + "\n";
  throw_error(
      engine::invalid_argument(text, "Condition ", claim, " did not hold.\nFirst elements of x:\n[",
                               engine::summarize_first(x, summarize), "]\nFirst elements of y:\n[",
                               engine::summarize_first(y, summarize), "]"),
      location);
}

void compare(const char* name, const char* symbol, Comparison holds, const Operand& x,
             const Operand& y, const std::string& message, int64_t summarize) {
  Composite composite(name, x.location());
  Tensor first = x.as_tensor(y.dtype()), second = y.as_tensor(first.dtype());
  check_all(holds(first, second), first, second, engine::str_cat("x ", symbol, " y"), message,
            summarize, x.location());
}

void compare_with_zero(const char* name, const char* symbol, Comparison holds, const Operand& x,
                       const std::string& message, int64_t summarize) {
  Composite composite(name, x.location());
  Tensor tensor = x.as_tensor(), zero = Operand(0).as_tensor(tensor.dtype());
  check_all(holds(tensor, zero), tensor, zero, engine::str_cat("x ", symbol, " 0"), message,
            summarize, x.location());
}

}  // namespace

// --- print.

Printable::Printable(const Variable& variable, std::source_location location)
    : tensor_(variable.value(location)) {}

// As Python's repr: 0.5, 3.0, 1e+16.
std::string Printable::float_text(double number) {
  std::string text = engine::shortest(number);
  bool is_whole = text.find_first_of(".einf") == std::string::npos;
  return is_whole ? text + ".0" : text;
}

void print(const std::vector<Printable>& inputs, const PrintOptions& options, Here location) {
  Composite composite("print", location);
  // A placeholder that no text holds.
  std::string texts;
  for (const Printable& input : inputs) texts += input.text() + " ";
  std::string placeholder = "{}";
  while (texts.find(placeholder) != std::string::npos) placeholder = "{" + placeholder + "}";
  std::string text;
  std::vector<engine::Tensor> tensors;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (i > 0) text += options.sep;
    bool is_text = inputs[i].tensor().is_none();
    text += is_text ? inputs[i].text() : placeholder;
    if (!is_text) tensors.push_back(inputs[i].tensor());
  }
  // A string alone is written without quotes.
  bool is_string = inputs.size() == 1 && tensors.size() == 1 &&
                   tensors[0].dtype() == DType::kString && tensors[0].shape() == Shape();
  engine::StringFormatAttrs format{.T = internal::dtypes_of(tensors, location),
                                   .text = text,
                                   .placeholder = placeholder,
                                   .summarize = options.summarize};
  Tensor written = is_string ? Tensor(tensors[0])
                             : Tensor(apply(*engine::kStringFormat, tensors, format, location)[0]);
  engine::PrintAttrs attrs{.output_stream = options.output_stream, .end = options.end};
  const engine::Tensor lines[] = {written};
  apply(*engine::kPrintV2, lines, attrs, location, "PrintV2");
}

// --- Checks of values.

void Assert(const Operand& condition, const std::vector<Tensor>& data, int64_t summarize) {
  const Here& location = condition.location();
  std::vector<engine::Tensor> inputs(data.begin(), data.end());
  engine::AssertAttrs attrs{.T = internal::dtypes_of(inputs, location), .summarize = summarize};
  inputs.insert(inputs.begin(), condition.as_tensor(DType::kBool));
  apply(*engine::kAssert, inputs, attrs, location, "Assert");
}

namespace debugging {

void assert_equal(const Operand& x, const Operand& y, const std::string& message,
                  int64_t summarize) {
  compare("assert_equal", "==", equal, x, y, message, summarize);
}

void assert_none_equal(const Operand& x, const Operand& y, const std::string& message,
                       int64_t summarize) {
  compare("assert_none_equal", "!=", not_equal, x, y, message, summarize);
}

void assert_less(const Operand& x, const Operand& y, const std::string& message,
                 int64_t summarize) {
  compare("assert_less", "<", operator<, x, y, message, summarize);
}

void assert_less_equal(const Operand& x, const Operand& y, const std::string& message,
                       int64_t summarize) {
  compare("assert_less_equal", "<=", operator<=, x, y, message, summarize);
}

void assert_greater(const Operand& x, const Operand& y, const std::string& message,
                    int64_t summarize) {
  compare("assert_greater", ">", operator>, x, y, message, summarize);
}

void assert_greater_equal(const Operand& x, const Operand& y, const std::string& message,
                          int64_t summarize) {
  compare("assert_greater_equal", ">=", operator>=, x, y, message, summarize);
}

void assert_positive(const Operand& x, const std::string& message, int64_t summarize) {
  compare_with_zero("assert_positive", ">", operator>, x, message, summarize);
}

void assert_negative(const Operand& x, const std::string& message, int64_t summarize) {
  compare_with_zero("assert_negative", "<", operator<, x, message, summarize);
}

void assert_non_negative(const Operand& x, const std::string& message, int64_t summarize) {
  compare_with_zero("assert_non_negative", ">=", operator>=, x, message, summarize);
}

void assert_non_positive(const Operand& x, const std::string& message, int64_t summarize) {
  compare_with_zero("assert_non_positive", "<=", operator<=, x, message, summarize);
}

namespace {

// The distance of 1 to the next number.
double precision_of(DType real) {
  switch (real) {
    case DType::kHalf:
      return 0x1p-10;
    case DType::kBFloat16:
      return 0x1p-7;
    case DType::kFloat32:
      return 0x1p-23;
    default:
      return 0x1p-52;
  }
}

}  // namespace

void assert_near(const Operand& x, const Operand& y, const Tolerances& tolerances,
                 const std::string& message, int64_t summarize) {
  Composite composite("assert_near", x.location());
  Tensor first = x.as_tensor(y.dtype()), second = y.as_tensor(first.dtype());
  DType real = engine::real_part_type(first.dtype());
  if (!engine::is_floating(real)) {
    throw_error(engine::value_error("assert_near needs floats, not ", engine::dtype_name(real)),
                x.location());
  }
  double usual = 10 * precision_of(real);
  Tensor relative = Operand(tolerances.rtol.value_or(usual)).as_tensor(real);
  Tensor absolute = Operand(tolerances.atol.value_or(usual)).as_tensor(real);
  Tensor holds = abs(first - second) < absolute + relative * abs(second);
  check_all(holds, first, second, "|x - y| < atol + rtol * |y|", message, summarize, x.location());
}

Tensor assert_all_finite(const Operand& x, const std::string& message) {
  Composite composite("VerifyFinite", x.location());
  Tensor value = x.as_tensor();
  Tensor checked = apply(engine::kCheckNumerics, {value}, {.message = message});
  ControlDependencies after({checked});
  return apply(engine::kIdentity, {value});
}

// --- Of shapes and dtypes.

namespace {

// `wish` says in words what `is_right` says of a rank that is known and `holds` of one that is
// found.
void check_rank(const char* name, const Operand& x, const std::string& wish,
                engine::FunctionRef<bool(int rank)> is_right,
                engine::FunctionRef<Tensor(const Tensor& rank)> holds, const std::string& message) {
  Composite composite(name, x.location());
  Tensor tensor = x.as_tensor();
  std::string claim = engine::str_cat("Tensor ", name_of(tensor), " must have rank ", wish);
  if (!tensor.shape().has_rank()) {
    Assert(holds(apply(engine::kRank, {tensor})), {message, claim, graven::shape(tensor)});
    return;
  }
  if (is_right(tensor.rank())) return;
  throw_error(engine::value_error(prefixed(message), claim, ".  Received rank ", tensor.rank(),
                                  ", shape ", tensor.shape().to_text()),
              x.location());
}

}  // namespace

void assert_rank(const Operand& x, int rank, const std::string& message) {
  check_rank(
      "assert_rank", x, std::to_string(rank), [&](int known) { return known == rank; },
      [&](const Tensor& found) { return graven::equal(found, rank); }, message);
}

void assert_rank_at_least(const Operand& x, int rank, const std::string& message) {
  check_rank(
      "assert_rank_at_least", x, engine::str_cat("at least ", rank),
      [&](int known) { return known >= rank; }, [&](const Tensor& found) { return found >= rank; },
      message);
}

void assert_rank_in(const Operand& x, const std::vector<int>& ranks, const std::string& message) {
  std::vector<std::string> names;
  for (int rank : ranks) names.push_back(std::to_string(rank));
  check_rank(
      "assert_rank_in", x, engine::str_cat("in (", engine::str_join(names, ", "), ")"),
      [&](int known) { return std::ranges::count(ranks, known) > 0; },
      [&](const Tensor& found) {
        Tensor is_one = false;
        for (int rank : ranks) is_one = is_one | graven::equal(found, rank);
        return is_one;
      },
      message);
}

Tensor assert_scalar(const Operand& tensor, const std::string& message) {
  LineScope line(tensor.location());
  Tensor value = tensor.as_tensor();
  if (!value.shape().has_rank() || value.rank() != 0) {
    throw_error(engine::value_error(prefixed(message), "Expected a scalar, got shape ",
                                    value.shape().to_text()),
                tensor.location());
  }
  return value;
}

void assert_type(const Operand& tensor, DType tf_type, const std::string& message) {
  Tensor value = tensor.as_tensor();
  if (value.dtype() == tf_type) return;
  throw_error(engine::type_error(prefixed(message), name_of(value), " must be of type tf.",
                                 engine::dtype_name(tf_type), "; got tf.",
                                 engine::dtype_name(value.dtype())),
              tensor.location());
}

void assert_integer(const Operand& x, const std::string& message) {
  Tensor value = x.as_tensor();
  if (engine::is_integer(value.dtype())) return;
  std::string expected = "Expected an integer dtype, got tf.";
  throw_error(engine::type_error(message.empty()
                                     ? engine::str_cat(expected, engine::dtype_name(value.dtype()))
                                     : message),
              x.location());
}

DType assert_same_float_dtype(const std::vector<Tensor>& tensors, std::optional<DType> dtype,
                              Here location) {
  for (const Tensor& tensor : tensors) {
    if (!dtype) dtype = tensor.dtype();
    if (tensor.dtype() == *dtype) continue;
    throw_error(
        engine::value_error(name_of(tensor), ", type=tf.", engine::dtype_name(tensor.dtype()),
                            ", must be of the same type (tf.", engine::dtype_name(*dtype), ")."),
        location);
  }
  if (!dtype) return DType::kFloat32;
  if (engine::is_floating(*dtype)) return *dtype;
  throw_error(
      engine::value_error("Expected floating point type, got tf.", engine::dtype_name(*dtype), "."),
      location);
}

}  // namespace debugging

}  // namespace graven
