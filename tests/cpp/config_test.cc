#include <doctest/doctest.h>
#include <graven/graven.h>
#include <sys/wait.h>
#include <unistd.h>

TEST_CASE("an allocation beyond the memory limit is an error that changes nothing") {
  const int64_t before = graven::config::get_memory_limit();
  graven::config::set_memory_limit(int64_t{64} << 20);
  CHECK(graven::config::get_memory_limit() == int64_t{64} << 20);
  try {
    graven::zeros({32 << 20});
    FAIL("128 MiB were there");
  } catch (const graven::Error& error) {
    CHECK(error.code() == graven::Code::kResourceExhausted);
  }
  CHECK(graven::zeros({2}).num_elements() == 2);
  graven::config::set_memory_limit(before);
  CHECK(graven::zeros({32 << 20}).num_elements() == 32 << 20);
  CHECK_THROWS_WITH_AS(graven::config::set_memory_limit(0), doctest::Contains("must be positive"),
                       graven::Error);
}

TEST_CASE("where determinism is asked for, numbers need a seed") {
  // It holds to the end of a process, so another one asks for it.
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    graven::config::enable_op_determinism();
    int right = 0;
    try {
      graven::random::uniform({2});
    } catch (const graven::Error& error) {
      right += std::string(error.what()).find("require a seed") != std::string::npos;
    }
    graven::random::set_seed(1);
    right += graven::random::uniform({2}).num_elements() == 2;
    _exit(right == 2 ? 0 : 1);
  }
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(status == 0);
}

TEST_CASE("the number of threads may change at any time, and results do not depend on it") {
  CHECK(graven::config::get_num_threads() == 0);
  const graven::Tensor x = graven::ones({1 << 18}) / 3.0f;
  graven::config::set_num_threads(1);
  CHECK(graven::config::get_num_threads() == 1);
  const float alone = graven::reduce_sum(x).item<float>();
  graven::config::set_num_threads(3);
  CHECK(graven::reduce_sum(x).item<float>() == alone);
  CHECK_THROWS_WITH_AS(graven::config::set_num_threads(-1), doctest::Contains("but got -1"),
                       graven::Error);
  CHECK(graven::config::get_num_threads() == 3);
  graven::config::set_num_threads(0);
}
