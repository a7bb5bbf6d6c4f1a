// The rule that follows from `.reads`, for all ops with such a record, beside the op on each row.
#include "graven/batching/movement_rule.h"

#include <doctest/doctest.h>

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "graven/batching/derived_rules.h"
#include "graven/ir/frame.h"
#include "graven/ir/movement.h"
#include "graven/ops/movement_testing.h"
#include "graven/runtime/program.h"

namespace graven::engine {
namespace {

constexpr int32_t kNumRows = 3;

// A node, and what its inputs are for all rows.
class NodeOfRows final : public BatchContext {
 public:
  NodeOfRows(Builder& builder, const Node& node, std::vector<BatchedTensor> inputs, Tensor num_rows)
      : BatchContext(builder),
        outputs(static_cast<size_t>(node.num_outputs())),
        node_(node),
        inputs_(std::move(inputs)),
        num_rows_(std::move(num_rows)) {}

  const Node& node() const override { return node_; }
  const BatchedTensor& input(int i) const override { return inputs_[static_cast<size_t>(i)]; }
  const Tensor& num_rows() const override { return num_rows_; }
  void set_y(int i, Tensor y, bool is_batched) override {
    CHECK(is_batched);
    outputs[static_cast<size_t>(i)] = std::move(y);
  }
  void use_loop() override { uses_loop_ = true; }
  bool uses_loop() const override { return uses_loop_; }
  Result<std::vector<BatchedTensor>> run_body(Builder&, const Body&, std::span<const BatchedTensor>,
                                              const Tensor&) override {
    return unimplemented("an op that moves elements has no body");
  }
  Tensors apply_bodies(const Op&, std::span<const Tensor>, AttrsRef) override { return {}; }

  std::vector<Tensor> outputs;

