#include "graven/library/random_sources.h"

#include <cctype>
#include <string>
#include <variant>

#include "graven/base/strings.h"
#include "graven/library/seeds.h"
#include "graven/ops/math_ops.h"

namespace graven::engine {

Tensor seed_of(FunctionContext& c, const Sizes& seed) {
  const Tensor given = c.tensor_of(seed, "seed");
  const bool is_narrow = given && is_integer(given.dtype()) && dtype_size(given.dtype()) < 4;
  return is_narrow ? c.cast(given, DType::kInt64).tensor() : given;
}

Result<int64_t> algorithm_number(const NumberOrText& algorithm) {
  const auto unsupported = [](const auto& value) {
    return value_error("Argument `alg` got unsupported value ", value,
                       ". Philox is 1 or \"philox\", ThreeFry 2 or \"threefry\", and the choice of "
                       "the system 3 or \"auto_select\"");
  };
  if (const auto* number = std::get_if<double>(&algorithm)) {
    for (const int64_t known : {kPhilox, kThreefry, kAutoSelect}) {
      if (*number == static_cast<double>(known)) return known;
    }
    return unsupported(shortest(*number));
  }
  const auto& given = std::get<std::string>(algorithm);
  std::string name;
  for (char c : given) {
    if (c != '-' && c != '_') name += static_cast<char>(std::tolower(c));
  }
  if (name == "philox") return kPhilox;
  if (name == "threefry") return kThreefry;
  if (name == "autoselect") return kAutoSelect;
  return unsupported(given);
}

Tensor scaled(FunctionContext& c, const Tensor& unit, const Tensor& low, const Tensor& high,
              std::string_view name) {
  Formula x = c(unit), from = low ? c(low) : constant_like(x, 0);
  Formula to = high ? c(high) : constant_like(x, 1);
  return c(kAddV2, {x * (to - from), from}, {}, name);
}

std::pair<int64_t, int64_t> op_seeds(FunctionContext& c, std::optional<int64_t> seed) {
  auto seeds = seeds_of_op(seed);
  if (seeds.ok()) return *seeds;
  c.fail(seeds.status());
  return {};
}

Tensor normal_numbers(FunctionContext& c, const Tensor& mean, const Tensor& deviation, DType dtype,
                      FunctionRef<Tensor(std::string_view name)> draw) {
  if (!is_floating(dtype)) {
    return c.fail(type_error("Cannot convert 0.0 to EagerTensor of dtype ", dtype_name(dtype)));
  }
  // A number in half may be -0; adding a mean of 0 makes it 0.
  if (!mean && !deviation && dtype != DType::kHalf) return draw(c.name());
  Formula x = c(draw({}));
  if (deviation) x = x * c(deviation);
  return c(kAddV2, {x, mean ? mean : constant_like(x, 0).tensor()}, {}, c.name());
}

Tensor uniform_numbers(FunctionContext& c, const UniformSource& source, const Tensor& low,
                       const Tensor& high, DType dtype, std::string_view name) {
  const auto draw = [&](const Op& op, AttrsRef attrs, std::string_view node) {
    const Tensors drawn = c.apply(op, source.inputs, attrs, node);
    return drawn.empty() ? Tensor() : drawn[0];
  };
  if (!is_integer(dtype)) {
    if (!low) return c.fail(value_error("minval is None, which only integers take"));
    return scaled(c, draw(*source.unit.op, RandomDTypeAttrs{dtype}, {}), low, high, name);
  }
  if (!low != !high) {
    return c.fail(value_error("For integer `dtype` argument ", dtype_name(dtype),
                              ", argument `minval` and `maxval` must be both None or not None"));
  }
  if (!low) return draw(*source.all_integers.op, RandomIntegerAttrs{dtype}, name);
  if (dtype == DType::kUInt32 || dtype == DType::kUInt64) {
    return c.fail(value_error("Argument `dtype` got invalid value ", dtype_name(dtype),
                              " when argument `minval` is not None: don't use unsigned integers "
                              "with bounds"));
  }
  Tensors inputs = source.inputs;
  inputs.push_back(low);
  inputs.push_back(high);
  const Tensors drawn = c.apply(*source.integers.op, inputs, NoAttrs(), name);
  return drawn.empty() ? Tensor() : drawn[0];
}

}  // namespace graven::engine
