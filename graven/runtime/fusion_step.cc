#include "graven/runtime/fusion_step.h"

#include <algorithm>
#include <bit>

#include "graven/base/heap_bytes.h"
#include "graven/base/strings.h"
#include "graven/base/waiting_lock.h"
#include "graven/ir/cost.h"
#include "graven/runtime/broadcast.h"
#include "graven/runtime/placement.h"
#include "graven/runtime/run_body.h"
#include "graven/runtime/run_op.h"

namespace graven::engine {
namespace {

// The shape of an input as the member sees it: for each axis of the space the size that is read
// along it, without leading axes along which nothing is read.
Shape shape_as_read(const FusionParts::Input& input, const Shape& value, const Shape& space) {
  auto usual = Read::broadcasting(input.shape, space);
  if ((usual && *usual == input.read) || value.rank() != input.shape.rank()) return value;
  Shape shape;
  for (int i = 0; i < space.rank(); ++i) {
    Dim size = space[i].is_number() && input.read.varies_with(i) ? space[i] : Dim(1);
    for (int k = 0; k < value.rank(); ++k) {
      const Read::Axis& axis = input.read.axes[k];
      const bool is_whole = axis.terms.size() == 1 && axis.terms[0].index == i &&
                            (axis.broadcasts || input.shape[k] == space[i]);
      if (is_whole) size = value[k];
    }
    if (shape.rank() > 0 || input.read.varies_with(i)) shape.push_back(size);
  }
  return shape;
}

}  // namespace

Result<std::unique_ptr<FusionStep>> FusionStep::create(const Node& node, Ref<const Fusion> fusion) {
  ASSIGN_OR_RETURN(Ref<const Kernel> kernel, block_compiler().compile(*fusion, device_of(node)));
  std::unique_ptr<LibraryMember> library;
  if (fusion->has_library()) {
    ASSIGN_OR_RETURN(library, LibraryMember::create(node, *fusion));
  }
  return std::unique_ptr<FusionStep>(
      new FusionStep(node, std::move(fusion), std::move(kernel), std::move(library)));
}

FusionStep::FusionStep(const Node& node, Ref<const Fusion> fusion, Ref<const Kernel> kernel,
                       std::unique_ptr<LibraryMember> library)
    : Step(node),
      fusion_(std::move(fusion)),
      kernel_(std::move(kernel)),
      library_(std::move(library)) {
  for (size_t i = 0; i < fusion_->outputs().size() && fusion_->num_symbols() == 0; ++i) {
    static_shapes_.push_back(output_shape(static_cast<int>(i), {}));
  }
  for (const FusionParts::Input& input : fusion_->inputs()) {
    broadcasts_ |= !input.whole && std::ranges::any_of(input.read.axes, &Read::Axis::broadcasts);
  }
  if (!library_) find_derived();
  Shape guessed = fusion_->space();
  for (int i = 0; i < guessed.rank(); ++i) {
    if (!guessed[i].is_number()) guessed.set(i, Dim::unknown());
  }
  cost = nanoseconds_of_blocks(guessed_elements(guessed), kernel_->cost());
  if (library_) cost += library_->cost();
}

Status FusionStep::run(ProgramRun& run) const {
  InlineVector<const Tensor*, 8> values;
  InlineVector<const void*, 8> from;
  for (size_t i = 0; i < inputs.size(); ++i) {
    values.push_back(&run.input(*this, i));
    from.push_back(values.back()->raw_data());
  }
#ifndef NDEBUG
  for (const Tensor* value : values) {
    RETURN_IF_ERROR(check_places(node->op(), {value, 1}, queue->device()));
  }
#endif
  Shape result;
  if (library_) {
    if (Status status = library_->find_shape(values, result); !status.ok()) {
      return failed(0, status);
    }
  }
  Symbols symbols;
  RETURN_IF_ERROR(find_symbols(values, result, symbols));
  InlineVector<Tensor, 4> made(outputs.size());
  RETURN_IF_ERROR(make_outputs(run, symbols, made));
  InlineVector<void*, 4> to;
  for (const Tensor& output : made) to.push_back(output.mutable_raw_data());
  TrapNotes traps;
  const LetOthersRun others(is_long(values, symbols, result));
  RETURN_IF_ERROR(run_kernel(values, {from, to, symbols, *queue}, result, made, traps));
  if (traps.first()) return failed(traps.first()->member, trapped(*traps.first()));
  for (size_t i = 0; i < made.size(); ++i) RETURN_IF_ERROR(run.put(*this, i, std::move(made[i])));
  return {};
}

bool FusionStep::is_long(Values values, std::span<const int64_t> symbols,
                         const Shape& result) const {
  if (fusion_->num_symbols() == 0) return false;
  double elements = 1;
  for (Dim size : fusion_->space().dims()) {
    elements *= static_cast<double>(fusion_size(size, symbols));
  }
  double nanoseconds = nanoseconds_of_blocks(elements, kernel_->cost());
  if (library_) nanoseconds += library_->cost(values, result);
  return nanoseconds > kLongNanoseconds;
}

Status FusionStep::make_outputs(ProgramRun& run, std::span<const int64_t> symbols,
                                std::span<Tensor> made) const {
  const uint64_t own = run.last_handles(*this);
  for (size_t i = 0; i < made.size(); ++i) {
    const int output = static_cast<int>(i);
    made[i] = run.kept(*this, i);
    if (made[i]) continue;
    Shape found;
    if (static_shapes_.empty()) found = output_shape(output, symbols);
    const Shape& shape = static_shapes_.empty() ? found : static_shapes_[i];
    const uint64_t overwritable = kernel_->may_overwrite(output);
    for (uint64_t left = own & overwritable; left && !made[i]; left &= left - 1) {
      const int input = std::countr_zero(left);
      if (is_read_elsewhere(input, overwritable)) continue;
      Tensor& operand = *run.last_handle(*this, static_cast<size_t>(input));
      if (operand) made[i] = take_memory(operand, outputs[i].dtype, shape);
    }
    if (made[i]) continue;
    auto allocated = Tensor::allocate(outputs[i].dtype, shape, queue->device());
    if (!allocated.ok()) return failed(fusion_->members().size() - 1, allocated.status());
    made[i] = std::move(*allocated);
  }
  return {};
}

bool FusionStep::is_read_elsewhere(int input, uint64_t overwritable) const {
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i] != inputs[static_cast<size_t>(input)]) continue;
    if (i >= 64 || (overwritable >> i & 1) == 0) return true;
  }
  return false;
}

