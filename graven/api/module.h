#pragma once
#include <concepts>
#include <functional>
#include <memory>
#include <source_location>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "graven/api/variable.h"
#include "graven/base/export.h"

namespace graven {

class Module;

// The visitor of a Module's members: variables, modules, and vectors and pointers of these.
class GRAVEN_API Members {
 public:
  void operator()(std::string_view name, const Variable& variable) {
    list_.emplace_back(name, std::vector<Leaf>{variable});
  }
  template <std::derived_from<Module> M>
  void operator()(std::string_view name, const M& module) {
    list_.emplace_back(name, std::vector<Leaf>{static_cast<const Module*>(&module)});
  }
  template <typename T>
  void operator()(std::string_view name, const std::vector<T>& values) {
    std::vector<Leaf> leaves;
    for (const T& value : values) leaves.push_back(leaf(value));
    list_.emplace_back(name, std::move(leaves));
  }
  template <typename M>
  void operator()(std::string_view name, const std::unique_ptr<M>& module) {
    if (module) (*this)(name, *module);
  }
  template <typename M>
  void operator()(std::string_view name, const std::shared_ptr<M>& module) {
    if (module) (*this)(name, *module);
  }

 private:
  friend class Module;
  using Leaf = std::variant<Variable, const Module*>;
  static Leaf leaf(const Variable& variable) { return variable; }
  static Leaf leaf(const Module& module) { return &module; }
  template <typename M>
  static Leaf leaf(const std::unique_ptr<M>& module) {
    return static_cast<const Module*>(module.get());
  }
  template <typename M>
  static Leaf leaf(const std::shared_ptr<M>& module) {
    return static_cast<const Module*>(module.get());
  }
  std::vector<std::pair<std::string, std::vector<Leaf>>> list_;
};

// An object with variables, and modules within (tf.Module). C++ has no reflection, so the module
// names its members:
//
//   struct Dense : graven::Module {
//     graven::Variable w{graven::zeros({3, 4})}, b{graven::zeros({4})};
//     void members(graven::Members& each) const override {
//       each("w", w);
//       each("b", b);
//     }
//   };
class GRAVEN_API Module {
 public:
  // Without a name it is that of the class in snake_case: FlexibleDense is "flexible_dense". A
  // ValueError if the name is no identifier.
  explicit Module(std::string name = "",
                  std::source_location location = std::source_location::current());
  virtual ~Module() = default;
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

  // Names the members to `each`: the same members at each call.
  virtual void members(Members& each) const = 0;

  // The name, without the scope that it was made in.
  std::string name() const;
  // Members in the order of their names, own ones first, then those of each module found, each
  // once.
  std::vector<Variable> variables() const;
  std::vector<Variable> trainable_variables() const;
  std::vector<const Module*> submodules() const;  // without itself

 private:
  void collect(std::vector<const Module*>& modules, std::vector<Variable>& variables) const;
  std::string name_;
};

}  // namespace graven
