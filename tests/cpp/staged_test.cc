#include <doctest/doctest.h>
#include <graven/graven.h>

#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "error_of.h"

using graven::cast;
using graven::DType;
using graven::GradientTape;
using graven::staged;
using graven::staged_range;
using graven::State;
using graven::Static;
using graven::Tensor;
using graven::TensorArray;
using graven::Variable;

namespace {

// What f gives for x, at once and traced, which must be equal.
template <typename F, typename T>
auto both_ways(F f, const std::vector<T>& xs) {
  const auto traced = graven::function(f);
  std::vector<T> results;
  for (const T x : xs) {
    results.push_back(f(Tensor(x)).template item<T>());
    CHECK(traced(Tensor(x)).template item<T>() == results.back());
  }
  CHECK(traced.experimental_get_tracing_count() == 1);
  return results;
}
using Ints = std::vector<int>;
using Floats = std::vector<float>;

Tensor collatz(Tensor start) {
  State<Tensor> n = start, steps = 0;
  while (staged(n > 1)) {
    if (staged(graven::equal(n % 2, 0))) {
      n = cast(n / 2, n.dtype());
    } else {
      n = 3 * n + 1;
    }
    steps = steps + 1;
  }
  return steps;
}

int num_counted = 0;

}  // namespace

TEST_CASE("an if on a tensor takes the branch that holds") {
  const auto f = [](Tensor x) {
    Tensor y = x + 1;
    if (staged(x > 0)) {
      y = y * 10;
    }
    return y - x;
  };
  CHECK(both_ways(f, Ints{2, -2}) == Ints{28, 1});
}

TEST_CASE("nested ifs, else branches and early returns") {
  const auto f = [](Tensor x) -> Tensor {
    if (staged(x < 0)) return -x;
    Tensor y = x;
    if (staged(x > 10)) {
      if (staged(x > 100)) return Tensor(100);
      y = y * 2;
    } else if (staged(graven::equal(x, 5))) {
      y = y + 1000;
    }
    return y + 1;
  };
  CHECK(both_ways(f, Ints{-3, 4, 5, 20, 101}) == Ints{3, 5, 1006, 41, 100});
}

TEST_CASE("ops before a question become nodes once") {
  Variable v(0);
  const auto f = graven::function([&](Tensor x) {
    v.assign_add(1);
    if (staged(x > 0)) v.assign_add(10);
    if (staged(x > 5)) v.assign_add(100);
    return x + v;
  });
  CHECK(f(Tensor(1)).item<int>() == 12);
  CHECK(f(Tensor(6)).item<int>() == 128);
  CHECK(f(Tensor(-1)).item<int>() == 122);
}

TEST_CASE("a while loop runs as often as its condition holds") {
  CHECK(both_ways(collatz, Ints{1, 2, 7, 27}) == Ints{0, 1, 16, 111});
}

TEST_CASE("a for loop with an if, over a number that is known at run time") {
  const auto f = [](Tensor n) {
    State<Tensor> sum = 0;
    for (Tensor i : staged_range(n)) {
      if (staged(graven::equal(i % 3, 0))) sum = sum + i;
    }
    return sum + n;
  };
  CHECK(both_ways(f, Ints{0, 1, 7, 10}) == Ints{0, 1, 16, 28});
}

TEST_CASE("ranges begin and step as they are told") {
  const auto f = [](Tensor n) {
    State<Tensor> all = 0;
    for (Tensor i : staged_range(1, n, 2)) all = all * 10 + i;
    for (Tensor i : staged_range(n, 2, -1)) all = all * 10 + i;
    return Tensor(all);
  };
  CHECK(both_ways(f, Ints{0, 4, 6}) == Ints{0, 1343, 1356543});
  CHECK(contains(error_of([] { staged_range(1.5); }).message(), "takes integers"));
  CHECK(contains(error_of([] { staged_range(1, 2, 0); }).message(), "must not be 0"));
}

TEST_CASE("loops in loops, one after another, and code behind them") {
  const auto f = [](Tensor n) {
    State<Tensor> count = 0;
    for (Tensor i : staged_range(n)) {
      State<Tensor> j = i;
      while (staged(j > 0)) {
        j = j - 1;
        count = count + 1;
      }
    }
    State<Tensor> half = count;
    while (staged(half > 3)) half = cast(half / 2, DType::kInt32);
    return count * 10 + half;
  };
  CHECK(both_ways(f, Ints{0, 3, 5}) == Ints{0, 33, 102});
}