Status FusionStep::run_kernel(Values values, const Kernel::Arguments& arguments,
                              const Shape& result_shape, std::span<const Tensor> made,
                              TrapNotes& traps) const {
  if (!library_) {
    Status status = kernel_->run(arguments, traps);
    return status.ok() ? status : failed(fusion_->members().size() - 1, status);
  }
  Tensor result;
  if (int output = kernel_->output_of_result(); output >= 0) {
    result = made[static_cast<size_t>(output)];
  } else {
    auto allocated = Tensor::allocate(library_->dtype(), result_shape, queue->device());
    if (!allocated.ok()) return failed(0, allocated.status());
    result = std::move(*allocated);
  }
  auto compute = [&](const PanelDone* done) { return library_->run(*queue, values, result, done); };
  const Kernel::Library library = {result.mutable_raw_data(), library_->cost(values, result_shape),
                                   compute};
  Kernel::Arguments all = arguments;
  all.library = &library;
  Status status = kernel_->run(all, traps);
  SpareMemory::keep(result);
  return status.ok() ? status : failed(0, status);
}

Status FusionStep::find_symbols(Values values, const Shape& result, Symbols& symbols) const {
  for (int s = 0; s < fusion_->num_symbols(); ++s) symbols.push_back(-1);
  if (library_ && !note_space(result, symbols)) return misfit(values, result);
  for (size_t i = 0; i < values.size(); ++i) {
    const FusionParts::Input& input = fusion_->inputs()[i];
    const Shape& shape = values[i]->shape();
    if (shape == input.shape) continue;
    if (shape.rank() != input.shape.rank()) return misfit(values, result);
    for (int axis = 0; axis < shape.rank(); ++axis) {
      const Dim declared = input.shape[axis];
      int64_t* known = declared.is_term() ? &symbols[declared.term_index()] : nullptr;
      if (known && *known < 0) *known = shape.size(axis);
      if ((known ? *known : declared.number()) != shape.size(axis)) return misfit(values, result);
    }
  }
  if (broadcasts_ && !note_broadcasts(values, symbols)) return misfit(values, result);
  if (!note_derived(symbols)) return misfit(values, result);
  if (!broadcasts_) return {};
  // One input may have given a symbol a value before another input that broadcasts gave a larger
  // one.
  for (size_t i = 0; i < values.size(); ++i) {
    const Shape& declared = fusion_->inputs()[i].shape;
    for (int axis = 0; axis < declared.rank(); ++axis) {
      if (fusion_size(declared[axis], symbols) != values[i]->shape().size(axis)) {
        return misfit(values, result);
      }
    }
  }
  return {};
}

