// A model that is served and goes on learning, and never traces by surprise: serving [LOCK]
//
// The cache of its functions from end to end: budgets, sizes that stay open, values that are
// watched, explanations, and a lock of traces. serving.py is the same program in Python and prints
// the same lines.

#include <graven/graven.h>

#include <cstdio>
#include <exception>
#include <string>

using graven::captures, graven::DType, graven::Stale, graven::Tensor;

constexpr int64_t kFeatures = 3;

graven::Variable weights(graven::zeros({kFeatures, 1}), {.name = "weights"});
graven::watched temperature(1.0);
graven::watched learning_rate(0.5);

auto score = graven::function(captures(weights, temperature),
                              [](const Tensor& rows) {
                                Tensor sums = graven::squeeze(graven::matmul(rows, weights), 1);
                                return graven::sigmoid(sums / temperature.get());
                              },
                              {.name = "score", .parameters = {"rows"}, .max_bytes = 1 << 20});

// Each number of places is a constant of its own trace: at most two of them are kept.
auto best = graven::function(captures(score),
                             [](const Tensor& rows, int64_t places) {
                               return graven::math::top_k(score(rows), places).values;
                             },
                             {.name = "best", .max_traces = 2});

// Another learning rate halfway would be a mistake, so it is an error.
auto learn =
    graven::function(captures(weights, score, learning_rate),
                     [](const Tensor& rows, const Tensor& wanted) {
                       graven::GradientTape tape;
                       Tensor loss = graven::reduce_mean(pow(score(rows) - wanted, 2.0));
                       weights.assign_sub(learning_rate.get() * tape.gradient(loss, weights));
                       return loss;
                     },
                     {.name = "learn", .parameters = {"rows", "wanted"}, .stale = Stale::kError});

// A request with so many rows.
Tensor request(int64_t rows, DType dtype = DType::kFloat32) {
  Tensor numbers = graven::range(static_cast<int>(rows * kFeatures)) % 5;
  return graven::cast(graven::reshape(numbers, {rows, kFeatures}), dtype);
}

// One request of each kind: the service makes its traces before it opens.
void warm_up() {
  Tensor wanted = {1.0, 0.0, 1.0, 0.0};
  Tensor first = learn(request(4), wanted), last;
  for (int i = 0; i < 99; ++i) last = learn(request(4), wanted);
  std::printf("learning: loss %.4f, then %.4f\n", first.item<float>(), last.item<float>());
  for (int64_t rows : {1, 2}) score(request(rows));
}

// The score of the second of two rows.
float second_score() { return score(request(2)).to_vector<float>()[1]; }

// Warms up, locks the traces, serves; then changes what should not change.
int main(int argc, char** argv) try {
  const std::string lock = argc > 1 ? argv[1] : "serving_traces.jsonl";
  graven::trace_lock(lock, graven::TraceLockMode::kRecord);
  warm_up();
  graven::end_trace_lock();

  graven::trace_lock(lock, graven::TraceLockMode::kLocked);
  for (int64_t rows = 1; rows <= 40; ++rows) score(request(rows));
  auto info = score.cache_info();
  std::printf("serving: %ld traces for 40 sizes, %ld hits\n", info.traces, info.hits);

  auto wrong = score.explain(request(1, DType::kFloat64)).functions[0].call;
  std::printf("a request of float64 would trace: %s\n", wrong->miss->text.c_str());
  try {
    score(request(1, DType::kFloat64));
  } catch (const graven::TraceLockError&) {
    std::printf("the lock refuses it\n");
  }
  graven::end_trace_lock();

  const float calm = second_score();
  temperature = 4.0;
  const float hot = second_score();
  temperature = 1.0;
  if (second_score() != calm) return 1;
  std::printf("temperature: %.4f, at 4.0 %.4f, and %ld traces\n", calm, hot,
              score.cache_info().traces);

  learning_rate = 5.0;
  try {
    learn(request(4), graven::ones({4}));
  } catch (const graven::Error&) {
    std::printf("another learning rate is an error\n");
  }

  for (int64_t places = 1; places <= 4; ++places) best(request(8), places);
  info = best.cache_info();
  std::printf("budget: %ld of %ld traces are kept, %ld went\n", info.entries, info.traces,
              info.evictions);
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