TEST_CASE("a loop that is left by its only condition in the middle") {
  const auto f = [](Tensor n) {
    State<Tensor> x = n, steps = 0;
    while (true) {
      x = x * 2;
      if (staged(x > 100)) break;
      steps = steps + 1;
    }
    return steps * 1000 + x;
  };
  CHECK(both_ways(f, Ints{1, 60, 50}) == Ints{6128, 120, 1200});
}

TEST_CASE("a while with a break and a return") {
  const auto f = [](Tensor n) -> Tensor {
    State<Tensor> i = 0, sum = 0;
    while (staged(i < n)) {
      i = i + 1;
      if (staged(sum > 20)) break;
      if (staged(graven::equal(i, n - 21))) return -sum;
      if (staged(graven::equal(i % 2, 0))) continue;
      sum = sum + i;
    }
    return sum * 100 + i;
  };
  CHECK(both_ways(f, Ints{0, 3, 6, 30, 40}) == Ints{0, 403, 906, -16, 2510});
}

TEST_CASE("gradients of first and second order through ifs and loops") {
  const auto f = graven::function([](Tensor x, Tensor n) {
    State<Tensor> y = 1.0, i = 0;
    while (staged(i < n)) {
      y = y * x;
      i = i + 1;
    }
    if (staged(x > 0)) return y * 2;
    return -y;
  });
  for (const float at : {2.0f, -2.0f}) {
    const Tensor x = at;
    GradientTape outer;
    outer.watch(x);
    Tensor dx;
    {
      GradientTape inner;
      inner.watch(x);
      dx = inner.gradient(f(x, Tensor(3)), x);
    }
    CHECK(dx.item<float>() == (at > 0 ? 24 : -12));
    CHECK(outer.gradient(dx, x).item<float>() == (at > 0 ? 24 : 12));
  }
}

TEST_CASE("a tape in a body sees the branch that is taken") {
  const auto f = [](Tensor x) {
    GradientTape tape;
    tape.watch(x);
    Tensor y = x * x;
    if (staged(x > 0)) y = y * x;
    return tape.gradient(y, x);
  };
  CHECK(both_ways(f, Floats{2, -3}) == Floats{12, -6});
}

TEST_CASE("a tape in a body sees the loops that ran since it was made") {
  const auto f = [](Tensor x) {
    GradientTape tape;
    tape.watch(x);
    State<Tensor> y = x;
    while (staged(y < 100)) {
      if (staged(y > 10)) {
        y = y * 3;
      } else {
        y = y * y + 1;
      }
    }
    for (Tensor i : staged_range(2)) y = y * x + cast(i, DType::kFloat32);
    Tensor z = y;
    if (staged(z > 1000)) z = z * 2;
    return tape.gradient(z + x * x, x);
  };
  both_ways(f, Floats{2, 11, 200});
}

TEST_CASE("a tape in a body sees a loop that is left from inside, to the second order") {
  const auto f = [](Tensor x) {
    GradientTape outer;
    outer.watch(x);
    GradientTape inner;
    inner.watch(x);
    State<Tensor> y = x;
    for (Tensor i : staged_range(5)) {
      y = y * x;
      if (staged(y > 50)) break;
    }
    return outer.gradient(inner.gradient(y, x), x);
  };
  CHECK(both_ways(f, Floats{2, 8}) == Floats{480, 2});
}

TEST_CASE("a tape in a body watches the variables that a loop reads") {
  const Variable w(3.0f);
  const auto f = [&](Tensor x) {
    GradientTape tape;
    State<Tensor> h = x;
    for (Tensor i : staged_range(3)) h = h * w;
    return tape.gradient(h + 0.5f * w * w, w);
  };
  CHECK(both_ways(f, Floats{2, 0}) == Floats{57, 3});
}

