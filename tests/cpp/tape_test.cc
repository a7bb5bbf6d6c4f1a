#include <doctest/doctest.h>
#include <graven/graven.h>

using graven::GradientTape;
using graven::Tensor;
using graven::UnconnectedGradients;
using graven::Variable;

TEST_CASE("the gradient of a watched tensor") {
  Tensor x = 3.0;
  GradientTape tape;
  tape.watch(x);
  Tensor y = x * x;
  CHECK(tape.gradient(y, x).item<float>() == 6);
}

TEST_CASE("variables are watched by being read") {
  Variable a(2.0), b(5.0);
  GradientTape tape;
  Tensor y = a * a * b;
  auto gradients = tape.gradient(y, {a, b});
  CHECK(gradients[0].item<float>() == 20);
  CHECK(gradients[1].item<float>() == 4);
  REQUIRE(tape.watched_variables().size() == 2);
  CHECK(tape.watched_variables()[0].is_same(a));
}

TEST_CASE("a variable that is not trainable is not watched") {
  Variable a(2.0, {.trainable = false});
  GradientTape tape;
  Tensor y = a * a;
  CHECK(tape.gradient(y, a).is_none());
}

TEST_CASE("nothing is watched by itself if the tape is told so") {
  Variable a(2.0), b(3.0);
  GradientTape tape({.watch_accessed_variables = false});
  tape.watch(b);
  Tensor y = a * b;
  auto gradients = tape.gradient(y, {a, b});
  CHECK(gradients[0].is_none());
  CHECK(gradients[1].item<float>() == 2);
}

TEST_CASE("a tape that is not persistent answers once") {
  Variable a(2.0);
  GradientTape tape;
  Tensor y = a * a;
  tape.gradient(y, a);
  try {
    tape.gradient(y, a);
    FAIL("no error");
  } catch (const graven::Error& error) {
    CHECK(error.kind() == graven::ErrorKind::kRuntimeError);
    CHECK(error.message().find("A non-persistent GradientTape can only be used to compute one set "
                               "of gradients (or jacobians)") == 0);
  }
}

TEST_CASE("a persistent tape answers often") {
  Variable a(2.0);
  GradientTape tape({.persistent = true});
  Tensor y = a * a, z = y * a;
  tape.stop();
  CHECK(tape.gradient(y, a).item<float>() == 4);
  CHECK(tape.gradient(z, a).item<float>() == 12);
  CHECK(tape.gradient(z, y).item<float>() == 2);
}

TEST_CASE("nested tapes give second derivatives") {
  Variable x(3.0);
  GradientTape outer;
  Tensor first;
  {
    GradientTape inner;
    Tensor y = x * x * x;
    first = inner.gradient(y, x);
  }
  CHECK(first.item<float>() == 27);
  CHECK(outer.gradient(first, x).item<float>() == 18);
}

TEST_CASE("what is not connected has no gradient, or zeros") {
  Tensor x = {1.0, 2.0}, y = {3.0, 4.0};
  GradientTape tape({.persistent = true});
  tape.watch(graven::Sources{x, y});
  Tensor z = x * 2;
  CHECK(tape.gradient(z, y).is_none());
  Tensor zeros = tape.gradient(z, y, {.unconnected_gradients = UnconnectedGradients::kZero});
  CHECK(zeros.to_vector<float>() == std::vector<float>{0, 0});
}

TEST_CASE("targets are summed, each with its output gradient") {
  Variable x(2.0);
  GradientTape tape({.persistent = true});
  Tensor a = x * 3, b = x * x;
  tape.stop();
  CHECK(tape.gradient({a, b}, {x})[0].item<float>() == 7);
  CHECK(tape.gradient({a, b}, {x}, {.output_gradients = {10.0, 100.0}})[0].item<float>() == 430);
}

TEST_CASE("ops are not recorded while the recording is stopped") {
  Variable x(2.0);
  GradientTape tape;
  Tensor y = x * x;
  Tensor z;
  {
    auto pause = tape.stop_recording();
    z = y * x;
  }
  Tensor w = y + z;
  CHECK(tape.gradient(w, x).item<float>() == 4);
}

TEST_CASE("a tape that was reset knows nothing") {
  Variable x(2.0);
  GradientTape tape;
  Tensor y = x * x;
  tape.reset();
  CHECK(tape.gradient(y, x).is_none());
  CHECK_THROWS_WITH_AS(tape.reset(), doctest::Contains("not recording"), graven::Error);
}

