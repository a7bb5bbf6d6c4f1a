#include "graven/kernels/block_program.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <optional>
#include <vector>

#include "graven/base/heap_bytes.h"
#include "graven/base/inline_vector.h"
#include "graven/base/strings.h"
#include "graven/expr/expression_bytes.h"
#include "graven/ir/fusion.h"
#include "graven/kernels/block_functions.h"
#include "graven/kernels/constant_blocks.h"
#include "graven/kernels/one_element.h"
#include "graven/kernels/trap_notes.h"

namespace graven::engine {
namespace {

constexpr uint16_t kNone = 0xffff;
constexpr uint16_t kMostOnes = 64;
static_assert(kBlockElements == FusionLimits::kBlockElements);

// Operands are entries of a table of pointers that each run fills in: values of inputs, outputs,
// constants, results of traps (a byte each), registers, in this order.
struct BlockStep {
  BlockFunction function;
  uint16_t out, a, b, c;
  BlockFunction by_one = nullptr;  // instead, if b is an input of one element
  ByRowFunction by_row = nullptr;  // or of one for each row
};

// One part (real or imaginary) of an input that some step reads.
struct InputValue {
  uint16_t input;
  uint16_t slot;           // its entry in the table
  BlockFunction load;      // null: read in place
  BlockFunction splat;     // for an input that is one element, null if its readers take one
  SpreadFunction spread;   // for one element for each row, null if its readers take these
  size_t stored_size;      // bytes of a stored element
  size_t register_offset;  // where loaded and splat elements go
};

struct OutputStore {
  uint16_t output;
  size_t stored_size;
  BlockFunction store;  // null: a step wrote it in place
  uint16_t real, imaginary;
};

size_t align(size_t bytes) { return (bytes + 63) & ~size_t{63}; }

}  // namespace

struct BlockProgram::Rep {
  Expression expression;
  std::vector<InputValue> inputs;
  std::vector<BlockStep> steps;
  std::vector<OutputStore> outputs;
  // The table of pointers: outputs, then constants, then traps, then registers by offset.
  uint16_t first_output = 0, first_constant = 0, first_trap = 0, first_register = 0, num_slots = 0;
  size_t traps_offset = 0;
  std::vector<size_t> register_offsets;
  size_t row_values_offset = 0;  // where an input's elements for the rows of a block are loaded
  std::vector<ConstantBlock> constants;
  std::optional<OneElement> of_one;
  int64_t row_block = kBlockElements;  // elements of a block of a row
  size_t scratch_bytes = 0;
  double cost = 0;
};

namespace {

// Gives registers to nodes in order of steps. Registers of one element size are kept together,
// so that a register is always reused at the same size and the loops may write in place.
class Registers {
 public:
  uint16_t take(size_t element_size) {
    auto& free = free_[size_class(element_size)];
    if (!free.empty()) {
      uint16_t number = free.back();
      free.pop_back();
      return number;
    }
    sizes_.push_back(element_size);
    return static_cast<uint16_t>(sizes_.size() - 1);
  }
  void give_back(uint16_t number) { free_[size_class(sizes_[number])].push_back(number); }
  const std::vector<size_t>& sizes() const { return sizes_; }

