#include "graven/kernels/elementwise_panels.h"

#include "graven/kernels/scratch.h"

namespace graven::engine {

ElementwisePanels::ElementwisePanels(const BlockProgram& program,
                                     std::span<const StridedInput> inputs, const Shape& shape,
                                     std::span<void* const> outputs, TrapNotes* traps)
    : program_(program),
      outputs_(outputs),
      traps_(traps),
      columns_(shape.size(shape.rank() - 1)),
      iteration_(make_iteration(inputs, program.expression().inputs(), shape, /*reduced=*/0)),
      reader_(iteration_.sizes, iteration_.operands),
      scratch_bytes_(program.scratch_bytes() + reader_.staging_bytes()) {
  for (const StridedInput& input : inputs)
    bases_.push_back(static_cast<const std::byte*>(input.data));
  find_rows();
}

void ElementwisePanels::find_rows() {
  const auto& sizes = iteration_.sizes;
  const bool is_flat = sizes.size() == 1, is_matrix = sizes.size() == 2 && sizes[1] == columns_;
  if (!is_flat && !is_matrix) return;
  for (size_t i = 0; i < bases_.size(); ++i) {
    const StridedOperand& operand = iteration_.operands[i];
    const int64_t step = operand.strides.back();
    if (step != 0 && step != static_cast<int64_t>(operand.element_size)) return rows_.clear();
    const int64_t stride = is_matrix ? operand.strides[0] : step * columns_;
    rows_.push_back({bases_[i], stride, step == 0});
  }
}

void ElementwisePanels::run(const Panel& panel) const {
  std::byte* scratch = thread_scratch(scratch_bytes_);
  if (!scratch) return failed_.store(true, std::memory_order_relaxed);
  BlockReader::State state = reader_.start(scratch + program_.scratch_bytes());
  if (panel.columns < columns_ && !rows_.empty()) return run_rows(panel, scratch);
  const int64_t first = panel.row * columns_ + panel.column;
  if (panel.columns == columns_) {
    run_range(state, first, first + panel.rows * columns_, scratch);
    return;
  }
  for (int64_t row = 0; row < panel.rows; ++row) {
    const int64_t begin = first + row * columns_;
    run_range(state, begin, begin + panel.columns, scratch);
  }
}

Status ElementwisePanels::status() const {
  return failed_.load(std::memory_order_relaxed) ? out_of_scratch(scratch_bytes_) : Status();
}

void ElementwisePanels::run_rows(const Panel& panel, std::byte* scratch) const {
  InlineVector<BlockRows::Input, 8> inputs = rows_;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const auto size = static_cast<int64_t>(iteration_.operands[i].element_size);
    inputs[i].data +=
        panel.row * inputs[i].stride + (inputs[i].is_scalar ? 0 : panel.column * size);
  }
  InlineVector<BlockRows::Output, 4> outputs;
  for (size_t o = 0; o < outputs_.size(); ++o) {
    const auto size = static_cast<int64_t>(dtype_size(program_.expression().outputs()[o].dtype));
    outputs.push_back(
        {static_cast<std::byte*>(outputs_[o]) + (panel.row * columns_ + panel.column) * size,
         columns_ * size});
  }
  program_.run_rows({panel.rows, panel.columns, inputs, outputs}, scratch, traps_);
}

void ElementwisePanels::run_range(BlockReader::State& state, int64_t begin, int64_t end,
                                  std::byte* scratch) const {
  InlineVector<const void*, 8> from(bases_.size(), nullptr);
  InlineVector<bool, 8> is_scalar(bases_.size(), false);
  InlineVector<void*, 4> to(outputs_.size(), nullptr);
  for (int64_t position = begin; position < end;) {
    const int64_t count =
        reader_.read(state, bases_.data(), position, end - position, from.data(), is_scalar.data());
    for (size_t o = 0; o < outputs_.size(); ++o) {
      const auto size = static_cast<int64_t>(dtype_size(program_.expression().outputs()[o].dtype));
      to[o] = static_cast<std::byte*>(outputs_[o]) + position * size;
    }
    program_.run(count, from.data(), is_scalar.data(), to.data(), scratch, traps_);
    position += count;
  }
}

}  // namespace graven::engine
