// Trains a small convolutional network to read handwritten digits: the twin of digits.py. Both
// print the same losses, bit for bit, each computed by its own run: digits --json losses.json

#include <graven/graven.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <numeric>
#include <sstream>
#include <stdexcept>

#ifndef DIGITS_DATA  // The build says where the digits are, so that the program runs from anywhere.
#define DIGITS_DATA "data/digits.bin"
#endif
namespace nn = graven::nn;
using graven::DType, graven::Shape, graven::Tensor, graven::Variable;

constexpr int kClasses = 10;
// Adam's constants: decay of the two running means, and what keeps a division from zero.
constexpr double kBeta1 = 0.9, kBeta2 = 0.999, kEpsilon = 1e-7;

// Images of height x width numbers from 0 for paper to 1 for ink, one after the other.
struct Digits {
  int64_t height = 0, width = 0;
  std::vector<float> pixels;
  std::vector<int32_t> labels;

  int64_t size() const { return static_cast<int64_t>(labels.size()); }
  void add(const Digits& from, int64_t i) {
    auto image = from.pixels.begin() + i * height * width;
    pixels.insert(pixels.end(), image, image + height * width);
    labels.push_back(from.labels[i]);
  }
  Tensor image_tensor() const { return Tensor::of(pixels, Shape{size(), height, width, 1}); }
  Tensor label_tensor() const { return Tensor::of(labels, Shape{size()}); }
};

// Reads the file that data/README.md describes.
Digits load_digits(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::vector<char> content{std::istreambuf_iterator<char>(file), {}};
  if (content.size() < 24 || std::memcmp(content.data(), "DIGITS01", 8) != 0) {
    throw std::runtime_error(path + " is not a file of digits");
  }
  uint32_t sizes[3];  // little-endian, as the machines that Graven runs on
  std::memcpy(sizes, content.data() + 8, sizeof sizes);
  size_t num_images = sizes[0], num_pixels = num_images * sizes[1] * sizes[2];
  if (content.size() < 24 + num_pixels + num_images) throw std::runtime_error(path + " is cut off");
  Digits digits{sizes[1], sizes[2], {}, {}};
  auto bytes = reinterpret_cast<const uint8_t*>(content.data()) + 24;
  for (size_t i = 0; i < num_pixels; ++i) digits.pixels.push_back(bytes[i] / 16.0f);
  digits.labels.assign(bytes + num_pixels, bytes + num_pixels + num_images);
  return digits;
}

// 0 .. n-1 in the order that sorts n random numbers; equal ones keep their order.
std::vector<int64_t> shuffled_order(int64_t n, int64_t seed, int64_t epoch) {
  auto keys = graven::random::stateless_uniform({n}, {seed, 1000 + epoch}).to_vector<float>();
  std::vector<int64_t> order(n);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int64_t a, int64_t b) { return keys[a] < keys[b]; });
  return order;
}

// Two convolutions, each followed by pooling, and two dense layers.
struct Network : graven::Module {
  Variable conv1, conv1_bias, conv2, conv2_bias, dense1, dense1_bias, dense2, dense2_bias;
  std::vector<Variable> parameters;

  explicit Network(int64_t seed) {
    make_layer(conv1, conv1_bias, {3, 3, 1, 32}, 9, {seed, 1});
    make_layer(conv2, conv2_bias, {3, 3, 32, 32}, 9 * 32, {seed, 2});
    make_layer(dense1, dense1_bias, {2 * 2 * 32, 64}, 2 * 2 * 32, {seed, 3});
    make_layer(dense2, dense2_bias, {64, kClasses}, 64, {seed, 4});
  }

  // Makes weights, uniform within sqrt(6 / fan_in) as He et al. advise, and a zero bias.
  void make_layer(Variable& weights, Variable& bias, const std::vector<int64_t>& shape,
                  double fan_in, const std::vector<int64_t>& seed) {
    double limit = std::sqrt(6.0 / fan_in);
    weights = Variable(graven::random::stateless_uniform(shape, seed, -limit, limit));
    bias = Variable(graven::zeros({shape.back()}));
    parameters.insert(parameters.end(), {weights, bias});
  }

  void members(graven::Members& each) const override { each("parameters", parameters); }