 private:
  static int size_class(size_t size) { return size == 1 ? 0 : size == 2 ? 1 : size == 4 ? 2 : 3; }
  std::vector<size_t> sizes_;
  std::vector<uint16_t> free_[4];
};

// Which nodes are computed by the step of the only node that reads them; see PairForm.
class Pairs {
 public:
  // uses: how often each node is read, by nodes, outputs and traps.
  Pairs(std::span<const ExprNode> nodes, std::span<const int> uses)
      : first_of_(nodes.size(), kNone), is_first_(nodes.size(), false) {
    for (size_t i = nodes.size(); i-- > 0;) {
      const ExprNode& node = nodes[i];
      if (uses[i] == 0 || is_first_[i] || !is_paired(node.instruction)) continue;
      for (uint16_t operand : {node.a, node.b}) {
        const ExprNode& first = nodes[operand];
        const int reads = node.a == node.b ? 2 : 1;
        if (is_paired(first.instruction) && first.type == node.type && uses[operand] == reads &&
            pair_function(first.instruction, node.instruction, form(node, operand), node.type)) {
          first_of_[i] = operand;
          is_first_[operand] = true;
          break;
        }
      }
    }
  }
  bool is_first(size_t node) const { return is_first_[node]; }
  // The operands of the step of a node: the node's own, or those of its pair.
  InlineVector<uint16_t, 3> operands(std::span<const ExprNode> nodes, size_t i) const {
    const ExprNode& node = nodes[i];
    const uint16_t first = first_of_[i];
    if (first != kNone) {
      const uint16_t other = node.a == first ? node.b : node.a;
      return {nodes[first].a, nodes[first].b, other == first ? nodes[first].b : other};
    }
    InlineVector<uint16_t, 3> operands;
    for (uint16_t operand : {node.a, node.b, node.c}) {
      if (static_cast<int>(operands.size()) < num_operands(node.instruction)) {
        operands.push_back(operand);
      }
    }
    return operands;
  }
  // The loop of a node's pair, or null if it is alone.
  BlockFunction function(std::span<const ExprNode> nodes, size_t i) const {
    const uint16_t first = first_of_[i];
    if (first == kNone) return nullptr;
    return pair_function(nodes[first].instruction, nodes[i].instruction, form(nodes[i], first),
                         nodes[i].type);
  }

 private:
  static bool is_paired(Instruction instruction) {
    return instruction == Instruction::kAdd || instruction == Instruction::kSub ||
           instruction == Instruction::kMul;
  }
  static PairForm form(const ExprNode& node, uint16_t first) {
    return node.a == node.b  ? PairForm::kBoth
           : node.a == first ? PairForm::kLeft
                             : PairForm::kRight;
  }

