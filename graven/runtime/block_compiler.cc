#include "graven/expr/fuse.h"
#include "graven/kernels/block_program.h"
#include "graven/kernels/reduce.h"
#include "graven/runtime/compiler.h"
#include "graven/runtime/fused_kernels.h"

namespace graven::engine {
namespace {

// Which room a program takes, from the nodes that it was made of.
int64_t program_bytes(const Expression& expression) {
  return static_cast<int64_t>(sizeof(Expression) + expression.nodes().size() * 64);
}

class MappedBody final : public BodyKernel {
 public:
  explicit MappedBody(std::shared_ptr<const BlockProgram> program) : program_(std::move(program)) {}
  Status map(std::span<const Operand> operands, const Shape& shape, void* output,
             TrapNotes& traps) const override {
    run_elementwise(*program_, operands, shape, {&output, 1}, &traps);
    return {};
  }
  Status reduce(const Operand&, uint64_t, void*, TrapNotes&) const override {
    return internal_error("an elementwise body was asked to reduce");
  }
  double cost() const override { return program_->cost(); }
  int64_t bytes() const override { return program_bytes(program_->expression()); }

 private:
  const std::shared_ptr<const BlockProgram> program_;
};

class ReducingBody final : public BodyKernel {
 public:
  ReducingBody(std::shared_ptr<const ReductionProgram> program, double cost, int64_t bytes)
      : program_(std::move(program)), cost_(cost), bytes_(bytes) {}
  Status map(std::span<const Operand>, const Shape&, void*, TrapNotes&) const override {
    return internal_error("a reduction was asked to map");
  }
  Status reduce(const Operand& operand, uint64_t reduced, void* output,
                TrapNotes& traps) const override {
    run_reduction(*program_, {&operand, 1}, *operand.shape, reduced, output, &traps);
    return {};
  }
  double cost() const override { return cost_; }
  int64_t bytes() const override { return bytes_; }

 private:
  const std::shared_ptr<const ReductionProgram> program_;
  const double cost_;
  const int64_t bytes_;
};

// A reduction that takes a chain in may be over any axes, and of rows of any length; what is more
// than that goes row by row.
bool goes_by_rows(const Fusion& fusion) {
  const int last = static_cast<int>(fusion.members().size()) - 1;
  bool is_chain =
      fusion.is_reduction(last) && fusion.outputs().size() == 1 && fusion.outputs()[0] == last;
  for (int m = 0; m < last; ++m) is_chain &= !fusion.is_reduced(m);
  if (!is_chain || !can_go_by_rows(fusion)) return !is_chain;
  const int first_column = fusion.parts().reduced[0];
  int64_t rows = 1, columns = 1;  // of sizes that are not known many are expected
  for (int i = 0; i < fusion.space().rank(); ++i) {
    const Dim size = fusion.space()[i];
    (i < first_column ? rows : columns) *= size.is_number() ? size.number() : 32;
  }
  return rows > 1 && columns > 1 && columns <= FusionLimits::kMaxRow;
}

class BlockCompiler final : public Compiler {
 public:
  Result<Ref<const Kernel>> compile(const Fusion& fusion) const override {
    if (fusion.parts().reduced.empty()) return compile_map(fusion);
    return goes_by_rows(fusion) ? compile_rows(fusion) : compile_reduction(fusion);
  }

  Result<Ref<const BodyKernel>> compile(const RecordedBody& body) const override {
    if (body.expression()) {
      ASSIGN_OR_RETURN(auto program, BlockProgram::compile(*body.expression()));
      return Ref<const BodyKernel>(make_ref<MappedBody>(std::move(program)));
    }
    const ReductionParts& parts = *body.reduction();
    ASSIGN_OR_RETURN(auto program, ReductionProgram::compile(parts));
    return Ref<const BodyKernel>(make_ref<ReducingBody>(
        std::move(program), parts.prepare.cost(),
        program_bytes(parts.prepare) + program_bytes(parts.combine) + program_bytes(parts.finish)));
  }
};

}  // namespace

const Compiler& block_compiler() {
  static const BlockCompiler compiler;
  return compiler;
}

Result<const BodyKernel*> body_kernel(const RecordedBody& body) {
  const RefCounted* compiled = body.compiled();
  if (!compiled) {
    ASSIGN_OR_RETURN(auto made, block_compiler().compile(body));
    compiled = body.set_compiled(std::move(made));
  }
  return static_cast<const BodyKernel*>(compiled);
}

}  // namespace graven::engine
