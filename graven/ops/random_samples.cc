#include "graven/ops/random_samples.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include "graven/kernels/special_functions.h"
#include "graven/ops/elements.h"
#include "graven/ops/random_numbers.h"

namespace graven::engine {
namespace {

constexpr int64_t kGroupsOfDistances = 42;  // of binomial samples by distances
constexpr int64_t kSamplesOfChunk = 512;

// Numbers from one group on, as TensorFlow takes them out of groups: the last of a group first.
class Draws {
 public:
  Draws(const PhiloxStream& stream, int64_t first_group)
      : stream_(stream), next_(static_cast<uint64_t>(first_group)) {}

  double uniform() {
    if (num_uniforms_ == 0) {
      const PhiloxWords w = stream_.group(next_++);
      uniforms_ = {unit_double(w[0], w[1]), unit_double(w[2], w[3])};
      num_uniforms_ = 2;
    }
    return uniforms_[--num_uniforms_];
  }
  double normal() {
    if (num_normals_ == 0) {
      normals_ = normal_doubles(stream_.group(next_++));
      num_normals_ = 2;
    }
    return normals_[--num_normals_];
  }
  PhiloxWords group() { return stream_.group(next_++); }

 private:
  const PhiloxStream& stream_;
  uint64_t next_;
  std::array<double, 2> uniforms_ = {}, normals_ = {};
  int num_uniforms_ = 0, num_normals_ = 0;
};

template <typename T>
double number_at(const Tensor& x, int64_t i) {
  const T value = static_cast<const T*>(x.raw_data())[i];
  if constexpr (sizeof(T) == 2 && !std::is_integral_v<T>) {
    return static_cast<float>(value);
  } else {
    return static_cast<double>(value);
  }
}
double number_at(const Tensor& x, int64_t i) {
  return visit_plain(x.dtype(), [&](auto zero) -> double {
    using T = decltype(zero);
    if constexpr (is_floating(kDTypeOf<T>) || std::is_integral_v<T>) return number_at<T>(x, i);
    return 0;
  });
}

// A number as T: the largest integer for what is beyond it, as almost all of the distribution may
// be. NaN and infinity are 0, as in TensorFlow.
template <typename T>
T stored(double value) {
  if constexpr (std::is_integral_v<T>) {
    constexpr double kEnd = -static_cast<double>(std::numeric_limits<T>::min());
    if (!std::isfinite(value) || value < 0) return T(0);
    return value < kEnd ? static_cast<T>(value) : std::numeric_limits<T>::max();
  } else if constexpr (sizeof(T) == 2) {
    return T(static_cast<float>(value));
  } else {
    return static_cast<T>(value);
  }
}

// Calls fill(begin, end, samples, keep) for chunks of the samples, of which each parameter has
// `samples`; keep(i, number) stores sample i.
template <typename F>
void for_chunks(int64_t batch, const Tensor& out, const F& fill) {
  const int64_t count = out.num_elements();
  if (count == 0) return;
  const int64_t samples = count / batch;
  visit_plain(out.dtype(), [&](auto zero) {
    using T = decltype(zero);
    if constexpr (is_floating(kDTypeOf<T>) || std::is_signed_v<T>) {
      T* to = static_cast<T*>(out.mutable_raw_data());
      const auto keep = [&](int64_t i, double number) {
        to[i % samples * batch + i / samples] = stored<T>(number);
      };
      const int64_t chunks = (count + kSamplesOfChunk - 1) / kSamplesOfChunk;
      for_ranges(chunks, 1, [&](int64_t first, int64_t last) {
        for (int64_t k = first; k < last; ++k) {
          const int64_t begin = k * kSamplesOfChunk;
          fill(begin, std::min(begin + kSamplesOfChunk, count), samples, keep);
        }
      });
    }
  });
}

// Calls sampler_of(j) for the parameters j of each run of samples, and what it gives with the Draws
// of each sample, which has so many groups of its own as the sampler says. A sample is a double.
template <typename F>
void for_samples(const PhiloxStream& stream, int64_t batch, const Tensor& out,
                 const F& sampler_of) {
  for_chunks(batch, out, [&](int64_t begin, int64_t end, int64_t samples, const auto& keep) {
    for (int64_t i = begin; i < end;) {
      const int64_t j = i / samples, last = std::min(end, (j + 1) * samples);
      const auto sampler = sampler_of(j);
      for (; i < last; ++i) {
        Draws draws(stream, sampler.groups() * i);
        keep(i, sampler(draws));
      }
    }
  });
}

// --- The gamma distribution.

struct GammaSampler {
  double alpha, d, c;