  std::vector<uint16_t> first_of_;  // by the second node
  std::vector<bool> is_first_;
};

// The loop of a node that has a step.
Result<BlockFunction> function_of(std::span<const ExprNode> nodes, size_t i, const Pairs& pairs) {
  const ExprNode& node = nodes[i];
  if (BlockFunction function = pairs.function(nodes, i)) return function;
  if (num_operands(node.instruction) == 2 && nodes[node.b].instruction == Instruction::kConstant) {
    if (BlockFunction by_one = by_one_function(node.instruction, node.type)) return by_one;
  }
  // The type of a selection's operands is that of its branches.
  const DType operand_type = nodes[node.instruction == Instruction::kSelect ? node.b : node.a].type;
  if (BlockFunction function = block_function(node.instruction, operand_type, node.type)) {
    return function;
  }
  return unimplemented("no block instruction ", instruction_name(node.instruction), " of ",
                       dtype_name(operand_type), " to ", dtype_name(node.type));
}

// The loop of an expression that is one instruction of two halves, null for others. It reads and
// writes them as they are stored.
BlockFunction function_of_halves(const Expression& expression,
                                 std::span<const Expression::Output> outputs,
                                 std::span<const int> uses) {
  if (outputs.size() != 1 || outputs[0].dtype != DType::kHalf || !expression.traps().empty()) {
    return nullptr;
  }
  const uint16_t result = outputs[0].real;
  const auto nodes = expression.nodes();
  const ExprNode& node = nodes[result];
  if (num_operands(node.instruction) != 2 || node.type != DType::kFloat32 || uses[result] != 1) {
    return nullptr;
  }
  for (uint16_t operand : {node.a, node.b}) {
    const ExprNode& leaf = nodes[operand];
    const bool is_half =
        leaf.instruction == Instruction::kInput && expression.inputs()[leaf.a] == DType::kHalf;
    if (!is_half) return nullptr;
  }
  return half_function(node.instruction);
}

}  // namespace

BlockProgram::BlockProgram(std::unique_ptr<Rep> rep) : rep_(std::move(rep)) {}
BlockProgram::~BlockProgram() = default;
const Expression& BlockProgram::expression() const { return rep_->expression; }
const OneElement* BlockProgram::of_one() const { return rep_->of_one ? &*rep_->of_one : nullptr; }
size_t BlockProgram::scratch_bytes() const { return rep_->scratch_bytes; }
double BlockProgram::cost() const { return rep_->cost; }

int64_t BlockProgram::bytes() const {
  const Rep& rep = *rep_;
  return bytes_of_object<BlockProgram>() + bytes_of_block(kBytesOfCounts) + bytes_of_object<Rep>() +
         heap_bytes_of(rep.expression) + heap_bytes(rep.inputs) + heap_bytes(rep.steps) +
         heap_bytes(rep.outputs) + heap_bytes(rep.register_offsets) + heap_bytes(rep.constants) +
         (rep.of_one ? rep.of_one->bytes() : 0);
}

Result<std::shared_ptr<const BlockProgram>> BlockProgram::compile(const Expression& expression) {
  auto rep = std::make_unique<Rep>();
  rep->expression = expression;
  rep->of_one = OneElement::compile(expression);
  rep->cost = expression.cost();
  auto nodes = expression.nodes();
  std::vector<Expression::Output> outputs(expression.outputs().begin(), expression.outputs().end());

  // How often each node is read; a node that is never read need not be computed.
  const size_t end = nodes.size();
  std::vector<int> uses(end, 0);
  auto for_parts = [&](const Expression::Output& output, auto&& f) {
    f(output.real);
    if (is_complex(output.dtype)) f(output.imaginary);
  };
  for (const auto& output : outputs) {
    for_parts(output, [&](uint16_t node) { ++uses[node]; });
  }
  for (const Trap& trap : expression.traps()) ++uses[trap.condition];
  for (size_t i = end; i-- > 0;) {
    if (uses[i] == 0) continue;
    const uint16_t operands[] = {nodes[i].a, nodes[i].b, nodes[i].c};
    for (int k = 0; k < num_operands(nodes[i].instruction); ++k) ++uses[operands[k]];
  }
  // Storing a half rounds by itself: a rounding that nothing else reads is no step.
  for (auto& output : outputs) {
    const Instruction rounding = rounding_instruction(output.dtype);
    const ExprNode& node = nodes[output.real];
    if (rounding != Instruction::kInput && node.instruction == rounding && uses[output.real] == 1) {
      uses[output.real] = 0;
      output.real = node.a;
    }
  }
  const BlockFunction of_halves = function_of_halves(expression, outputs, uses);
  const Pairs pairs(nodes, uses);
  auto has_step = [&](size_t node) {
    return uses[node] > 0 && num_operands(nodes[node].instruction) > 0 && !pairs.is_first(node);
  };

  // Until when each is needed. Steps are numbered like nodes; copies of leaves into outputs, and
  // then stores, come after all of them.
  std::vector<size_t> last_use(end, 0);
  for (const auto& output : outputs) {
    for_parts(output, [&](uint16_t node) { last_use[node] = end; });
  }
  size_t last_input_read = 0;  // the last step that reads an input in place
  for (size_t i = 0; i < end; ++i) {
    if (!has_step(i)) continue;
    for (uint16_t operand : pairs.operands(nodes, i)) {
      last_use[operand] = std::max(last_use[operand], i);
      if (nodes[operand].instruction == Instruction::kInput) last_input_read = i;
    }
  }
  auto is_leaf = [&](uint16_t node) { return num_operands(nodes[node].instruction) == 0; };
  for (const auto& output : outputs) {
    for_parts(output, [&](uint16_t node) {
      if (nodes[node].instruction == Instruction::kInput) last_input_read = end;
    });
  }

  // The loops of steps whose second operand is an input, for one element, or one for each row. All
  // readers of such an input must have one, and be fewer than the bits of BlockRun's.
  auto reads_two = [&](size_t i) {
    return num_operands(nodes[i].instruction) == 2 && pairs.operands(nodes, i).size() == 2;
  };
  auto by_one = [&](size_t i) {
    return reads_two(i) ? by_one_function(nodes[i].instruction, nodes[i].type) : nullptr;
  };
  auto by_row = [&](size_t i) {
    return reads_two(i) ? by_row_function(nodes[i].instruction, nodes[i].type) : nullptr;
  };
  std::vector<bool> takes_one(end, of_halves == nullptr), takes_row(end, of_halves == nullptr);
  auto takes_neither = [&](uint16_t node) { takes_one[node] = takes_row[node] = false; };
  for (const auto& output : outputs) for_parts(output, takes_neither);
  for (const Trap& trap : expression.traps()) takes_neither(trap.condition);
  for (size_t i = 0; i < end; ++i) {
    if (!has_step(i)) continue;
    const InlineVector<uint16_t, 3> operands = pairs.operands(nodes, i);
    for (size_t k = 0; k < operands.size(); ++k) {
      const bool is_second = k == 1 && operands[0] != operands[1];
      if (!is_second || !by_one(i)) takes_one[operands[k]] = false;
      if (!is_second || !by_row(i)) takes_row[operands[k]] = false;
    }
  }

  // The table: inputs, outputs, constants, registers.
  std::vector<uint16_t> slots(nodes.size(), kNone);
  uint16_t next_slot = 0;
  size_t elements_of_inputs = 0;  // bytes of an element of each
  for (size_t i = 0; i < end; ++i) {
    const ExprNode& node = nodes[i];
    if (uses[i] == 0 || node.instruction != Instruction::kInput) continue;
    DType stored = expression.inputs()[node.a];
    size_t size = dtype_size(node.type);
    slots[i] = next_slot++;
    takes_one[i] = takes_one[i] && slots[i] < kMostOnes;
    takes_row[i] = takes_row[i] && slots[i] < kMostOnes;
    const BlockFunction load = of_halves ? nullptr : load_function(stored, node.b);
    const size_t read_size = of_halves ? dtype_size(stored) : size;
    rep->inputs.push_back({node.a, slots[i], load,
                           takes_one[i] ? nullptr : splat_function(read_size),
                           takes_row[i] ? nullptr : spread_function(read_size), dtype_size(stored),
                           elements_of_inputs});
    elements_of_inputs += size;
  }
  rep->first_output = next_slot;
  next_slot = static_cast<uint16_t>(next_slot + outputs.size());
  rep->first_constant = next_slot;
  for (size_t i = 0; i < end; ++i) {
    const ExprNode& node = nodes[i];
    if (uses[i] == 0 || node.instruction != Instruction::kConstant) continue;
    size_t size = dtype_size(node.type);
    rep->constants.push_back(constant_block(size, expression.constant(node)));
    slots[i] = next_slot++;
  }
  rep->first_trap = next_slot;
  next_slot = static_cast<uint16_t>(next_slot + expression.traps().size());
  rep->first_register = next_slot;

  // An output that is stored as it is computed is written in place by the step that computes it,
  // unless a later step still reads an input, whose memory it may be.
  std::vector<uint16_t> direct_output(nodes.size(), kNone);
  std::vector<bool> is_written(outputs.size(), false);
  for (size_t o = 0; o < outputs.size(); ++o) {
    uint16_t node = outputs[o].real;
    const bool is_stored_as_computed = of_halves || !store_function(outputs[o].dtype);
    if (!is_stored_as_computed || is_leaf(node) || node < last_input_read ||
        direct_output[node] != kNone) {
      continue;
    }
    direct_output[node] = static_cast<uint16_t>(o);
    is_written[o] = true;
  }

  Registers registers;
  std::vector<uint16_t> register_of(nodes.size(), kNone);
  auto register_slot = [&](uint16_t number) {
    return static_cast<uint16_t>(rep->first_register + number);
  };
  // A trap is looked at once its condition is there: a leaf's at first, before an output may take
  // the memory of an input.
  auto look_at_traps = [&](size_t condition) {
    for (size_t t = 0; t < expression.traps().size(); ++t) {
      if (expression.traps()[t].condition != condition) continue;
      const auto found = static_cast<uint16_t>(rep->first_trap + t);
      rep->steps.push_back({any_function(), found, slots[condition], 0, 0});
    }
  };
  for (size_t i = 0; i < end; ++i) {
    if (is_leaf(static_cast<uint16_t>(i))) look_at_traps(i);
  }
  for (size_t i = 0; i < end; ++i) {
    const ExprNode& node = nodes[i];
    if (!has_step(i)) continue;
    const InlineVector<uint16_t, 3> operands = pairs.operands(nodes, i);
    ASSIGN_OR_RETURN(BlockFunction function, function_of(nodes, i, pairs));
    BlockStep step{of_halves ? of_halves : function, 0, 0, 0, 0};
    uint16_t* fields[] = {&step.a, &step.b, &step.c};
    for (size_t k = 0; k < operands.size(); ++k) *fields[k] = slots[operands[k]];
    if (operands.size() == 2 && nodes[operands[1]].instruction == Instruction::kInput) {
      if (takes_one[operands[1]]) step.by_one = by_one(i);
      if (takes_row[operands[1]]) step.by_row = by_row(i);
    }
    // Operands that end here give their registers to the result.
    for (uint16_t operand : operands) {
      uint16_t& number = register_of[operand];
      if (number != kNone && last_use[operand] == i) {
        registers.give_back(number);
        number = kNone;
      }
    }
    if (direct_output[i] != kNone) {
      slots[i] = static_cast<uint16_t>(rep->first_output + direct_output[i]);
    } else {
      register_of[i] = registers.take(dtype_size(node.type));
      slots[i] = register_slot(register_of[i]);
    }
    step.out = slots[i];
    rep->steps.push_back(step);
    look_at_traps(i);
    const bool is_for_traps_alone = last_use[i] == 0;
    if (is_for_traps_alone && register_of[i] != kNone) registers.give_back(register_of[i]);
  }

  // The remaining outputs: conversions to stored elements, and copies. Inputs that are outputs too
  // are copied into registers first, as their memory may be that of another output.
  for (size_t o = 0; o < outputs.size(); ++o) {
    const auto& output = outputs[o];
    OutputStore store{static_cast<uint16_t>(o), dtype_size(output.dtype), nullptr, 0, 0};
    if (!is_written[o]) {
      uint16_t parts[2] = {output.real, output.imaginary};
      for (int k = 0; k < (is_complex(output.dtype) ? 2 : 1); ++k) {
        uint16_t node = parts[k];
        parts[k] = slots[node];
        if (nodes[node].instruction == Instruction::kInput && outputs.size() > 1) {
          size_t size = dtype_size(nodes[node].type);
          uint16_t kept = register_slot(registers.take(size));
          rep->steps.push_back({copy_function(size), kept, slots[node], 0, 0});
          parts[k] = kept;
        }
      }
      store.store = store_function(output.dtype);
      if (!store.store) store.store = copy_function(dtype_size(output.dtype));
      store.real = parts[0];
      store.imaginary = is_complex(output.dtype) ? parts[1] : parts[0];
    }
    rep->outputs.push_back(store);
  }

  size_t table_bytes = align((rep->first_register + registers.sizes().size()) * sizeof(void*));
  rep->traps_offset = table_bytes;
  size_t elements_of_all = elements_of_inputs;
  for (size_t size : registers.sizes()) elements_of_all += size;
  if (elements_of_all * kRowBlockElements <= FusionLimits::kMaxLiveBytes) {
    rep->row_block = kRowBlockElements;
  }
  const auto block = static_cast<size_t>(rep->row_block);
  size_t offset = table_bytes + align(expression.traps().size());
  for (auto& input : rep->inputs) input.register_offset = offset + input.register_offset * block;
  offset += elements_of_inputs * block;
  for (size_t size : registers.sizes()) {
    rep->register_offsets.push_back(offset);
    offset += size * block;
  }
  rep->num_slots = static_cast<uint16_t>(rep->first_register + registers.sizes().size());
  rep->row_values_offset = offset;
  if (std::ranges::any_of(rep->inputs, &InputValue::load)) offset += sizeof(double) * block;
  rep->scratch_bytes = offset;
  return std::shared_ptr<const BlockProgram>(new BlockProgram(std::move(rep)));
}

namespace {

constexpr int64_t kCacheLine = 64;
// With fewer steps there is little to compute while memory works, and the hardware fetches ahead
// well enough by itself.
constexpr size_t kFewestStepsToFetch = 4;

// Fetches the inputs and outputs of the next block line by line between the steps of one block, so
// that memory is busy while they compute.
class Fetches {
 public:
  void add(const void* begin, int64_t bytes, bool is_output) {
    streams_.push_back({static_cast<const char*>(begin), bytes, is_output});
    num_lines_ += (bytes + kCacheLine - 1) / kCacheLine;
  }
  void clear() {
    streams_.clear();
    num_lines_ = done_ = 0;
    stream_ = 0;
    at_ = 0;
  }
  // As many as are due after `part` of `parts` steps.
  void fetch(size_t part, size_t parts) {
    const int64_t due = num_lines_ * static_cast<int64_t>(part) / static_cast<int64_t>(parts);
    while (done_ < due) {
      const Stream& stream = streams_[stream_];
      const char* line = stream.begin + at_;
      stream.is_output ? __builtin_prefetch(line, 1) : __builtin_prefetch(line);
      at_ += kCacheLine;
      ++done_;
      if (at_ >= stream.bytes) {
        ++stream_;
        at_ = 0;
      }
    }
  }

