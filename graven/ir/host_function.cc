#include "graven/ir/host_function.h"

#include <algorithm>
#include <cstdint>
#include <unordered_map>

#include "graven/base/mutex.h"
#include "graven/base/strings.h"

namespace graven::engine {
namespace {

// The functions that live, by token: graphs that are read from text find theirs here.
class Directory {
 public:
  static Directory& global() {
    static Directory* directory = new Directory();
    return *directory;
  }

  std::string add(const std::shared_ptr<HostFunction>& function) {
    MutexLock lock(mutex_);
    if (functions_.size() >= sweep_at_) {
      std::erase_if(functions_, [](const auto& entry) { return entry.second.expired(); });
      sweep_at_ = std::max(kFirstSweep, 2 * functions_.size());
    }
    std::string token = str_cat("pyfunc_", next_++);
    functions_.emplace(token, function);
    return token;
  }

  std::shared_ptr<HostFunction> find(const std::string& token) {
    MutexLock lock(mutex_);
    auto found = functions_.find(token);
    return found == functions_.end() ? nullptr : found->second.lock();
  }

 private:
  static constexpr size_t kFirstSweep = 64;
  Mutex mutex_;
  std::unordered_map<std::string, std::weak_ptr<HostFunction>> functions_ GUARDED_BY(mutex_);
  size_t sweep_at_ GUARDED_BY(mutex_) = kFirstSweep;
  int64_t next_ GUARDED_BY(mutex_) = 0;
};

}  // namespace

HostFunctionToken::HostFunctionToken(std::shared_ptr<HostFunction> function)
    : token_(Directory::global().add(function)), function_(std::move(function)) {}

HostFunctionToken::HostFunctionToken(std::string token)
    : token_(std::move(token)), function_(Directory::global().find(token_)) {}

Result<HostResults> HostFunctionToken::call(std::span<const Tensor> inputs) const {
  if (function_) return function_->call(inputs);
  return invalid_argument("there is no function of the token \"", token_,
                          "\" in this process: a function of the program is not part of the text "
                          "of a graph, and lives as long as the Function whose trace calls it");
}

std::shared_ptr<HostFunction> host_function_of(AttrsRef attrs) {
  const AttrValue token = attrs.get(HostFunctionToken::kName);
  const auto* text = std::get_if<std::string>(&token);
  return text ? HostFunctionToken(*text).function() : nullptr;
}

bool owns_host_function(AttrsRef attrs) {
  return std::ranges::any_of(attrs.type().fields, [](const AttrField& field) {
    return field.name == HostFunctionToken::kName;
  });
}

}  // namespace graven::engine
