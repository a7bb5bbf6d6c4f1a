// Random numbers against those that TensorFlow 2.21 gives for the same seeds.
#include "graven/ops/random_ops.h"

#include <doctest/doctest.h>

#include <cmath>
#include <numeric>

#include "graven/base/thread_pool.h"
#include "graven/ops/random_streams.h"
#include "graven/ops/testing.h"
#include "graven/runtime/program.h"
#include "graven/runtime/variable.h"

namespace graven::engine {
namespace {

Tensor shape(int32_t n) { return vector_of<int32_t>({n}); }
Tensor seed(int64_t a, int64_t b) { return vector_of<int64_t>({a, b}); }

template <typename Bits>
std::vector<Bits> bits_of(const Tensor& x) {
  REQUIRE(dtype_size(x.dtype()) == sizeof(Bits));
  const auto* data = static_cast<const Bits*>(x.raw_data());
  return {data, data + x.num_elements()};
}
template <typename T>
void check_close(const Tensor& x, const std::vector<double>& expected) {
  auto got = values_of<T>(x);
  REQUIRE(got.size() == expected.size());
  for (size_t i = 0; i < got.size(); ++i) {
    CHECK(got[i] == doctest::Approx(expected[i]).epsilon(1e-6));
  }
}

}  // namespace

TEST_CASE("stateless uniforms have TensorFlow's bits") {
  CHECK(bits_of<int32_t>(run(kStatelessRandomUniform, {shape(5), seed(1, 2)})) ==
        std::vector<int32_t>{1062736984, 1044686728, 1065289852, 1042562200, 1049313868});
  CHECK(bits_of<int64_t>(
            run(kStatelessRandomUniform, {shape(3), seed(1, 2)}, {.dtype = DType::kFloat64})) ==
        std::vector<int64_t>{4604952990652115426, 4606910273233162022, 4595506290538114600});
  CHECK(bits_of<int16_t>(
            run(kStatelessRandomUniform, {shape(5), seed(1, 2)}, {.dtype = DType::kHalf})) ==
        std::vector<int16_t>{14424, 13192, 11200, 15142, 12440});
  CHECK(bits_of<int16_t>(
            run(kStatelessRandomUniform, {shape(5), seed(1, 2)}, {.dtype = DType::kBFloat16})) ==
        std::vector<int16_t>{16048, 16226, 16120, 15896, 15896});
}

TEST_CASE("stateless integers have TensorFlow's values, of a range and of the full one") {
  auto int32 = [](int32_t x) { return Tensor::scalar(x); };
  auto int64 = [](int64_t x) { return Tensor::scalar(x); };
  CHECK(values_of<int32_t>(
            run(kStatelessRandomUniformInt, {shape(5), seed(1, 2), int32(-5), int32(100)})) ==
        std::vector<int32_t>{35, 24, 49, 79, 17});
  CHECK(values_of<int64_t>(
            run(kStatelessRandomUniformInt, {shape(3), seed(1, 2), int64(-5), int64(100)})) ==
        std::vector<int64_t>{4, 28, 27});
  CHECK(values_of<uint32_t>(run(kStatelessRandomUniformFullInt, {shape(5), seed(1, 2)},
                                {.dtype = DType::kUInt32})) ==
        std::vector<uint32_t>{1105988140, 1738052849, 3959391294, 370444179, 10670227});
  CHECK(values_of<uint64_t>(run(kStatelessRandomUniformFullInt, {shape(3), seed(1, 2)})) ==
        std::vector<uint64_t>{7464880146280614444u, 1591045637757961278u, 17389275318164050067u});
  CHECK(error_of(kStatelessRandomUniformInt, {shape(2), seed(1, 2), int32(5), int32(5)}) ==
        "[StatelessRandomUniformInt] Need minval < maxval, got 5 >= 5");
}

TEST_CASE("stateless normals are TensorFlow's to a millionth") {
  check_close<float>(run(kStatelessRandomNormal, {shape(5), seed(3, -4)}),
                     {-1.780290961265564, -0.30832916498184204, -0.3106456696987152,
                      -0.3837282061576843, 0.353144109249115});
  check_close<double>(
      run(kStatelessRandomNormal, {shape(3), seed(3, -4)}, {.dtype = DType::kFloat64}),
      {0.5278684414155569, 0.9311649829545875, -0.6852638555127535});
  check_close<float>(run(kStatelessTruncatedNormal, {shape(6), seed(5, 6)}),
                     {1.023984432220459, -0.5387885570526123, 1.2795534133911133,
                      0.9120098948478699, -1.5643606185913086, 1.6708266735076904});
  check_close<double>(
      run(kStatelessTruncatedNormal, {shape(3), seed(5, 6)}, {.dtype = DType::kFloat64}),
      {1.9110135209673957, -1.016761244746766, 0.975443728726583});
}

TEST_CASE("a key and a counter give what their seed gives") {
  Tensors start = run_all(kStatelessRandomGetKeyCounter, {seed(1, 2)});
  CHECK(values_of<uint64_t>(start[0]) == std::vector<uint64_t>{10413732777507651514u});
  CHECK(values_of<uint64_t>(start[1]) == std::vector<uint64_t>{0, 17830669156045600267u});
  auto draw = [&](int32_t algorithm) {
    return run(kStatelessRandomUniformV2,
               {shape(5), start[0], start[1], Tensor::scalar(algorithm)});
  };
  Tensor expected = run(kStatelessRandomUniform, {shape(5), seed(1, 2)});
  CHECK(values_of<float>(draw(1)) == values_of<float>(expected));
  CHECK(values_of<float>(draw(3)) == values_of<float>(expected));
  CHECK(error_of(kStatelessRandomUniformV2,
                 {shape(5), start[0], start[1], Tensor::scalar(int32_t{7})}) ==
        "[StatelessRandomUniformV2] Unsupported algorithm id: 7");
  CHECK(error_of(kStatelessRandomUniform, {shape(2), vector_of<int64_t>({1, 2, 3})}) ==
        "[StatelessRandomUniform] seed must have shape [2], not [3]");
}

TEST_CASE("threads do not change random bits") {
  for (const auto* op :
       {&kStatelessRandomUniform, &kStatelessRandomNormal, &kStatelessTruncatedNormal}) {
    for (DType dtype : {DType::kFloat32, DType::kFloat64}) {
      ThreadPool::shared().set_num_threads(1);
      Tensor one = run(*op, {shape(50001), seed(8, 9)}, {.dtype = dtype});
      ThreadPool::shared().set_num_threads(3);
      Tensor three = run(*op, {shape(50001), seed(8, 9)}, {.dtype = dtype});
      ThreadPool::shared().set_num_threads(0);
      CHECK(std::memcmp(one.raw_data(), three.raw_data(), one.bytes()) == 0);
    }
  }
}

TEST_CASE("a seeded op goes on where it was, and starts anew when all do") {
  restart_random_streams();
  SeededDTypeAttrs seeds = {.seed = 7, .seed2 = 9};
  auto draw = [&] { return run(kRandomUniform, {shape(3)}, seeds); };
  check_close<float>(draw(), {0.5363448858261108, 0.4732365608215332, 0.46388888359069824});
  check_close<float>(draw(), {0.07794344425201416, 0.3295109272003174, 0.3944801092147827});
  restart_random_streams();
  check_close<float>(draw(), {0.5363448858261108, 0.4732365608215332, 0.46388888359069824});
  check_close<float>(run(kRandomStandardNormal, {shape(3)}, seeds),
                     {0.1868204027414322, -1.1004788875579834, -0.13537488877773285});
  check_close<float>(run(kTruncatedNormal, {shape(3)}, seeds),
                     {0.1868204027414322, -1.1004788875579834, -0.13537488877773285});
  CHECK(values_of<int32_t>(run(kRandomUniformInt,
                               {shape(4), Tensor::scalar(int32_t{10}), Tensor::scalar(int32_t{20})},
                               {.seed = 7, .seed2 = 9})) == std::vector<int32_t>{11, 10, 18, 13});
}

TEST_CASE("rows are shuffled as TensorFlow shuffles them") {
  restart_random_streams();
  std::vector<int32_t> numbers(12);
  std::iota(numbers.begin(), numbers.end(), 0);
  Tensor vector = vector_of<int32_t>({numbers.begin(), numbers.begin() + 10});
  SeedAttrs seeds = {.seed = 7, .seed2 = 9};
  CHECK(values_of<int32_t>(run(kRandomShuffle, {vector}, seeds)) ==
        std::vector<int32_t>{1, 9, 8, 2, 0, 7, 3, 6, 4, 5});
  CHECK(values_of<int32_t>(run(kRandomShuffle, {vector}, seeds)) ==
        std::vector<int32_t>{2, 3, 8, 6, 1, 9, 5, 0, 7, 4});
  CHECK(values_of<int32_t>(run(kRandomShuffle, {tensor_of<int32_t>({6, 2}, numbers)}, seeds)) ==
        std::vector<int32_t>{0, 1, 10, 11, 2, 3, 6, 7, 8, 9, 4, 5});
}

TEST_CASE("each random node of a graph has a stream of its own") {
  Ref<Graph> graph(new Graph("f"));
  GraphBuilder builder(graph);
  Emitter emit(builder);
  Tensor n = builder.add_constant(shape(3));
  SeededDTypeAttrs seeds = {.seed = 7, .seed2 = 9};
  Tensor a = emit(kRandomUniform, {n}, seeds), b = emit(kRandomUniform, {n}, seeds);
  REQUIRE(emit.status().ok());
  graph->set_outputs({{symbolic(a).output(), symbolic(b).output()}});
  auto program = plan_program(graph);
  REQUIRE_MESSAGE(program.ok(), program.status().message());
  Tensors first, second;
  REQUIRE((*program)->run({}, first).ok());
  REQUIRE((*program)->run({}, second).ok());
  CHECK(values_of<float>(first[0]) == values_of<float>(first[1]));
  CHECK(values_of<float>(first[0]) != values_of<float>(second[0]));
  restart_random_streams();
  REQUIRE((*program)->run({}, second).ok());
  CHECK(values_of<float>(first[0]) == values_of<float>(second[0]));
}

TEST_CASE("without seeds nobody foresees the numbers") {
  auto draw = [] { return values_of<float>(run(kRandomUniform, {shape(8)})); };
  CHECK(draw() != draw());
}

TEST_CASE("a generator's state moves on by 256 counters an element") {
  Ref<Variable> state(new Variable(DType::kInt64, {3}, "state"));
  REQUIRE(state->assign(vector_of<int64_t>({5, 0, 0})).ok());
  Tensor handle = Tensor::of_resource(state), philox = Tensor::scalar(int64_t{1});
  check_close<float>(run(kStatefulUniform, {handle, philox, shape(3)}),
                     {0.5670160055160522, 0.20770859718322754, 0.18223881721496582});
  CHECK(values_of<int64_t>(*state->read()) == std::vector<int64_t>{773, 0, 0});
  check_close<float>(run(kStatefulStandardNormalV2, {handle, philox, shape(2)}),
                     {-1.6569936275482178, 0.9840722680091858});
  CHECK(values_of<int32_t>(run(kStatefulUniformInt,
                               {handle, philox, shape(3), Tensor::scalar(int32_t{-3}),
                                Tensor::scalar(int32_t{9})})) == std::vector<int32_t>{7, -3, 5});
  Tensor before =
      run(kRngReadAndSkip, {handle, Tensor::scalar(int32_t{1}), Tensor::scalar(uint64_t{1} << 60)});
  CHECK(values_of<int64_t>(before) == std::vector<int64_t>{2053, 0, 0});
  CHECK(values_of<int64_t>(*state->read()) == std::vector<int64_t>{2053, 16, 0});
}

}  // namespace graven::engine