 private:
  const Node& node_;
  const std::vector<BatchedTensor> inputs_;
  const Tensor num_rows_;
  bool uses_loop_ = false;
};

// Inputs that decide which elements are moved, as they are in all rows; others are moved.
bool decides(const Sample& sample, int i) {
  const Op& op = *sample.op;
  const auto count = static_cast<int>(sample.inputs.size());
  const auto& given = op.record().values_for_inference;
  const auto is_i = [&](int k) { return (k < 0 ? count + k : k) == i; };
  return std::ranges::any_of(given, is_i) || (&op == kRoll.op && i > 0);
}

// One row of an input: other elements in each, where they are moved.
Tensor row_of(const Sample& sample, int i, int32_t row) {
  const Tensor& x = sample.inputs[static_cast<size_t>(i)];
  const bool is_index = (sample.op == kGather.op || sample.op == kGatherV2.op) && i == 1;
  if (decides(sample, i) || is_index) return x;
  std::vector<int32_t> values = values_of<int32_t>(x);
  for (int32_t& value : values) value += 10000 * row;
  return tensor_of<int32_t>(x.shape(), values);
}

Tensor packed(const std::vector<Tensor>& rows) {
  auto all = eager_builder().apply(*kPack, rows, PackAttrs{});
  REQUIRE(all.ok());
  return (*all)[0];
}

Tensor rows_of(const Sample& sample, int i) {
  std::vector<Tensor> rows;
  for (int32_t row = 0; row < kNumRows; ++row) rows.push_back(row_of(sample, i, row));
  return packed(rows);
}

using Batched = std::vector<bool>;

// What the op gives for each row, along an axis in front.
std::vector<Tensor> one_by_one(const Sample& sample, const Batched& batched) {
  std::vector<std::vector<Tensor>> rows;
  for (int32_t row = 0; row < kNumRows; ++row) {
    std::vector<Tensor> inputs = sample.inputs;
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (batched[i]) inputs[i] = row_of(sample, static_cast<int>(i), row);
    }
    auto outputs = eager_builder().apply(*sample.op, inputs, sample.attrs);
    REQUIRE_MESSAGE(outputs.ok(), outputs.status().message());
    rows.resize(outputs->size());
    for (size_t o = 0; o < outputs->size(); ++o) rows[o].push_back((*outputs)[o]);
  }
  std::vector<Tensor> all;
  for (const auto& of_output : rows) all.push_back(packed(of_output));
  return all;
}

Shape unknown_sizes(const Shape& shape) {
  Shape unknown;
  for (int i = 0; i < shape.rank(); ++i) unknown.push_back(Dim::unknown());
  return unknown;
}

// The function of one row: the op on its inputs. Of those that are the same for all rows and are
// not moved it knows the values.
const Node& trace_row(Trace& row, const Sample& sample, const Batched& batched, bool knows_sizes) {
  Frame frame(&row.builder);
  std::vector<Tensor> inputs;
  for (size_t i = 0; i < batched.size(); ++i) {
    const Tensor& x = sample.inputs[i];
    const bool is_known = !batched[i] && decides(sample, static_cast<int>(i));
    inputs.push_back(
        is_known ? row.constant(x)
                 : row.placeholder(x.dtype(), knows_sizes ? x.shape() : unknown_sizes(x.shape())));
  }
  auto outputs = row.builder.apply(*sample.op, inputs, sample.attrs);
  REQUIRE_MESSAGE(outputs.ok(), outputs.status().message());
  return symbolic((*outputs)[0]).node();
}

// The rule's outputs; none if it gives up.
std::vector<Tensor> at_once(const Sample& sample, const Batched& batched) {
  Trace row;
  const Node& node = trace_row(row, sample, batched, /*knows_sizes=*/true);
  std::vector<BatchedTensor> inputs;
  for (size_t i = 0; i < batched.size(); ++i) {
    inputs.push_back({batched[i] ? rows_of(sample, static_cast<int>(i)) : sample.inputs[i],
                      static_cast<bool>(batched[i])});
  }
  NodeOfRows c(eager_builder(), node, std::move(inputs), Tensor::scalar(kNumRows));
  batch_movement(c);
  REQUIRE_MESSAGE(c.status().ok(), c.status().message());
  return c.uses_loop() ? std::vector<Tensor>() : c.outputs;
}

// The same in a graph that knows neither the number of rows nor the sizes of a row.
std::vector<Tensor> at_once_with_unknown_sizes(const Sample& sample, const Batched& batched) {
  Trace row, all;
  const Node& node = trace_row(row, sample, batched, /*knows_sizes=*/false);
  const Tensor num_rows = all.placeholder(DType::kInt32, {});
  std::vector<BatchedTensor> inputs;
  Tensors fed = {Tensor::scalar(kNumRows)};
  {
    Frame frame(&all.builder);
    for (size_t i = 0; i < batched.size(); ++i) {
      const int number = static_cast<int>(i);
      if (!batched[i] && decides(sample, number)) {
        inputs.push_back({all.constant(sample.inputs[i]), false});
        continue;
      }
      fed.push_back(batched[i] ? rows_of(sample, number) : sample.inputs[i]);
      const Shape shape = unknown_sizes(fed.back().shape());
      inputs.push_back({all.placeholder(fed.back().dtype(), shape), static_cast<bool>(batched[i])});
    }
  }
  Frame frame(&all.builder);
  NodeOfRows c(all.builder, node, std::move(inputs), num_rows);
  batch_movement(c);
  REQUIRE_MESSAGE(c.status().ok(), c.status().message());
  if (c.uses_loop()) return {};
  std::vector<OutputRef> outputs;
  for (const Tensor& y : c.outputs) outputs.push_back(symbolic(y).output());
  all.graph->set_outputs(std::move(outputs));
  auto program = plan_program(all.graph);
  REQUIRE_MESSAGE(program.ok(), program.status().message());
  Tensors results;
  const Status status = (*program)->run(fed, results);
  REQUIRE_MESSAGE(status.ok(), status.message());
  return {results.begin(), results.end()};
}

bool is_movement_known(const Sample& sample) {
  auto outputs = eager_builder().apply(*sample.op, sample.inputs, sample.attrs);
  REQUIRE(outputs.ok());
  for (size_t o = 0; o < outputs->size(); ++o) {
    if (!movement_of(*sample.op, sample.attrs, sample.inputs, (*outputs)[o].shape(),
                     static_cast<int>(o))) {
      return false;
    }
  }
  return true;
}

bool decider_is_batched(const Sample& sample, const Batched& batched) {
  for (size_t i = 0; i < batched.size(); ++i) {
    if (batched[i] && decides(sample, static_cast<int>(i))) return true;
  }
  return false;
}

// Calls f for each choice of inputs that depend on the row.
template <typename F>
void for_each_choice(const Sample& sample, F&& f) {
  const size_t n = sample.inputs.size();
  for (uint32_t bits = 1; bits < uint32_t{1} << n; ++bits) {
    Batched batched;
    for (size_t i = 0; i < n; ++i) batched.push_back(bits >> i & 1);
    f(batched);
  }
}

void check_same(const std::vector<Tensor>& given, const std::vector<Tensor>& expected) {
  REQUIRE(given.size() == expected.size());
  for (size_t o = 0; o < given.size(); ++o) {
    REQUIRE(given[o].shape().to_text() == expected[o].shape().to_text());
    REQUIRE(values_of<int32_t>(given[o]) == values_of<int32_t>(expected[o]));
  }
}

}  // namespace

