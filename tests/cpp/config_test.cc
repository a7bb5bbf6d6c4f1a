#include <doctest/doctest.h>
#include <graven/graven.h>

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