  // The logits, float32 [n, 10], of images, float32 [n, 8, 8, 1].
  Tensor operator()(const Tensor& images) const {
    Tensor x = nn::conv2d(images, conv1, 1, "SAME");
    x = nn::relu(nn::bias_add(x, conv1_bias));
    x = nn::max_pool2d(x, 2, 2, "VALID");
    x = nn::conv2d(x, conv2, 1, "SAME");
    x = nn::relu(nn::bias_add(x, conv2_bias));
    x = nn::max_pool2d(x, 2, 2, "VALID");
    x = graven::reshape(x, {-1, 2 * 2 * 32});
    x = nn::relu(nn::bias_add(graven::matmul(x, dense1), dense1_bias));
    return nn::bias_add(graven::matmul(x, dense2), dense2_bias);
  }
};

// The optimiser of Kingma and Ba (2015), algorithm 1, written out.
struct Adam {
  std::vector<Variable> parameters, means, squares;
  double rate;
  Variable power1{1.0}, power2{1.0};  // kBeta1 and kBeta2 to the number of steps

  Adam(std::vector<Variable> variables, double rate)
      : parameters(std::move(variables)), rate(rate) {
    for (const Variable& p : parameters) {
      means.emplace_back(graven::zeros_like(p));
      squares.emplace_back(graven::zeros_like(p));
    }
  }

  // Moves each parameter one step against its gradient.
  void apply(const std::vector<Tensor>& gradients) const {
    power1.assign(power1 * kBeta1);
    power2.assign(power2 * kBeta2);
    for (size_t i = 0; i < parameters.size(); ++i) {
      const Variable &m = means[i], &v = squares[i];
      const Tensor& g = gradients[i];
      m.assign(m * kBeta1 + g * (1.0 - kBeta1));
      v.assign(v * kBeta2 + g * g * (1.0 - kBeta2));
      Tensor mean = m / (1.0 - power1);
      Tensor square = v / (1.0 - power2);
      parameters[i].assign_sub(mean * rate / (graven::sqrt(square) + kEpsilon));
    }
  }
};

// Redraws the epoch's line on a terminal; into a file or a pipe only finished lines go.
void show_progress(int epoch, int epochs, double part, double loss, double right, double speed) {
  bool is_terminal = isatty(STDOUT_FILENO);
  if (part < 1 && !is_terminal) return;
  std::string bar(static_cast<size_t>(std::lround(24 * part)), '#');
  bar.resize(24, '.');
  std::printf("%sepoch %3d/%d [%s] loss %.4f  accuracy %6.2f %%  %7.0f images/s%s",
              is_terminal ? "\r" : "", epoch, epochs, bar.c_str(), loss, 100 * right, speed,
              part < 1 ? "" : "\n");
  std::fflush(stdout);
}

// Prints words in indented lines of at most 100 characters.
void print_wrapped(const std::string& text) {
  const std::string indent(5, ' ');
  std::istringstream words(text);
  std::string line = indent, word;
  while (words >> word) {
    if (line != indent && line.size() + 1 + word.size() > 100) {
      std::puts(line.c_str());
      line = indent;
    }
    line += " " + word;
  }
  std::puts(line.c_str());
}

// What each function's cache holds.
void print_traces(const std::vector<graven::FunctionBase>& functions) {
  std::printf("\ntraces\n  %-12s %8s %10s %10s\n", "function", "hits", "trace ms", "bytes");
  for (const graven::FunctionBase& function : functions) {
    for (const graven::TraceInfo& trace : function.cache_info().signatures) {
      std::printf("  %-12s %8s %10.2f %10s\n", function.name().c_str(),
                  std::to_string(trace.hits).c_str(), trace.trace_ms,
                  std::to_string(trace.bytes).c_str());
      print_wrapped(trace.signature);
    }
  }
}

// How often each digit (a row) was read as which digit (a column).
void print_confusion(const std::vector<int32_t>& labels, const std::vector<int32_t>& read) {
  int counts[kClasses][kClasses] = {};
  for (size_t i = 0; i < labels.size(); ++i) ++counts[labels[i]][read[i]];
  std::printf("\nconfusion matrix (rows: the digit, columns: what it was read as)\n     ");
  for (int digit = 0; digit < kClasses; ++digit) std::printf("%4d", digit);
  for (int digit = 0; digit < kClasses; ++digit) {
    std::printf("\n  %d |", digit);
    for (int count : counts[digit]) count ? std::printf("%4d", count) : std::printf("   .");
  }
  std::puts("");
}

using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// The shortest text that reads back to the same number.
template <typename T>
std::string shortest(T number) {
  char text[64];
  return {text, std::to_chars(text, text + sizeof text, number).ptr};
}

struct Options {
  int epochs, batch, seed;
  double rate;
  std::string json;
};