TEST_CASE("a tape of before a loop has no gradients of single iterations") {
  const auto f = graven::function([](Tensor x) {
    GradientTape tape({.persistent = true});
    tape.watch(x);
    State<Tensor> y = x * x, all = 0 * x;
    for (Tensor i : staged_range(3)) {
      y = y * 2;
      all = all + tape.gradient(y, x);
    }
    return Tensor(all);
  });
  const graven::Error error = error_of([&] { f(Tensor(1.0f)); });
  CHECK(error.kind() == graven::ErrorKind::kLookupError);
  CHECK(contains(error.message(), "ask it for gradients behind the loop"));
}

TEST_CASE("a loop in which a Static changes is unrolled until it does not") {
  const auto f = [](Tensor x) {
    State<Tensor> y = x;
    Static<int> round = 0;
    while (staged(y < 1000)) {
      y = y * (round.get() + 2);
      if (round < 2) round = round + 1;
    }
    return Tensor(y);
  };
  CHECK(both_ways(f, Ints{2000, 500, 1, 100}) == Ints{2000, 1000, 1536, 2400});
}

TEST_CASE("a loop of C++ whose counter is a Static may ask in each round") {
  const auto f = [](Tensor x) {
    State<Tensor> y = x;
    for (Static<int> k = 0; k < 3; k = k + 1) {
      if (staged(y > k.get())) y = y - 2;
    }
    return Tensor(y);
  };
  CHECK(both_ways(f, Ints{-1, 1, 9}) == Ints{-1, -1, 3});
}

TEST_CASE("a loop carries structures and arrays") {
  const auto f = [](Tensor n) {
    State<TensorArray> squares = TensorArray(DType::kInt32, 0, {.dynamic_size = true});
    for (Tensor i : staged_range(n)) squares = squares.write(i, i * i);
    return graven::reduce_sum(squares.stack());
  };
  CHECK(both_ways(f, Ints{1, 4}) == Ints{0, 14});
}

TEST_CASE("a function that asks is retraced for another dtype") {
  const auto f = graven::function([](Tensor x) {
    if (staged(x > 0)) return x * 2;
    return x;
  });
  CHECK(f(Tensor(2)).item<int32_t>() == 4);
  CHECK(f(Tensor(2.5)).item<float>() == 5);
  CHECK(f(Tensor(-2.5)).item<float>() == -2.5);
  CHECK(f.experimental_get_tracing_count() == 2);
}

TEST_CASE("functions of cond, while_loop and map_fn may ask") {
  const auto f = [](Tensor x) {
    const Tensor y = graven::cond(
        x > 0,
        [&] {
          if (staged(x > 10)) return x;
          return x * 2;
        },
        [&] { return -x; });
    return graven::reduce_sum(graven::map_fn(
        [](Tensor row) {
          if (staged(row > 3)) return row * 100;
          return row;
        },
        graven::stack({x, y})));
  };
  CHECK(both_ways(f, Ints{-2, 1, 4, 20}) == Ints{0, 3, 1200, 4000});
}

TEST_CASE("a value that is known while it is traced is simply asked") {
  const auto f = graven::function([](Tensor x, bool twice) {
    if (staged(twice)) x = x * 2;
    return x;
  });
  CHECK(f(Tensor(3), true).item<int>() == 6);
  CHECK(f(Tensor(3), false).item<int>() == 3);
}

TEST_CASE("a body that depends on a counter is an error with both lines") {
  const auto f = graven::function([](Tensor x) {
    Tensor y = x;
    if (++num_counted % 2 == 0) {
      y = y * 2;
    } else {
      y = y + 2;
    }
    if (staged(x > 0)) return y;
    return -y;
  });
  const graven::Error error = error_of([&] { f(Tensor(1)); });
  CHECK(error.kind() == graven::ErrorKind::kRuntimeError);
  CHECK(contains(error.message(), "Mul at "));
  CHECK(contains(error.message(), "AddV2 at "));
  CHECK(contains(error.message(), "staged_test.cc:"));
}

