#include <algorithm>
#include <string>
#include <vector>

#include "graven/base/strings.h"
#include "graven/ir/structural_ops.h"
#include "graven/library/asserts.h"
#include "graven/library/define_functions.h"
#include "graven/library/function.h"
#include "graven/ops/logical_ops.h"
#include "graven/ops/shape_ops.h"

// Checks of ranks and dtypes: now if they are known, else at run time.

namespace graven::engine {
namespace {

// A condition on a rank, given other ranks.
struct RankWish {
  const char* words;
  bool (*is_met)(int64_t rank, std::span<const int64_t> ranks);
  Tensor (*holds)(FunctionContext& c, const Tensor& rank, std::span<const Tensor> ranks);
};

const RankWish kTheSame = {
    "must have rank", [](int64_t rank, std::span<const int64_t> ranks) { return rank == ranks[0]; },
    [](FunctionContext& c, const Tensor& rank, std::span<const Tensor> ranks) {
      return c(kEqual, {rank, ranks[0]});
    }};
const RankWish kAtLeast = {
    "must have rank at least",
    [](int64_t rank, std::span<const int64_t> ranks) { return rank >= ranks[0]; },
    [](FunctionContext& c, const Tensor& rank, std::span<const Tensor> ranks) {
      return c(kGreaterEqual, {rank, ranks[0]});
    }};
const RankWish kOneOf = {"must have rank in",
                         [](int64_t rank, std::span<const int64_t> ranks) {
                           return std::ranges::count(ranks, rank) > 0;
                         },
                         [](FunctionContext& c, const Tensor& rank, std::span<const Tensor> ranks) {
                           Tensor is_one = c.scalar(0, DType::kBool);
                           for (const Tensor& one : ranks)
                             is_one = c(kLogicalOr, {is_one, c(kEqual, {rank, one})});
                           return is_one;
                         }};

// A check at run time shows the data, or the ranks if no data are given.
Outputs check_rank(FunctionContext& c, const Tensor& x, std::span<const Tensor> ranks,
                   const RankWish& wish, const std::optional<std::string>& message,
                   std::vector<Tensor> data = {}, std::optional<int64_t> summarize = {}) {
  std::vector<int64_t> numbers;
  for (const Tensor& rank : ranks) {
    if (rank.dtype() != DType::kInt32) {
      return c.fail(type_error(name_in_graph(rank, "tensor"), " must be of type tf.int32; got tf.",
                               dtype_name(rank.dtype())));
    }
    if (c.rank_if_known(rank).value_or(0) != 0) {
      return c.fail(value_error("Rank must be a scalar."));
    }
    if (const auto number = c.number_if_known(rank)) numbers.push_back(*number);
  }
  const std::string claim = str_cat("Tensor ", name_in_graph(x, ""), " ", wish.words);
  const auto known = c.rank_if_known(x);
  if (known && numbers.size() == ranks.size()) {
    if (wish.is_met(*known, numbers)) {
      if (c.is_graph()) (void)c.apply(kNoOp, {});
      return Tensors();
    }
    const std::string wanted =
        &wish == &kOneOf ? str_cat("(", str_join(numbers, ", "), ")") : str_cat(numbers[0]);
    return c.fail(value_error(assert_prefix(message), claim, " ", wanted, ".  Received rank ",
                              *known, ", shape ", x.shape().to_text()));
  }
  if (data.empty()) {
    data = {text_constant(c, assert_prefix(message)), text_constant(c, claim)};
    data.insert(data.end(), ranks.begin(), ranks.end());
    data.push_back(text_constant(c, "Received shape: "));
    data.push_back(c(kShape, {x}));
  }
  assert_later(c, wish.holds(c, c(kRank, {x}), ranks), data, summarize);
  return Tensors();
}

struct RankParameters {
  Tensor x, rank;
  std::optional<std::string> message;
  static constexpr auto fields() {
    using P = RankParameters;
    return std::tuple(required_field("x", &P::x, "any", "Of any dtype."),
                      required_field("rank", &P::rank, "any", "An int32 scalar."),
                      field("message", &P::message, kAssertMessageDoc));
  }
};

struct ScalarParameters {
  Tensor tensor;
  std::optional<std::string> message;
  static constexpr auto fields() {
    using P = ScalarParameters;
    return std::tuple(required_field("tensor", &P::tensor, "any", "Of any dtype."),
                      field("message", &P::message, kAssertMessageDoc));
  }
};

Outputs scalar(FunctionContext& c, const ScalarParameters& p) {
  if (c.rank_if_known(p.tensor) == 0) return p.tensor;
  const std::string name = name_in_graph(p.tensor, "");
  return c.fail(value_error(assert_prefix(p.message), "Expected scalar shape",
                            name.empty() ? name : " for " + name,
                            ", saw shape: ", p.tensor.shape().to_text(), "."));
}

constexpr Raised kKnownRank = {"ValueError", "The rank is known and another."};
constexpr Raised kFoundRank = {"InvalidArgumentError",
                               "It is found to be another when the check runs."};
constexpr Raised kNoRank = {"TypeError", "What should be a rank is not of int32."};
constexpr const char* kOperation = "None eagerly; the operation while a function is traced.";

void define_assert_rank(FunctionRegistry& functions) {
  functions.define({
      .names = "debugging.assert_rank, assert_rank",
      .scope = "assert_rank",
      .results = nothing(),
      .summary = "Checks the rank of a tensor: while tracing if it is known then, else when it "
                 "runs.",
      .returns = kOperation,
      .raises = {kKnownRank, kNoRank, kFoundRank},
      .body =
          [](FunctionContext& c, const RankParameters& p) {
            return check_rank(c, p.x, {&p.rank, 1}, kTheSame, p.message);
          },
  });
}

struct RanksParameters {
  Tensor x;
  TensorList ranks;
  std::optional<std::string> message;
  static constexpr auto fields() {
    using P = RanksParameters;
    return std::tuple(required_field("x", &P::x, "any", "Of any dtype."),
                      required_field("ranks", &P::ranks, "any", "int32 scalars."),
                      field("message", &P::message, kAssertMessageDoc));
  }
};

struct ShapeRankParameters {
  Tensor x;
  TensorList ranks;
  bool at_least = false;
  std::optional<std::string> message;
  TensorList data;
  std::optional<int64_t> summarize;
  static constexpr auto fields() {
    using P = ShapeRankParameters;
    return std::tuple(required_field("x", &P::x, "any", "Of any dtype."),
                      required_field("ranks", &P::ranks, "any", "One rank, or several."),
                      field("at_least", &P::at_least, "Whether a higher rank will do."),
                      field("message", &P::message, kAssertMessageDoc),
                      field("data", &P::data, "any", "What the message shows."),
                      field("summarize", &P::summarize, kAssertSummarizeDoc));
  }
};

void define_assert_rank_at_least_and_kin(FunctionRegistry& functions) {
  functions.define({
      .names = "debugging.assert_rank_at_least",
      .scope = "assert_rank_at_least",
      .results = nothing(),
      .summary = "Checks that a tensor has a rank or a higher one, as assert_rank does.",
      .returns = kOperation,
      .raises = {{"ValueError", "The rank is known and lower."}, kNoRank, kFoundRank},
      .body =
          [](FunctionContext& c, const RankParameters& p) {
            return check_rank(c, p.x, {&p.rank, 1}, kAtLeast, p.message);
          },
  });
  functions.define({
      .names = "debugging.assert_rank_in",
      .scope = "assert_rank_in",
      .results = nothing(),
      .summary = "Checks that the rank of a tensor is one of several, as assert_rank does.",
      .returns = kOperation,
      .raises = {kKnownRank, kNoRank, kFoundRank},
      .body = [](FunctionContext& c, const RanksParameters& p) -> Outputs {
        if (!p.ranks.is_list) return c.fail(type_error("ranks is a list of ranks"));
        return check_rank(c, p.x, p.ranks.tensors, kOneOf, p.message);
      },
  });
  functions.define({
      .names = "debugging._assert_rank_for_shape",
      .scope = "assert_rank",
      .results = nothing(),
      .summary = "Checks the rank of a tensor for assert_shapes.",
      .returns = kOperation,
      .body =
          [](FunctionContext& c, const ShapeRankParameters& p) {
            const bool is_one = p.ranks.tensors.size() == 1;
            const RankWish& wish = !is_one ? kOneOf : p.at_least ? kAtLeast : kTheSame;
            return check_rank(c, p.x, p.ranks.tensors, wish, p.message, p.data.tensors,
                              p.summarize);
          },
  });
  functions.define({
      .names = "debugging.assert_scalar",
      .scope = "assert_scalar",
      .summary = "Checks that a tensor is a scalar, and returns it.",
      .returns = "The tensor.",
      .raises = {{"ValueError", "It has another rank, or one that is not known."}},
      .body = scalar,
  });
}

struct TypeParameters {
  Tensor tensor;
  DType tf_type = DType::kInvalid;
  std::optional<std::string> message;
  static constexpr auto fields() {
    using P = TypeParameters;
    return std::tuple(required_field("tensor", &P::tensor, "any", "Of any dtype."),
                      required_field("tf_type", &P::tf_type, "The dtype that it must have."),
                      field("message", &P::message, kAssertMessageDoc));
  }
};

Outputs type(FunctionContext& c, const TypeParameters& p) {
  if (p.tensor.dtype() == p.tf_type) return Tensors();
  return c.fail(type_error(assert_prefix(p.message), name_in_graph(p.tensor, "tensor"),
                           " must be of type tf.", dtype_name(p.tf_type), "; got tf.",
                           dtype_name(p.tensor.dtype())));
}

struct IntegerParameters {
  Tensor x;
  std::optional<std::string> message;
  static constexpr auto fields() {
    using P = IntegerParameters;
    return std::tuple(required_field("x", &P::x, "any", "A tensor."),
                      field("message", &P::message, kAssertMessageDoc));
  }
};

Outputs integer(FunctionContext& c, const IntegerParameters& p) {
  if (is_integer(p.x.dtype())) return Tensors();
  return c.fail(type_error(assert_prefix(p.message), "Expected \"x\" to be integer type.  Found: ",
                           name_in_graph(p.x, "tensor"), " of dtype <dtype: '",
                           dtype_name(p.x.dtype()), "'>"));
}

void define_assert_type_and_assert_integer(FunctionRegistry& functions) {
  functions.define({
      .names = "debugging.assert_type",
      .scope = "assert_type",
      .results = nothing(),
      .summary = "Checks the dtype of a tensor.",
      .returns = "None.",
      .raises = {{"TypeError", "It is another."}},
      .body = type,
  });
  functions.define({
      .names = "debugging.assert_integer",
      .scope = "assert_integer",
      .results = nothing(),
      .summary = "Checks that a tensor holds integers.",
      .returns = "None.",
      .raises = {{"TypeError", "It does not."}},
      .body = integer,
  });
}

}  // namespace

void define_asserts_of_shapes(FunctionRegistry& functions) {
  define_assert_rank(functions);
  define_assert_rank_at_least_and_kin(functions);
  define_assert_type_and_assert_integer(functions);
}

}  // namespace graven::engine