  explicit GammaSampler(double shape)
      : alpha(shape), d(shape + (shape < 1 ? 2.0 / 3 : -1.0 / 3)), c(1.0 / 3 / std::sqrt(d)) {}

  int64_t groups() const { return kGroupsOfSample; }

  double operator()(Draws& draws) const {
    if (alpha == 1) return -std::log1p(-draws.uniform());
    if (std::isinf(alpha) && alpha > 0) return alpha;
    // Of other numbers nothing is ever accepted.
    if (!(alpha >= 0)) return std::numeric_limits<double>::quiet_NaN();
    while (true) {
      const double x = draws.normal();
      double v = 1 + c * x;
      if (v <= 0) continue;
      v = v * v * v;
      const double u = draws.uniform();
      const bool is_inside = u < 1 - 0.0331 * (x * x) * (x * x);
      if (!is_inside && !(std::log(u) < 0.5 * x * x + d * (1 - v + std::log(v)))) continue;
      const double sample = d * v;
      return alpha < 1 ? sample * std::pow(draws.uniform(), 1 / alpha) : sample;
    }
  }
};

// --- Poisson's distribution.

struct PoissonSampler {
  double rate, largest;  // the largest number of the dtype of samples
  double exp_of_minus_rate = 0, log_of_rate = 0, a = 0, b = 0, inverse_alpha = 0;

  PoissonSampler(double mean, double largest_number) : rate(mean), largest(largest_number) {
    if (rate < 10) {
      exp_of_minus_rate = std::exp(-rate);
      return;
    }
    log_of_rate = std::log(rate);
    b = 0.931 + 2.53 * std::sqrt(rate);
    a = -0.059 + 0.02483 * b;
    inverse_alpha = 1.1239 + 1.1328 / (b - 3.4);
  }

  int64_t groups() const { return kGroupsOfSample; }

  double operator()(Draws& draws) const {
    if (std::isnan(rate) || (std::isinf(rate) && rate > 0)) return rate;
    // Almost every number would be refused.
    if (rate - 3 * std::sqrt(std::max(rate, 0.0)) > largest) return largest;
    return rate < 10 ? by_product(draws) : by_rejection(draws);
  }

 private:
  double by_product(Draws& draws) const {
    double product = 1, x = 0;
    while (true) {
      product *= draws.uniform();
      if (product <= exp_of_minus_rate && x <= largest) return x;
      x += 1;
    }
  }

  double by_rejection(Draws& draws) const {
    while (true) {
      const double u = draws.uniform() - 0.5, v = draws.uniform();
      const double rest = 0.5 - std::abs(u);
      const double k = std::floor((2 * a / rest + b) * u + rate + 0.43);
      if (k > largest) continue;
      if (rest >= 0.07 && v <= 0.9277 - 3.6224 / (b - 2)) return k;
      if (k < 0 || (rest < 0.013 && v > rest)) continue;
      const double s = std::log(v * inverse_alpha / (a / (rest * rest) + b));
      const double t = -rate + k * log_of_rate - lgamma_of_magnitude(k + 1);
      if (s <= t) return k;
    }
  }
};

// --- The binomial distribution.

// What Stirling's formula lacks of log(k!).
double stirling_tail(double k) {
  constexpr double kTails[] = {0.0810614667953272,  0.0413406959554092, 0.0276779256849983,
                               0.02079067210376509, 0.0166446911898211, 0.0138761288230707,
                               0.0118967099458917,  0.0104112652619720, 0.00925546218271273,
                               0.00833056343336287};
  if (k <= 9) return kTails[static_cast<int>(k)];
  const double square = (k + 1) * (k + 1);
  return (1.0 / 12 - (1.0 / 360 - 1.0 / 1260 / square) / square) / (k + 1);
}

struct BinomialSampler {
  double count, prob;

  int64_t groups() const {
    return is_large(std::min(prob, 1 - prob)) ? kGroupsOfSample : kGroupsOfDistances;
  }

  double operator()(Draws& draws) const {
    if (std::isnan(count) || std::isnan(prob)) return std::numeric_limits<double>::quiet_NaN();
    if (count <= 0 || prob <= 0) return 0;
    if (prob >= 1 || std::isinf(count)) return count;
    return prob <= 0.5 ? successes(prob, draws) : count - successes(1 - prob, draws);
  }

 private:
  bool is_large(double p) const { return count * p >= 10; }

