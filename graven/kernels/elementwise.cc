#include "graven/kernels/elementwise.h"

#include <algorithm>

#include "graven/base/denormals.h"
#include "graven/kernels/one_element.h"
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

// Calls body(begin, end, scratch) for chunks of [0, n), on the pool if there are several.
template <typename Body>
Status for_chunks(int64_t n, int64_t chunk, size_t bytes, const Body& body) {
  return run_chunks((n + chunk - 1) / chunk, bytes, [&](int64_t i, std::byte* scratch) {
    body(i * chunk, std::min((i + 1) * chunk, n), scratch);
  });
}

// Where operands are gathered a few rows at a time, elements are computed by tiles of so many rows
// and columns that the memory which is touched meanwhile is in few pages.
Status run_by_panels(const BlockProgram& program, const Iteration& iteration,
                     std::span<void* const> outputs, TrapNotes* traps) {
  constexpr int64_t kColumns = 512;
  const int64_t width = iteration.sizes.back(), columns = std::min(width, kColumns);
  const int64_t blocks = (width + columns - 1) / columns, last = width - (blocks - 1) * columns;
  auto reader_of = [&](int64_t size) {
    InlineVector<int64_t, 6> sizes = iteration.sizes;
    sizes.back() = size;
    return BlockReader(sizes, iteration.operands);
  };
  const BlockReader whole = reader_of(columns), rest = reader_of(last);
  const int64_t rows = whole.num_elements() / columns;
  const int64_t rows_of_tile =
      std::max(whole.panel_rows(), std::min(rows, elements_per_chunk(program.cost()) / columns));
  const size_t num_inputs = iteration.operands.size();
  const int64_t tiles = blocks * ((rows + rows_of_tile - 1) / rows_of_tile);
  const size_t bytes =
      program.scratch_bytes() + std::max(whole.staging_bytes(), rest.staging_bytes());
  return run_chunks(tiles, bytes, [&](int64_t tile, std::byte* scratch) {
    const int64_t block = tile % blocks, first_row = tile / blocks * rows_of_tile;
    const int64_t end_row = std::min(first_row + rows_of_tile, rows);
    const BlockReader& reader = block + 1 < blocks ? whole : rest;
    const int64_t size = reader.row_elements();
    BlockReader::State state = reader.start(scratch + program.scratch_bytes());
    InlineVector<const std::byte*, 8> bases;
    for (const StridedOperand& operand : iteration.operands) {
      bases.push_back(operand.data + block * columns * operand.strides.back());
    }
    InlineVector<const void*, 8> from(num_inputs, nullptr);
    InlineVector<bool, 8> scalars(num_inputs, false);
    InlineVector<void*, 4> to(outputs.size(), nullptr);
    for (int64_t position = first_row * size; position < end_row * size;) {
      const int64_t row = position / size, column = position % size;
      // Rows lie apart in the outputs, unless a block is all of them.
      const int64_t limit = (blocks == 1 ? end_row - row : 1) * size - column;
      const int64_t count =
          reader.read(state, bases.data(), position, limit, from.data(), scalars.data());
      const int64_t place = row * width + block * columns + column;
      for (size_t o = 0; o < outputs.size(); ++o) {
        const DType dtype = program.expression().outputs()[o].dtype;
        to[o] = static_cast<std::byte*>(outputs[o]) + place * dtype_size(dtype);
      }
      program.run(count, from.data(), scalars.data(), to.data(), scratch, traps);
      position += count;
    }
  });
}

}  // namespace

Status run_elementwise(const BlockProgram& program, std::span<const StridedInput> inputs,
                       const Shape& shape, std::span<void* const> outputs, TrapNotes* traps) {
  int64_t n = shape.num_elements();
  if (n == 0) return {};
  if (const OneElement* one = program.of_one(); one && n <= one->most_elements()) {
    const FlushDenormals flush;
    if (one->run(program.expression(), n, inputs, outputs.data(), traps)) return {};
  }
  const Expression& expression = program.expression();
  int64_t chunk = elements_per_chunk(program.cost());

  size_t num_inputs = inputs.size(), num_outputs = outputs.size();
  InlineVector<bool, 8> is_scalar(num_inputs, false);
  bool is_flat = true;
  for (size_t i = 0; i < num_inputs; ++i) {
    int64_t elements = inputs[i].shape->num_elements();
    is_scalar[i] = elements == 1;
    is_flat &= elements == 1 || (elements == n && !inputs[i].strides);
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
    auto run_range = [&](int64_t begin, int64_t end, std::byte* scratch) {
      InlineVector<const void*, 8> from(num_inputs, nullptr);
      InlineVector<void*, 4> to(num_outputs, nullptr);
      for (size_t i = 0; i < num_inputs; ++i) {
        size_t offset = is_scalar[i] ? 0 : begin * dtype_size(expression.inputs()[i]);
        from[i] = static_cast<const std::byte*>(inputs[i].data) + offset;
      }
      move_outputs(begin, to.data());
      program.run(end - begin, from.data(), is_scalar.data(), to.data(), scratch, traps, is_far);
    };
    return for_chunks(n, chunk, program.scratch_bytes(), run_range);
  }

  Iteration iteration = make_iteration(inputs, expression.inputs(), shape, 0);
  BlockReader reader(iteration.sizes, iteration.operands);
  InlineVector<const std::byte*, 8> bases;
  for (const StridedInput& input : inputs)
    bases.push_back(static_cast<const std::byte*>(input.data));
  if (reader.has_panels()) {
    return run_by_panels(program, iteration, outputs, traps);
  }
  const size_t bytes = program.scratch_bytes() + reader.staging_bytes();
  return for_chunks(n, chunk, bytes, [&](int64_t begin, int64_t end, std::byte* scratch) {
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
