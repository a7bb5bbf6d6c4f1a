#include "graven/kernels/panels.h"

#include <algorithm>
#include <random>

#include "graven/kernels/elementwise_panels.h"
#include "graven/kernels/panels_testing.h"
#include "graven/kernels/testing.h"
#include "graven/kernels/trap_notes.h"

namespace graven::engine {
namespace {

TEST_CASE("rows are told of once, in runs of them") {
  const int64_t sizes[][2] = {{1, 1}, {7, 3}, {100000, 3}, {3, 100000}, {700, 300}};
  for (const auto& size : sizes) {
    const std::vector<uint8_t> result(static_cast<size_t>(size[0] * size[1]));
    PanelLog log(result.data(), size[0], size[1], 1);
    report_rows(log.done(), size[0], size[1]);
    CHECK(log.error() == "");
    CHECK((log.num_panels > 1) == (size[0] * size[1] > 32 << 10));
  }
  report_rows(nullptr, 3, 3);
  PanelLog none(nullptr, 0, 5, 1);
  report_rows(none.done(), 0, 5);
  CHECK(none.num_panels == 0);
}

// Rectangles that cover rows by columns, at random.
std::vector<Panel> random_panels(int64_t rows, int64_t columns, std::mt19937_64& random) {
  std::vector<Panel> panels;
  auto cut = [&](auto& self, Panel p) -> void {
    const bool by_rows = p.rows > 1 && (random() % 2 || p.columns == 1);
    if (random() % 4 == 0 || (p.rows == 1 && p.columns == 1)) return panels.push_back(p);
    Panel a = p, b = p;
    if (by_rows) {
      a.rows = 1 + static_cast<int64_t>(random() % static_cast<uint64_t>(p.rows - 1));
      b.row += a.rows;
      b.rows -= a.rows;
    } else if (p.columns > 1) {
      a.columns = 1 + static_cast<int64_t>(random() % static_cast<uint64_t>(p.columns - 1));
      b.column += a.columns;
      b.columns -= a.columns;
    } else {
      return panels.push_back(p);
    }
    self(self, a);
    self(self, b);
  };
  cut(cut, {0, rows, 0, columns});
  std::ranges::shuffle(panels, random);
  return panels;
}

// (x + bias) * factor, and whether x is less than it, over panels and at once.
template <typename T>
void check_panels(const Shape& shape, const Shape& of_bias, const Shape& of_factor, uint64_t seed) {
  CAPTURE(dtype_name(kDTypeOf<T>));
  CAPTURE(shape.to_message());
  CAPTURE(of_bias.to_message());
  CAPTURE(of_factor.to_message());
  Recorder recorder;
  const DType dtype = kDTypeOf<T>;
  Scalar bias = recorder.input(dtype), factor = recorder.input(dtype), x = recorder.input(dtype);
  Scalar y = (x + bias) * factor;
  recorder.output(y);
  recorder.output(x < y);
  const auto program = compile(*recorder.finish());
  const auto n = static_cast<size_t>(shape.num_elements());
  auto result = random_values<T>(n, seed);
  const auto biases = random_values<T>(static_cast<size_t>(of_bias.num_elements()), seed + 1);
  const auto factors = random_values<T>(static_cast<size_t>(of_factor.num_elements()), seed + 2);
  const StridedInput operands[] = {
      {biases.data(), &of_bias}, {factors.data(), &of_factor}, {result.data(), &shape}};
  std::vector<Stored<T>> whole(n);
  std::vector<uint8_t> whole_less(n), less(n, 7);
  void* const whole_outputs[] = {whole.data(), whole_less.data()};
  REQUIRE(run_elementwise(*program, operands, shape, whole_outputs).ok());

  void* const outputs[] = {result.data(), less.data()};  // over the elements that are read
  const ElementwisePanels panels(*program, operands, shape, outputs, /*traps=*/nullptr);
  const int64_t columns = shape.size(shape.rank() - 1);
  std::mt19937_64 random(seed);
  for (const Panel& panel : random_panels(shape.num_elements() / columns, columns, random)) {
    panels.run(panel);
  }
  CHECK(std::memcmp(whole.data(), result.data(), n * sizeof(T)) == 0);
  CHECK(whole_less == less);
}

TEST_CASE("panels give the bits of the whole, in place, whatever broadcasts") {
  uint64_t seed = 0;
  const Shape shapes[] = {{1, 1}, {5}, {3, 1}, {7, 5}, {40, 130}, {33, 600}, {4, 3, 2, 19}};
  for (const Shape& shape : shapes) {
    const int64_t columns = shape.size(shape.rank() - 1);
    Shape of_rows = shape, of_inner = shape;
    of_rows.set(shape.rank() - 1, 1);
    of_inner.set(0, 1);
    for (const Shape& bias : {Shape{}, Shape{columns}, of_rows, of_inner, shape}) {
      for (int i = 0; i < 4; ++i) {
        check_panels<float>(shape, bias, of_rows, ++seed);
        check_panels<Half>(shape, bias, shape, ++seed);
        check_panels<double>(shape, bias, Shape{}, ++seed);
        check_panels<int64_t>(shape, bias, Shape{columns}, ++seed);
      }
    }
  }
}

TEST_CASE("traps of any panel are noted") {
  Recorder recorder;
  Scalar x = recorder.input(DType::kInt32);
  trap_if(x < 0, "below zero");
  recorder.output(x + x);
  const auto program = compile(*recorder.finish());
  for (int64_t bad : {0, 17, 119}) {
    const Shape shape = {10, 12};
    std::vector<int32_t> values(120, 1), out(120);
    values[static_cast<size_t>(bad)] = -1;
    const StridedInput operand = {values.data(), &shape};
    void* const output = out.data();
    TrapNotes traps;
    const ElementwisePanels panels(*program, {&operand, 1}, shape, {&output, 1}, &traps);
    for (int64_t column : {0, 6}) {
      const bool is_noted = traps.first() != nullptr;
      CHECK((!is_noted || bad % 12 < 6));
      panels.run({0, 10, column, 6});
    }
    REQUIRE(traps.first());
    CHECK(traps.first()->message == std::string("below zero"));
  }
}

}  // namespace
}  // namespace graven::engine
