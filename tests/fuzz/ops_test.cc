// Each op with random inputs and attributes: a result or an error, and nothing else.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "graven/autodiff/tape.h"
#include "graven/base/hash.h"
#include "graven/ir/body.h"
#include "graven/ir/frame.h"
#include "graven/ir/graph_builder.h"
#include "graven/ir/text.h"
#include "graven/ir/verify.h"
#include "graven/runtime/eager_builder.h"
#include "graven/runtime/run_body.h"
#include "graven/runtime/run_op.h"
#include "graven/tensor/allocator.h"
#include "tests/fuzz/random_call.h"

namespace graven::engine {
namespace {

constexpr int64_t kMaxBytes = 64 << 20;

uint64_t number_from_environment(const char* name, uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

// What can be applied to any values, and touches nothing but tensors.
bool is_harmless(const Op& op) {
  for (const AttrField& field : op.attrs_type().fields) {
    if (field.kind == AttrValue(Ref<Body>()).index() ||
        field.kind == AttrValue(std::vector<Ref<Body>>()).index()) {
      return false;
    }
  }
  return op.record().effects != ordered_effects;  // prints
}

Tensor copy_of(const Tensor& tensor) {
  Tensor copy = *Tensor::allocate(tensor.dtype(), tensor.shape());
  if (tensor.bytes() > 0) {
    std::memcpy(copy.mutable_raw_data(), tensor.raw_data(), tensor.bytes());
  }
  return copy;
}

bool same_bytes(const Tensor& a, const Tensor& b) {
  return a.dtype() == b.dtype() && a.shape() == b.shape() &&
         (a.bytes() == 0 || std::memcmp(a.raw_data(), b.raw_data(), a.bytes()) == 0);
}

// That of the host while it lives: a REQUIRE that fails throws.
class MemoryLimit {
 public:
  explicit MemoryLimit(int64_t bytes) { Allocator::host().set_limit(bytes); }
  ~MemoryLimit() { Allocator::host().set_limit(before_); }
  MemoryLimit(const MemoryLimit&) = delete;

 private:
  const int64_t before_ = Allocator::host().limit();
};

// Calls f for each op with as many random calls as are asked for. GRAVEN_FUZZ_VERBOSE=1 tells each
// before it is made, for those that crash.
template <typename F>
void for_random_calls(uint64_t usual_rounds, F&& f) {
  const uint64_t seed = number_from_environment("GRAVEN_FUZZ_SEED", 1);
  const uint64_t rounds = number_from_environment("GRAVEN_FUZZ_ROUNDS", usual_rounds);
  const bool is_verbose = number_from_environment("GRAVEN_FUZZ_VERBOSE", 0);
  const MemoryLimit limit(Allocator::host().stats().in_use + kMaxBytes);
  for (const auto& op : OpRegistry::global().ops()) {
    if (!is_harmless(*op)) continue;
    CallMaker make(hash_combine(hash_text(op->name()), seed));
    for (uint64_t i = 0; i < rounds; ++i) {
      RandomCall call = make.call(*op);
      std::string text = call.to_text(*op);
      if (is_verbose) std::fprintf(stderr, "%s\n", text.c_str());
      INFO(text);
      f(*op, call);
    }
  }
}

}  // namespace

TEST_CASE("an op gives a result or an error, and leaves its inputs as they are") {
  int64_t num_done = 0, num_refused = 0;
  for_random_calls(60, [&](const Op& op, RandomCall& call) {
    std::vector<Tensor> before;
    for (const Tensor& input : call.inputs) {
      before.push_back(is_plain(input.dtype()) ? copy_of(input) : input);
    }
    Tensors outputs;
    Status status = run_op(op, call.attrs, call.inputs, /*reusable=*/0, nullptr, outputs);
    for (size_t i = 0; i < call.inputs.size(); ++i) {
      REQUIRE(call.inputs[i]);
      if (is_plain(before[i].dtype())) REQUIRE(same_bytes(before[i], call.inputs[i]));
    }
    if (!status.ok()) {
      ++num_refused;
      CHECK(!status.message().empty());
      CHECK(status.code() != Code::kInternal);
      return;
    }
    ++num_done;
    for (const Tensor& output : outputs) {
      REQUIRE(output);
      REQUIRE(output.shape().is_fully_known());
    }
  });
  // Random calls that are all refused would test nothing.
  CHECK(5 * num_done > num_refused);
}

TEST_CASE("a gradient is a result or an error too") {
  int64_t num_done = 0;
  for_random_calls(25, [&](const Op& op, RandomCall& call) {
    Tape tape(/*persistent=*/false);
    tape.start();
    for (const Tensor& input : call.inputs) tape.watch(input);
    auto outputs = apply(op, call.inputs, call.attrs);
    if (!outputs.ok()) return;
    auto gradients = tape.gradient(*outputs, call.inputs, {}, current_builder());
    num_done += gradients.ok();
    if (!gradients.ok()) {
      CHECK(gradients.status().code() != Code::kInternal);
      return;
    }
    for (size_t i = 0; i < call.inputs.size(); ++i) {
      const Tensor& dx = (*gradients)[i].dense;
      if (!dx || call.inputs[i].dtype() == DType::kResource) continue;
      CHECK(dx.shape().to_text() == call.inputs[i].shape().to_text());
      CHECK(dtype_name(dx.dtype()) == dtype_name(call.inputs[i].dtype()));
    }
  });
  CHECK(num_done > 500);
}

TEST_CASE("what is traced with unknown sizes is a right graph and computes what the op does") {
  int64_t num_equal = 0;
  for_random_calls(25, [&](const Op& op, RandomCall& call) {
    auto graph = make_ref<Graph>("g");
    GraphBuilder builder(graph);
    Frame frame(&builder);
    std::vector<Tensor> placeholders;
    int at = 0;
    for (const Tensor& input : call.inputs) {
      Shape shape = input.shape();
      for (int i = 0; i < shape.rank(); ++i) {
        if ((at++ + shape.rank()) % 3 == 0) shape.set(i, Dim::unknown());
      }
      std::optional<HandleData> handle;
      if (input.dtype() == DType::kResource && input.resource()) {
        auto [dtype, behind] = *input.resource()->value_type();
        handle = HandleData{dtype, behind};
      }
      placeholders.push_back(builder.add_placeholder(input.dtype(), shape, "x", handle));
    }
    auto traced = builder.apply(op, placeholders, call.attrs);
    if (!traced.ok()) {
      CHECK(traced.status().code() != Code::kInternal);
      return;
    }
    Status right = verify_graph(*graph);
    REQUIRE_MESSAGE(right.ok(), right.message());
    if (traced->empty()) return;  // not run, as nobody can see that
    std::vector<OutputRef> refs;
    for (const Tensor& output : *traced) refs.push_back(symbolic(output).output());
    graph->set_outputs(std::move(refs));
    std::string text = print_graph(*graph);
    auto read = parse_graph(text);
    REQUIRE_MESSAGE(read.ok(), read.status().message(), text);
    REQUIRE(print_graph(**read) == text);

    auto body = Body::create("__inference_g_1", graph);
    Tensors eager, run;
    if (op.is_stateful_ever()) {
      (void)run_body(body, call.inputs, run);
      return;
    }
    Status eager_status = run_op(op, call.attrs, call.inputs, 0, nullptr, eager);
    Status run_status = run_body(body, call.inputs, run);
    // A Reshape whose result is known when it is traced reads no sizes, as in TensorFlow.
    if (op.name() == "Reshape" && !eager_status.ok()) return;
    REQUIRE_MESSAGE(eager_status.ok() == run_status.ok(), eager_status.message(), " / ",
                    run_status.message());
    if (!eager_status.ok()) return;
    REQUIRE(eager.size() == run.size());
    for (size_t i = 0; i < eager.size(); ++i) {
      if (!is_plain(eager[i].dtype())) continue;
      REQUIRE(same_bytes(eager[i], run[i]));
      ++num_equal;
    }
  });
  CHECK(num_equal > 500);
}

}  // namespace graven::engine
