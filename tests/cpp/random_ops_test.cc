#include <doctest/doctest.h>
#include <graven/graven.h>

using graven::DType;
using graven::Shape;
using graven::Tensor;
namespace random_ops = graven::random;
using random_ops::Generator;

namespace {

std::vector<float> floats(const Tensor& x) { return x.to_vector<float>(); }
std::vector<int64_t> longs(const Tensor& x) { return x.to_vector<int64_t>(); }
using Floats = std::vector<float>;
using Longs = std::vector<int64_t>;

}  // namespace

// The numbers in this file are those of TensorFlow 2.21 and of Graven's Python front end for the
// same seeds.

TEST_CASE("after set_seed the streams give the numbers of TensorFlow") {
  random_ops::set_seed(42);
  CHECK(floats(random_ops::uniform({3})) ==
        Floats{0.6645621061325073f, 0.44100677967071533f, 0.3528825044631958f});
  CHECK(floats(random_ops::uniform({3})) ==
        Floats{0.6878912448883057f, 0.48447883129119873f, 0.9309943914413452f});
  Floats normal = floats(random_ops::normal({3}));
  CHECK(normal[0] == doctest::Approx(-0.5590973496437073).epsilon(1e-6));
  CHECK(normal[2] == doctest::Approx(2.373033046722412).epsilon(1e-6));
  Floats truncated = floats(random_ops::truncated_normal({2}, 1.0, 2.0));
  CHECK(truncated[1] == doctest::Approx(0.17389661073684692).epsilon(1e-6));
  CHECK(random_ops::uniform({3}, 0, 100, DType::kInt32).to_vector<int32_t>() ==
        std::vector<int32_t>{49, 35, 98});
  CHECK(random_ops::shuffle(graven::range(6)).to_vector<int32_t>() ==
        std::vector<int32_t>{3, 0, 4, 2, 1, 5});
  CHECK(floats(random_ops::uniform({2}, -1.0, 1.0, DType::kFloat32, 5)) ==
        Floats{-0.9475786685943604f, -0.13106060028076172f});
}

TEST_CASE("a seed of more than 32 bits, and a negative one") {
  random_ops::set_seed(5000000000);
  CHECK(floats(random_ops::uniform({2})) == Floats{0.13192737102508545f, 0.21510028839111328f});
  random_ops::set_seed(-3);
  CHECK(floats(random_ops::uniform({2})) == Floats{0.6763781309127808f, 0.14947378635406494f});
}

TEST_CASE("random ops of a function go on from call to call") {
  auto f = graven::function([] { return random_ops::uniform({2}) + random_ops::uniform({2}); });
  random_ops::set_seed(9);
  CHECK(floats(f()) == Floats{1.0705034732818604f, 1.465232491493225f});
  CHECK(floats(f()) == Floats{1.486053466796875f, 1.109222412109375f});
}

TEST_CASE("dropout drops what it drops in TensorFlow") {
  random_ops::set_seed(11);
  const float kept = 1.3333333730697632f;
  CHECK(floats(graven::nn::dropout(graven::ones({8}), 0.25)) ==
        Floats{kept, kept, kept, kept, kept, 0, kept, 0});
}

TEST_CASE("dropout of nothing draws a seed, as of something") {
  random_ops::set_seed(3);
  graven::nn::dropout(graven::ones({2}), 0);
  CHECK(floats(random_ops::uniform({1})) == Floats{0.19457185f});
  random_ops::set_seed(3);
  graven::nn::dropout(graven::ones({2}), 0, {}, /*seed=*/1);
  CHECK(floats(random_ops::uniform({1})) == Floats{0.13366318f});
}

TEST_CASE("stateless numbers, and seeds made of seeds") {
  CHECK(floats(random_ops::stateless_uniform({3}, {1, 2}, -1, 1)) ==
        Floats{0.6881208419799805f, -0.6159093379974365f, 0.9924464225769043f});
  CHECK(random_ops::stateless_uniform({3}, {1, 2}, 0, 100, DType::kInt32).to_vector<int32_t>() ==
        std::vector<int32_t>{40, 49, 94});
  CHECK(longs(random_ops::stateless_uniform({2}, {1, 2}, std::nullopt, std::nullopt,
                                            DType::kInt64)) ==
        Longs{7464880146280614444, 1591045637757961278});
  Floats truncated = floats(random_ops::stateless_truncated_normal({2}, {1, 2}));
  CHECK(truncated[0] == doctest::Approx(0.544110119342804).epsilon(1e-6));
  Tensor seeds = random_ops::split({1, 2});
  CHECK(seeds.shape() == Shape{2, 2});
  CHECK(seeds.to_vector<int32_t>() ==
        std::vector<int32_t>{1105988140, 1738052849, -335576002, 370444179});
  Tensor folded = random_ops::fold_in({1, 2}, 7);
  CHECK(folded.to_vector<int32_t>() == std::vector<int32_t>{1105988140, 7});
  CHECK(random_ops::stateless_uniform({1}, folded).shape() == Shape{1});
}

