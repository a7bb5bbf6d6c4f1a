#include "graven/runtime/program.h"

#include <algorithm>
#include <atomic>
#include <bit>

#include "graven/base/interrupt.h"
#include "graven/base/strings.h"
#include "graven/base/thread_pool.h"
#include "graven/base/waiting_lock.h"
#include "graven/ir/bodies.h"
#include "graven/ir/infer_context.h"
#include "graven/ir/structural_ops.h"
#include "graven/kernels/block_program.h"
#include "graven/kernels/elementwise.h"
#include "graven/kernels/row_program.h"
#include "graven/kernels/trap_notes.h"
#include "graven/runtime/eager_builder.h"
#include "graven/runtime/run_body.h"
#include "graven/runtime/run_op.h"

namespace graven::engine {
namespace {

std::atomic<OptimizeFunction> g_optimizer{nullptr};
constexpr double kNanosecondsBetweenChecks = 1e5;

}  // namespace

Status failed_at(const Node& node, const Status& status) {
  if (status.payload()) return status;
  auto where = make_ref<ExecutionError>();
  where->node_name = node.name();
  where->location = node.location();
  return status.with_payload(where);
}

void set_optimizer(OptimizeFunction optimize) { g_optimizer = optimize; }

Result<Ref<Program>> program_of(const Ref<Body>& body) {
  return body->get_or_make<Program>(Body::kProgram, [&]() -> Result<Ref<Program>> {
    if (holds_itself(*body)) {
      return unimplemented("The function ", body->name(), " calls itself, and cannot be run");
    }
    Ref<Graph> graph = body->graph()->clone();
    if (OptimizeFunction optimize = g_optimizer.load()) {
      RETURN_IF_ERROR(optimize(*graph, eager_builder()));
    }
    return plan_program(std::move(graph));
  });
}

// One run: the slots that steps fill, beside the borrowed inputs.
class ProgramRun {
 public:
  ProgramRun(const Program& program, std::span<const Tensor> inputs)
      : program_(program),
        inputs_(inputs),
        first_constant_(program.num_inputs_),
        first_made_(first_constant_ + static_cast<int>(program.constants_.size())),
        made_(static_cast<size_t>(program.num_slots_ - first_made_)) {}

  Status run(Tensors& outputs) {
    RETURN_IF_ERROR(check_inputs());
    InterruptCheck interrupt =
        program_.cost_ > kNanosecondsBetweenChecks ? interrupt_check() : nullptr;
    double since_check = 0;
    for (const Program::Step& step : program_.steps_) {
      RETURN_IF_ERROR(run_step(step));
      for (int slot : step.frees) made_[slot - first_made_] = Tensor();
      if (interrupt && (since_check += step.cost) > kNanosecondsBetweenChecks) {
        since_check = 0;
        RETURN_IF_ERROR(interrupt());
      }
    }
    collect(outputs);
    return {};
  }

 private:
  using Step = Program::Step;

  Status check_inputs() const {
    if (static_cast<int>(inputs_.size()) != program_.num_inputs_) {
      return internal_error("A program of ", program_.num_inputs_, " inputs was given ",
                            inputs_.size());
    }
    for (const auto& [input, shape] : program_.checked_inputs_) {
      if (!is_subshape(inputs_[input].shape(), shape)) {
        const Node& node = *program_.graph_->inputs()[input];
        return failed_at(node, invalid_argument("'", node.name(), "' was declared to have shape ",
                                                shape.to_message(), ", but is fed a tensor of ",
                                                inputs_[input].shape().to_message()));
      }
    }
    return {};
  }

  const Tensor& value(int slot) const {
    if (slot >= first_made_) return made_[slot - first_made_];
    if (slot >= first_constant_) return program_.constants_[slot - first_constant_];
    return inputs_[slot];
  }

  Status run_step(const Step& step) {
    switch (step.kind) {
      case Step::Kind::kElementwise:
        return run_elementwise_step(step);
      case Step::Kind::kReduction:
        return run_reduction_step(step);
      case Step::Kind::kRows:
        return run_rows_step(step);
      case Step::Kind::kView: {
        const Step::Output& output = step.outputs[0];
        put(output, value(step.inputs[step.view_of]).with_shape(output.shape));
        return {};
      }
      default:
        return run_op_step(step);
    }
  }