TEST_CASE("a loop that changes what is no State is an error") {
  const auto of_tensor = graven::function([](Tensor x) {
    State<Tensor> i = 0;
    while (staged(i < 3)) {
      i = i + 1;
      x = x * 2;
    }
    return x;
  });
  CHECK(contains(error_of([&] { of_tensor(Tensor(1)); }).message(), "must be a graven::State"));
  const auto of_number = graven::function([](Tensor x) {
    State<Tensor> i = 0;
    int rounds = 0;
    while (staged(i < x)) i = i + ++rounds;
    return Tensor(i);
  });
  CHECK(contains(error_of([&] { of_number(Tensor(5)); }).message(), "must be a graven::State"));
  const auto of_list = graven::function([](Tensor x) {
    State<Tensor> i = 0;
    std::vector<Tensor> all = {x};
    while (staged(i < x)) {
      all.push_back(i);
      i = i + 1;
    }
    return graven::stack(all);
  });
  CHECK(contains(error_of([&] { of_list(Tensor(5)); }).message(), "run again"));
}

TEST_CASE("branches of different dtypes are an error with the line of the question") {
  const auto f = graven::function([](Tensor x) {
    if (staged(x > 0)) return cast(x, DType::kInt64);
    return x;
  });
  const graven::Error error = error_of([&] { f(Tensor(1)); });
  CHECK(error.kind() == graven::ErrorKind::kTypeError);
  CHECK(contains(error.what(), "staged_test.cc"));
}

TEST_CASE("too many sequences of answers are an error") {
  const auto f = graven::function([](Tensor x) {
    for (Static<int> k = 0; k < 40; k = k + 1) {
      if (staged(x > k.get())) x = x - 1;
    }
    return x;
  });
  const graven::Error error = error_of([&] { f(Tensor(1)); });
  CHECK(error.code() == graven::Code::kResourceExhausted);
  CHECK(contains(error.message(), "20000"));
}

TEST_CASE("a Static that a loop changes as often as a tensor says is an error that names it") {
  const auto f = graven::function([](Tensor x) {
    State<Tensor> i = 0;
    Static<int> n = 0;
    while (staged(i < x)) {
      if (staged(i > 2)) n = n + 1;
      i = i + 1;
    }
    return x * n.get();
  });
  const graven::Error error = error_of([&] { f(Tensor(5)); });
  CHECK(error.code() == graven::Code::kResourceExhausted);
  CHECK(contains(error.message(), "graven::Static"));
}

TEST_CASE("threads trace and call functions that ask at once") {
  for (int round = 0; round < 5; ++round) {
    const auto f = graven::function(collatz);
    std::vector<int> steps(8, -1);
    std::vector<std::thread> threads;
    for (size_t t = 0; t < steps.size(); ++t) {
      threads.emplace_back([&, t] {
        const bool is_long = t % 2 == 0;
        const Tensor start = cast(Tensor(27), is_long ? DType::kInt64 : DType::kInt32);
        steps[t] = cast(f(start), DType::kInt32).item<int>();
      });
    }
    for (std::thread& thread : threads) thread.join();
    CHECK(steps == std::vector<int>(8, 111));
    CHECK(f.experimental_get_tracing_count() == 2);
  }
}

TEST_CASE("an exception of a body reaches the caller as it is") {
  struct Mine {};
  const auto f = graven::function([](Tensor x) {
    if (staged(x > 0)) throw Mine();
    return x;
  });
  CHECK_THROWS_AS(f(Tensor(1)), Mine);
  const auto caught = graven::function([](Tensor x) {
    try {
      if (staged(x > 0)) return x * 2;
    } catch (...) {
    }
    return x;
  });
  CHECK(contains(error_of([&] { caught(Tensor(1)); }).message(), "catch"));
}

TEST_CASE("a function that asks may be called again and again") {
  const auto relu = [](Tensor x) {
    if (staged(x > 0)) return x;
    return Tensor(0);
  };
  const auto f = [&](Tensor x) { return relu(relu(x) - 3) * 100 + relu(-x) + relu(x - 5); };
  CHECK(both_ways(f, Ints{-2, 1, 4, 9}) == Ints{2, 0, 100, 604});
}

TEST_CASE("a loop of C++ that asks in each round is unrolled") {
  const auto f = [](Tensor x) {
    Tensor y = x;
    for (int k = 1; k < 4; ++k) {
      if (staged(y > k)) y = y * 2;
    }
    return y;
  };
  CHECK(both_ways(f, Ints{-1, 1, 2, 3}) == Ints{-1, 1, 16, 24});
  // Its rounds say all that there is to say of them: the question is answered once.
  Variable v(0);
  const auto count = graven::function([&](Tensor x) {
    const Tensor is_positive = x > 0;
    for (int k = 0; k < 100; ++k) {
      if (staged(is_positive)) v.assign_add(1);
    }
  });
  count(Tensor(1));
  count(Tensor(-1));
  CHECK(v.value().item<int>() == 100);
}

