#include "graven/kernels/scalar_loop.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "graven/base/heap_bytes.h"
#include "graven/expr/expression_bytes.h"

namespace graven::engine {

std::optional<ScalarLoop> ScalarLoop::compile(const Expression& condition, const Expression& body,
                                              std::span<const int> changed) {
  ScalarCells cells(condition.inputs().size());
  auto steps_of_condition = ScalarSteps::make(condition, cells);
  auto steps_of_body = ScalarSteps::make(body, cells);
  if (!steps_of_condition || !steps_of_body) return std::nullopt;
  ScalarLoop loop(std::move(cells), {std::move(*steps_of_condition), condition},
                  {std::move(*steps_of_body), body});
  loop.add_moves(changed);
  return loop;
}

void ScalarLoop::add_moves(std::span<const int> changed) {
  const std::span<const Expression::Output> outputs = body_.expression.outputs();
  std::vector<bool> is_written;
  for (size_t k = 0; k < changed.size(); ++k) {
    is_written.push_back(writes_variable(outputs[k].real, static_cast<uint32_t>(changed[k])));
  }
  std::vector<ScalarStep> last;
  for (size_t k = 0; k < changed.size(); ++k) {
    if (is_written[k]) continue;
    const auto variable = static_cast<uint32_t>(changed[k]);
    uint32_t from = body_.cell_of[outputs[k].real];
    const BlockFunction copy = copy_function_of_one(dtype_size(outputs[k].dtype));
    if (is_variable(from)) {
      // A variable itself, which may have its next value before it is copied.
      const auto between = cells_.result();
      moves_.push_back({copy, between, from, from, from});
      from = between;
    }
    last.push_back({copy, variable, from, from, from});
  }
  moves_.insert(moves_.end(), last.begin(), last.end());
}

bool ScalarLoop::writes_variable(uint16_t result, uint32_t variable) {
  const Expression& expression = body_.expression;
  const uint32_t cell = body_.cell_of[result];
  if (is_variable(cell) || std::ranges::count(body_.steps, cell, &ScalarStep::out) == 0)
    return false;
  const auto is_it = [&](uint16_t node) { return body_.cell_of[node] == variable; };
  if (std::ranges::any_of(expression.outputs(), is_it, &Expression::Output::real) ||
      std::ranges::any_of(expression.traps(), is_it, &Trap::condition) ||
      !goes_behind_readers(cell, variable)) {
    return false;
  }
  std::ranges::find(body_.steps, cell, &ScalarStep::out)->out = variable;
  body_.cell_of[result] = variable;
  for (ScalarStep& step : body_.steps) {
    for (uint32_t* operand : {&step.a, &step.b, &step.c}) {
      if (*operand == cell) *operand = variable;
    }
  }
  return true;
}

bool ScalarLoop::goes_behind_readers(uint32_t cell, uint32_t variable) {
  const auto made_by = std::ranges::find(body_.steps, cell, &ScalarStep::out);
  auto end = made_by + 1;  // behind the last reader
  for (auto step = end; step != body_.steps.end(); ++step) {
    if (step->reads(variable)) end = step + 1;
  }
  const bool may_go = std::none_of(made_by + 1, end, [&](const ScalarStep& step) {
    return step.reads(cell) || made_by->reads(step.out);
  });
  if (may_go) std::rotate(made_by, made_by + 1, end);
  return may_go;
}

void ScalarLoop::prepare(std::span<Cell> cells) const {
  for (const auto& [cell, bits] : cells_.constants) std::memcpy(&cells[cell], &bits, sizeof(bits));
}

ScalarLoop::End ScalarLoop::run(std::span<Cell> cells, int64_t most, const Trap** trap) const {
  const uint32_t holds = condition_.cell_of[condition_.expression.outputs()[0].real];
  for (int64_t i = 0; i < most; ++i) {
    run(condition_.steps, cells.data());
    if ((*trap = trap_of(condition_, cells))) return End::kTrapped;
    if (cells[holds].bytes[0] == std::byte{0}) return End::kConditionFailed;
    run(body_.steps, cells.data());
    if ((*trap = trap_of(body_, cells))) return End::kTrapped;
    run(moves_, cells.data());
  }
  return End::kMoreToCome;
}

int64_t ScalarLoop::bytes() const {
  return bytes_of_object<ScalarLoop>() + condition_.bytes() + body_.bytes() + heap_bytes(moves_) +
         heap_bytes(cells_.constants) + heap_bytes_of(condition_.expression) +
         heap_bytes_of(body_.expression);
}

}  // namespace graven::engine