 private:
  struct Stream {
    const char* begin;
    int64_t bytes;
    bool is_output;
  };
  InlineVector<Stream, 8> streams_;
  int64_t num_lines_ = 0, done_ = 0, at_ = 0;
  size_t stream_ = 0;
};

}  // namespace

// A run of a program in the scratch memory of a thread.
class BlockRun {
 public:
  BlockRun(const BlockProgram::Rep& rep, void* scratch)
      : rep_(rep),
        memory_(static_cast<std::byte*>(scratch)),
        table_(static_cast<void**>(scratch)),
        trapped_(reinterpret_cast<uint8_t*>(memory_ + rep.traps_offset)) {
    for (size_t i = 0; i < rep.constants.size(); ++i) {
      table_[rep.first_constant + i] = const_cast<void*>(rep.constants[i].get());
    }
    for (size_t i = 0; i < rep.register_offsets.size(); ++i) {
      table_[rep.first_register + i] = memory_ + rep.register_offsets[i];
    }
    for (size_t t = 0; t < rep.expression.traps().size(); ++t) {
      trapped_[t] = 0;
      table_[rep.first_trap + t] = trapped_ + t;
    }
  }

  // Of an input that is one element: its value, for blocks of up to n elements.
  void read_one(const InputValue& value, const void* element, int64_t n) {
    void* block = memory_ + value.register_offset;
    if (value.load) {
      value.load(block, element, nullptr, nullptr, 1);
      element = block;
    }
    if (value.splat) {
      value.splat(block, element, nullptr, nullptr, n);
      element = block;
    } else {
      ones_ |= uint64_t{1} << value.slot;
    }
    table_[value.slot] = const_cast<void*>(element);
  }
  // Of an input that has one element for each row: those of some short rows.
  void read_per_row(const InputValue& value, const void* from, int64_t rows, int64_t columns) {
    if (value.load) {
      void* loaded = memory_ + rep_.row_values_offset;
      value.load(loaded, from, nullptr, nullptr, rows);
      from = loaded;
    }
    if (value.spread) {
      void* block = memory_ + value.register_offset;
      value.spread(block, from, rows, columns);
      from = block;
    } else {
      per_row_ |= uint64_t{1} << value.slot;
    }
    table_[value.slot] = const_cast<void*>(from);
  }
  void read(const InputValue& value, const void* from, int64_t count) {
    if (value.load) {
      void* block = memory_ + value.register_offset;
      value.load(block, from, nullptr, nullptr, count);
      table_[value.slot] = block;
    } else {
      table_[value.slot] = const_cast<void*>(from);
    }
  }
  void write(const OutputStore& store, void* to) { table_[rep_.first_output + store.output] = to; }
  // One block, from where it was told to read to where it was told to write. Before each step
  // between(number of steps that are done, with this one) is called.
  template <typename F>
  void run_block(int64_t count, const F& between) {
    size_t num_done = 0;
    for (const BlockStep& step : rep_.steps) {
      between(++num_done);
      run_step(step, count);
    }
    store(count);
  }
  void run_block_of_rows(int64_t rows, int64_t columns) {
    for (const BlockStep& step : rep_.steps) {
      if (step.by_row && (per_row_ >> step.b & 1)) {
        step.by_row(table_[step.out], table_[step.a], table_[step.b], rows, columns);
      } else {
        run_step(step, rows * columns);
      }
    }
    store(rows * columns);
  }
  void note_traps(TrapNotes* traps) const {
    const std::span<const Trap> all = rep_.expression.traps();
    assert(all.empty() || traps);
    for (size_t t = 0; t < all.size(); ++t) {
      if (trapped_[t]) traps->note(all[t]);
    }
  }

