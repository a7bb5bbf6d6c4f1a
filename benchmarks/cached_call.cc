// Times a call of a C++ function that is traced already: x + 1 of a scalar. Prints one line of
// JSON: {"seconds": 1.1e-07}, the median time of a call over many rounds.
//
//     cached_call [--threads N]
//
// Threads are those that call at once; the time is that of one call on each.
#include <graven/graven.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

namespace {

using graven::Tensor;

constexpr int kRounds = 51, kCalls = 20'000;

// The median over rounds of the seconds that a call takes on this thread.
template <typename F>
double time_calls(const F& function) {
  Tensor x = 2.0f;
  std::vector<double> seconds;
  for (int round = 0; round < kRounds; ++round) {
    auto start = std::chrono::steady_clock::now();
    for (int call = 0; call < kCalls; ++call) {
      Tensor y = function(x);
      if (y.is_none()) std::abort();
    }
    std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
    seconds.push_back(passed.count() / kCalls);
  }
  std::nth_element(seconds.begin(), seconds.begin() + kRounds / 2, seconds.end());
  return seconds[kRounds / 2];
}

}  // namespace

int main(int argc, char** argv) {
  int num_threads = 1;
  if (argc == 3 && std::strcmp(argv[1], "--threads") == 0) num_threads = std::atoi(argv[2]);
  if ((argc != 1 && argc != 3) || num_threads < 1) {
    std::fprintf(stderr, "usage: cached_call [--threads N]\n");
    return 2;
  }
  auto add_one = graven::function([](const Tensor& x) { return x + 1.0f; });
  if (add_one(2.0f).item<float>() != 3) return 1;
  std::vector<double> seconds(num_threads);
  std::vector<std::thread> threads;
  for (double& result : seconds) threads.emplace_back([&] { result = time_calls(add_one); });
  for (std::thread& thread : threads) thread.join();
  if (add_one.experimental_get_tracing_count() != 1) return 1;
  std::printf("{\"seconds\": %.4g}\n", *std::max_element(seconds.begin(), seconds.end()));
}