  double successes(double p, Draws& draws) const {
    return is_large(p) ? by_rejection(p, draws) : by_distances(p, draws);
  }

  // The distances between successes are geometric.
  double by_distances(double p, Draws& draws) const {
    double sum = 0;
    for (double successes = 0;; successes += 1) {
      sum += std::ceil(std::log(draws.uniform()) / std::log1p(-p));
      if (!(sum <= count)) return successes;
    }
  }

  double by_rejection(double p, Draws& draws) const {
    const double deviation = std::sqrt(count * p * (1 - p));
    const double b = 1.15 + 2.53 * deviation;
    const double a = -0.0873 + 0.0248 * b + 0.01 * p;
    const double c = count * p + 0.5, ratio = p / (1 - p);
    const double alpha = (2.83 + 5.1 / b) * deviation, m = std::floor((count + 1) * p);
    while (true) {
      const double u = draws.uniform() - 0.5, v = draws.uniform();
      const double rest = 0.5 - std::abs(u);
      const double k = std::floor((2 * a / rest + b) * u + c);
      if (rest >= 0.07 && v <= 0.92 - 4.2 / b) return k;
      if (k < 0 || k > count) continue;
      const double height = std::log(v * alpha / (a / (rest * rest) + b));
      const double bound = (m + 0.5) * std::log((m + 1) / (ratio * (count - m + 1))) +
                           (count + 1) * std::log((count - m + 1) / (count - k + 1)) +
                           (k + 0.5) * std::log(ratio * (count - k + 1) / (k + 1)) +
                           stirling_tail(m) + stirling_tail(count - m) - stirling_tail(k) -
                           stirling_tail(count - k);
      if (height <= bound) return k;
    }
  }
};

// --- Normal numbers between bounds, in the arithmetic of T: float for half, too.

template <typename T>
struct BoundedSampler {
  static constexpr int kMaxTries = 1000;
  static constexpr T kFarBound = T(1.3);

  T mean, deviation, low, high;  // the bounds in deviations from the mean

  BoundedSampler(T middle, T spread, T least, T largest) : mean(middle), deviation(spread) {
    // One bound alone is the lower one, and both are above the mean where they are on one side.
    if ((std::isinf(least) && least < 0) || largest < mean) {
      std::swap(least, largest);
      deviation = -deviation;
    }
    low = (least - mean) / deviation;
    high = (largest - mean) / deviation;
  }

  // Gives one sample after another to keep(), which returns whether more are wanted.
  template <typename F>
  void operator()(Draws& draws, const F& keep) const {
    const auto keep_standard = [&](T x) { return keep(static_cast<double>(x * deviation + mean)); };
    if ((low < -kFarBound && high >= 0) || (high > kFarBound && low <= 0)) {
      return keep_normals(draws, keep_standard);
    }
    const T root = std::sqrt(low * low + T(4));
    const T cutoff = T(2) * std::exp(T(0.5) + (low * (low - root)) / T(4)) / (low + root);
    high - low < cutoff ? keep_uniforms(draws, keep_standard)
                        : keep_exponentials(draws, keep_standard);
  }

 private:
  static constexpr int kNumbers = sizeof(T) == 8 ? 2 : 4;
  using Numbers = std::array<T, kNumbers>;

  static Numbers uniforms(Draws& draws) {
    const PhiloxWords w = draws.group();
    if constexpr (sizeof(T) == 8) {
      return {unit_double(w[0], w[1]), unit_double(w[2], w[3])};
    } else {
      return {unit_float(w[0]), unit_float(w[1]), unit_float(w[2]), unit_float(w[3])};
    }
  }
  static Numbers normals(Draws& draws) {
    const PhiloxWords w = draws.group();
    if constexpr (sizeof(T) == 8) {
      return normal_doubles(w);
    } else {
      const auto first = normal_floats(w[0], w[1]), second = normal_floats(w[2], w[3]);
      return {first[0], first[1], second[0], second[1]};
    }
  }

  template <typename F>
  void keep_normals(Draws& draws, const F& keep) const {
    while (true) {
      for (T x : normals(draws)) {
        if (x >= low && x <= high && !keep(x)) return;
      }
    }
  }

  // What is refused for too long is taken.
  template <typename F>
  void keep_uniforms(Draws& draws, const F& keep) const {
    const T length = high - low, plus = low < 0 ? T(0) : low * low;
    for (int tries = 1;;) {
      const Numbers places = uniforms(draws), heights = uniforms(draws);
      for (int i = 0; i < kNumbers; ++i, ++tries) {
        const T z = places[i] * length + low;
        const bool is_in = heights[i] <= std::exp((plus - z * z) / T(2));
        if (!is_in && tries < kMaxTries) continue;
        if (!keep(z)) return;
        tries = 0;
      }
    }
  }