  Status run_elementwise_step(const Step& step) {
    InlineVector<Tensor*, 8> operands;
    // What is not to be reused is only read.
    for (int slot : step.inputs) operands.push_back(const_cast<Tensor*>(&value(slot)));
    Shape found;
    const Shape* shape = &step.outputs[0].shape;
    if (!step.shapes_known) {
      if (Status status = find_shape(step, operands, found); !status.ok()) return status;
      shape = &found;
    }
    InlineVector<Tensor, 4> made(step.outputs.size());
    TrapNotes traps;
    Status status =
        run_blocks(*step.block, operands, step.last_use, *shape, {made.data(), made.size()}, traps);
    if (!status.ok()) return failed(step, status);
    RETURN_IF_ERROR(check_traps(step, traps));
    for (size_t i = 0; i < made.size(); ++i) {
      if (step.outputs[i].must_be_checked) {
        RETURN_IF_ERROR(check_shape(step, step.outputs[i], made[i].shape()));
      }
      put(step.outputs[i], std::move(made[i]));
    }
    return {};
  }

  Status run_reduction_step(const Step& step) {
    InlineVector<Operand, 6> operands;
    InlineVector<Tensor*, 8> values;
    for (size_t i = 0; i + 1 < step.inputs.size(); ++i) {
      const Tensor& operand = value(step.inputs[i]);
      operands.push_back({operand.raw_data(), &operand.shape()});
      values.push_back(const_cast<Tensor*>(&operand));
    }
    const Tensor& axes = value(step.inputs.back());
    const Step::Output& output = step.outputs[0];
    Shape found, found_output;
    const Shape *shape = &step.reduced_shape, *output_shape = &output.shape;
    if (!step.shapes_known) {
      RETURN_IF_ERROR(find_shape(step, values, found));
      Status status = shape_of_reduction(found, axes, output.shape.rank(), found_output);
      if (!status.ok()) return failed(step, status);
      shape = &found;
      output_shape = &found_output;
    }
    Tensor made;
    TrapNotes traps;
    Status status = run_reduction_program(*step.reduction, operands, *shape, axes, output.dtype,
                                          *output_shape, made, traps);
    if (!status.ok()) return failed(step, status);
    RETURN_IF_ERROR(check_traps(step, traps));
    put(output, std::move(made));
    return {};
  }

  // That of the result, whose rank says whether axes are kept.
  static Status shape_of_reduction(const Shape& reduced, const Tensor& axes, int rank,
                                   Shape& shape) {
    ASSIGN_OR_RETURN(auto numbers, normalized_axes(axes, reduced.rank()));
    for (int i = 0; i < reduced.rank(); ++i) {
      if (std::ranges::count(numbers, i) == 0) {
        shape.push_back(reduced[i]);
      } else if (rank == reduced.rank()) {
        shape.push_back(Dim(1));
      }
    }
    return {};
  }

  Status run_rows_step(const Step& step) {
    Status status = compute_rows(step);
    return status.ok() ? status : failed(step, status);
  }

  Status compute_rows(const Step& step) {
    InlineVector<const void*, 8> from;
    for (int slot : step.inputs) from.push_back(value(slot).raw_data());
    const Shape matrix =
        step.shapes_known ? step.reduced_shape : value(step.inputs[step.matrix_input]).shape();
    const int first_column = matrix.rank() - step.reduced_axes;
    int64_t rows = 1, columns = 1;
    for (int i = 0; i < matrix.rank(); ++i) (i < first_column ? rows : columns) *= matrix.size(i);
    // The plan compared the shapes; since then a capture may have been fed in another.
    for (size_t i = 0; i < step.inputs.size(); ++i) {
      const RowExtent extent = step.row_extents[i];
      const bool by_rows = extent == RowExtent::kMatrix || extent == RowExtent::kPerRow;
      const bool by_columns = extent == RowExtent::kMatrix || extent == RowExtent::kPerColumn;
      const Shape& shape = value(step.inputs[i]).shape();
      const bool fits = by_rows && by_columns ? shape == matrix
                                              : shape.num_elements() == (by_rows      ? rows
                                                                         : by_columns ? columns
                                                                                      : 1);
      if (!fits) {
        return invalid_argument("operand ", i, " of shape ", shape.to_message(),
                                " does not fit to rows of a matrix of shape ", matrix.to_message());
      }
    }
    InlineVector<Tensor, 4> made(step.outputs.size());
    InlineVector<void*, 4> to;
    for (size_t i = 0; i < made.size(); ++i) {
      const Step::Output& output = step.outputs[i];
      Shape shape = matrix;
      if (!step.row_outputs[i].is_matrix) {
        shape = Shape(matrix.dims().first(static_cast<size_t>(first_column)));
        while (shape.rank() < output.shape.rank()) shape.push_back(Dim(1));
      }
      uint64_t reusable = step.last_use & step.row_outputs[i].may_overwrite;
      for (; reusable && !made[i]; reusable &= reusable - 1) {
        const int slot = step.inputs[static_cast<size_t>(std::countr_zero(reusable))];
        Tensor& operand = made_[slot - first_made_];
        if (operand) made[i] = take_memory(operand, output.dtype, shape);
      }
      if (!made[i]) {
        ASSIGN_OR_RETURN(made[i], Tensor::allocate(output.dtype, shape));
      }
      to.push_back(made[i].mutable_raw_data());
    }
    TrapNotes traps;
    RETURN_IF_ERROR(run_rows(*step.rows, rows, columns, from, to, &traps));
    RETURN_IF_ERROR(check_traps(step, traps));
    for (size_t i = 0; i < made.size(); ++i) put(step.outputs[i], std::move(made[i]));
    return {};
  }