TEST_CASE("loops in loops are left from inside, with the effects of each round once") {
  Variable rounds(0);
  const auto f = [&](Tensor n) -> Tensor {
    State<Tensor> found = -1;
    for (Tensor i : staged_range(n)) {
      for (Tensor j : staged_range(n)) {
        rounds.assign_add(1);
        if (staged(j > i)) break;
        if (staged(graven::equal(i * j, 12))) return found * 100;
        found = i * j;
      }
      if (staged(found > 20)) break;
    }
    return found;
  };
  const auto traced = graven::function(f);
  for (const int n : {0, 1, 3, 5, 6}) {
    rounds.assign(0);
    const int expected = f(n).item<int>();
    const int num_rounds = rounds.value().item<int>();
    rounds.assign(0);
    CHECK(traced(Tensor(n)).item<int>() == expected);
    CHECK(rounds.value().item<int>() == num_rounds);
  }
}

TEST_CASE("gradients through a loop that is left from inside") {
  const auto f = graven::function([](Tensor x) {
    State<Tensor> y = x;
    for (Tensor i : staged_range(10)) {
      if (staged(y > 50)) break;
      y = y * x;
    }
    return Tensor(y);
  });
  const Tensor x = 3.0;
  GradientTape tape;
  tape.watch(x);
  const Tensor y = f(x);
  CHECK(y.item<float>() == 81);
  CHECK(tape.gradient(y, x).item<float>() == 108);
}

TEST_CASE("what runs before a question may be of any kind") {
  const auto inner = graven::function([](Tensor x) { return x + 1; });
  const Tensor table = {10, 20, 30};
  const auto f = [&](Tensor x) {
    Tensor y = graven::cond(
        x > 0, [&] { return inner(x); }, [&] { return -x; });
    y = y + graven::gather(table, {1});
    y = std::get<0>(graven::while_loop([](Tensor y) { return y < 100; },
                                       [](Tensor y) { return std::tuple(y * 2); }, std::tuple(y)));
    y = graven::reduce_sum(graven::map_fn([](Tensor row) { return row + 1; }, y));
    const Tensor noise = graven::random::uniform({2}, 0, 1, DType::kFloat32);
    if (staged(graven::reduce_all(noise < 2.0) & (y > 110))) return y;
    return -y;
  };
  CHECK(both_ways(f, Ints{3, -3, -7}) == Ints{193, 185, -109});
}

TEST_CASE("a state may be a tuple or a struct of tensors") {
  struct Pair {
    Tensor a, b;
    auto members() { return std::tie(a, b); }
  };
  const auto f = [](Tensor n) {
    State<Pair> pair = Pair{0, 1};
    for (Tensor i : staged_range(n)) pair = Pair{pair.b, pair.a + pair.b};
    return pair.a;
  };
  CHECK(both_ways(f, Ints{0, 1, 10}) == Ints{0, 1, 55});
}

TEST_CASE("a loop over as many rows as there are") {
  const auto f = graven::function(
      [](Tensor x) {
        State<Tensor> largest = x.dtype() == DType::kFloat32 ? Tensor(-1e30) : Tensor(-1);
        for (Tensor i : staged_range(graven::gather(graven::shape(x), 0))) {
          const Tensor row = graven::gather(x, i);
          if (staged(row > largest)) largest = row;
        }
        return Tensor(largest);
      },
      {.reduce_retracing = true});
  CHECK(f(Tensor({1.0, 3.0, 2.0})).item<float>() == 3);
  CHECK(f(Tensor({1.0, 3.0, 2.0, 5.0})).item<float>() == 5);
  CHECK(f(Tensor({4.0, 3.0, 2.0, 5.0, 1.0})).item<float>() == 5);
  CHECK(f.experimental_get_tracing_count() == 2);
}