TEST_CASE("a tape stops and resumes once each") {
  GradientTape tape;
  CHECK_THROWS_WITH_AS(tape.resume(), doctest::Contains("Tape is still recording"), graven::Error);
  tape.stop();
  CHECK_THROWS_WITH_AS(tape.stop(), doctest::Contains("not recording"), graven::Error);
  tape.resume();
}

TEST_CASE("a gathered variable has IndexedSlices, and they are dense on demand") {
  Variable table({{1.0, 2.0}, {3.0, 4.0}, {5.0, 6.0}});
  GradientTape tape({.persistent = true});
  Tensor rows = table.sparse_read({2, 2});
  auto gradient = tape.sparse_gradient({rows}, {table})[0];
  REQUIRE(gradient.is_slices());
  CHECK(gradient.slices.indices.to_vector<int32_t>() == std::vector<int32_t>{2, 2});
  CHECK(tape.gradient(rows, table).to_vector<float>() == std::vector<float>{0, 0, 0, 0, 2, 2});
}

TEST_CASE("a jacobian has the shape of target and source") {
  Variable x({1.0, 2.0, 3.0});
  GradientTape tape({.persistent = true});
  Tensor y = x * x;
  Tensor jacobian = tape.jacobian(y, x);
  CHECK(jacobian.shape() == graven::Shape{3, 3});
  CHECK(jacobian.to_vector<float>() == std::vector<float>{2, 0, 0, 0, 4, 0, 0, 0, 6});
}

TEST_CASE("a batch jacobian takes rows by themselves") {
  Variable x({{1.0, 2.0}, {3.0, 4.0}});
  GradientTape tape({.persistent = true});
  Tensor y = x * x;
  Tensor jacobian = tape.batch_jacobian(y, x);
  CHECK(jacobian.shape() == graven::Shape{2, 2, 2});
  CHECK(jacobian.to_vector<float>() == std::vector<float>{2, 0, 0, 4, 6, 0, 0, 8});
}

TEST_CASE("a tape that is not persistent answers one jacobian") {
  Variable x({1.0, 2.0});
  GradientTape tape;
  Tensor y = x * x;
  CHECK(tape.jacobian(y, x).to_vector<float>() == std::vector<float>{2, 0, 0, 4});
  CHECK_THROWS_WITH_AS(tape.jacobian(y, x), doctest::Contains("one set of gradients"),
                       graven::Error);
  CHECK_THROWS_WITH_AS(tape.gradient(y, x), doctest::Contains("one set of gradients"),
                       graven::Error);
}

TEST_CASE("an outer tape differentiates a jacobian") {
  Variable x({1.0, 2.0});
  GradientTape outer;
  GradientTape inner;
  Tensor y = x * x * x;
  Tensor jacobian = inner.jacobian(y, x);
  CHECK(outer.gradient(jacobian, x).to_vector<float>() == std::vector<float>{6, 12});
  CHECK(inner.watched_variables().size() == 1);
}

TEST_CASE("a tape differentiates through a function") {
  Variable v(2.0);
  auto f = graven::function(graven::captures(v), [&](const Tensor& x) { return v * v * x; });
  for (int call = 0; call < 2; ++call) {
    Tensor x = 5.0;
    GradientTape tape;
    tape.watch(x);
    Tensor y = f(x);
    auto gradients = tape.gradient(y, {v, x});
    CHECK(gradients[0].item<float>() == 20);
    CHECK(gradients[1].item<float>() == 4);
  }
  CHECK(f.experimental_get_tracing_count() == 1);
}

TEST_CASE("a tape inside of a function adds the gradient's ops to its trace") {
  auto slope = graven::function([](const Tensor& x) {
    GradientTape tape;
    tape.watch(x);
    Tensor y = x * x * x;
    return tape.gradient(y, x);
  });
  CHECK(slope(2.0).item<float>() == 12);
  CHECK(slope(3.0).item<float>() == 27);
  CHECK(slope.experimental_get_tracing_count() == 1);
}

TEST_CASE("a second derivative goes through a function twice") {
  auto cube = graven::function([](const Tensor& x) { return x * x * x; });
  Variable x(2.0);
  GradientTape outer;
  Tensor first;
  {
    GradientTape inner;
    Tensor y = cube(x);
    first = inner.gradient(y, x);
  }
  CHECK(first.item<float>() == 12);
  CHECK(outer.gradient(first, x).item<float>() == 12);
}