void FusionStep::find_derived() {
  const int count = fusion_->num_symbols();
  std::vector<Dim> dims(static_cast<size_t>(count));  // of the graph
  std::vector<bool> is_told(static_cast<size_t>(count), false);
  auto note = [&](const Shape& own, const Shape& of_graph, bool tells) {
    for (int i = 0; i < own.rank() && own.rank() == of_graph.rank(); ++i) {
      if (!own[i].is_term()) continue;
      const auto symbol = static_cast<size_t>(own[i].term_index());
      if (tells) is_told[symbol] = true;
      if (dims[symbol].is_unknown()) dims[symbol] = of_graph[i];
    }
  };
  const Shape& space = fusion_->space();
  for (size_t i = 0; i < fusion_->inputs().size(); ++i) {
    const FusionParts::Input& input = fusion_->inputs()[i];
    const OutputRef from = node->inputs()[i];
    note(input.shape, from.node->output(from.index).shape, true);
    for (const Read::Axis& axis : input.read.axes) {
      const Dim whole = axis.broadcasts ? space[axis.terms[0].index] : Dim();
      if (whole.is_term()) is_told[static_cast<size_t>(whole.term_index())] = true;
    }
  }
  for (size_t i = 0; i < fusion_->outputs().size(); ++i) {
    if (fusion_->is_reduced(fusion_->outputs()[i])) continue;
    note(space, node->output(static_cast<int>(i)).shape, false);
  }
  const SymbolTable& table = node->graph().symbols();
  for (int s = 0; s < count; ++s) {
    const Dim dim = dims[static_cast<size_t>(s)];
    if (!is_told[static_cast<size_t>(s)]) {
      if (dim.is_term()) derived_.push_back({s, dim});
    } else if (const int64_t symbol = table.as_symbol(dim); symbol >= 0) {
      known_.push_back({s, symbol});
    }
  }
  if (derived_.empty()) known_.clear();
}

bool FusionStep::note_derived(Symbols& symbols) const {
  if (derived_.empty()) return true;
  InlineVector<int64_t, 16> values;
  for (const Known& known : known_) {
    const auto at = static_cast<size_t>(known.of_graph);
    if (values.size() <= at) values.resize(at + 1, -1);
    values[at] = symbols[known.symbol];
  }
  const SymbolTable& table = node->graph().symbols();
  for (const Derived& derived : derived_) {
    symbols[derived.symbol] = table.evaluate(derived.size, values);
    if (symbols[derived.symbol] < 0) return false;
  }
  return true;
}

