#include "graven/api/module.h"

#include <cxxabi.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <typeinfo>

namespace graven {
namespace {

bool is_identifier(std::string_view name) {
  auto is_word = [](unsigned char c) { return std::isalnum(c) || c == '_'; };
  return !name.empty() && !std::isdigit(static_cast<unsigned char>(name[0])) &&
         std::all_of(name.begin(), name.end(), is_word);
}

// A word begins at each capital that follows a small letter or precedes one: HTTPServer is
// "http_server", ABCNet2D "abc_net2_d".
std::string snake_case(std::string_view name) {
  std::string text;
  auto is_upper = [&](size_t i) {
    return i < name.size() && std::isupper(static_cast<unsigned char>(name[i]));
  };
  for (size_t i = 0; i < name.size(); ++i) {
    bool ends_run = i + 1 < name.size() && std::islower(static_cast<unsigned char>(name[i + 1]));
    if (i > 0 && is_upper(i) && (!is_upper(i - 1) || ends_run)) text += '_';
    text += static_cast<char>(std::tolower(static_cast<unsigned char>(name[i])));
  }
  return text;
}

// The last part of a class's name, without namespaces and template arguments.
std::string class_name(const std::type_info& type) {
  int status = 0;
  char* demangled = abi::__cxa_demangle(type.name(), nullptr, nullptr, &status);
  std::string name = status == 0 ? demangled : type.name();
  std::free(demangled);
  name.resize(std::min(name.size(), name.find('<')));
  size_t colon = name.rfind(':');
  return colon == std::string::npos ? name : name.substr(colon + 1);
}

}  // namespace

Module::Module(std::string name, std::source_location location) : name_(std::move(name)) {
  if (!name_.empty() && !is_identifier(name_)) {
    throw_error(engine::value_error("'", name_,
                                    "' is not a valid module name. Module names must "
                                    "be valid identifiers (e.g. a valid class name)."),
                location);
  }
}

std::string Module::name() const {
  return name_.empty() ? snake_case(class_name(typeid(*this))) : name_;
}

void Module::collect(std::vector<const Module*>& modules, std::vector<Variable>& variables) const {
  Members each;
  members(each);
  std::stable_sort(each.list_.begin(), each.list_.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<const Module*> found;
  for (const auto& [name, leaves] : each.list_) {
    for (const auto& leaf : leaves) {
      if (const auto* module = std::get_if<const Module*>(&leaf)) {
        if (*module && std::find(modules.begin(), modules.end(), *module) == modules.end()) {
          modules.push_back(*module);
          found.push_back(*module);
        }
        continue;
      }
      const Variable& variable = std::get<Variable>(leaf);
      auto is_it = [&](const Variable& other) { return other.is_same(variable); };
      if (variable.is_none() || std::any_of(variables.begin(), variables.end(), is_it)) continue;
      variables.push_back(variable);
    }
  }
  for (const Module* module : found) module->collect(modules, variables);
}

std::vector<Variable> Module::variables() const {
  std::vector<const Module*> modules = {this};
  std::vector<Variable> variables;
  collect(modules, variables);
  return variables;
}

std::vector<Variable> Module::trainable_variables() const {
  std::vector<Variable> found = variables();
  std::erase_if(found, [](const Variable& variable) { return !variable.trainable(); });
  return found;
}

std::vector<const Module*> Module::submodules() const {
  std::vector<const Module*> modules = {this};
  std::vector<Variable> variables;
  collect(modules, variables);
  modules.erase(modules.begin());
  return modules;
}

}  // namespace graven