 private:
  void run_step(const BlockStep& step, int64_t count) {
    const bool is_by_one = step.by_one && (ones_ >> step.b & 1);
    const BlockFunction function = is_by_one ? step.by_one : step.function;
    function(table_[step.out], table_[step.a], table_[step.b], table_[step.c], count);
  }
  void store(int64_t count) {
    for (const OutputStore& store : rep_.outputs) {
      if (!store.store) continue;
      store.store(table_[rep_.first_output + store.output], table_[store.real],
                  table_[store.imaginary], nullptr, count);
    }
  }

  const BlockProgram::Rep& rep_;
  std::byte* const memory_;
  void** const table_;
  uint8_t* const trapped_;
  // Inputs of one element, or one for each row, which their readers take so.
  uint64_t ones_ = 0, per_row_ = 0;
};

void BlockProgram::run(int64_t n, const void* const* inputs, const bool* is_scalar,
                       void* const* outputs, void* scratch, TrapNotes* traps, bool is_far) const {
  const Rep& rep = *rep_;
  BlockRun run(rep, scratch);
  const int64_t block = n <= rep.row_block ? rep.row_block : kBlockElements;
  for (const InputValue& value : rep.inputs) {
    if (is_scalar[value.input]) run.read_one(value, inputs[value.input], std::min(n, block));
  }
  Fetches fetches;
  is_far = is_far && rep.steps.size() >= kFewestStepsToFetch;
  for (int64_t done = 0; done < n; done += block) {
    int64_t count = std::min(n - done, block);
    for (const InputValue& value : rep.inputs) {
      if (is_scalar[value.input]) continue;
      const auto* from = static_cast<const std::byte*>(inputs[value.input]);
      run.read(value, from + done * value.stored_size, count);
    }
    for (const OutputStore& store : rep.outputs) {
      run.write(store, static_cast<std::byte*>(outputs[store.output]) + done * store.stored_size);
    }
    const int64_t next = std::min(n - done - count, block);
    if (is_far && next > 0) {
      fetches.clear();
      for (const InputValue& value : rep.inputs) {
        if (is_scalar[value.input]) continue;
        fetches.add(
            static_cast<const std::byte*>(inputs[value.input]) + (done + count) * value.stored_size,
            next * static_cast<int64_t>(value.stored_size), /*is_output=*/false);
      }
      for (const OutputStore& store : rep.outputs) {
        fetches.add(
            static_cast<std::byte*>(outputs[store.output]) + (done + count) * store.stored_size,
            next * static_cast<int64_t>(store.stored_size), /*is_output=*/true);
      }
    }
    run.run_block(count, [&](size_t num_done) {
      if (is_far) fetches.fetch(num_done, rep.steps.size());
    });
  }
  run.note_traps(traps);
}

void BlockProgram::run_rows(const BlockRows& rows, void* scratch, TrapNotes* traps,
                            FunctionRef<void(int64_t row)> before_row) const {
  const Rep& rep = *rep_;
  BlockRun run(rep, scratch);
  const int64_t first = std::min(rows.columns, rep.row_block);
  for (int64_t row = 0; row < rows.rows; ++row) {
    before_row(row);
    for (const InputValue& value : rep.inputs) {
      const BlockRows::Input& input = rows.inputs[value.input];
      if (input.is_scalar && (row == 0 || input.stride != 0)) {
        run.read_one(value, input.data + row * input.stride, first);
      }
    }
    for (int64_t done = 0; done < rows.columns; done += rep.row_block) {
      const int64_t count = std::min(rows.columns - done, rep.row_block);
      for (const InputValue& value : rep.inputs) {
        const BlockRows::Input& input = rows.inputs[value.input];
        if (input.is_scalar) continue;
        run.read(value, input.data + row * input.stride + done * value.stored_size, count);
      }
      for (const OutputStore& store : rep.outputs) {
        const BlockRows::Output& output = rows.outputs[store.output];
        run.write(store, output.data + row * output.stride + done * store.stored_size);
      }
      run.run_block(count, [](size_t) {});
    }
  }
  run.note_traps(traps);
}

void BlockProgram::run_short_rows(const ShortRows& all, void* scratch, TrapNotes* traps) const {
  using Read = ShortRows::Read;
  const Rep& rep = *rep_;
  BlockRun run(rep, scratch);
  assert(ShortRows::kMinColumns <= all.columns && all.columns <= ShortRows::kMaxColumns);
  const int64_t block = std::min(rep.row_block / all.columns, all.rows);
  for (const InputValue& value : rep.inputs) {
    if (all.reads[value.input] != Read::kOne) continue;
    run.read_one(value, all.inputs[value.input], block * all.columns);
  }
  for (int64_t done = 0; done < all.rows; done += block) {
    const int64_t rows = std::min(all.rows - done, block);
    for (const InputValue& value : rep.inputs) {
      const Read read = all.reads[value.input];
      const auto* from = static_cast<const std::byte*>(all.inputs[value.input]);
      const auto size = static_cast<int64_t>(value.stored_size);
      if (read == Read::kPerRow) {
        run.read_per_row(value, from + done * size, rows, all.columns);
      } else if (read == Read::kElements) {
        run.read(value, from + done * all.columns * size, rows * all.columns);
      }
    }
    for (const OutputStore& store : rep.outputs) {
      const auto row_bytes = static_cast<int64_t>(store.stored_size) * all.columns;
      run.write(store, static_cast<std::byte*>(all.outputs[store.output]) + done * row_bytes);
    }
    run.run_block_of_rows(rows, all.columns);
  }
  run.note_traps(traps);
}

}  // namespace graven::engine