  static Status failed(const Step& step, const Status& status) {
    return failed_at(*step.node, with_op_name(step.node->op(), status));
  }

  // The shape of an elementwise step's outputs, from the values.
  Status find_shape(const Step& step, std::span<Tensor* const> operands, Shape& shape) {
    if (!step.broadcasts) {
      InlineVector<Tensor, 4> inputs;
      for (const Tensor* operand : operands) inputs.push_back(*operand);
      Status status = infer_shapes(*step.op, step.attrs, inputs, step.types, {&shape, 1});
      return status.ok() ? status : failed_at(*step.node, status);
    }
    bool first = true;
    for (const Tensor* operand : operands) {
      const Shape& other = operand->shape();
      if (first || shape == other) {
        if (first) shape = other;
      } else if (!broadcast_into(shape, other)) {
        return no_broadcast(step, operands);
      }
      first = false;
    }
    return {};
  }

  static bool broadcast_into(Shape& shape, const Shape& other) {
    while (shape.rank() < other.rank()) shape.insert(0, Dim(1));
    int offset = shape.rank() - other.rank();
    for (int i = 0; i < other.rank(); ++i) {
      Dim x = shape[offset + i], y = other[i];
      if (x == y || y == Dim(1)) continue;
      if (!(x == Dim(1))) return false;
      shape.set(offset + i, y);
    }
    return true;
  }

  // The error of the first op of the group whose operands do not broadcast.
  static Status no_broadcast(const Step& step, std::span<Tensor* const> operands) {
    std::vector<Shape> shapes;
    auto shape_of = [&](int input) -> const Shape& {
      return input >= 0 ? operands[input]->shape() : shapes[-1 - input];
    };
    for (const Step::Member& member : step.members) {
      if (member.inputs.empty()) continue;
      Shape shape = shape_of(member.inputs[0]);
      for (size_t i = 1; i < member.inputs.size(); ++i) {
        Shape before = shape;
        const Shape& other = shape_of(member.inputs[i]);
        if (broadcast_into(shape, other)) continue;
        return failed_at(*member.node,
                         with_op_name(member.node->op(),
                                      invalid_argument("Incompatible shapes: ", before.to_message(),
                                                       " vs. ", other.to_message())));
      }
      shapes.push_back(std::move(shape));
    }
    return internal_error("[", step.node->op().name(), "] a group of ops does not broadcast");
  }

  // The error of the first member whose trap held.
  static Status check_traps(const Step& step, const TrapNotes& traps) {
    if (!traps.first()) return {};
    const Node& node = *step.members[traps.first()->member].node;
    return failed_at(node, trapped(node.op(), *traps.first()));
  }

  Status run_op_step(const Step& step) {
    InlineVector<Tensor, 6> inputs;
    for (size_t i = 0; i < step.inputs.size(); ++i) {
      int slot = step.inputs[i];
      if (i < 64 && step.last_use >> i & 1) {
        inputs.push_back(std::move(made_[slot - first_made_]));
      } else {
        inputs.push_back(value(slot));
      }
    }
    Tensors made;
    Status status = step.kind == Step::Kind::kCall
                        ? call(step, inputs, made)
                        : run_typed(step, {inputs.data(), inputs.size()}, made);
    if (!status.ok()) return failed_at(*step.node, status);
    for (size_t i = 0; i < step.outputs.size(); ++i) {
      const Step::Output& output = step.outputs[i];
      if (step.shapes_known ? !(made[i].shape() == output.shape) : output.must_be_checked) {
        RETURN_IF_ERROR(check_shape(step, output, made[i].shape()));
      }
      put(output, std::move(made[i]));
    }
    return {};
  }

