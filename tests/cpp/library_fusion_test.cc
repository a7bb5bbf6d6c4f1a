// Matrix products and convolutions that take along what follows them, against the same ops one by
// one: bits, errors, and whose memory is used again.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <random>

#include "graven/base/strings.h"
#include "graven/base/thread_pool.h"
#include "graven/ir/graph_builder.h"
#include "graven/ir/structural_ops.h"
#include "graven/ops/convolution_ops.h"
#include "graven/ops/linear_algebra_ops.h"
#include "graven/ops/logical_ops.h"
#include "graven/ops/math_ops.h"
#include "graven/ops/nn_ops.h"
#include "graven/optimize/find_promises.h"
#include "graven/optimize/fuse.h"
#include "graven/runtime/eager_builder.h"
#include "graven/runtime/fusion_step.h"
#include "graven/runtime/program.h"
#include "graven/tensor/allocator.h"

namespace graven::engine {
namespace {

// Ops applied by whichever Builder.
class Ops {
 public:
  explicit Ops(Builder& builder) : builder_(builder) {}
  template <typename A>
  Tensor operator()(const OpHandle<A>& op, std::initializer_list<Tensor> inputs,
                    const std::type_identity_t<A>& attrs = {}, std::string_view name = {}) {
    std::vector<Tensor> all(inputs);
    auto outputs = builder_.apply(*op, all, attrs, name);
    REQUIRE_MESSAGE(outputs.ok(), outputs.status().message());
    return (*outputs)[0];
  }

