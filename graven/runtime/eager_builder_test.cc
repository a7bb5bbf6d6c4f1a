#include "graven/runtime/eager_builder.h"

#include "graven/ir/emitter.h"
#include "graven/ir/frame.h"
#include "graven/ir/infer_context.h"
#include "graven/ops/gather_ops.h"
#include "graven/ops/logical_ops.h"
#include "graven/ops/math_ops.h"
#include "graven/ops/nn_ops.h"
#include "graven/ops/reduction_ops.h"
#include "graven/ops/shape_ops.h"
#include "graven/runtime/run_composite.h"
#include "graven/runtime/run_op.h"
#include "graven/runtime/testing.h"

namespace graven::engine {
namespace {

// A composite that broadcasts, of any rank; the real ones ask for one.
const OpHandle<NoAttrs> kSquareOfSum =
    OpRegistry::global().define<NoAttrs>({.name = "SquareOfSum",
                                          .inputs = {"x: T", "y: T"},
                                          .outputs = {"z: T"},
                                          .types = {{"T", kNumberTypes}},
                                          .infer = broadcast_inputs,
                                          .body = composite([](CompositeContext& c) {
                                            Tensor sum = c(kAddV2, {c.x(0), c.x(1)});
                                            c.set_output(c(kMul, {sum, sum}));
                                          })});

Status error_of(const Op& op, std::initializer_list<Tensor> inputs, AttrsRef attrs = {}) {
  return eager_builder().apply(op, {inputs.begin(), inputs.size()}, attrs).status();
}

TEST_CASE("an elementwise op computes, broadcasts and keeps dtypes apart") {
  Builder& eager = eager_builder();
  for (int again = 0; again < 2; ++again) {
    CHECK(values_of(run(eager, kAddV2, {floats({1, 2, 3, 4}), floats({10, 20, 30, 40})})) ==
          std::vector<float>{11, 22, 33, 44});
    Tensor sum = run(eager, kAddV2, {ints({1, 2}), ints({3, 4})});
    CHECK(sum.dtype() == DType::kInt32);
    CHECK(sum.data<int32_t>()[1] == 6);
    Tensor outer = run(eager, kMul, {floats_of({2, 1}, {2, 3}), floats({1, 10, 100})});
    CHECK(outer.shape() == Shape{2, 3});
    CHECK(values_of(outer) == std::vector<float>{2, 20, 200, 3, 30, 300});
    CHECK(values_of(run(eager, kAddV2, {Tensor::scalar(1.0f), floats({1, 2})})) ==
          std::vector<float>{2, 3});
    CHECK(run(eager, kAddV2, {floats_of({2, 0}, {}), floats_of({2, 1}, {1, 2})}).shape() ==
          Shape{2, 0});
    Tensor less = run(eager, kLess, {floats({1, 5}), floats({2, 3})});
    CHECK(less.dtype() == DType::kBool);
    CHECK(less.data<bool>()[0]);
    CHECK(!less.data<bool>()[1]);
  }
}

TEST_CASE("attributes of a body are told apart, and many of them do not pile up") {
  for (int by = 0; by < 200; ++by) {
    LeakyReluAttrs attrs{static_cast<float>(by)};
    CHECK(values_of(run(eager_builder(), kLeakyRelu, {floats({-1, -2})}, attrs)) ==
          std::vector<float>{-1.0f * by, -2.0f * by});
  }
}

TEST_CASE("a reduction takes its axes from its second input") {
  Tensor x = floats_of({2, 3}, {1, 2, 3, 4, 5, 6});
  CHECK(values_of(run(eager_builder(), kSum, {x, ints({0})})) == std::vector<float>{5, 7, 9});
  CHECK(values_of(run(eager_builder(), kSum, {x, ints({-1})})) == std::vector<float>{6, 15});
  CHECK(values_of(run(eager_builder(), kMax, {x, ints({0, 1})})) == std::vector<float>{6});
  CHECK(values_of(run(eager_builder(), kMean, {x, ints({1})})) == std::vector<float>{2, 5});
  Tensor kept = run(eager_builder(), kSum, {x, ints({1})}, {true});
  CHECK(kept.shape() == Shape{2, 1});
  // Of nothing: the identity.
  CHECK(values_of(run(eager_builder(), kSum, {floats_of({2, 0}, {}), ints({1})})) ==
        std::vector<float>{0, 0});
  CHECK(error_of(*kSum, {x, ints({2})}).message() ==
        "[Sum] Invalid reduction dimension: axis 2 is out of valid range [-2, 2)");
}

TEST_CASE("a composite is its parts, with the messages of the op that was called") {
  CHECK(values_of(run(eager_builder(), kSquareOfSum, {floats({1, 2}), floats({1, 1})})) ==
        std::vector<float>{4, 9});
  Status error = error_of(*kSquareOfSum, {floats({1}), ints({1})});
  CHECK(error.message() ==
        "cannot compute SquareOfSum as input #1(zero-based) was expected to be a float tensor "
        "but is a int32 tensor [Op:SquareOfSum]. See docs/errors/different-dtypes.md");
}

TEST_CASE("a composite makes one Program for all sizes that broadcast alike") {
  auto square_of_sum = [](const Tensor& x, const Tensor& y) {
    return run(eager_builder(), kSquareOfSum, {x, y});
  };
  auto matrix = [](int64_t rows, int64_t columns) {
    return floats_of({rows, columns}, std::vector<float>(static_cast<size_t>(rows * columns), 2));
  };
  auto five = [&] { return square_of_sum(matrix(3, 5), floats({1, 1, 1, 1, 1})); };
  const int64_t without = composite_bytes();
  CHECK(values_of(five()) == std::vector<float>(15, 9));
  CHECK(composite_bytes() == without);  // it may be the last call of its kind
  CHECK(values_of(five()) == std::vector<float>(15, 9));
  const int64_t bytes = composite_bytes();
  CHECK(bytes > without);
  const Tensor other = square_of_sum(matrix(7, 2), floats({1, 1}));
  CHECK(other.shape() == Shape{7, 2});
  CHECK(values_of(other) == std::vector<float>(14, 9));
  CHECK(square_of_sum(matrix(0, 2), floats({1, 1})).shape() == Shape{0, 2});
  CHECK(composite_bytes() == bytes);
  // Of one row, and of as many rows as columns: these broadcast otherwise.
  for (int call = 0; call < 2; ++call) {
    CHECK(values_of(square_of_sum(matrix(1, 2), floats_of({3, 1}, {1, 2, 3}))) ==
          std::vector<float>{9, 9, 16, 16, 25, 25});
    CHECK(values_of(square_of_sum(matrix(2, 2), floats({1, 2}))) ==
          std::vector<float>{9, 16, 9, 16});
  }
  CHECK(composite_bytes() > bytes);
}

TEST_CASE("a view shares the elements and is a tensor of its own") {
  Tensor x = floats_of({2, 4}, {1, 2, 3, 4, 5, 6, 7, 8});
  Tensor y = run(eager_builder(), kReshape, {x, ints({4, 2})});
  CHECK(y.shape() == Shape{4, 2});
  CHECK(y.raw_data() == x.raw_data());
  Tensor same = run(eager_builder(), kIdentity, {x});
  CHECK(!(same == x));
  CHECK(same.raw_data() == x.raw_data());
}

TEST_CASE("dtype errors are worded as TensorFlow's eager ones") {
  Status mixed = error_of(*kAddV2, {floats({1}), ints({1})});
  CHECK(mixed.code() == Code::kInvalidArgument);
  CHECK(mixed.kind() == ErrorKind::kOpError);
  CHECK(mixed.message() ==
        "cannot compute AddV2 as input #1(zero-based) was expected to be a float tensor but is "
        "a int32 tensor [Op:AddV2]. See docs/errors/different-dtypes.md");
  CHECK(error_of(*kTanh, {ints({1})})
            .message()
            .starts_with("Value for attr 'T' of int32 is not in the list of allowed values: "));
}

TEST_CASE("shape errors, and errors of kernels, name the op once") {
  Status shapes = error_of(*kAddV2, {floats({1, 2}), floats({1, 2, 3})});
  CHECK(shapes.code() == Code::kInvalidArgument);
  CHECK(shapes.message() == "[AddV2] Incompatible shapes: [2] vs. [3]");
  CHECK(error_of(*kGather, {floats({1, 2}), ints({0, 7})}).message() ==
        "[Gather] indices[1] = 7 is not in [0, 2)");
  CHECK(error_of(*kSquareOfSum, {floats({1, 2}), floats({1, 2, 3})}).message() ==
        "[SquareOfSum] Incompatible shapes: [2] vs. [3]");
}

TEST_CASE("a body that checks values refuses them, if there are elements") {
  CHECK(error_of(*kDiv, {ints({1}), ints({0})}).message() == "[Div] Integer division by zero");
  CHECK(run(eager_builder(), kDiv, {ints({7}), ints({2})}).item<int32_t>() == 3);
  CHECK(run(eager_builder(), kDiv, {ints({}), Tensor::scalar<int32_t>(0)}).num_elements() == 0);
  CHECK(run(eager_builder(), kDiv, {floats({1}), floats({0})}).num_elements() == 1);
}

TEST_CASE("a kernel makes outputs whose shape only running finds") {
  Tensor inputs[] = {ints({2, 1, 4}), ints({3, 4})};
  auto axes = eager_builder().apply(*kBroadcastGradientArgs, inputs, {});
  REQUIRE(axes.ok());
  CHECK((*axes)[0].shape() == Shape{1});
  CHECK((*axes)[0].data<int32_t>()[0] == 1);
  CHECK((*axes)[1].shape() == Shape{1});
  CHECK((*axes)[1].data<int32_t>()[0] == 0);
}

class HereLocation final : public Location {
 public:
  std::vector<SourceFrame> frames() const override { return {{"a.py", 7, "f", "y = x + 1"}}; }
};
class HereSource final : public LocationSource {
 public:
  Ref<Location> current() override { return make_ref<HereLocation>(); }
};

TEST_CASE("a symbolic tensor in an eager op is a TypeError that tells where it was made") {
  TestGraph g("inner");
  Tensor leaked;
  {
    Frame frame(&g.builder);
    HereSource here;
    frame.locations = &here;
    leaked = g.placeholder(DType::kFloat32, {2}, "a");
  }
  Status error = error_of(*kAddV2, {floats({1, 2}), leaked});
  CHECK(error.kind() == ErrorKind::kTypeError);
  std::string text = error.message();
  CHECK(
      text.starts_with("<tf.Tensor 'a:0' shape=(2,) dtype=float32> is out of scope and cannot be "
                       "used here. Use return values, explicit Python locals or TensorFlow "
                       "collections to access it."));
  CHECK(text.find("was defined here:\n    File \"a.py\", line 7, in f\n      y = x + 1\n") !=
        std::string::npos);
  CHECK(text.find("FuncGraph(name=inner, id=") != std::string::npos);
}

TEST_CASE("what a placeholder stands for is known to its function only") {
  CHECK(error_of(*kPlaceholder, {}, PlaceholderAttrs{DType::kFloat32, {}}).code() ==
        Code::kInvalidArgument);
}

TEST_CASE("an input is overwritten only if it is reusable and nobody else has it") {
  auto twice = [](Tensor x, uint64_t reusable) {
    Tensor inputs[] = {std::move(x), floats({1, 1, 1, 1, 1, 1})};
    Tensors outputs;
    REQUIRE(run_op(*kAddV2, {}, inputs, reusable, nullptr, outputs).ok());
    return outputs[0];
  };
  Tensor x = floats({1, 2, 3, 4, 5, 6});
  const void* memory = x.raw_data();
  Tensor y = twice(x, 1);  // x is held here too
  CHECK(y.raw_data() != memory);
  CHECK(values_of(x) == std::vector<float>{1, 2, 3, 4, 5, 6});
  y = twice(std::move(x), 0);
  CHECK(y.raw_data() != memory);
  Tensor view_source = floats({1, 2, 3, 4, 5, 6});
  Tensor view = view_source.with_shape({6});
  y = twice(std::move(view), 1);  // shares its buffer
  CHECK(values_of(view_source) == std::vector<float>{1, 2, 3, 4, 5, 6});
  x = floats({1, 2, 3, 4, 5, 6});
  memory = x.raw_data();
  y = twice(std::move(x), 1);
  CHECK(y.raw_data() == memory);
  CHECK(values_of(y) == std::vector<float>{2, 3, 4, 5, 6, 7});
  // One whose number somebody knows gives its memory, and stays another tensor.
  uint64_t id = y.get()->id();
  Tensor z = twice(std::move(y), 1);
  CHECK(z.raw_data() == memory);
  CHECK(z.get()->id() != id);
}

TEST_CASE("memory goes to a result of another dtype of the same size, not of another size") {
  Tensor x = floats({1, 2, 3, 4, 5, 6});
  Tensor inputs[] = {x, floats({9, 1, 9, 1, 9, 1})};
  x = Tensor();
  Tensors outputs;
  REQUIRE(run_op(*kLess, {}, inputs, 3, nullptr, outputs).ok());
  CHECK(outputs[0].data<bool>()[0]);
  CHECK(!outputs[0].data<bool>()[1]);
}

struct CountingListener : Listener {
  void on_op(const Op& op, AttrsRef, std::span<const Tensor>, const Tensors&) override {
    names.push_back(op.name());
  }
  void on_step(std::span<const Tensor>, std::span<const Tensor>, const BackwardRef&) override {}
  bool wants(std::span<const Tensor>) const override { return true; }
  bool wants_higher_orders() const override { return false; }
  void on_frame_end() override {}
  void on_variable(const Tensor&) override {}
  std::vector<std::string> names;
};

TEST_CASE("the current builder is that of the frame, and its listeners hear of ops") {
  CHECK(&current_builder() == &eager_builder());
  CountingListener outer, inner;
  Frame::current().listeners.push_back(&outer);
  Tensor x = floats({1});
  Tensor both[] = {x, x};
  CHECK(apply(*kSquareOfSum, both, {}).ok());
  CHECK(outer.names == std::vector<std::string>{"AddV2", "Mul"});
  TestGraph g;
  {
    Frame frame(&g.builder);
    CHECK(current_builder().graph() == g.graph.get());
    frame.listeners.push_back(&inner);
    CHECK(apply(*kAddV2, both, {}).ok());
    CHECK(inner.names.size() == 1);
    CHECK(outer.names.size() == 2);
    frame.listeners.clear();
  }
  Frame::current().listeners.clear();
  CHECK(&current_builder() == &eager_builder());
}

}  // namespace
}  // namespace graven::engine