TEST_CASE("a condition that does not change in its loop is an error") {
  const auto f = graven::function([](Tensor x) {
    State<Tensor> y = x;
    const Tensor goes_on = x > 0;
    while (staged(goes_on)) y = y + 1;
    return Tensor(y);
  });
  CHECK(contains(error_of([&] { f(Tensor(1)); }).message(), "does not change"));
}

TEST_CASE("a tensor of an iteration that is used behind the loop is an error with its line") {
  const auto returned = graven::function([](Tensor n) -> Tensor {
    for (Tensor i : staged_range(n)) {
      if (staged(i * i > 8)) return i;
    }
    return n;
  });
  const auto used = graven::function([](Tensor n) -> Tensor {
    for (Tensor i : staged_range(n)) {
      const Tensor square = i * i;
      if (staged(square > 8)) return square + 1;
    }
    return n;
  });
  for (const auto& f : {returned, used}) {
    const graven::Error error = error_of([&] { f(Tensor(5)); });
    CHECK(contains(error.message(), "staged_test.cc:"));
    CHECK(contains(error.message(), "graven::State"));
  }
}

TEST_CASE("loops on one another's states, and a question at the end of a loop") {
  const auto f = [](Tensor n) {
    State<Tensor> x = n;
    do {
      x = x + 3;
    } while (staged(x < 10));
    for (int k = 0; k < 3; ++k) {
      while (staged(x < 10 * k)) x = x + k;
    }
    if (staged(n > 2)) {
      while (staged(x < 100)) x = x * x;
    } else {
      x = x - 1;
    }
    return x * 2;
  };
  CHECK(both_ways(f, Ints{0, 1, 3, 6}) == Ints{38, 38, 800, 800});
}

TEST_CASE("a number that a loop changes and code behind it reads is an error") {
  const auto f = graven::function([](Tensor x) {
    State<Tensor> y = x;
    int rounds = 0;
    while (staged(y < 100)) {
      y = y * 2;
      ++rounds;
    }
    return y + rounds;
  });
  const graven::Error error = error_of([&] { f(Tensor(1)); });
  CHECK(error.kind() == graven::ErrorKind::kRuntimeError);
  CHECK(contains(error.message(), "graven::Static"));
}

TEST_CASE("what any way through a loop changes must be a State, on whatever way it is read") {
  const auto error_in = [](auto round) {
    const auto f = graven::function([&](Tensor x) {
      State<Tensor> i = 0;
      Tensor sum = 0 * x;
      int rounds = 0;
      while (staged(i < 5)) {
        round(i, x, sum, rounds);
        i = i + 1;
      }
      if (staged(x > 3)) return sum - rounds;
      return sum + rounds;
    });
    const graven::Error error = error_of([&] { f(Tensor(1)); });
    CHECK(error.kind() == graven::ErrorKind::kRuntimeError);
    return contains(error.message(), "must be a graven::State");
  };
  // Changed on the way that is traced last, and read: there, on the first way, behind the loop, and
  // behind a question that follows.
  CHECK(error_in([](Tensor i, Tensor x, Tensor& sum, int&) {
    if (!staged(i < 3)) sum = sum + x;
  }));
  CHECK(error_in([](Tensor i, Tensor x, Tensor& sum, int& rounds) {
    if (!staged(i < 3)) ++rounds;
    if (rounds > 0) sum = x;
  }));
  CHECK(error_in([](Tensor i, Tensor, Tensor&, int& rounds) {
    if (!staged(i < 3)) rounds = 7;
  }));
  CHECK(error_in([](Tensor, Tensor, Tensor&, int& rounds) { ++rounds; }));
  // Of many ways, one.
  CHECK(error_in([](Tensor i, Tensor, Tensor&, int& rounds) {
    for (int bit = 0; bit < 4; ++bit) {
      if (staged(graven::equal(i, bit)) && bit == 2) rounds = 1;
    }
  }));
}

TEST_CASE("errors of ops in a branch name the line of the op") {
  const auto f = graven::function([](Tensor x) {
    return graven::cond(
        x > 0, [&] { return graven::matmul(x, x); }, [&] { return x; });
  });
  const auto line = std::source_location::current().line() - 2;
  CHECK(error_of([&] { f(Tensor(1.0)); }).where().line() == line);
}
