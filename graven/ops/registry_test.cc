// What must hold of every record.
#include <doctest/doctest.h>

#include <functional>

#include "graven/ir/op.h"
#include "graven/kernels/block_program.h"

namespace graven::engine {
namespace {

// Calls f for each choice of dtypes for the type parameters from `next` on.
void for_each_binding(const Op& op, TypeBindings& bindings, size_t next,
                      const std::function<void()>& f) {
  if (next == op.type_params().size()) return f();
  for (int i = 0; i < kNumDTypes; ++i) {
    auto type = static_cast<DType>(i);
    if (!op.type_params()[next].allowed.contains(type)) continue;
    bindings[next] = type;
    for_each_binding(op, bindings, next + 1, f);
  }
}

bool parts_fit(const std::string& name, const TypeBindings& bindings) {
  if (name == "Complex") return bindings[0] == real_part_type(bindings[1]);
  if (name != "Real" && name != "Imag" && name != "Angle" && name != "ComplexAbs") return true;
  return bindings[1] == real_part_type(bindings[0]);
}

}  // namespace

TEST_CASE("the registry has no errors, and each op says what it computes") {
  for (const std::string& error : OpRegistry::global().errors()) FAIL_CHECK(error);
  for (const auto& op : OpRegistry::global().ops()) {
    INFO(op->name());
    CHECK(!op->record().summary.empty());
    CHECK((op->record().infer != nullptr));
  }
}

TEST_CASE("each elementwise body can be computed for each dtype of its record") {
  for (const auto& op : OpRegistry::global().ops()) {
    const OpBody& body = op->record().body;
    if (body.kind() != OpBody::Kind::kElementwise) continue;
    TypeBindings bindings(op->type_params().size(), DType::kInvalid);
    for_each_binding(*op, bindings, 0, [&] {
      if (!parts_fit(op->name(), bindings)) return;
      Attrs attrs(op->attrs_type());
      for (size_t i = 0; i < bindings.size(); ++i) {
        if (Status set = attrs.set(op->type_params()[i].name, bindings[i]); !set.ok()) continue;
      }
      std::vector<DType> inputs;
      for (const ArgSpec& arg : op->inputs()) {
        inputs.push_back(arg.type_param >= 0 ? bindings[arg.type_param] : arg.fixed);
        if (arg.is_list) inputs.push_back(inputs.back());
      }
      if (body.kind_for(inputs.back(), attrs) != OpBody::Kind::kElementwise) return;
      std::string what = op->name();
      for (DType type : inputs) what += " " + std::string(dtype_name(type));
      INFO(what);
      auto expression = record_expression(body, inputs, attrs);
      REQUIRE_MESSAGE(expression.ok(), expression.status().message());
      auto program = BlockProgram::compile(*expression);
      CHECK_MESSAGE(program.ok(), program.status().message());
      InlineVector<DType, 4> outputs;
      op->output_dtypes(bindings, attrs, static_cast<int>(inputs.size()), outputs);
      CHECK(dtype_name(expression->outputs()[0].dtype) == dtype_name(outputs[0]));
    });
  }
}

}  // namespace graven::engine