TEST_CASE("whichever inputs depend on the row, the rule is the op on each row") {
  for (const auto& [name, make] : all_samples()) {
    Samples samples(5);
    for (int i = 0; i < 60; ++i) {
      const Sample sample = make(samples);
      CAPTURE(name);
      CAPTURE(i);
      const bool is_known = is_movement_known(sample);
      for_each_choice(sample, [&](const Batched& batched) {
        const std::vector<Tensor> given = at_once(sample, batched);
        if (!given.empty()) return check_same(given, one_by_one(sample, batched));
        // It gives up only where a row's own numbers say what is moved.
        REQUIRE((decider_is_batched(sample, batched) || !is_known));
      });
    }
  }
}

TEST_CASE("the rule holds for sizes that are found when it runs") {
  for (const auto& [name, make] : all_samples()) {
    Samples samples(6);
    for (int i = 0; i < 40; ++i) {
      const Sample sample = make(samples);
      CAPTURE(name);
      CAPTURE(i);
      for_each_choice(sample, [&](const Batched& batched) {
        const std::vector<Tensor> given = at_once_with_unknown_sizes(sample, batched);
        if (!given.empty()) return check_same(given, one_by_one(sample, batched));
        // It gives up where a size is not found, if the op has another rule.
        REQUIRE((decider_is_batched(sample, batched) || sample.op->record().batch));
      });
    }
  }
}

// The names of the ops that the rule applies to inputs of a row, all of which depend on it.
std::vector<std::string> steps(const Sample& sample, Batched batched = {}) {
  struct Builder final : engine::Builder {
    Result<Tensors> apply(const Op& op, std::span<const Tensor> inputs, AttrsRef attrs,
                          std::string_view name) override {
      names.push_back(op.name());
      return eager_builder().apply(op, inputs, attrs, name);
    }
    std::vector<std::string> names;
  };
  for (size_t i = batched.size(); i < sample.inputs.size(); ++i) {
    batched.push_back(!decides(sample, static_cast<int>(i)));
  }
  Trace row;
  const Node& node = trace_row(row, sample, batched, /*knows_sizes=*/true);
  std::vector<BatchedTensor> inputs;
  for (size_t i = 0; i < batched.size(); ++i) {
    inputs.push_back({batched[i] ? rows_of(sample, static_cast<int>(i)) : sample.inputs[i],
                      static_cast<bool>(batched[i])});
  }
  Builder builder;
  NodeOfRows c(builder, node, std::move(inputs), Tensor::scalar(kNumRows));
  batch_movement(c);
  CHECK_FALSE(c.uses_loop());
  return builder.names;
}

