#include "graven/ir/op.h"

#include <algorithm>

#include "graven/base/hash.h"
#include "graven/base/strings.h"
#include "graven/ir/gradient_context.h"
#include "graven/ir/list_length.h"

namespace graven::engine {
namespace {

// More are a mistake of the caller's, and tables of them would fill the memory.
constexpr int64_t kMaxOutputs = 1 << 20;

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

int field_index(const AttrsType& attrs, std::string_view name) {
  for (size_t i = 0; i < attrs.fields.size(); ++i) {
    if (attrs.fields[i].name == name) return static_cast<int>(i);
  }
  return -1;
}

std::string allowed_list(DTypeSet allowed) {
  std::string out;
  for (int i = 0; i < kNumDTypes; ++i) {
    auto type = static_cast<DType>(i);
    if (!allowed.contains(type)) continue;
    if (!out.empty()) out += ", ";
    out += dtype_op_def_name(type);
  }
  return out;
}

const ArgSpec* find_argument(std::span<const ArgSpec> arguments, std::string_view name) {
  for (const ArgSpec& arg : arguments) {
    if (arg.name == name) return &arg;
  }
  return nullptr;
}

// True if attributes alone say how many tensors the argument is.
bool is_counted(const ArgSpec& arg) {
  return !arg.is_list || arg.type_list_attr >= 0 || arg.count_attr >= 0;
}

Op::Range range_of(std::span<const ArgSpec> arguments, std::string_view name, const AttrsType& type,
                   AttrsRef attrs) {
  int first = 0;
  for (const ArgSpec& arg : arguments) {
    int count = 1;
    if (arg.type_list_attr >= 0) {
      auto listed = type.fields[arg.type_list_attr].get(attrs.data());
      count = static_cast<int>(std::get<std::vector<DType>>(listed).size());
    } else if (arg.count_attr >= 0) {
      count = static_cast<int>(std::get<int64_t>(type.fields[arg.count_attr].get(attrs.data())));
    }
    if (arg.name == name) return {first, count};
    first += count;
  }
  return {first, 0};
}

DType dtype_attr(const AttrField& field, AttrsRef attrs) {
  return std::get<DType>(field.get(attrs.data()));
}

}  // namespace

Effects pure_effects(const Op&, AttrsRef) { return {}; }
Effects unordered_effects(const Op&, AttrsRef) {
  return {.stateful = true, .reads = {}, .writes = {}};
}
Effects ordered_effects(const Op&, AttrsRef) {
  return {.stateful = true, .ordered = true, .must_run = true, .reads = {}, .writes = {}};
}
Effects blocking_effects(const Op& op, AttrsRef attrs) {
  Effects effects = ordered_effects(op, attrs);
  effects.may_block = true;
  return effects;
}
Effects reads_resource_effects(const Op&, AttrsRef) {
  return {.stateful = true, .reads = {0}, .writes = {}};
}
Effects writes_resource_effects(const Op&, AttrsRef) {
  return {.stateful = true, .must_run = true, .reads = {}, .writes = {0}};
}

int passes_on_input_0(std::span<const DType>, AttrsRef) { return 0; }

void not_differentiable(GradientContext&) {}

const std::string& Op::parameter_name(const std::string& name) const {
  for (const auto& [own, other] : record_.renamed) {
    if (own == name) return other;
  }
  return name;
}

// OpDef's grammar of an argument: "name: type", where type is a dtype, the name of a type
// attribute, "N * T" for a list of one type, or the name of an attribute that lists types.
Status Op::parse() {
  auto parse_arg = [&](std::string_view text, ArgSpec& arg) -> Status {
    size_t colon = text.find(':');
    if (colon == std::string_view::npos) return internal_error("no ':' in '", text, "'");
    arg.name = trimmed(text.substr(0, colon));
    std::string_view type = trimmed(text.substr(colon + 1));
    if (size_t star = type.find('*'); star != std::string_view::npos) {
      arg.is_list = true;
      arg.count_attr = field_index(*attrs_type_, trimmed(type.substr(0, star)));
      type = trimmed(type.substr(star + 1));
    }
    for (size_t i = 0; i < record_.types.size(); ++i) {
      if (record_.types[i].name == type) arg.type_param = static_cast<int>(i);
    }
    if (arg.type_param >= 0) return {};
    if (int field = field_index(*attrs_type_, type); field >= 0) {
      arg.type_list_attr = field;
      arg.is_list = true;
      return {};
    }
    auto fixed = dtype_from_name(type);
    if (!fixed) return internal_error("'", type, "' is no dtype and no attribute");
    arg.fixed = *fixed;
    return {};
  };
  int num_lists = 0;
  bool has_other_list = false;  // not of N tensors
  for (const std::string& text : record_.inputs) {
    RETURN_IF_ERROR(parse_arg(text, inputs_.emplace_back()));
    num_lists += inputs_.back().is_list;
    has_other_list |= inputs_.back().is_list && text.find(": N *") == std::string::npos;
  }
  if (num_lists > 1 && has_other_list) {
    return internal_error("several lists among the inputs that are not all of N tensors");
  }
  for (const std::string& text : record_.outputs) {
    RETURN_IF_ERROR(parse_arg(text, outputs_.emplace_back()));
  }
  for (const TypeConstraint& type : record_.types) {
    type_attr_.push_back(field_index(*attrs_type_, type.name));
  }
  for (int i : record_.values_for_inference) {
    if (!is_single_input(i)) {
      return internal_error("values_for_inference: ", i, " is no input, or lies in a list");
    }
  }
  RETURN_IF_ERROR(check_bodies());
  const auto is_list = [](const ArgSpec& arg) { return arg.is_list; };
  types_are_of_inputs_ = std::ranges::none_of(inputs_, is_list) &&
                         std::ranges::none_of(outputs_, is_list) &&
                         std::ranges::all_of(type_attr_, [](int field) { return field < 0; });
  return {};
}

Status Op::check_bodies() const {
  const auto is_body = [](const AttrField& field) {
    return field.is<Ref<Body>>() || field.is<std::vector<Ref<Body>>>();
  };
  const OpBodies& bodies = record_.bodies;
  int num_single = 0;
  for (const BodyField& body : bodies.fields) {
    const int attr = field_index(*attrs_type_, body.attribute);
    if (attr < 0 || !is_body(attrs_type_->fields[attr])) {
      return internal_error("bodies: '", body.attribute, "' is no attribute that is a Body");
    }
    num_single += attrs_type_->fields[attr].is<Ref<Body>>();
    const ArgSpec* inputs = find_argument(inputs_, body.inputs);
    const ArgSpec* outputs = find_argument(outputs_, body.outputs);
    if ((!inputs && !body.inputs.empty()) || (!outputs && !body.outputs.empty())) {
      return internal_error("bodies: '", body.attribute, "' has arguments that the op has not");
    }
    for (const ArgSpec* arg = inputs_.data(); inputs && arg <= inputs; ++arg) {
      if (!is_counted(*arg)) {
        return internal_error("bodies: no attribute counts the input '", arg->name, "'");
      }
    }
    for (const ArgSpec* arg = outputs_.data(); outputs && arg <= outputs; ++arg) {
      if (!is_counted(*arg)) {
        return internal_error("bodies: no attribute counts the output '", arg->name, "'");
      }
    }
    if (bodies.run == BodyRun::kOneOf && inputs == inputs_.data()) {
      return internal_error("bodies: input 0 chooses, and is no input of '", body.attribute, "'");
    }
  }
  const auto n = bodies.fields.size();
  if (static_cast<size_t>(std::ranges::count_if(attrs_type_->fields, is_body)) != n) {
    return internal_error("bodies: not every attribute that is a Body is named once");
  }
  const bool is_call = n == 1 && num_single == 1 && inputs_.size() == 1 && outputs_.size() == 1 &&
                       bodies.fields[0].inputs == inputs_[0].name &&
                       bodies.fields[0].outputs == outputs_[0].name;
  const bool fits = bodies.run == BodyRun::kOnce    ? is_call
                    : bodies.run == BodyRun::kWhile ? n == 2 && num_single == 2
                    : bodies.run == BodyRun::kOneOf ? n >= 1
                                                    : true;
  return fits ? Status() : internal_error("bodies: their number does not fit how they run");
}

Op::Range Op::input_range(std::string_view name, AttrsRef attrs) const {
  return range_of(inputs_, name, *attrs_type_, attrs);
}

Op::Range Op::output_range(std::string_view name, AttrsRef attrs) const {
  return range_of(outputs_, name, *attrs_type_, attrs);
}

// Whether a flat index, counted from the end if negative, is always that of the same argument.
bool Op::is_single_input(int i) const {
  const int n = static_cast<int>(inputs_.size());
  if (i < -n || i >= n) return false;
  const auto first = i < 0 ? inputs_.end() + i : inputs_.begin();
  const auto last = i < 0 ? inputs_.end() : inputs_.begin() + i + 1;
  return std::none_of(first, last, [](const ArgSpec& arg) { return arg.is_list; });
}

namespace {

// The types of an op whose type parameters are all those of inputs, one argument each. False if
// something is not as it must be.
bool bind_by_inputs(std::span<const Tensor> inputs, std::span<const ArgSpec> arguments,
                    std::span<const TypeConstraint> types, TypeBindings& bindings) {
  if (inputs.size() != arguments.size()) return false;
  bindings = TypeBindings(types.size(), DType::kInvalid);
  for (size_t i = 0; i < inputs.size(); ++i) {
    const ArgSpec& argument = arguments[i];
    const DType got = inputs[i].dtype();
    if (argument.type_param < 0) {
      if (got != argument.fixed) return false;
      continue;
    }
    DType& bound = bindings[argument.type_param];
    if (bound == DType::kInvalid && types[argument.type_param].allowed.contains(got)) bound = got;
    if (bound != got) return false;
  }
  return true;
}

}  // namespace

Status Op::bind_types(std::span<const Tensor> inputs, AttrsRef attrs, bool eager,
                      TypeBindings& bindings) const {
  if (types_are_of_inputs_ && bind_by_inputs(inputs, inputs_, record_.types, bindings)) return {};
  InlineVector<DType, 4> dtypes;
  for (const Tensor& input : inputs) dtypes.push_back(input.dtype());
  return bind_types(std::span<const DType>(dtypes.data(), dtypes.size()), attrs, eager, bindings);
}

Status Op::bind_types(std::span<const DType> inputs, AttrsRef attrs, bool eager,
                      TypeBindings& bindings) const {
  bindings = TypeBindings(record_.types.size(), DType::kInvalid);
  for (size_t p = 0; p < record_.types.size(); ++p) {
    if (type_attr_[p] >= 0) {
      bindings[p] = dtype_attr(attrs_type_->fields[type_attr_[p]], attrs);
    }
  }
  const int in_list = list_length(*this, inputs.size());
  if (in_list < 0) {
    return invalid_argument(name(), " takes ", inputs_.size(), " inputs, got ", inputs.size());
  }
  // Which input bound a type parameter, for the message.
  InlineVector<int, 4> bound_by(record_.types.size(), -1);
  int flat = 0;
  for (size_t a = 0; a < inputs_.size(); ++a) {
    const ArgSpec& arg = inputs_[a];
    int count = arg.is_list ? in_list : 1;
    std::vector<DType> listed;
    if (arg.type_list_attr >= 0) {
      listed =
          std::get<std::vector<DType>>(attrs_type_->fields[arg.type_list_attr].get(attrs.data()));
      if (static_cast<int>(listed.size()) != count) {
        return invalid_argument(name(), " takes ", listed.size(), " inputs '", arg.name, "', got ",
                                count);
      }
    }
    for (int i = 0; i < count; ++i, ++flat) {
      DType got = inputs[flat];
      DType expected = arg.fixed;
      if (arg.type_list_attr >= 0) {
        expected = listed[i];
      } else if (arg.type_param >= 0) {
        DType& bound = bindings[arg.type_param];
        if (bound == DType::kInvalid) {
          bound = got;
          bound_by[arg.type_param] = flat;
          continue;
        }
        expected = bound;
      }
      if (got == expected) continue;
      if (eager) {
        return invalid_argument("cannot compute ", name(), " as input #", flat,
                                "(zero-based) was expected to be a ", dtype_op_def_name(expected),
                                " tensor but is a ", dtype_op_def_name(got), " tensor [Op:", name(),
                                "]. See docs/errors/different-dtypes.md");
      }
      if (arg.type_param >= 0 && bound_by[arg.type_param] >= 0) {
        int n = static_cast<int>(inputs.size());
        return type_error("Input '", flat_input_name(flat, n), "' of '", name(), "' Op has type ",
                          dtype_name(got), " that does not match type ", dtype_name(expected),
                          " of argument '", flat_input_name(bound_by[arg.type_param], n),
                          "'. See docs/errors/different-dtypes.md");
      }
      return type_error("Input '", arg.name, "' of '", name(), "' Op has type ", dtype_name(got),
                        " that does not match expected type of ", dtype_name(expected),
                        ". See docs/errors/different-dtypes.md");
    }
  }
  for (const ArgSpec& arg : outputs_) {
    if (arg.count_attr < 0) continue;
    const AttrField& field = attrs_type_->fields[arg.count_attr];
    const int64_t count = std::get<int64_t>(field.get(attrs.data()));
    if (count >= 0 && count <= kMaxOutputs) continue;
    Status status = invalid_argument("[", name(), "] attribute '", field.name,
                                     "', the number of outputs, must lie in [0, ", kMaxOutputs,
                                     "], got ", count);
    return eager ? status : status.as_kind(ErrorKind::kValueError);
  }
  for (size_t p = 0; p < record_.types.size(); ++p) {
    const TypeConstraint& type = record_.types[p];
    if (bindings[p] == DType::kInvalid && type_attr_[p] >= 0) {
      std::string text =
          str_cat("[", name(), "] the attribute '", type.name, "', a dtype, is not given");
      return eager ? invalid_argument(text) : type_error(text);
    }
    if (bindings[p] == DType::kInvalid || type.allowed.contains(bindings[p])) continue;
    if (type.declared.contains(bindings[p])) {
      return Status(Code::kNotFound,
                    str_cat("Could not find device for node: ", name(), " has no kernel for attr '",
                            type.name, "' of ", dtype_op_def_name(bindings[p]), ", only for ",
                            allowed_list(type.allowed), " [Op:", name(), "]"));
    }
    std::string text =
        str_cat("Value for attr '", type.name, "' of ", dtype_op_def_name(bindings[p]),
                " is not in the list of allowed values: ", allowed_list(type.allowed),
                " [Op:", name(), "]");
    return eager ? invalid_argument(text) : type_error(text);
  }
  return {};
}

int Op::num_outputs(AttrsRef attrs, int num_inputs) const {
  int total = 0;
  for (const ArgSpec& arg : outputs_) {
    if (!arg.is_list) {
      ++total;
    } else if (arg.type_list_attr >= 0) {
      auto listed = attrs_type_->fields[arg.type_list_attr].get(attrs.data());
      total += static_cast<int>(std::get<std::vector<DType>>(listed).size());
    } else if (arg.count_attr >= 0) {
      auto count = attrs_type_->fields[arg.count_attr].get(attrs.data());
      total += static_cast<int>(std::get<int64_t>(count));
    } else {  // as many as in the list of inputs
      total += list_length(*this, static_cast<size_t>(num_inputs));
    }
  }
  return total;
}

void Op::output_dtypes(const TypeBindings& bindings, AttrsRef attrs, int num_inputs,
                       InlineVector<DType, 4>& dtypes) const {
  for (const ArgSpec& arg : outputs_) {
    if (arg.type_list_attr >= 0) {
      auto listed =
          std::get<std::vector<DType>>(attrs_type_->fields[arg.type_list_attr].get(attrs.data()));
      for (DType type : listed) dtypes.push_back(type);
      continue;
    }
    DType type = arg.type_param >= 0 ? bindings[arg.type_param] : arg.fixed;
    int count = 1;
    if (arg.is_list) {
      count = num_outputs(attrs, num_inputs) - (static_cast<int>(outputs_.size()) - 1);
    }
    for (int i = 0; i < count; ++i) dtypes.push_back(type);
  }
}

std::string Op::flat_input_name(int i, int num_inputs) const {
  const int in_list = list_length(*this, static_cast<size_t>(num_inputs));
  for (const ArgSpec& arg : inputs_) {
    int count = arg.is_list ? in_list : 1;
    if (i < count) return arg.is_list ? str_cat(arg.name, "_", i) : arg.name;
    i -= count;
  }
  return "input";
}

OpRegistry& OpRegistry::global() {
  static OpRegistry* registry = new OpRegistry();
  return *registry;
}

const Op* OpRegistry::add(OpRecord record, const AttrsType& attrs) {
  auto op = std::make_unique<Op>();
  op->record_ = std::move(record);
  op->attrs_type_ = &attrs;
  op->index_ = static_cast<int>(ops_.size());
  if (Status status = op->parse(); !status.ok()) {
    errors_.push_back(str_cat(op->name(), ": ", status.message()));
  }
  if (find(op->name())) errors_.push_back(str_cat(op->name(), ": defined twice"));
  std::pair<uint64_t, const Op*> entry(hash_text(op->name()), op.get());
  by_name_.insert(std::upper_bound(by_name_.begin(), by_name_.end(), entry), entry);
  ops_.push_back(std::move(op));
  return ops_.back().get();
}

const Op* OpRegistry::find(std::string_view name) const {
  uint64_t hash = hash_text(name);
  auto at = std::lower_bound(by_name_.begin(), by_name_.end(), hash,
                             [](const auto& entry, uint64_t h) { return entry.first < h; });
  for (; at != by_name_.end() && at->first == hash; ++at) {
    if (at->second->name() == name) return at->second;
  }
  return nullptr;
}

}  // namespace graven::engine
