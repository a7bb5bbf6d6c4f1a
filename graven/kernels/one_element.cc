#include "graven/kernels/one_element.h"

#include <algorithm>
#include <cstddef>

#include "graven/base/heap_bytes.h"
#include "graven/kernels/trap_notes.h"

namespace graven::engine {

std::optional<OneElement> OneElement::compile(const Expression& expression) {
  if (expression.nodes().size() > kMostCells) return {};
  ScalarCells cells(expression.inputs().size());
  auto steps = ScalarSteps::make(expression, cells);
  if (!steps) return {};
  auto is_input = [&](uint16_t node) { return steps->cell_of[node] < expression.inputs().size(); };
  const bool writes_last = expression.outputs().size() == 1 && !steps->steps.empty() &&
                           std::ranges::none_of(expression.traps(), is_input, &Trap::condition);
  std::vector<ScalarStep> first, last;
  const size_t end = cells.count + expression.outputs().size();
  for (const Expression::Output& output : expression.outputs()) {
    const uint32_t to = cells.result();
    uint32_t from = steps->cell_of[output.real];
    // The last step writes its result to the output: nothing reads an input after it.
    if (writes_last && steps->steps.back().out == from) {
      steps->steps.back().out = to;
      std::ranges::replace(steps->cell_of, from, to);
      continue;
    }
    const BlockFunction copy = copy_function_of_one(dtype_size(output.dtype));
    if (is_input(output.real)) {
      // An input, whose memory may be that of another output.
      const auto kept = static_cast<uint32_t>(end + first.size());
      first.push_back({copy, kept, from, from, from});
      from = kept;
    }
    last.push_back({copy, to, from, from, from});
  }
  cells.count = end + first.size();
  if (cells.count > kMostCells) return {};
  OneElement made(std::move(cells), std::move(*steps), end - expression.outputs().size());
  made.copies_ = std::move(first);
  made.copies_.insert(made.copies_.end(), last.begin(), last.end());
  // A step is a call that works for one element where a block has 8 or 16 at once.
  constexpr double kBlocks = 18;
  const auto num_steps = static_cast<double>(made.steps_.steps.size() + made.copies_.size());
  const double per_element = 2 * num_steps + expression.cost() / 4;
  made.most_elements_ = std::max<int64_t>(1, static_cast<int64_t>(kBlocks / per_element));
  return made;
}

bool OneElement::run(const Expression& expression, int64_t n, std::span<const StridedInput> inputs,
                     void* const* outputs, TrapNotes* traps) const {
  struct alignas(16) Cell {
    std::byte bytes[16];
  };
  struct Move {  // to the next element
    size_t cell, bytes;
  };
  Cell results[kMostCells];
  void* at[kMostCells];
  Move moves[kMostCells];
  size_t num_moves = 0;
  // Steps write neither to inputs nor to constants.
  for (size_t i = 0; i < inputs.size(); ++i) {
    at[i] = const_cast<void*>(inputs[i].data);
    if (n == 1) continue;
    const int64_t elements = inputs[i].shape->num_elements();
    if (elements == 1) continue;
    if (elements != n || inputs[i].strides) return false;
    moves[num_moves++] = {i, dtype_size(expression.inputs()[i])};
  }
  for (size_t i = inputs.size(); i < cells_.count; ++i) at[i] = &results[i];
  for (const auto& [cell, bits] : cells_.constants) at[cell] = const_cast<uint64_t*>(&bits);
  for (size_t i = 0; i < expression.outputs().size(); ++i) {
    at[first_output_ + i] = outputs[i];
    if (n > 1) moves[num_moves++] = {first_output_ + i, dtype_size(expression.outputs()[i].dtype)};
  }
  auto run = [&](std::span<const ScalarStep> steps) {
    for (const ScalarStep& step : steps) {
      step.function(at[step.out], at[step.a], at[step.b], at[step.c], 1);
    }
  };
  const std::span<const ScalarStep> steps = steps_.steps, copies = copies_;
  const std::span<const Trap> all_traps = expression.traps();
  while (true) {
    run(steps);
    for (const Trap& trap : all_traps) {
      const void* condition = at[steps_.cell_of[trap.condition]];
      if (*static_cast<const std::byte*>(condition) != std::byte{0}) traps->note(trap);
    }
    run(copies);
    if (--n == 0) return true;
    for (size_t i = 0; i < num_moves; ++i) {
      at[moves[i].cell] = static_cast<std::byte*>(at[moves[i].cell]) + moves[i].bytes;
    }
  }
}

int64_t OneElement::bytes() const {
  return steps_.bytes() + heap_bytes(cells_.constants) + heap_bytes(copies_);
}

}  // namespace graven::engine
