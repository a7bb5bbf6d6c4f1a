// Draws the Mandelbrot set as a PGM: mandelbrot [FILE [WIDTH [HEIGHT [ITERATIONS]]]]
//
// The points go through z = z * z + c all at once, in a plain while loop on tensors. Traced once,
// it draws pictures of any size and depth.

#include <graven/graven.h>

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

using graven::DType, graven::Shape, graven::State, graven::Tensor;

// How often each point is iterated before it leaves the circle of radius 2; the limit, if it stays.
Tensor escape_times(const Tensor& re, const Tensor& im, const Tensor& limit) {
  State<Tensor> x = graven::zeros_like(re), y = graven::zeros_like(im);
  State<Tensor> times = graven::zeros_like(re, DType::kInt32);
  State<Tensor> is_inside = graven::ones_like(re, DType::kBool), i = 0;
  while (graven::staged((i < limit) & graven::reduce_any(is_inside))) {
    Tensor x2 = x * x, y2 = y * y;
    is_inside = is_inside & (x2 + y2 <= 4);
    times = times + graven::cast(is_inside, DType::kInt32);
    y = 2 * x * y + im;
    x = x2 - y2 + re;
    i = i + 1;
  }
  return times;
}

int main(int argc, char** argv) try {
  const auto number = [&](int at, int otherwise) {
    const int given = argc > at ? std::atoi(argv[at]) : otherwise;
    if (given < 1 || given > 10000) throw std::runtime_error("Sizes go from 1 to 10000");
    return given;
  };
  const std::string file = argc > 1 ? argv[1] : "mandelbrot.pgm";
  const int width = number(2, 640), height = number(3, 480), limit = number(4, 200);

  // The middles of the pixels: 3 wide around -0.75.
  const float step = 3.0f / static_cast<float>(width);
  std::vector<float> re, im;
  for (int row = 0; row < height; ++row) {
    for (int column = 0; column < width; ++column) {
      re.push_back(-2.25f + step * (static_cast<float>(column) + 0.5f));
      im.push_back(step * (static_cast<float>(row - height / 2) + 0.5f));
    }
  }
  const auto times_of = graven::function(escape_times, {.name = "escape_times"});
  const Shape shape = {height, width};
  const std::vector<int32_t> times =
      times_of(Tensor::of(re, shape), Tensor::of(im, shape), limit).to_vector<int32_t>();

  std::ofstream out(file, std::ios::binary);
  out << "P5\n" << width << " " << height << "\n255\n";
  for (const int32_t n : times) out.put(static_cast<char>(n == limit ? 0 : 255 - n * 255 / limit));
  if (!out.flush()) throw std::runtime_error("Cannot write " + file);
  std::cout << file << ": " << width << " x " << height << ", at most " << limit << " iterations\n";
} catch (const std::exception& error) {
  std::cerr << error.what() << "\n";
  return 1;
}