// The number was cut to 32 bits where the seed was.
TEST_CASE("fold_in gives the dtype of the number") {
  CHECK(longs(random_ops::fold_in({1, 2}, int64_t{1} << 40)) ==
        Longs{7464880146280614444, int64_t{1} << 40});
  CHECK(random_ops::fold_in({int64_t{1} << 40, 1}, 3).to_vector<int32_t>() ==
        std::vector<int32_t>{-798612745, 3});
}

TEST_CASE("a generator draws and passes what it drew") {
  Generator generator = Generator::from_seed(7);
  CHECK(generator.key().item<int64_t>() == 0);
  CHECK(floats(generator.uniform({3})) ==
        Floats{0.399328351020813f, 0.7840713262557983f, 0.6788015365600586f});
  CHECK(floats(generator.normal({2}))[0] == doctest::Approx(-1.2344411611557007).epsilon(1e-6));
  CHECK(floats(generator.truncated_normal({2}))[0] ==
        doctest::Approx(0.6197004914283752).epsilon(1e-6));
  CHECK(generator.uniform({2}, 0, 10, DType::kInt32).to_vector<int32_t>() ==
        std::vector<int32_t>{4, 2});
  CHECK(generator.uniform_full_int({2}).to_vector<uint64_t>() ==
        std::vector<uint64_t>{15515988510445123100u, 4859832280479223925u});
  CHECK(longs(generator.make_seeds(2)) == Longs{8622760326148602425, 6976264019759602886, 0, 0});
  CHECK(floats(generator.split(2)[1].normal({2}))[1] ==
        doctest::Approx(1.2613073205).epsilon(1e-6));
  CHECK(longs(generator.state().value()) == Longs{3847, 0, 0});
}

TEST_CASE("generators are reset, skipped and made of keys") {
  Generator generator = Generator::from_seed(-1);
  CHECK(longs(generator.state().value()) == Longs{-1, -1, -1});
  CHECK(longs(random_ops::create_rng_state(5)) == Longs{5, 0, 0});
  generator.reset_from_key_counter(3, {1, 2});
  CHECK(longs(generator.state().value()) == Longs{1, 2, 3});
  CHECK(longs(generator.skip(4)) == Longs{1, 2, 3});
  generator.reset_from_seed(7);
  Floats first = floats(generator.uniform({2}));
  generator.reset(Tensor::of(Longs{7, 0, 0}, Shape{3}));
  CHECK(floats(generator.uniform({2})) == first);
  random_ops::set_global_generator(Generator::from_seed(7));
  CHECK(floats(random_ops::get_global_generator().uniform({2})) == first);
  // Nobody can foresee these; that they differ fails once in 2^64 runs.
  CHECK(longs(Generator::from_non_deterministic_state().state().value()) !=
        longs(Generator::from_non_deterministic_state().state().value()));
}

TEST_CASE("no gradient is asked of the state of a generator") {
  CHECK(!Generator::from_seed(7).state().trainable());
  CHECK(Generator::from_seed(7).state().name() == "StateVar:0");
}

TEST_CASE("a generator in a function is read and moved by each call") {
  Generator generator = Generator::from_seed(7);
  auto f =
      graven::function(graven::captures(generator.state()), [&] { return generator.uniform({2}); });
  Floats first = floats(f());
  CHECK(first[0] == 0.399328351020813f);
  CHECK(floats(f()) != first);
}

TEST_CASE("wrong arguments of random ops are named") {
  CHECK_THROWS_WITH_AS(random_ops::uniform({2}, 0, std::nullopt, DType::kInt32),
                       doctest::Contains("Must specify maxval for integer dtype int32"),
                       graven::Error);
  CHECK_THROWS_WITH_AS(random_ops::uniform({2}, 0, 1, DType::kString),
                       doctest::Contains("invalid value string"), graven::Error);
  CHECK_THROWS_WITH_AS(random_ops::stateless_uniform({2}, {1, 2}, 0, std::nullopt, DType::kInt32),
                       doctest::Contains("both None or not None"), graven::Error);
  CHECK_THROWS_WITH_AS(random_ops::stateless_uniform({2}, {1, 2}, 0, 3, DType::kUInt32),
                       doctest::Contains("don't use unsigned"), graven::Error);
  CHECK_THROWS_WITH_AS(random_ops::normal({-1}), doctest::Contains("random_ops_test.cc"),
                       graven::Error);
}