  template <typename F>
  void keep_exponentials(Draws& draws, const F& keep) const {
    const T alpha = (low + std::sqrt(low * low + T(4))) / T(2);
    for (int tries = 1;;) {
      const Numbers numbers = uniforms(draws);
      for (int i = 0; i < kNumbers; i += 2, ++tries) {
        const T z = -std::log(numbers[i]) / alpha + low;
        const T x = low < alpha ? alpha - z : low - alpha;
        const bool is_in = numbers[i + 1] <= std::exp(-x * x / T(2)) && z < high;
        if (!is_in && tries < kMaxTries) continue;
        if (!keep(z)) return;
        tries = 0;
      }
    }
  }
};

double largest_of(DType dtype) {
  switch (dtype) {
    case DType::kInt32:
      return std::numeric_limits<int32_t>::max();
    case DType::kInt64:
      return static_cast<double>(std::numeric_limits<int64_t>::max());
    case DType::kHalf:
      return 65504;
    case DType::kFloat32:
      return static_cast<double>(std::numeric_limits<float>::max());
    default:
      return std::numeric_limits<double>::max();
  }
}

// For each of the batch the place of its element in a parameter that broadcasts to it.
std::vector<int64_t> places_in(const Shape& batch, const Tensor& parameter) {
  std::vector<int64_t> places(static_cast<size_t>(batch.num_elements()));
  for_each_broadcast<1>(batch, {&parameter.shape()},
                        [&](int64_t i, const auto& at) { places[i] = at[0]; });
  return places;
}

}  // namespace

void fill_gamma(const PhiloxStream& stream, const Tensor& alpha, const Tensor& out) {
  for_samples(stream, alpha.num_elements(), out,
              [&](int64_t j) { return GammaSampler(number_at(alpha, j)); });
}

void fill_poisson(const PhiloxStream& stream, const Tensor& rate, const Tensor& out) {
  const double largest = largest_of(out.dtype());
  for_samples(stream, rate.num_elements(), out,
              [&](int64_t j) { return PoissonSampler(number_at(rate, j), largest); });
}

void fill_binomial(const PhiloxStream& stream, const Shape& batch, const Tensor& counts,
                   const Tensor& probs, const Tensor& out) {
  const auto at_counts = places_in(batch, counts), at_probs = places_in(batch, probs);
  for_samples(stream, batch.num_elements(), out, [&](int64_t j) {
    return BinomialSampler{number_at(counts, at_counts[j]), number_at(probs, at_probs[j])};
  });
}

Status fill_bounded_normal(const PhiloxStream& stream, const Shape& batch,
                           const TruncatedNormalParameters& p, const Tensor& out) {
  const std::array<const Tensor*, 4> parameters = {&p.means, &p.deviations, &p.least, &p.largest};
  std::array<std::vector<int64_t>, 4> places;
  for (size_t k = 0; k < 4; ++k) places[k] = places_in(batch, *parameters[k]);
  const auto number = [&](size_t k, int64_t j) { return number_at(*parameters[k], places[k][j]); };
  for (int64_t j = 0; j < batch.num_elements(); ++j) {
    const double least = number(2, j), largest = number(3, j);
    const bool is_valid =
        number(1, j) > 0 && least < largest && (std::isfinite(least) || std::isfinite(largest));
    if (!is_valid) return invalid_argument("Invalid parameters");
  }
  const auto fill = [&]<typename T>(T) {
    const auto of = [&](size_t k, int64_t j) { return static_cast<T>(number(k, j)); };
    const auto fill_chunk = [&](int64_t begin, int64_t end, int64_t samples, const auto& keep) {
      Draws draws(stream, kGroupsOfSample * begin);
      for (int64_t i = begin; i < end;) {
        const int64_t j = i / samples, last = std::min(end, (j + 1) * samples);
        const BoundedSampler<T> sampler(of(0, j), of(1, j), of(2, j), of(3, j));
        sampler(draws, [&](double sample) {
          keep(i, sample);
          return ++i < last;
        });
      }
    };
    for_chunks(batch.num_elements(), out, fill_chunk);
  };
  out.dtype() == DType::kFloat64 ? fill(double()) : fill(float());
  return {};
}

}  // namespace graven::engine
