#include "graven/ir/recorded_body.h"

#include <algorithm>

#include "graven/base/heap_bytes.h"
#include "graven/base/mutex.h"
#include "graven/expr/expression_bytes.h"
#include "graven/expr/scalar.h"
#include "graven/ir/broadcast_rules.h"
#include "graven/ir/infer_context.h"
#include "graven/ir/recorded_body_bytes.h"

namespace graven::engine {
namespace {

constexpr int kMaxOps = 8192;
constexpr int kMaxBodiesOfOp = 48;

constinit std::atomic<const RecordedBody*> g_bodies[kMaxOps] = {};
std::atomic<int64_t> g_bytes_of_bodies{0};
Mutex& insertion_mutex() {
  static Mutex* mutex = new Mutex();
  return *mutex;
}

// The bits of an expression that is a constant, or minus one: an identity.
Status bits_of_constant(const Expression& expression, DType dtype, uint64_t bits[2]) {
  const Expression::Output& output = expression.outputs()[0];
  auto read = [&](uint16_t at, uint64_t& word) -> Status {
    ExprNode node = expression.nodes()[at];
    const bool is_negative = node.instruction == Instruction::kNeg && is_floating(node.type);
    if (is_negative) node = expression.nodes()[node.a];
    if (node.instruction != Instruction::kConstant) {
      return internal_error("the identity of a reduction must be a constant, not ",
                            expression.to_text());
    }
    word = expression.constant(node);
    if (is_negative) word ^= uint64_t{1} << (8 * dtype_size(node.type) - 1);
    return {};
  };
  RETURN_IF_ERROR(read(output.real, bits[0]));
  return is_complex(dtype) ? read(output.imaginary, bits[1]) : Status();
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
  RETURN_IF_ERROR(bits_of_constant(identity, accumulator, parts.identity));
  return parts;
}

int64_t heap_bytes_of(const ReductionParts& parts) {
  return heap_bytes_of(parts.prepare) + heap_bytes_of(parts.combine) + heap_bytes_of(parts.finish);
}

int64_t bytes_of_body(const RecordedBody& body, AttrsRef attrs) {
  int64_t total =
      bytes_of_object<RecordedBody>() + bytes_of_block(std::max<size_t>(attrs.type().size, 1));
  if (const Expression* expression = body.expression()) total += heap_bytes_of(*expression);
  if (const ReductionParts* parts = body.reduction()) {
    total += bytes_of_object<ReductionParts>() + heap_bytes_of(*parts);
  }
  if (const RowsExpression* rows = body.rows()) {
    total += bytes_of_object<RowsExpression>() + heap_bytes(rows->inputs) +
             heap_bytes(rows->stages) + heap_bytes(rows->outputs) + heap_bytes(rows->is_per_row);
    for (const RowStage& stage : rows->stages) {
      total += heap_bytes(stage.sources);
      if (stage.expression) total += heap_bytes_of(*stage.expression);
      if (stage.reduction) total += heap_bytes_of(*stage.reduction);
    }
  }
  return total;
}

}  // namespace

int64_t recorded_body_bytes() { return g_bytes_of_bodies.load(); }

RecordedBody::~RecordedBody() {
  if (const RefCounted* compiled = compiled_.load()) compiled->drop_ref();
}

const RefCounted* RecordedBody::set_compiled(Ref<const RefCounted> made) const {
  const RefCounted* there = nullptr;
  if (!compiled_.compare_exchange_strong(there, made.get(), std::memory_order_acq_rel)) {
    return there;
  }
  return made.release();
}

const RecordedBody* RecordedBody::find(const Op& op, AttrsRef attrs,
                                       std::span<const Tensor> inputs) {
  if (op.index() >= kMaxOps) return nullptr;
  const RecordedBody* body = g_bodies[op.index()].load(std::memory_order_acquire);
  for (; body; body = body->next_) {
    if (body->dtypes_.size() != inputs.size()) continue;
    bool same = true;
    for (size_t i = 0; i < inputs.size(); ++i) same &= body->dtypes_[i] == inputs[i].dtype();
    if (same && attrs == body->attrs_) return body;
  }
  return nullptr;
}

Result<Ref<const RecordedBody>> RecordedBody::get(const Op& op, AttrsRef attrs,
                                                  std::span<const DType> inputs, DType output) {
  if (op.index() >= kMaxOps) return internal_error("more than ", kMaxOps, " ops");
  auto find_among = [&](int* count) -> const RecordedBody* {
    const RecordedBody* body = g_bodies[op.index()].load(std::memory_order_acquire);
    for (; body; body = body->next_, ++*count) {
      if (std::ranges::equal(body->dtypes_, inputs) && attrs == body->attrs_) return body;
    }
    return nullptr;
  };
  int count = 0;
  if (const RecordedBody* known = find_among(&count)) return Ref<const RecordedBody>(known);

  Ref<RecordedBody> made(new RecordedBody(inputs, attrs));
  RETURN_IF_ERROR(made->record(op, output));

  MutexLock lock(insertion_mutex());
  count = 0;
  if (const RecordedBody* known = find_among(&count)) return Ref<const RecordedBody>(known);
  if (count < kMaxBodiesOfOp) {
    made->next_ = g_bodies[op.index()].load(std::memory_order_relaxed);
    made->add_ref();  // of the list, for ever
    g_bytes_of_bodies += bytes_of_body(*made, attrs);
    g_bodies[op.index()].store(made.get(), std::memory_order_release);
  }
  return Ref<const RecordedBody>(made);
}

size_t RecordedBody::num_nodes() const {
  if (!rows_) return per_element().nodes().size();
  size_t total = 0;
  for (const RowStage& stage : rows_->stages) {
    total += (stage.expression ? *stage.expression : stage.reduction->prepare).nodes().size();
  }
  return total;
}

Status RecordedBody::record(const Op& op, DType output) {
  const OpRecord& record = op.record();
  if (record.body.kind() == OpBody::Kind::kElementwise) {
    ASSIGN_OR_RETURN(expression_, record_expression(record.body, dtypes_, attrs_));
    DType recorded = expression_->outputs()[0].dtype;
    if (recorded != output) {
      return internal_error("[", op.name(), "] the body gives ", dtype_name(recorded),
                            ", the record says ", dtype_name(output));
    }
  } else if (record.body.kind() == OpBody::Kind::kRows) {
    ASSIGN_OR_RETURN(RowsExpression rows, record.body.rows()(dtypes_, attrs_));
    rows_ = std::make_unique<RowsExpression>(std::move(rows));
  } else {
    ASSIGN_OR_RETURN(ReductionParts parts,
                     record_reduction(record.body.reduction(), dtypes_[0], output));
    reduction_ = std::make_unique<ReductionParts>(std::move(parts));
  }
  output_ = output;
  broadcasts_ =
      is_broadcast_rule(record.infer) || (record.infer == same_as_input && dtypes_.size() == 1);
  return {};
}

}  // namespace graven::engine
