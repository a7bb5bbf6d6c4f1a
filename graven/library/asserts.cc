#include "graven/library/asserts.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "graven/base/strings.h"
#include "graven/ir/frame.h"
#include "graven/ir/graph_builder.h"
#include "graven/ir/structural_ops.h"
#include "graven/library/define_functions.h"
#include "graven/library/function.h"
#include "graven/library/reductions.h"
#include "graven/ops/debug_ops.h"
#include "graven/ops/elements.h"
#include "graven/ops/logical_ops.h"
#include "graven/ops/math_ops.h"
#include "graven/ops/tensor_text.h"

namespace graven::engine {

std::string name_in_graph(const Tensor& x, std::string_view eager) {
  if (!x.is_symbolic()) return std::string(eager);
  const SymbolicTensor& tensor = symbolic(x);
  return str_cat(tensor.node().name(), ":", tensor.output().index);
}

std::string name_or_kind(const Tensor& x) {
  return name_in_graph(x, str_cat("shape=", x.shape().to_text(), " dtype=", dtype_name(x.dtype())));
}

std::string assert_prefix(const std::optional<std::string>& message) {
  return message && !message->empty() ? *message + ".  " : std::string();
}

Tensor text_constant(FunctionContext& c, std::string text) {
  return c.constant(Tensor::string_scalar(std::move(text)));
}

void assert_later(FunctionContext& c, const Tensor& condition, std::span<const Tensor> data,
                  std::optional<int64_t> summarize, std::string_view name) {
  AssertAttrs attrs;
  attrs.summarize = summarize.value_or(3);
  Tensors inputs{condition};
  for (const Tensor& tensor : data) {
    if (!tensor) return;  // after an error
    attrs.T.push_back(tensor.dtype());
    inputs.push_back(tensor);
  }
  (void)c.apply(*kAssert.op, inputs, attrs, name);
}

namespace {

using Holds = FunctionRef<Tensor(FunctionContext& c, const Tensor& x, const Tensor& y)>;

// The elements at these places, as a vector.
Tensor elements_at(const Tensor& x, std::span<const int64_t> places) {
  const Shape shape{static_cast<int64_t>(places.size())};
  auto made = Tensor::allocate(x.dtype(), shape);
  if (!made.ok()) return {};
  visit_copied(x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    T* to = static_cast<T*>(made->mutable_raw_data());
    for (int64_t place : places) *to++ = static_cast<const T*>(x.raw_data())[place];
  });
  return *made;
}

int64_t num_shown(int64_t num_elements, std::optional<int64_t> summarize) {
  const int64_t limit = summarize.value_or(3);
  return limit < 0 ? num_elements : std::min(limit, num_elements);
}

std::string first_elements(const char* name, const Tensor& x, std::optional<int64_t> summarize) {
  std::vector<int64_t> places;
  for (int64_t i = 0; i < num_shown(x.num_elements(), summarize); ++i) places.push_back(i);
  return str_cat("\nFirst ", places.size(), " elements of ", name, ":\n",
                 elements_text(elements_at(x, places)));
}

// The places at which a claim about two tensors of one shape does not hold.
std::string differences(const Tensor& holds, const Tensor& x, const Tensor& y,
                        std::optional<int64_t> summarize) {
  std::vector<int64_t> places;
  const auto is_held = holds.data<bool>();
  const int64_t count = std::ranges::count(is_held, false);
  for (int64_t i = 0; std::ssize(places) < num_shown(count, summarize); ++i) {
    if (!is_held[i]) places.push_back(i);
  }
  std::vector<int64_t> indices;
  for (int64_t place : places) {
    const size_t first = indices.size();
    for (int axis = x.rank() - 1; axis >= 0; --axis) {
      indices.push_back(place % x.shape().size(axis));
      place /= x.shape().size(axis);
    }
    std::reverse(indices.begin() + static_cast<std::ptrdiff_t>(first), indices.end());
  }
  const Tensor table = Tensor::vector(std::span<const int64_t>(indices))
                           .with_shape(Shape{std::ssize(places), int64_t{x.rank()}});
  return str_cat("\nIndices of first ", places.size(), " different values:\n", elements_text(table),
                 "\nCorresponding x values:\n", elements_text(elements_at(x, places)),
                 "\nCorresponding y values:\n", elements_text(elements_at(y, places)));
}

// A part of a message: a text, or a tensor that is printed.
struct Part {
  std::string text;
  Tensor value = {};
};

// Checks a claim about all elements of x and y: now if they are known, else at run time. The
// message shows the heading, x, and y where asked for.
Outputs check_all(FunctionContext& c, const Tensor& x, const Tensor& y, bool shows_y, Holds holds,
                  FunctionRef<std::vector<Part>()> heading, std::optional<int64_t> summarize) {
  const Tensor each = holds(c, x, y);
  if (!each) return Tensors();
  const Tensor all = reduce(c, kAll, each);
  Tensor result = all;
  const Tensor known_x = known_value(x), known_y = known_value(y);
  if (c.is_graph()) {
    FunctionContext now = c.at_once();
    const Tensor known = known_x && known_y ? holds(now, known_x, known_y) : Tensor();
    result = known ? reduce(now, kAll, known).tensor() : known;
  }
  if (!all || (!c.is_graph() && result.item<bool>())) return Tensors();
  std::vector<Part> parts = heading();
  parts.push_back({str_cat("x (", name_or_kind(x), ") = ")});
  parts.push_back({{}, x});
  if (shows_y) {
    parts.push_back({str_cat("y (", name_or_kind(y), ") = ")});
    parts.push_back({{}, y});
  }
  if (result && !result.item<bool>()) {
    std::vector<std::string> lines;
    for (const Part& part : parts) {
      lines.push_back(part.value ? elements_text(known_value(part.value)) : part.text);
    }
    return c.fail(invalid_argument(str_join(lines, "\n")));
  }
  std::vector<Tensor> data;
  for (Part& part : parts) {
    data.push_back(part.value ? part.value : text_constant(c, std::move(part.text)));
  }
  assert_later(c, all, data, summarize);
  return Tensors();
}

// --- Of two tensors.

struct ComparisonParameters {
  Tensor x, y;
  std::optional<std::string> message;
  std::optional<int64_t> summarize;
  static constexpr auto fields() {
    using P = ComparisonParameters;
    return std::tuple(required_field("x", &P::x, "own T", "A tensor."),
                      required_field("y", &P::y, "own T", "A tensor of its dtype."),
                      field("message", &P::message, kAssertMessageDoc),
                      field("summarize", &P::summarize, kAssertSummarizeDoc));
  }
};

// The same, with the arguments in the order that TensorFlow has only here.
struct NoneEqualParameters : ComparisonParameters {
  static constexpr auto fields() {
    using P = NoneEqualParameters;
    return std::tuple(required_field("x", &P::x, "own T", "A tensor."),
                      required_field("y", &P::y, "own T", "A tensor of its dtype."),
                      field("summarize", &P::summarize, kAssertSummarizeDoc),
                      field("message", &P::message, kAssertMessageDoc));
  }
};

Outputs compare(FunctionContext& c, const ComparisonParameters& p, const char* claim, Holds holds) {
  const bool has_message = p.message && !p.message->empty();
  if (c.is_graph()) {
    const auto heading = [&] {
      std::vector<Part> parts;
      if (has_message) parts.push_back({*p.message});
      parts.push_back({str_cat("Condition ", claim, " did not hold element-wise:")});
      return parts;
    };
    return check_all(c, p.x, p.y, true, holds, heading, p.summarize);
  }
  const Tensor each = holds(c, p.x, p.y);
  if (!each) return Tensors();
  const Tensor all = reduce(c, kAll, each);
  if (!all || all.item<bool>()) return Tensors();
  std::string text = has_message ? *p.message + "\n" : std::string();
  text += str_cat("Condition ", claim, " did not hold.");
  if (p.x.rank() > 0 && p.x.shape() == p.y.shape()) {
    text += differences(each, p.x, p.y, p.summarize);
  }
  text += first_elements("x", p.x, p.summarize) + first_elements("y", p.y, p.summarize);
  return c.fail(invalid_argument(text));
}

template <typename Parameters, typename A>
void define_comparison(FunctionRegistry& functions, const char* names, const char* name,
                       std::string claim, const OpHandle<A>& op) {
  functions.define({
      .names = names,
      .scope = name,
      .results = nothing(),
      .summary = str_cat("Checks that ", claim, " for all elements, which broadcast."),
      .returns = "None eagerly; the operation while a function is traced.",
      .raises = {{"InvalidArgumentError",
                  "It does not hold: when the check runs, or while tracing if both are known; or "
                  "the dtypes differ."}},
      .source = "OpDef \"Assert\"",
      .body =
          [claim, &op](FunctionContext& c, const Parameters& p) {
            return compare(c, p, claim.c_str(),
                           [&op](FunctionContext& to, const Tensor& x, const Tensor& y) {
                             return to(op, {x, y});
                           });
          },
  });
}

// --- Of a tensor and 0.

struct SignParameters {
  Tensor x;
  std::optional<std::string> message;
  std::optional<int64_t> summarize;
  static constexpr auto fields() {
    using P = SignParameters;
    return std::tuple(required_field("x", &P::x, "any", "A tensor of numbers."),
                      field("message", &P::message, kAssertMessageDoc),
                      field("summarize", &P::summarize, kAssertSummarizeDoc));
  }
};

void define_sign(FunctionRegistry& functions, const char* name, std::string claim,
                 const OpHandle<NoAttrs>& op) {
  functions.define({
      .names = str_cat("debugging.", name),
      .scope = name,
      .results = nothing(),
      .summary = str_cat("Checks that ", claim, " for all elements."),
      .returns = "None eagerly; the operation while a function is traced.",
      .raises = {{"InvalidArgumentError",
                  "It does not hold: when the check runs, or while tracing if x is known."},
                 {"TypeError", "There is no 0 of the dtype."}},
      .source = "OpDef \"Assert\"",
      .body = [claim, &op](FunctionContext& c, const SignParameters& p) -> Outputs {
        if (!is_plain(p.x.dtype())) {
          return c.fail(
              type_error("Cannot convert 0 to EagerTensor of dtype ", dtype_name(p.x.dtype())));
        }
        const auto holds = [&op](FunctionContext& to, const Tensor& x, const Tensor& zero) {
          return to(op, {x, zero});
        };
        const auto heading = [&]() -> std::vector<Part> {
          return {{assert_prefix(p.message)},
                  {str_cat("Condition ", claim, " did not hold element-wise:")}};
        };
        return check_all(c, p.x, c.scalar(0, p.x.dtype()), false, holds, heading, p.summarize);
      },
  });
}

// --- Of floats.

struct NearParameters {
  Tensor x, y, rtol, atol;
  std::optional<std::string> message;
  std::optional<int64_t> summarize;
  static constexpr auto fields() {
    using P = NearParameters;
    return std::tuple(required_field("x", &P::x, "T", "Floating, or complex."),
                      required_field("y", &P::y, "T", "A tensor of its dtype."),
                      field("rtol", &P::rtol, "like T",
                            "The relative tolerance; None means ten times the dtype's precision."),
                      field("atol", &P::atol, "like T", "The absolute tolerance, likewise."),
                      field("message", &P::message, kAssertMessageDoc),
                      field("summarize", &P::summarize, kAssertSummarizeDoc));
  }
};

// The distance from 1 to the next number of the dtype.
double precision_of(DType real) {
  if (real == DType::kHalf) return 0x1p-10;
  if (real == DType::kBFloat16) return 0x1p-7;
  return real == DType::kFloat32 ? 0x1p-23 : 0x1p-52;
}

Tensor magnitude(FunctionContext& c, const Tensor& x) {
  return x && is_complex(x.dtype()) ? c(kComplexAbs, {x}, {real_part_type(x.dtype())})
                                    : c(kAbs, {x});
}

Outputs near(FunctionContext& c, const NearParameters& p) {
  const DType real = real_part_type(p.x.dtype());
  if (!is_floating(real)) {
    return c.fail(value_error("assert_near needs floats, not ", dtype_name(p.x.dtype())));
  }
  const auto refuse = [&](std::string_view name, DType wanted, const Tensor& given) {
    return c.fail(value_error(name, ": Tensor conversion requested dtype ", dtype_name(wanted),
                              " for Tensor with dtype ", dtype_name(given.dtype())));
  };
  if (p.y.dtype() != p.x.dtype()) return refuse("y", p.x.dtype(), p.y);
  Tensor tolerances[] = {p.rtol, p.atol};
  for (int i = 0; i < 2; ++i) {
    Tensor& tolerance = tolerances[i];
    if (!tolerance) tolerance = c.scalar(10 * precision_of(real), real);
    if (tolerance && is_complex(tolerance.dtype())) tolerance = c(kReal, {tolerance}, {real});
    if (!tolerance) return Tensors();
    if (tolerance.dtype() != real) return refuse(i == 0 ? "rtol" : "atol", real, tolerance);
  }
  const auto holds = [&](FunctionContext& to, const Tensor& x, const Tensor& y) -> Tensor {
    const bool is_now = &to != &c;
    const Tensor relative = is_now ? known_value(tolerances[0]) : tolerances[0];
    const Tensor absolute = is_now ? known_value(tolerances[1]) : tolerances[1];
    if (!relative || !absolute) return {};
    Formula difference = to(magnitude(to, to(x) - to(y)));
    return to(kLess, {difference, to(absolute) + to(relative) * to(magnitude(to, y))});
  };
  const auto text = [](const Tensor& tolerance) {
    const Tensor known = known_value(tolerance);
    return known ? elements_text(known) : name_or_kind(tolerance);
  };
  const auto heading = [&]() -> std::vector<Part> {
    return {{assert_prefix(p.message)},
            {str_cat("x and y not equal to tolerance rtol = ", text(tolerances[0]),
                     ", atol = ", text(tolerances[1]))}};
  };
  return check_all(c, p.x, p.y, true, holds, heading, p.summarize);
}

struct FiniteParameters {
  Tensor x;
  std::string message;
  static constexpr auto fields() {
    using P = FiniteParameters;
    return std::tuple(
        required_field("x", &P::x, "T", "A tensor of floats."),
        required_field("message", &P::message, "What stands in front of the error's message."));
  }
};

Outputs all_finite(FunctionContext& c, const FiniteParameters& p) {
  const Tensor checked = c(kCheckNumerics, {p.x}, {.message = p.message});
  if (!checked || !checked.is_symbolic()) return checked ? p.x : checked;
  // The check runs before uses of the value and is not differentiated.
  std::vector<Node*>& before = Frame::current().graph_builder()->control_inputs;
  before.push_back(&symbolic(checked).node());
  const Tensor x = c(kIdentity, {p.x}, {}, c.name());
  before.pop_back();
  return x;
}

}  // namespace