Options read_options(int argc, char** argv) {
  std::map<std::string, std::string> given = {
      {"--epochs", "20"}, {"--batch", "32"}, {"--seed", "1"}, {"--rate", "0.0015"}, {"--json", ""}};
  for (int i = 1; i < argc; i += 2) {
    if (!given.contains(argv[i]) || i + 1 == argc) throw std::invalid_argument(argv[i]);
    given[argv[i]] = argv[i + 1];
  }
  auto number = [&](const char* name) { return std::stoi(given[name]); };
  Options options{number("--epochs"), number("--batch"), number("--seed"),
                  std::stod(given["--rate"]), given["--json"]};
  if (options.epochs < 1 || options.batch < 1) throw std::invalid_argument("below 1");
  return options;
}

void train(const Options& options) {
  Digits all = load_digits(DIGITS_DATA);
  Digits training{all.height, all.width, {}, {}}, test = training;
  for (int64_t i = 0; i < all.size(); ++i) (i % 5 == 0 ? test : training).add(all, i);

  Network network(options.seed);
  Adam adam(network.parameters, options.rate);

  // Gives the mean loss of the batch, and how many of its digits were read right.
  auto train_step = graven::function(
      graven::captures(network, adam.means, adam.squares, adam.power1, adam.power2),
      [&](const Tensor& images, const Tensor& labels) {
        graven::GradientTape tape;
        Tensor logits = network(images);
        Tensor losses = nn::sparse_softmax_cross_entropy_with_logits(labels, logits);
        Tensor loss = graven::reduce_mean(losses);
        adam.apply(tape.gradient(loss, network.parameters));
        Tensor right = graven::equal(graven::argmax(logits, 1, DType::kInt32), labels);
        return std::pair(loss, graven::reduce_sum(graven::cast(right, DType::kInt32)));
      },
      {.name = "train_step", .parameters = {"images", "labels"}});
  auto read_digits = graven::function(
      graven::captures(network),
      [&](const Tensor& images) { return graven::argmax(network(images), 1, DType::kInt32); },
      {.name = "read_digits", .parameters = {"images"}});

  std::vector<float> losses;
  auto begin = Clock::now();
  for (int epoch = 1; epoch <= options.epochs; ++epoch) {
    std::vector<int64_t> order = shuffled_order(training.size(), options.seed, epoch);
    auto epoch_begin = Clock::now();
    double total_loss = 0, total_right = 0;
    for (size_t start = 0; start < order.size(); start += options.batch) {
      Digits batch{all.height, all.width, {}, {}};
      size_t end = std::min(start + options.batch, order.size());
      for (size_t i = start; i < end; ++i) batch.add(training, order[i]);
      auto [loss, right] = train_step(batch.image_tensor(), batch.label_tensor());
      losses.push_back(loss.item<float>());
      total_loss += losses.back() * static_cast<double>(batch.size());
      total_right += right.item<int32_t>();
      auto done = static_cast<double>(end);
      show_progress(epoch, options.epochs, done / static_cast<double>(order.size()),
                    total_loss / done, total_right / done, done / seconds_since(epoch_begin));
    }
  }
  double seconds = seconds_since(begin);

  std::vector<int32_t> read = read_digits(test.image_tensor()).to_vector<int32_t>();
  double num_right = 0;
  for (size_t i = 0; i < read.size(); ++i) num_right += read[i] == test.labels[i];
  double accuracy = num_right / static_cast<double>(read.size());
  std::printf("\n%zu steps in %.2f s\n", losses.size(), seconds);
  std::printf("test accuracy %.2f %% of %zu images\n", 100 * accuracy, read.size());
  std::vector<graven::FunctionBase> functions = {train_step, read_digits};
  print_traces(functions);
  print_confusion(test.labels, read);

  if (options.json.empty()) return;
  int64_t num_traces = 0;
  for (const auto& function : functions) num_traces += function.experimental_get_tracing_count();
  std::ofstream json(options.json);
  json << "{\"losses\": [";
  for (size_t i = 0; i < losses.size(); ++i) json << (i ? ", " : "") << shortest(losses[i]);
  json << "], \"test_accuracy\": " << shortest(accuracy) << ", \"seconds\": " << shortest(seconds)
       << ", \"traces\": " << num_traces << "}\n";
  if (!json.flush()) throw std::runtime_error("cannot write " + options.json);
}

int main(int argc, char** argv) {
  try {
    train(read_options(argc, argv));
  } catch (const std::invalid_argument&) {
    std::fprintf(stderr,
                 "usage: digits [--epochs N] [--batch N] [--rate RATE] [--seed N] [--json PATH]\n");
    return 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "digits: %s\n", error.what());
    return 1;
  }
}
