#include <cstring>

#include "graven/ir/bodies.h"
#include "graven/ir/infer_bodies.h"
#include "graven/ir/kernel.h"
#include "graven/ir/structural_ops.h"
#include "graven/ops/batch_control_flow.h"
#include "graven/ops/register_ops.h"
#include "graven/tensor/resource.h"

namespace graven::engine {
namespace {

// Gradients of these ops are nodes of the same kinds, which autodiff makes of the gradient pairs of
// their bodies.

OpBodies two_branches() {
  return {BodyRun::kOneOf,
          {{"else_branch", "input", "output"}, {"then_branch", "input", "output"}}};
}
OpBodies branches() { return {BodyRun::kOneOf, {{"branches", "input", "output"}}}; }
OpBodies loop() { return {BodyRun::kWhile, {{"cond", "input"}, {"body", "input", "output"}}}; }

void define_if(OpRegistry& ops) {
  ops.define(kIf, {
                      .name = "If",
                      .summary = "Runs then_branch if the scalar holds, else else_branch; its "
                                 "effects are those of the branches.",
                      .inputs = {"cond: Tcond", "input: Tin"},
                      .outputs = {"output: Tout"},
                      .types = {{"Tcond", kAllTypes}},
                      .infer = infer_branches,
                      .batch = batch_branches,
                      .effects = effects_of_bodies,
                      .bodies = two_branches(),
                      .default_node_name = "cond",
                  });
  ops.define(kStatelessIf,
             {
                 .name = "StatelessIf",
                 .summary = "Runs then_branch if the scalar holds, else else_branch, which have no "
                            "effects.",
                 .inputs = {"cond: Tcond", "input: Tin"},
                 .outputs = {"output: Tout"},
                 .types = {{"Tcond", kAllTypes}},
                 .infer = infer_branches,
                 .batch = batch_branches,
                 .bodies = two_branches(),
                 .default_node_name = "cond",
             });
}

void define_case(OpRegistry& ops) {
  ops.define(kCase, {
                        .name = "Case",
                        .summary = "Runs the branch of this number, the last one if there is none; "
                                   "its effects are those of the branches.",
                        .inputs = {"branch_index: int32", "input: Tin"},
                        .outputs = {"output: Tout"},
                        .infer = infer_branches,
                        .batch = batch_branches,
                        .effects = effects_of_bodies,
                        .bodies = branches(),
                    });
  ops.define(kStatelessCase,
             {
                 .name = "StatelessCase",
                 .summary = "Runs the branch of this number, the last one if there is none; the "
                            "branches have no effects.",
                 .inputs = {"branch_index: int32", "input: Tin"},
                 .outputs = {"output: Tout"},
                 .infer = infer_branches,
                 .batch = batch_branches,
                 .bodies = branches(),
             });
}

void define_while(OpRegistry& ops) {
  ops.define(kWhile,
             {
                 .name = "While",
                 .summary = "Runs body on its own outputs as long as cond gives true; its effects "
                            "are those of both.",
                 .inputs = {"input: T"},
                 .outputs = {"output: T"},
                 .infer = infer_loop,
                 .batch = batch_loop,
                 .effects = effects_of_bodies,
                 .bodies = loop(),
             });
  ops.define(kStatelessWhile, {
                                  .name = "StatelessWhile",
                                  .summary = "Runs body on its own outputs as long as cond gives "
                                             "true; both have no effects.",
                                  .inputs = {"input: T"},
                                  .outputs = {"output: T"},
                                  .infer = infer_loop,
                                  .batch = batch_loop,
                                  .bodies = loop(),
                              });
}

// Zeros. Unknown sizes are 0, so that the value fits what its readers expect.
Status make_fake(KernelContext& c) {
  const auto& attrs = c.attrs<FakeParamAttrs>();
  Shape shape = attrs.shape.has_rank() ? attrs.shape : Shape{0};
  for (int d = 0; d < shape.rank(); ++d) {
    if (!shape[d].is_number()) shape.set(d, Dim(0));
  }
  if (attrs.dtype == DType::kResource || attrs.dtype == DType::kVariant) shape = Shape();
  ASSIGN_OR_RETURN(Tensor made, Tensor::allocate(attrs.dtype, shape));
  if (is_plain(attrs.dtype)) std::memset(made.mutable_raw_data(), 0, made.bytes());
  c.set_output(0, std::move(made));
  return {};
}

void define_fake_param(OpRegistry& ops) {
  ops.define(kFakeParam, {
                             .name = "FakeParam",
                             .summary = "A value that nothing reads, for an output that a branch "
                                        "does not have.",
                             .outputs = {"output: dtype"},
                             .types = {{"dtype", kAllTypes}},
                             .infer = [](InferContext& c) -> Status {
                               c.set_shape(0, c.attrs<FakeParamAttrs>().shape);
                               return {};
                             },
                             .body = kernel(make_fake),
                             .allocates_outputs = true,
                         });
}

}  // namespace

void define_control_flow_ops(OpRegistry& ops) {
  define_if(ops);
  define_case(ops);
  define_while(ops);
  define_fake_param(ops);
}

}  // namespace graven::engine