 private:
  Builder& builder_;
};
using Function = std::function<Tensors(Ops op, std::span<const Tensor> x)>;

struct Traced {
  Traced(const Function& function, std::span<const DType> dtypes, std::span<const Shape> shapes,
         bool fuses = true) {
    auto graph = make_ref<Graph>("f");
    GraphBuilder builder(graph);
    std::vector<Tensor> inputs;
    for (size_t i = 0; i < shapes.size(); ++i) {
      inputs.push_back(builder.add_placeholder(dtypes[i], shapes[i], str_cat("x", i)));
    }
    std::vector<OutputRef> outputs;
    for (const Tensor& y : function(Ops(builder), inputs)) outputs.push_back(symbolic(y).output());
    graph->set_outputs(outputs);
    for (auto pass : {find_promises, fuse}) {
      if (fuses) REQUIRE(pass(*graph).ok());
    }
    auto made = plan_program(graph);
    REQUIRE_MESSAGE(made.ok(), made.status().message());
    program = std::move(*made);
  }
  int num_libraries() const {
    return static_cast<int>(std::ranges::count_if(program->steps(), [](const auto& step) {
      const auto* fusion = dynamic_cast<const FusionStep*>(step.get());
      return fusion && fusion->fusion().has_library();
    }));
  }
  Ref<Program> program;
};

bool same_bits(const Tensor& a, const Tensor& b) {
  return a.dtype() == b.dtype() && a.shape() == b.shape() &&
         std::memcmp(a.raw_data(), b.raw_data(), a.bytes()) == 0;
}

// Small numbers, so that half and integers do not overflow.
Tensor values(DType dtype, const Shape& shape, uint32_t seed) {
  std::mt19937 random(seed);
  Tensor x = *Tensor::allocate(DType::kFloat32, shape);
  for (float& value : x.mutable_data<float>()) {
    value = is_integer(dtype) ? static_cast<float>(random() % 9) - 4
                              : std::normal_distribution<float>()(random);
  }
  return Ops(eager_builder())(kCast, {x}, {.DstT = dtype});
}

std::vector<DType> dtypes_of(std::span<const Tensor> inputs) {
  std::vector<DType> dtypes;
  for (const Tensor& input : inputs) dtypes.push_back(input.dtype());
  return dtypes;
}

// With the sizes as numbers, then with a symbol of its own as the first size of each input of
// several, on several threads. libraries: how many library members there are with numbers, and with
// symbols; -1: any number. Returns that with numbers.
int check(const Function& function, std::span<const Tensor> inputs,
          std::array<int, 2> libraries = {1, 1}) {
  const Tensors expected = function(Ops(eager_builder()), inputs);
  std::array<std::vector<Shape>, 2> shapes;
  std::string text;
  for (const Tensor& input : inputs) {
    Shape shape = input.shape();
    shapes[0].push_back(shape);
    text += str_cat(dtype_name(input.dtype()), shape.to_message(), " ");
    if (shape.rank() > 1) shape.set(0, Dim::unknown());
    shapes[1].push_back(shape);
  }
  CAPTURE(text);
  int found[2];
  for (int i : {0, 1}) {
    const Traced traced(function, dtypes_of(inputs), shapes[i]);
    const std::string program = traced.program->to_text();
    CAPTURE(program);
    found[i] = traced.num_libraries();
    CHECK((libraries[i] < 0 || found[i] == libraries[i]));
    for (int threads : {1, 2, 3}) {
      ThreadPool::shared().set_num_threads(threads);
      Tensors outputs;
      Status status = traced.program->run(inputs, outputs);
      REQUIRE_MESSAGE(status.ok(), status.message());
      REQUIRE(outputs.size() == expected.size());
      for (size_t o = 0; o < outputs.size(); ++o) CHECK(same_bits(outputs[o], expected[o]));
    }
  }
  ThreadPool::shared().set_num_threads(0);
  return found[0];
}

constexpr DType kTypes[] = {DType::kFloat32,  DType::kFloat64, DType::kHalf,
                            DType::kBFloat16, DType::kInt32,   DType::kComplex64};

TEST_CASE("a product with bias and activation has the bits of its ops, whatever its sizes") {
  const int64_t sizes[][3] = {{2, 3, 4},     {1, 1, 1},     {0, 3, 4},      {3, 0, 4},
                              {5, 7, 0},     {5000, 30, 0}, {300, 401, 70}, {8, 3000, 600},
                              {400, 1, 300}, {33, 130, 17}};
  for (DType dtype : kTypes) {
    for (const auto& s : sizes) {
      auto layer = [&](Ops op, std::span<const Tensor> x) -> Tensors {
        Tensor y = op(kBiasAdd, {op(kMatMul, {x[0], x[1]}), x[2]});
        return {is_complex(dtype) ? op(kMul, {y, y}) : op(kRelu, {y})};
      };
      const Tensor inputs[] = {values(dtype, {s[0], s[2]}, 1), values(dtype, {s[2], s[1]}, 2),
                               values(dtype, {s[1]}, 3)};
      check(layer, inputs);
    }
  }
}

TEST_CASE("a residual, a column, a scalar and what else broadcasts follow a product") {
  for (DType dtype : {DType::kFloat32, DType::kHalf, DType::kInt32}) {
    auto f = [](Ops op, std::span<const Tensor> x) -> Tensors {
      Tensor y = op(kMatMul, {x[0], x[1]}, {.transpose_b = true});
      Tensor z = op(kAddV2, {op(kMul, {op(kAddV2, {x[2], y}), x[3]}), x[4]});
      return {z, op(kSub, {y, z}), op(kLess, {z, y})};
    };
    for (int64_t columns : {5, 700}) {
      const Tensor inputs[] = {values(dtype, {130, 40}, 1), values(dtype, {columns, 40}, 2),
                               values(dtype, {130, columns}, 3), values(dtype, {130, 1}, 4),
                               values(dtype, {}, 5)};
      check(f, inputs, {1, 0});  // rows that may be of another number broadcast
    }
  }
}

TEST_CASE("a result without an output of its dtype has memory of its own") {
  auto f = [](Ops op, std::span<const Tensor> x) -> Tensors {
    return {op(kCast, {op(kTanh, {op(kMatMul, {x[0], x[1]})})}, {.DstT = DType::kHalf})};
  };
  const Tensor inputs[] = {values(DType::kFloat32, {300, 40}, 1),
                           values(DType::kFloat32, {40, 300}, 2)};
  check(f, inputs);
}

TEST_CASE("batches of products that broadcast take along what follows") {
  for (DType dtype : {DType::kFloat32, DType::kFloat64, DType::kComplex64, DType::kBFloat16}) {
    auto f = [](Ops op, std::span<const Tensor> x) -> Tensors {
      Tensor y = op(kBatchMatMulV2, {x[0], x[1]}, {.adj_y = true});
      return {op(kMul, {op(kAddV2, {y, x[2]}), x[3]})};
    };
    const Shape shapes[][4] = {{{4, 3, 20, 6}, {3, 30, 6}, {20, 30}, {4, 1, 1, 30}},
                               {{2, 70, 50}, {2, 40, 50}, {2, 70, 40}, {}},
                               {{50, 3, 2}, {1, 5, 2}, {5}, {50, 3, 1}},
                               {{0, 3, 2}, {0, 5, 2}, {5}, {3, 1}}};
    for (const auto& s : shapes) {
      const Tensor inputs[] = {values(dtype, s[0], 1), values(dtype, s[1], 2),
                               values(dtype, s[2], 3), values(dtype, s[3], 4)};
      check(f, inputs, {1, -1});
    }
  }
}

TEST_CASE("convolutions take along bias, batch of channels and activation, forward and back") {
  for (DType dtype : {DType::kFloat32, DType::kFloat64, DType::kHalf, DType::kInt32}) {
    for (const char* format : {"NHWC", "NCHW"}) {
      const bool second = std::string_view(format) == "NCHW";
      for (int64_t in : {1, 3, 16}) {
        const ConvolutionAttrs attrs = {
            .strides = {1, 1, 1, 1}, .padding = "SAME", .data_format = format};
        const Shape image = second ? Shape{3, in, 17, 18} : Shape{3, 17, 18, in};
        const Shape result = second ? Shape{3, 8, 17, 18} : Shape{3, 17, 18, 8};
        auto forward = [&](Ops op, std::span<const Tensor> x) -> Tensors {
          Tensor y = op(kConv2D, {x[0], x[1]}, attrs);
          return {op(kRelu, {op(kAddV2, {op(kMul, {y, x[2]}), x[3]})})};
        };
        const Tensor inputs[] = {values(dtype, image, 1), values(dtype, {3, 3, in, 8}, 2),
                                 values(dtype, second ? Shape{8, 1, 1} : Shape{8}, 3),
                                 values(dtype, result, 4)};
        check(forward, inputs);
        auto backward = [&](Ops op, std::span<const Tensor> x) -> Tensors {
          Tensor sizes = op(kShape, {x[0]}, {});
          return {op(kReluGrad, {op(kConv2DBackpropInput, {sizes, x[1], x[2]}, attrs), x[0]})};
        };
        const Tensor gradients[] = {inputs[0], inputs[1], inputs[3]};
        check(backward, gradients);
      }
    }
  }
}

TEST_CASE("depthwise convolutions and strided ones of symbolic images take along what follows") {
  for (DType dtype : {DType::kFloat32, DType::kFloat64, DType::kBFloat16}) {
    auto depthwise = [](Ops op, std::span<const Tensor> x) -> Tensors {
      return {op(kRelu6, {op(kDepthwiseConv2dNative, {x[0], x[1]},
                             {.strides = {1, 2, 2, 1}, .padding = "VALID"})})};
    };
    const Tensor inputs[] = {values(dtype, {2, 19, 40, 12}, 1), values(dtype, {3, 3, 12, 2}, 2)};
    check(depthwise, inputs);
  }
  auto strided = [](Ops op, std::span<const Tensor> x) -> Tensors {
    Tensor y = op(kConv2D, {x[0], x[1]}, {.strides = {1, 2, 3, 1}, .padding = "SAME"});
    return {op(kTanh, {op(kBiasAdd, {y, x[2]})})};
  };
  const Dim unknown = Dim::unknown();
  const Shape shapes[] = {{unknown, unknown, unknown, 3}, {3, 3, 3, 5}, {5}};
  const DType dtypes[] = {DType::kFloat32, DType::kFloat32, DType::kFloat32};
  const Traced traced(strided, dtypes, shapes);
  CHECK(traced.num_libraries() == 1);
  for (const Shape& image : {Shape{2, 17, 33, 3}, Shape{1, 4, 4, 3}, Shape{0, 9, 9, 3}}) {
    const Tensor inputs[] = {values(DType::kFloat32, image, 1),
                             values(DType::kFloat32, {3, 3, 3, 5}, 2),
                             values(DType::kFloat32, {5}, 3)};
    Tensors outputs;
    REQUIRE(traced.program->run(inputs, outputs).ok());
    CHECK(same_bits(outputs[0], strided(Ops(eager_builder()), inputs)[0]));
  }
}

TEST_CASE("layers in a row are as many steps, and their gradients take along the mask") {
  auto f = [](Ops op, std::span<const Tensor> x) -> Tensors {
    Tensor h = op(kRelu, {op(kBiasAdd, {op(kMatMul, {x[0], x[1]}), x[3]})});
    Tensor y = op(kTanh, {op(kBiasAdd, {op(kMatMul, {h, x[2]}), x[3]})});
    Tensor dh = op(kMatMul, {op(kTanhGrad, {y, y}), x[2]}, {.transpose_b = true});
    Tensor dz = op(kReluGrad, {dh, h});
    return {y, op(kMatMul, {x[0], dz}, {.transpose_a = true}), op(kBiasAddGrad, {dz})};
  };
  const Tensor inputs[] = {values(DType::kFloat32, {70, 200}, 1),
                           values(DType::kFloat32, {200, 60}, 2),
                           values(DType::kFloat32, {60, 60}, 3), values(DType::kFloat32, {60}, 4)};
  check(f, inputs, {3, 2});
}

TEST_CASE("random chains behind products have the bits of their ops") {
  int libraries = 0;
  for (uint32_t seed = 0; seed < 150; ++seed) {
    CAPTURE(seed);
    std::mt19937 sizes(seed);
    const auto m = static_cast<int64_t>(1 + sizes() % 150), k = static_cast<int64_t>(sizes() % 90);
    const auto n = static_cast<int64_t>(1 + sizes() % (seed % 3 ? 20 : 400));
    const DType dtype = seed % 4 ? DType::kFloat32 : DType::kHalf;
    auto f = [&](Ops op, std::span<const Tensor> x) -> Tensors {
      std::mt19937 random(seed);
      std::vector<Tensor> all = {op(kMatMul, {x[0], x[1]})};
      for (uint32_t i = 0, count = 1 + random() % 8; i < count; ++i) {
        const Tensor a = all[random() % all.size()];
        const Tensor other = random() % 2 ? all[random() % all.size()] : x[2 + random() % 4];
        switch (random() % 6) {
          case 0:
            all.push_back(op(kTanh, {a}));
            break;
          case 1:
            all.push_back(op(kRelu, {a}));
            break;
          case 2:
            all.push_back(op(kMul, {a, other}));
            break;
          case 3:
            all.push_back(op(kMaximum, {other, a}));
            break;
          default:
            all.push_back(op(kAddV2, {other, a}));
        }
      }
      Tensors outputs;
      outputs.push_back(all.back());
      if (all.size() > 3) outputs.push_back(all[2]);
      return outputs;
    };
    const Tensor inputs[] = {values(dtype, {m, k}, 1), values(dtype, {k, n}, 2),
                             values(dtype, {m, n}, 3), values(dtype, {n}, 4),
                             values(dtype, {m, 1}, 5), values(dtype, {}, 6)};
    libraries += check(f, inputs, {-1, -1});
  }
  CHECK(libraries > 60);
}

// --- Errors.

std::string error_of(const Program& program, std::span<const Tensor> inputs) {
  Tensors outputs;
  Status status = program.run(inputs, outputs);
  if (status.ok()) return "ok";
  CHECK(outputs.empty());
  auto* where = dynamic_cast<ExecutionError*>(status.payload().get());
  REQUIRE(where);
  return where->node_name + ": " + status.message();
}

TEST_CASE("errors of shapes are those of the op that refuses them, with its name") {
  auto f = [](Ops op, std::span<const Tensor> x) -> Tensors {
    Tensor y = op(kMatMul, {x[0], x[1]}, {}, "product");
    return {op(kRelu, {op(kAddV2, {y, x[2]}, {}, "sum")})};
  };
  const Dim unknown = Dim::unknown();
  const Shape shapes[] = {{unknown, unknown}, {unknown, 4}, {unknown, 4}};
  const Shape with_row[] = {{unknown, unknown}, {unknown, 4}, {1, 4}};
  const DType dtypes[] = {DType::kFloat32, DType::kFloat32, DType::kFloat32};
  const Traced apart(f, dtypes, with_row, /*fuses=*/false), fused(f, dtypes, with_row);
  CHECK(fused.num_libraries() == 1);
  const Tensor bad[] = {values(DType::kFloat32, {3, 5}, 1), values(DType::kFloat32, {6, 4}, 2),
                        values(DType::kFloat32, {1, 4}, 3)};
  CHECK(error_of(*fused.program, bad) ==
        "product: [MatMul] Matrix size-incompatible: In[0]: [3,5], In[1]: [6,4]");
  CHECK(error_of(*fused.program, bad) == error_of(*apart.program, bad));

  // A sum that may have more rows than the product is a step of its own.
  const Traced separate(f, dtypes, shapes);
  CHECK(separate.num_libraries() == 0);
  const Tensor wide[] = {values(DType::kFloat32, {1, 5}, 1), values(DType::kFloat32, {5, 4}, 2),
                         values(DType::kFloat32, {7, 4}, 3)};
  Tensors outputs;
  REQUIRE(separate.program->run(wide, outputs).ok());
  CHECK(same_bits(outputs[0], f(Ops(eager_builder()), wide)[0]));
}

TEST_CASE("an operand that broadcasts to a size of the product, and does not fit, is an error") {
  auto f = [](Ops op, std::span<const Tensor> x) -> Tensors {
    Tensor y = op(kMatMul, {x[0], x[1]}, {}, "product");
    return {op(kRelu, {op(kAddV2, {y, x[2]}, {}, "sum")})};
  };
  const Shape shapes[] = {{3, 5}, {5, 4}, {Dim::unknown(), 4}};
  const DType dtypes[] = {DType::kFloat32, DType::kFloat32, DType::kFloat32};
  const Traced apart(f, dtypes, shapes, /*fuses=*/false), fused(f, dtypes, shapes);
  CHECK(fused.num_libraries() == 1);
  for (int64_t rows : {1, 2, 3}) {
    const Tensor inputs[] = {values(DType::kFloat32, {3, 5}, 1), values(DType::kFloat32, {5, 4}, 2),
                             values(DType::kFloat32, {rows, 4}, 3)};
    CHECK(error_of(*fused.program, inputs) == error_of(*apart.program, inputs));
    CHECK((error_of(*fused.program, inputs) == "ok") == (rows != 2));
  }
}

TEST_CASE("a trap behind a product names its op, the first one in the order of nodes") {
  auto f = [](Ops op, std::span<const Tensor> x) -> Tensors {
    Tensor y = op(kMatMul, {x[0], x[1]}, {}, "product");
    Tensor first = op(kFloorDiv, {y, x[2]}, {}, "first");
    return {op(kFloorDiv, {first, x[3]}, {}, "second")};
  };
  const Tensor inputs[] = {values(DType::kInt32, {200, 60}, 1), values(DType::kInt32, {60, 90}, 2),
                           values(DType::kInt32, {200, 90}, 3), values(DType::kInt32, {90}, 4)};
  const std::vector<Shape> shapes = {{200, 60}, {60, 90}, {200, 90}, {90}};
  for (int bad = 0; bad < 4; ++bad) {  // bit 0: the first divisor, bit 1: the second
    for (int i : {2, 3}) {
      std::ranges::fill(inputs[i].mutable_data<int32_t>(), 3);
      if (bad >> (i - 2) & 1) inputs[i].mutable_data<int32_t>()[i == 2 ? 90 * 200 - 1 : 0] = 0;
    }
    const Traced traced(f, dtypes_of(inputs), shapes);
    CHECK(traced.num_libraries() == 1);
    for (int threads : {1, 2}) {
      ThreadPool::shared().set_num_threads(threads);
      CHECK(error_of(*traced.program, inputs) ==
            (bad == 0  ? "ok"
             : bad & 1 ? "first: [FloorDiv] Integer division by zero"
                       : "second: [FloorDiv] Integer division by zero"));
    }
  }
  ThreadPool::shared().set_num_threads(0);
}

// --- Memory.

TEST_CASE("what is given up and read by the product itself is not written over") {
  auto f = [](Ops op, std::span<const Tensor> x) -> Tensors {
    Tensor y = op(kMatMul, {x[0], x[0]});
    Tensor z = op(kAddV2, {y, x[0]});
    return {z, op(kMul, {z, x[1]})};
  };
  const Shape shapes[] = {{200, 200}, {200, 200}};
  const DType dtypes[] = {DType::kFloat32, DType::kFloat32};
  const Traced traced(f, dtypes, shapes);
  REQUIRE(traced.num_libraries() == 1);
  Tensor inputs[] = {values(DType::kFloat32, shapes[0], 1), values(DType::kFloat32, shapes[1], 2)};
  const Tensors expected = f(Ops(eager_builder()), inputs);
  const void* second = inputs[1].raw_data();
  const bool given_up[] = {true, true};
  Tensors outputs;
  REQUIRE(traced.program->run(std::span<Tensor>(inputs), given_up, outputs).ok());
  CHECK(same_bits(outputs[0], expected[0]));
  CHECK(same_bits(outputs[1], expected[1]));
  CHECK(outputs[1].raw_data() == second);  // which only what follows reads, is
}

TEST_CASE("a product and what follows ask for the memory of the result alone") {
  auto f = [](Ops op, std::span<const Tensor> x) -> Tensors {
    return {op(kRelu, {op(kBiasAdd, {op(kMatMul, {x[0], x[1]}), x[2]})})};
  };
  const Tensor inputs[] = {values(DType::kFloat32, {300, 40}, 1),
                           values(DType::kFloat32, {40, 300}, 2),
                           values(DType::kFloat32, {300}, 3)};
  const std::vector<Shape> shapes = {{300, 40}, {40, 300}, {300}};
  const Traced traced(f, dtypes_of(inputs), shapes);
  CHECK(traced.program->to_text() ==
        "step 0: [MatMul BiasAdd Relu] %0 %1 %2 -> %3\n"
        "return %3\n");
}

TEST_CASE("no memory for the result is an error of the product") {
  auto f = [](Ops op, std::span<const Tensor> x) -> Tensors {
    Tensor y = op(kMatMul, {x[0], x[1]}, {}, "product");
    return {op(kCast, {y}, {.DstT = DType::kInt32})};
  };
  const Shape shapes[] = {{Dim::unknown(), 40}, {40, 300}};
  const DType dtypes[] = {DType::kFloat64, DType::kFloat64};
  const Traced traced(f, dtypes, shapes);
  REQUIRE(traced.num_libraries() == 1);
  const Tensor inputs[] = {values(DType::kFloat64, {300, 40}, 1),
                           values(DType::kFloat64, {40, 300}, 2)};
  const int64_t limit = Allocator::host().limit();
  Allocator::host().set_limit(Allocator::host().stats().in_use + 500'000);
  Tensors outputs;
  const Status status = traced.program->run(inputs, outputs);
  Allocator::host().set_limit(limit);
  CHECK(status.code() == Code::kResourceExhausted);
  CHECK(status.message().starts_with("[MatMul]"));
}

}  // namespace
}  // namespace graven::engine
