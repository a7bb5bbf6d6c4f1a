#include "graven/kernels/elementwise.h"

#include <algorithm>

#include "graven/base/thread_pool.h"
#include "graven/kernels/scratch.h"
#include "graven/kernels/streams.h"

namespace graven::engine {
namespace {

// A chunk is worth about 10 microseconds, whole blocks; so small tensors never leave the caller.
int64_t elements_per_chunk(double cost) {
  int64_t elements = static_cast<int64_t>(262144 / std::max(cost, 1.0));
  return std::clamp<int64_t>(elements, 4096, 65536) / kBlockElements * kBlockElements;
}

// Operands and results of this size together do not stay in a core's cache from one op to the next.
constexpr int64_t kFarBytes = 4 << 20;

// Calls body(begin, end) for chunks of [0, n), on the pool if there are several.
template <typename Body>
void for_chunks(int64_t n, int64_t chunk, Body body) {
  if (n <= chunk) {
    FlushDenormals flush;
    body(int64_t{0}, n);
    return;
  }
  ThreadPool::shared().run((n + chunk - 1) / chunk,
                           [&](int64_t i) { body(i * chunk, std::min((i + 1) * chunk, n)); });
}

}  // namespace

void run_elementwise(const BlockProgram& program, std::span<const Operand> inputs,
                     const Shape& shape, std::span<void* const> outputs, TrapNotes* traps) {
  int64_t n = shape.num_elements();
  if (n == 0) return;
  const Expression& expression = program.expression();
  int64_t chunk = elements_per_chunk(program.cost());

  size_t num_inputs = inputs.size(), num_outputs = outputs.size();
  InlineVector<bool, 8> is_scalar(num_inputs, false);
  bool is_flat = true;
  for (size_t i = 0; i < num_inputs; ++i) {
    int64_t elements = inputs[i].shape->num_elements();
    is_scalar[i] = elements == 1;
    is_flat &= elements == 1 || elements == n;
  }
  auto move_outputs = [&](int64_t position, void** moved) {
    for (size_t o = 0; o < num_outputs; ++o) {
      moved[o] = static_cast<std::byte*>(outputs[o]) +
                 position * dtype_size(expression.outputs()[o].dtype);
    }
  };

  if (is_flat) {
    int64_t bytes = 0;
    for (size_t i = 0; i < num_inputs; ++i) {
      if (!is_scalar[i]) bytes += n * static_cast<int64_t>(dtype_size(expression.inputs()[i]));
    }
    for (const auto& output : expression.outputs()) {
      bytes += n * static_cast<int64_t>(dtype_size(output.dtype));
    }
    const bool is_far = bytes >= kFarBytes;
    for_chunks(n, chunk, [&](int64_t begin, int64_t end) {
      InlineVector<const void*, 8> from(num_inputs, nullptr);
      InlineVector<void*, 4> to(num_outputs, nullptr);
      for (size_t i = 0; i < num_inputs; ++i) {
        size_t offset = is_scalar[i] ? 0 : begin * dtype_size(expression.inputs()[i]);
        from[i] = static_cast<const std::byte*>(inputs[i].data) + offset;
      }
      move_outputs(begin, to.data());
      program.run(end - begin, from.data(), is_scalar.data(), to.data(),
                  thread_scratch(ScratchUse::kChunk, program.scratch_bytes()), traps, is_far);
    });
    return;
  }

  Iteration iteration = make_iteration(inputs, expression.inputs(), shape, 0);
  BlockReader reader(iteration.sizes, iteration.operands);
  InlineVector<const std::byte*, 8> bases;
  for (const Operand& input : inputs) bases.push_back(static_cast<const std::byte*>(input.data));
  for_chunks(n, chunk, [&](int64_t begin, int64_t end) {
    std::byte* scratch =
        thread_scratch(ScratchUse::kChunk, program.scratch_bytes() + reader.staging_bytes());
    BlockReader::State state = reader.start(scratch + program.scratch_bytes());
    InlineVector<const void*, 8> from(num_inputs, nullptr);
    InlineVector<bool, 8> scalars(num_inputs, false);
    InlineVector<void*, 4> to(num_outputs, nullptr);
    for (int64_t position = begin; position < end;) {
      int64_t count =
          reader.read(state, bases.data(), position, end - position, from.data(), scalars.data());
      move_outputs(position, to.data());
      program.run(count, from.data(), scalars.data(), to.data(), scratch, traps);
      position += count;
    }
  });
}

}  // namespace graven::engine
