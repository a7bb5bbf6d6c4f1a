#include "graven/runtime/compiled_body.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>

#include "graven/expr/scalar.h"
#include "graven/ir/broadcast_rules.h"
#include "graven/ir/infer_context.h"

namespace graven::engine {
namespace {

constexpr int kMaxOps = 8192;
constexpr int kMaxEntriesOfOp = 48;

constinit std::atomic<const CompiledBody*> g_bodies[kMaxOps] = {};
std::mutex& insertion_mutex() {
  static std::mutex* mutex = new std::mutex();
  return *mutex;
}

// The bits that an expression without real inputs gives: an identity.
Status evaluate_constant(const Expression& expression, DType dtype, uint64_t bits[2]) {
  ASSIGN_OR_RETURN(auto program, BlockProgram::compile(expression));
  alignas(64) std::byte element[64] = {}, result[64] = {};
  ASSIGN_OR_RETURN(Ref<Buffer> scratch,
                   Buffer::allocate(DType::kUInt8, static_cast<int64_t>(program->scratch_bytes())));
  const void* input = element;
  void* output = result;
  bool is_scalar = true;
  program->run(1, &input, &is_scalar, &output, scratch->data());
  size_t part = dtype_size(real_part_type(dtype));
  std::memcpy(&bits[0], result, part);
  if (is_complex(dtype)) std::memcpy(&bits[1], result + part, part);
  return {};
}

Result<ReductionParts> record_reduction(const ReductionBody& body, DType input, DType output) {
  ReductionParts parts;
  DType accumulator = body.accumulator ? body.accumulator(input) : computing_type(input);
  if (is_complex(input) && !body.accumulator) accumulator = input;
  parts.accumulator = accumulator;
  {
    Recorder recorder;
    Scalar x = cast(recorder.input(input), accumulator);
    recorder.output(body.prepare ? body.prepare(x) : x);
    ASSIGN_OR_RETURN(parts.prepare, recorder.finish());
  }
  {
    Recorder recorder;
    Scalar a = recorder.input(accumulator), value = recorder.input(accumulator);
    recorder.output(body.combine(a, value));
    ASSIGN_OR_RETURN(parts.combine, recorder.finish());
  }
  {
    Recorder recorder;
    Scalar a = recorder.input(accumulator), count = recorder.input(DType::kFloat64);
    recorder.output(cast(body.finish ? body.finish(a, count) : a, output));
    ASSIGN_OR_RETURN(parts.finish, recorder.finish());
  }
  Recorder recorder;
  recorder.output(body.identity(recorder.input(accumulator)));
  ASSIGN_OR_RETURN(Expression identity, recorder.finish());
  RETURN_IF_ERROR(evaluate_constant(identity, accumulator, parts.identity));
  return parts;
}

}  // namespace

const CompiledBody* BodyCache::find(const Op& op, AttrsRef attrs, std::span<const Tensor> inputs) {
  if (op.index() >= kMaxOps) return nullptr;
  const CompiledBody* body = g_bodies[op.index()].load(std::memory_order_acquire);
  for (; body; body = body->next_) {
    if (body->dtypes_.size() != inputs.size()) continue;
    bool same = true;
    for (size_t i = 0; i < inputs.size(); ++i) same &= body->dtypes_[i] == inputs[i].dtype();
    if (same && attrs == body->attrs_) return body;
  }
  return nullptr;
}

Result<Ref<const CompiledBody>> BodyCache::get(const Op& op, AttrsRef attrs,
                                               std::span<const DType> inputs, DType output) {
  if (op.index() >= kMaxOps) return internal_error("more than ", kMaxOps, " ops");
  auto find_among = [&](int* count) -> const CompiledBody* {
    const CompiledBody* body = g_bodies[op.index()].load(std::memory_order_acquire);
    for (; body; body = body->next_, ++*count) {
      if (std::ranges::equal(body->dtypes_, inputs) && attrs == body->attrs_) return body;
    }
    return nullptr;
  };
  int count = 0;
  if (const CompiledBody* known = find_among(&count)) return Ref<const CompiledBody>(known);

  auto made = make_ref<CompiledBody>(inputs, attrs);
  const OpRecord& record = op.record();
  if (record.body.kind() == OpBody::Kind::kElementwise) {
    ASSIGN_OR_RETURN(Expression expression, record_expression(record.body, inputs, attrs));
    DType recorded = expression.outputs()[0].dtype;
    if (recorded != output) {
      return internal_error("[", op.name(), "] the body gives ", dtype_name(recorded),
                            ", the record says ", dtype_name(output));
    }
    ASSIGN_OR_RETURN(made->block_, BlockProgram::compile(expression));
  } else {
    ASSIGN_OR_RETURN(ReductionParts parts,
                     record_reduction(record.body.reduction(), inputs[0], output));
    made->parts_ = std::make_unique<ReductionParts>(std::move(parts));
    ASSIGN_OR_RETURN(made->reduction_, ReductionProgram::compile(*made->parts_));
  }
  made->output_ = output;
  made->broadcasts_ =
      is_broadcast_rule(record.infer) || (record.infer == same_as_input && inputs.size() == 1);

  std::lock_guard lock(insertion_mutex());
  count = 0;
  if (const CompiledBody* known = find_among(&count)) return Ref<const CompiledBody>(known);
  if (count < kMaxEntriesOfOp) {
    made->next_ = g_bodies[op.index()].load(std::memory_order_relaxed);
    made->add_ref();  // of the list, for ever
    g_bodies[op.index()].store(made.get(), std::memory_order_release);
  }
  return Ref<const CompiledBody>(made);
}

}  // namespace graven::engine