void define_asserts(FunctionRegistry& functions) {
  using Usual = ComparisonParameters;
  define_comparison<Usual>(functions, "debugging.assert_equal, assert_equal", "assert_equal",
                           "x == y", kEqual);
  define_comparison<Usual>(functions, "debugging.assert_less, assert_less", "assert_less", "x < y",
                           kLess);
  define_comparison<Usual>(functions, "debugging.assert_less_equal", "assert_less_equal", "x <= y",
                           kLessEqual);
  define_comparison<Usual>(functions, "debugging.assert_greater, assert_greater", "assert_greater",
                           "x > y", kGreater);
  define_comparison<Usual>(functions, "debugging.assert_greater_equal", "assert_greater_equal",
                           "x >= y", kGreaterEqual);
  define_comparison<NoneEqualParameters>(functions, "debugging.assert_none_equal",
                                         "assert_none_equal", "x != y", kNotEqual);
  define_sign(functions, "assert_positive", "x > 0", kGreater);
  define_sign(functions, "assert_negative", "x < 0", kLess);
  define_sign(functions, "assert_non_negative", "x >= 0", kGreaterEqual);
  define_sign(functions, "assert_non_positive", "x <= 0", kLessEqual);
  functions.define({
      .names = "debugging.assert_near",
      .scope = "assert_near",
      .types = {{"T", kFloatTypes | kComplexTypes}},
      .results = nothing(),
      .summary = "Checks that |x - y| < atol + rtol * |y| for all elements.",
      .returns = "None eagerly; the operation while a function is traced.",
      .raises = {{"InvalidArgumentError", "It does not hold."},
                 {"ValueError", "x is not floating."}},
      .source = "OpDef \"Assert\"",
      .body = near,
  });
  functions.define({
      .names = "debugging.assert_all_finite",
      .scope = "VerifyFinite",
      .types = {{"T", kFloatTypes}},
      .summary = "Gives the tensor back, after a check that it holds neither NaN nor infinities.",
      .returns = "The tensor; the check runs before it is used.",
      .raises = {{"InvalidArgumentError", "It holds some."}},
      .source = "OpDef \"CheckNumerics\"",
      .body = all_finite,
  });
}

}  // namespace graven::engine