bool FusionStep::note_space(const Shape& result, Symbols& symbols) const {
  const Shape& space = fusion_->space();
  if (result.rank() != space.rank()) return false;
  for (int axis = 0; axis < space.rank(); ++axis) {
    if (space[axis].is_term() && symbols[space[axis].term_index()] < 0) {
      symbols[space[axis].term_index()] = result.size(axis);
    }
    if (fusion_size(space[axis], symbols) != result.size(axis)) return false;
  }
  return true;
}

// That of any that is not 1.
bool FusionStep::note_broadcasts(Values values, Symbols& symbols) const {
  for (size_t i = 0; i < values.size(); ++i) {
    const FusionParts::Input& input = fusion_->inputs()[i];
    for (int axis = 0; axis < input.shape.rank() && !input.whole; ++axis) {
      if (!input.read.axes[axis].broadcasts) continue;
      const Dim all = fusion_->space()[input.read.axes[axis].terms[0].index];
      const int64_t size = values[i]->shape().size(axis);
      if (all.is_number()) {
        if (size != 1 && size != all.number()) return false;
        continue;
      }
      int64_t& known = symbols[all.term_index()];
      if (known < 0 || (known == 1 && !library_)) known = size;
      if (size != 1 && size != known) return false;
    }
  }
  return true;
}

Status FusionStep::misfit(Values values, const Shape& result) const {
  std::vector<Shape> shapes;  // of members
  for (size_t m = 0; m < fusion_->members().size(); ++m) {
    if (fusion_->is_reduction(static_cast<int>(m))) break;
    Shape shape;
    if (m == 0 && library_) {
      shapes.push_back(result);
      continue;
    }
    for (FusionParts::Source source : fusion_->members()[m].sources) {
      const Shape other =
          source.member < 0
              ? shape_as_read(fusion_->inputs()[static_cast<size_t>(source.index)],
                              values[static_cast<size_t>(source.index)]->shape(), fusion_->space())
              : shapes[source.member];
      if (!broadcast_into(shape, other)) return failed(m, no_broadcast(shape, other));
    }
    shapes.push_back(std::move(shape));
  }
  std::string all;
  for (const Tensor* value : values) {
    all += str_cat(all.empty() ? "" : ", ", value->shape().to_message());
  }
  return failed(
      fusion_->members().size() - 1,
      invalid_argument("operands of shapes ", all, " are not those for which the op was planned"));
}

Shape FusionStep::output_shape(int output, std::span<const int64_t> symbols) const {
  const bool is_reduced = fusion_->is_reduced(fusion_->outputs()[output]);
  const std::vector<int>& reduced = fusion_->parts().reduced;
  const Shape& space = fusion_->space();
  // Reduced axes are kept with size 1, or are missing.
  const bool keeps = node->output(output).shape.rank() == space.rank();
  Shape shape;
  for (int i = 0; i < space.rank(); ++i) {
    if (!is_reduced || std::ranges::count(reduced, i) == 0) {
      shape.push_back(fusion_size(space[i], symbols));
    } else if (keeps) {
      shape.push_back(1);
    }
  }
  return shape;
}

Status FusionStep::failed(size_t member, const Status& status) const {
  const FusionParts& parts = fusion_->parts();
  Status named = with_op_name(*parts.members[member].op, status);
  if (parts.origins.empty()) return failed_at(*node, named);
  const FusionParts::Origin& origin = parts.origins[member];
  return failed_at(origin.node, origin.location, named);
}

std::string FusionStep::text() const {
  std::string names;
  for (const FusionParts::Member& member : fusion_->members()) {
    names += str_cat(names.empty() ? "" : " ", member.op->name());
  }
  return str_cat("[", names, "]");
}

int64_t FusionStep::bytes() const {
  ByteCount count;
  return bytes_of_object<FusionStep>() + heap_bytes(static_shapes_) + heap_bytes(derived_) +
         heap_bytes(known_) + kernel_->bytes() + (library_ ? library_->bytes() : 0) +
         (count.is_first(fusion_.get()) ? fusion_->bytes() : 0);
}

}  // namespace graven::engine