TEST_CASE("what would change nothing is left out") {
  using Names = std::vector<std::string>;
  Samples s(1);
  const auto ints = [](const std::vector<int32_t>& values) { return Samples::ints(values); };
  const auto number = [](int32_t value) { return Tensor::scalar(value); };
  const Tensor x = s.counted({2, 3}), one = s.counted({1, 3}), v = s.counted({3});
  CHECK(steps(sample(kTranspose, {x, ints({1, 0})})) == Names{"Transpose"});
  CHECK(steps(sample(kTranspose, {x, ints({0, 1})})) == Names{});
  CHECK(steps(sample(kExpandDims, {x, number(1)})) == Names{"ExpandDims"});
  CHECK(steps(sample(kSqueeze, {one})) == Names{"Squeeze"});
  CHECK(steps(sample(kReverseV2, {x, ints({1})})) == Names{"ReverseV2"});
  CHECK(steps(sample(kSlice, {x, ints({0, 1}), ints({2, 1})})) == Names{"StridedSlice"});
  CHECK(steps(sample(kSlice, {x, ints({0, 0}), ints({2, 3})})) == Names{});
  CHECK(steps(sample(kReshape, {x, ints({6})})) == Names{"Reshape"});
  CHECK(steps(sample(kReshape, {s.counted({6}), ints({3, 2})})) == Names{"Reshape"});
  CHECK(steps(sample(kBroadcastTo, {one, ints({2, 3})})) == Names{"BroadcastTo"});
  CHECK(steps(sample(kBroadcastTo, {v, ints({2, 3})})) == Names{"ExpandDims", "BroadcastTo"});
  CHECK(steps(sample(kConcatV2, {x, one, number(0)})) == Names{"ConcatV2"});
  CHECK(steps(sample(kConcatV2, {x, one, number(0)}), {true, false}) ==
        Names{"BroadcastTo", "ConcatV2"});
  CHECK(steps(sample(kPack, {v, v}, {.axis = 1})) == Names{"Pack"});
  CHECK(steps(sample(kGather, {x, number(1)})) == Names{"GatherV2"});
  CHECK(steps(sample(kGather, {x, number(1)}), {true, false}) == Names{"StridedSlice"});
  CHECK(steps(sample(kGatherV2, {x, number(1), number(1)}), {false, true}) ==
        Names{"GatherV2", "Transpose"});
}

TEST_CASE("a record with .reads has a rule of its own only for a reason") {
  const std::map<std::string, std::string> reasons = {
      {"BroadcastTo", "the shape may be found when it runs"},
      {"Fill", "the shape may be found when it runs"},
      {"Gather", "of indices only a single one is a read"},
      {"GatherV2", "of indices only a single one is a read"},
      {"MirrorPad", "it is one op, and has up to 27 pieces"},
      {"Pad", "it is one op"},
      {"PadV2", "it is one op"},
      {"Reshape", "it is one op for any shapes, of which only some are reads"},
      {"Roll", "it is one op, and the shift may be found when it runs"},
      {"Slice", "begin and size may be found when it runs"},
      {"Split", "one op gives all parts, and one the gradient of all"},
      {"SplitV", "one op gives all parts, and one the gradient of all"},
      {"Squeeze", "the axes may be found when it runs"},
      {"StridedSlice", "the bounds may be found when it runs"},
      {"StridedSliceGrad", "it is one op"},
      {"Tile", "it is one op, and the multiples may be found when it runs"},
      {"Unpack", "one op gives all parts, and one the gradient of all"},
  };
  std::set<std::string> with_both, with_reason;
  for (const auto& op : OpRegistry::global().ops()) {
    if (op->record().reads && op->record().batch) with_both.insert(op->name());
    if (op->record().reads && !op->record().batch) CHECK((batch_rule_of(*op) == batch_movement));
  }
  for (const auto& [name, reason] : reasons) with_reason.insert(name);
  CHECK(with_both == with_reason);
}

}  // namespace graven::engine
