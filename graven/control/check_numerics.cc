#include "graven/control/check_numerics.h"

#include <utility>

#include "graven/base/strings.h"
#include "graven/function/function.h"
#include "graven/ir/body.h"
#include "graven/ir/checking_builder.h"
#include "graven/ir/frame.h"
#include "graven/ops/non_finite.h"
#include "graven/ops/tensor_summary.h"
#include "graven/runtime/eager_builder.h"

namespace graven::engine {
namespace {

// How many lines of NaN and infinities; "" if there are none.
std::string counts_text(const Tensor& x) {
  const NonFinite found = count_non_finite(x);
  std::string text;
  if (found.num_minus > 0) text += str_cat("  # of -Inf elements: ", found.num_minus, "\n");
  if (found.num_plus > 0) text += str_cat("  # of +Inf elements: ", found.num_plus, "\n");
  if (found.num_nan > 0) text += str_cat("  # of +NaN elements: ", found.num_nan, "\n");
  return text;
}

std::string text_of(const Tensor& x) {
  constexpr int64_t kEnds = 3;
  const bool has_elements = is_plain(x.dtype()) || x.dtype() == DType::kString;
  return str_cat("tf.Tensor(", has_elements ? summarize_ends(x, kEnds) : "<unprintable>",
                 ", shape=", x.shape().to_text(), ", dtype=", dtype_name(x.dtype()), ")");
}

class NumericsBuilder final : public CheckingBuilder {
 public:
  Builder& unchecked() override { return eager_builder(); }

  Result<Tensors> apply(const Op& op, std::span<const Tensor> inputs, AttrsRef attrs,
                        std::string_view name) override {
    ASSIGN_OR_RETURN(Tensors outputs, eager_builder().apply(op, inputs, attrs, name));
    RETURN_IF_ERROR(check(op, inputs, outputs));
    return outputs;
  }

  Result<Tensors> call(const Ref<Body>& body, std::span<const Tensor> inputs,
                       std::string_view name) override {
    ASSIGN_OR_RETURN(Tensors outputs, eager_builder().call(body, inputs, name));
    for (size_t i = 0; i < outputs.size(); ++i) {
      if (!kFloatTypes.contains(outputs[i].dtype())) continue;
      RETURN_IF_ERROR(check_output(body->name(), i, inputs, outputs));
    }
    return outputs;
  }

  Status check(const Op& op, std::span<const Tensor> inputs, const Tensors& outputs) override {
    for (size_t i = 0; i < outputs.size(); ++i) {
      if (!is_checked(op, static_cast<int>(i), outputs[i].dtype())) continue;
      RETURN_IF_ERROR(check_output(op.name(), i, inputs, outputs));
    }
    return {};
  }

 private:
  // By the op that checks in graphs, so that the errors are alike.
  static Status check_output(std::string_view name, size_t number, std::span<const Tensor> inputs,
                             const Tensors& outputs) {
    const Tensor& output = outputs[number];
    const std::span<const Tensor> checked(&output, 1);
    const CheckNumericsAttrs quiet;
    if (eager_builder().apply(*kCheckNumericsV2.op, checked, quiet).ok()) return {};
    CheckedOutput of{.op = std::string(name),
                     .number = static_cast<int>(number),
                     .num_outputs = static_cast<int>(outputs.size()),
                     .dtype = output.dtype(),
                     .shape = output.shape(),
                     .counts = counts_text(output)};
    for (const Tensor& input : inputs) of.inputs.push_back(text_of(input));
    const CheckNumericsAttrs told{numerics_message(of) + "\n"};
    return eager_builder().apply(*kCheckNumericsV2.op, checked, told).status();
  }
};

// Ends with its thread.
class OfThread {
 public:
  ~OfThread() { set(nullptr); }
  void set(std::shared_ptr<const NumericsChecks> checks) {
    const bool was_on = numerics_checks() != nullptr, is_on = checks != nullptr;
    if (was_on == is_on) return;
    set_numerics_checks(std::move(checks));
    CheckingBuilder::set(is_on ? &builder_ : nullptr, eager_builder());
    Function::pause_find(is_on);
  }

 private:
  NumericsBuilder builder_;
};

}  // namespace

void set_check_numerics(std::shared_ptr<const NumericsChecks> checks) {
  Frame::current();  // lives longer than what follows, as does the thread's numerics_checks()
  if (bool(checks) == bool(numerics_checks())) return;  // as in TensorFlow, the first limits stay
  thread_local OfThread thread;
  thread.set(std::move(checks));
}

}  // namespace graven::engine
