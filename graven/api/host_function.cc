#include "graven/api/host_function.h"

#include <memory>
#include <utility>

#include "graven/api/error.h"
#include "graven/api/location.h"
#include "graven/function/host_call.h"
#include "graven/library/host_functions.h"

namespace graven {
namespace {

using Function = std::function<std::vector<Tensor>(const std::vector<Tensor>& inputs)>;

class CppHostFunction final : public engine::HostFunction {
 public:
  CppHostFunction(Function function, bool has_gradient)
      : function_(std::move(function)), has_gradient_(has_gradient) {}

  engine::Result<engine::HostResults> call(std::span<const engine::Tensor> inputs) const override {
    std::shared_ptr<engine::Tape> tape;
    if (has_gradient_) {
      tape = std::make_shared<engine::Tape>(/*persistent=*/true,
                                            /*watch_accessed_variables=*/false);
    }
    return engine::call_host_function(
        inputs, std::move(tape),
        [this](std::span<const engine::Tensor> own) -> engine::Result<std::vector<engine::Tensor>> {
          try {
            const auto results = function_(std::vector<Tensor>(own.begin(), own.end()));
            for (const Tensor& result : results) {
              if (result.is_none()) {
                return engine::invalid_argument("the function of the program returned no tensor");
              }
            }
            return std::vector<engine::Tensor>(results.begin(), results.end());
          } catch (...) {
            return status_of_current_exception();
          }
        });
  }

 private:
  const Function function_;
  const bool has_gradient_;
};

}  // namespace

std::vector<Tensor> host_function(Function function, const std::vector<Tensor>& inputs,
                                  const std::vector<DType>& results,
                                  const HostFunctionOptions& options, Here location) {
  if (!function) throw_error(engine::value_error("host_function was given no function"), location);
  std::vector<engine::Tensor> operands;
  for (const Tensor& input : inputs) {
    if (input.is_none()) {
      throw_error(engine::value_error("an input of host_function is no tensor (None)"), location);
    }
    operands.push_back(internal::constant(input, location));
  }
  auto call = engine::HostCall::kWithoutEffects;
  if (options.stateful) {
    call =
        options.has_gradient ? engine::HostCall::kWithGradient : engine::HostCall::kWithoutGradient;
  }
  auto held = std::make_shared<CppHostFunction>(std::move(function),
                                                call == engine::HostCall::kWithGradient);
  const internal::LocationScope scope(location);
  const auto made = value_or_throw(
      engine::apply_host_function(call, held, operands, results, options.name), location);
  return std::vector<Tensor>(made.begin(), made.end());
}

Tensor host_function(std::function<Tensor(const std::vector<Tensor>& inputs)> function,
                     const std::vector<Tensor>& inputs, DType result,
                     const HostFunctionOptions& options, Here location) {
  Function all;
  if (function) {
    all = [one = std::move(function)](const std::vector<Tensor>& x) {
      return std::vector<Tensor>{one(x)};
    };
  }
  return host_function(std::move(all), inputs, std::vector<DType>{result}, options, location)[0];
}

}  // namespace graven