  // Shapes that only a run knows may be others than those that the callee was traced with.
  static Status call(const Step& step, std::span<const Tensor> inputs, Tensors& made) {
    if (!accepts_shapes(*step.body, inputs) || !step.program->accepts(inputs)) {
      return run_body(step.body, inputs, made);
    }
    return step.program->run(inputs, made);
  }

  Status run_typed(const Step& step, std::span<Tensor> inputs, Tensors& made) {
    InlineVector<DType, 4> dtypes;
    InlineVector<Shape, 2> shapes;
    for (const Step::Output& output : step.outputs) {
      dtypes.push_back(output.dtype);
      if (step.shapes_known) shapes.push_back(output.shape);
    }
    OutputTypes types{step.types, dtypes, step.shapes_known ? shapes.data() : nullptr};
    auto run = [&](Ref<RefCounted>* state) {
      return run_typed_op(*step.op, step.attrs, inputs, types, step.last_use, state, made);
    };
    if (!step.state) return run(nullptr);
    Step::State& state = *step.state;
    if (state.is_set.load(std::memory_order_acquire)) return run(&state.object);
    WaitingLock lock(state.mutex);
    Status status = run(&state.object);
    if (state.object) state.is_set.store(true, std::memory_order_release);
    return status;
  }

  static Status check_shape(const Step& step, const Step::Output& output, const Shape& shape) {
    if (is_subshape(shape, output.shape)) return {};
    const Op& op = step.node->op();
    return failed_at(*step.node,
                     with_op_name(op, invalid_argument("the result was declared to have shape ",
                                                       output.shape.to_message(), ", but has ",
                                                       shape.to_message())));
  }

  void put(const Step::Output& output, Tensor tensor) {
    if (output.slot >= 0) made_[output.slot - first_made_] = std::move(tensor);
  }

  void collect(Tensors& outputs) {
    outputs.clear();
    outputs.reserve(program_.outputs_.size());
    for (int slot : program_.outputs_) {
      const Tensor& tensor = value(slot);
      // What was given, or is returned twice, becomes an object of its own.
      bool is_taken = slot < first_made_ || !tensor.object()->is_unique();
      outputs.push_back(is_taken ? tensor.with_shape(tensor.shape()) : tensor);
    }
  }

  const Program& program_;
  std::span<const Tensor> inputs_;
  const int first_constant_, first_made_;
  InlineVector<Tensor, 48> made_;
};

bool Program::accepts(std::span<const Tensor> inputs) const {
  return std::ranges::all_of(checked_inputs_, [&](const auto& checked) {
    return is_subshape(inputs[checked.first].shape(), checked.second);
  });
}

Status Program::run(std::span<const Tensor> inputs, Tensors& outputs) const {
  FlushDenormals flush;
  LetOthersRun others(cost_ > kLongNanoseconds || may_block_);
  return ProgramRun(*this, inputs).run(outputs);
}

int64_t Program::bytes() const {
  int64_t total = sizeof(Program) + graph_->bytes();
  for (const Step& step : steps_) {
    total += static_cast<int64_t>(sizeof(Step) + step.outputs.size() * sizeof(Step::Output) +
                                  4 * (step.inputs.size() + step.waits_for.size()));
    if (!step.op) {
      total += static_cast<int64_t>(step.members.size() * 64);
      if (step.block) total += static_cast<int64_t>(step.block->expression().nodes().size() * 64);
    }
  }
  return total;
}

std::string Program::to_text() const {
  std::string out;
  for (size_t s = 0; s < steps_.size(); ++s) {
    const Step& step = steps_[s];
    out += str_cat("step ", s, ":");
    if (step.op) out += str_cat(" ", step.op->name());
    for (size_t m = 0; !step.op && m < step.members.size(); ++m) {
      out += str_cat(m > 0 ? " " : step.rows ? " rows [" : " [", step.members[m].node->op().name());
    }
    if (!step.op) out += "]";
    for (int slot : step.inputs) out += str_cat(" %", slot);
    out += " ->";
    for (const Step::Output& output : step.outputs) {
      out += output.slot < 0 ? std::string(" _") : str_cat(" %", output.slot);
    }
    if (!step.waits_for.empty()) {
      out += ", waits for";
      for (int other : step.waits_for) out += str_cat(" ", other);
    }
    out += "\n";
  }
  out += "return";
  for (int slot : outputs_) out += str_cat(" %", slot);
  return out + "\n";
}

}  // namespace graven::engine
