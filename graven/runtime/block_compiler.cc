#include <algorithm>
#include <atomic>

#include "graven/base/heap_bytes.h"
#include "graven/expr/fuse.h"
#include "graven/kernels/block_program.h"
#include "graven/kernels/reduce.h"
#include "graven/kernels/row_program.h"
#include "graven/runtime/compiler.h"
#include "graven/runtime/fused_kernels.h"
#include "graven/runtime/placement.h"

namespace graven::engine {
namespace {

std::atomic<int64_t> g_bytes{0};  // of all kernels of bodies

// A body of one of the kinds; the caller knows which.
class BlockBody : public BodyKernel {
 public:
  // bytes: of the program.
  BlockBody(double cost, int64_t bytes) : cost_(cost), bytes_(bytes) { g_bytes += this->bytes(); }
  ~BlockBody() override { g_bytes -= bytes(); }
  Status map(Queue&, std::span<const StridedInput>, const Shape&, void*,
             TrapNotes&) const override {
    return internal_error("the body is not elementwise");
  }
  Status reduce(Queue&, const StridedInput&, uint64_t, void*, TrapNotes&) const override {
    return internal_error("the body is no reduction");
  }
  Status go_by_rows(Queue&, int64_t, int64_t, std::span<const void* const>, void*,
                    TrapNotes&) const override {
    return internal_error("the body does not go by rows");
  }
  double cost() const override { return cost_; }
  int64_t bytes() const final { return bytes_of_object<BlockBody>() + 16 + bytes_; }

 private:
  const double cost_;
  const int64_t bytes_;
};

class MappedBody final : public BlockBody {
 public:
  explicit MappedBody(std::shared_ptr<const BlockProgram> program)
      : BlockBody(program->cost(), program->bytes()), program_(std::move(program)) {}
  Status map(Queue&, std::span<const StridedInput> operands, const Shape& shape, void* output,
             TrapNotes& traps) const override {
    return run_elementwise(*program_, operands, shape, {&output, 1}, &traps);
  }

 private:
  const std::shared_ptr<const BlockProgram> program_;
};

class ReducingBody final : public BlockBody {
 public:
  ReducingBody(std::shared_ptr<const ReductionProgram> program, double cost)
      : BlockBody(cost, program->bytes()), program_(std::move(program)) {}
  Status reduce(Queue&, const StridedInput& operand, uint64_t reduced, void* output,
                TrapNotes& traps) const override {
    return run_reduction(*program_, {&operand, 1}, *operand.shape, reduced, output, &traps);
  }

 private:
  const std::shared_ptr<const ReductionProgram> program_;
};

class RowsBody final : public BlockBody {
 public:
  explicit RowsBody(std::shared_ptr<const RowProgram> program)
      : BlockBody(program->cost(), program->bytes()), program_(std::move(program)) {}
  Status go_by_rows(Queue&, int64_t rows, int64_t columns, std::span<const void* const> inputs,
                    void* output, TrapNotes& traps) const override {
    return run_rows(*program_, rows, columns, inputs, {&output, 1}, &traps);
  }

 private:
  const std::shared_ptr<const RowProgram> program_;
};

// Whether nothing is returned but reductions, and no other member reads these.
bool only_reduces(const Fusion& fusion) {
  for (int m = 0; m < static_cast<int>(fusion.members().size()); ++m) {
    if (fusion.is_rows(m)) return false;
    for (FusionParts::Source source : fusion.members()[m].sources) {
      if (source.member >= 0 && fusion.is_reduction(source.member)) return false;
    }
  }
  return std::ranges::all_of(fusion.outputs(), [&](int m) { return fusion.is_reduction(m); });
}

// Whether the Fusion goes row by row. Reductions with chains before them alone may be over any
// axes, and of rows of any length.
bool goes_by_rows(const Fusion& fusion) {
  if (!only_reduces(fusion)) return true;
  if (!can_go_by_rows(fusion)) return false;
  for (int m = 0; m < static_cast<int>(fusion.members().size()); ++m) {
    if (!fusion.is_reduction(m) && fusion.is_reduced(m)) return true;
  }
  const int first_column = fusion.parts().reduced[0];
  int64_t rows = 1, columns = 1;  // of sizes that are not known many are expected
  for (int i = 0; i < fusion.space().rank(); ++i) {
    const Dim size = fusion.space()[i];
    (i < first_column ? rows : columns) *= size.is_number() ? size.number() : 32;
  }
  return rows > 1 && columns > 1 && columns <= FusionLimits::kMaxRow;
}

Status check_device(const Device& device) {
  if (runs_host_code(device)) return {};
  return unimplemented("block programs run on the host, not on ", device.name());
}

class BlockCompiler final : public Compiler {
 public:
  Result<Ref<const Kernel>> compile(const Fusion& fusion, const Device& device) const override {
    RETURN_IF_ERROR(check_device(device));
    if (fusion.has_library()) return compile_panels(fusion);
    if (fusion.parts().reduced.empty()) return compile_map(fusion);
    return goes_by_rows(fusion) ? compile_rows(fusion) : compile_reduction(fusion);
  }

  Result<Ref<const BodyKernel>> compile(const RecordedBody& body,
                                        const Device& device) const override {
    RETURN_IF_ERROR(check_device(device));
    if (const Expression* expression = body.expression()) {
      ASSIGN_OR_RETURN(auto program, BlockProgram::compile(*expression));
      return Ref<const BodyKernel>(make_ref<MappedBody>(std::move(program)));
    }
    if (const RowsExpression* rows = body.rows()) {
      ASSIGN_OR_RETURN(auto program,
                       RowProgram::compile(rows->inputs, rows->stages, rows->outputs));
      return Ref<const BodyKernel>(make_ref<RowsBody>(std::move(program)));
    }
    const ReductionParts& parts = *body.reduction();
    ASSIGN_OR_RETURN(auto program, ReductionProgram::compile(parts));
    return Ref<const BodyKernel>(make_ref<ReducingBody>(std::move(program), parts.prepare.cost()));
  }
};

}  // namespace

const Compiler& block_compiler() {
  static const auto* compiler = new BlockCompiler();
  return *compiler;
}

int64_t body_kernel_bytes() { return g_bytes.load(); }

// The code for the host is that of all devices that it can be compiled for.
Result<const BodyKernel*> body_kernel(const RecordedBody& body, const Device& device) {
  RETURN_IF_ERROR(check_device(device));
  const RefCounted* compiled = body.compiled();
  if (!compiled) {
    ASSIGN_OR_RETURN(auto made, block_compiler().compile(body, Device::host()));
    compiled = body.set_compiled(std::move(made));
  }
  return static_cast<const BodyKernel*>(compiled);
}

}  // namespace graven::engine
