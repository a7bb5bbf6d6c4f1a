#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "graven/ir/graph_builder.h"
#include "graven/ir/op.h"
#include "graven/python/apply.h"
#include "graven/python/argument_kinds.h"
#include "graven/python/bind.h"
#include "graven/python/callable.h"
#include "graven/python/convert.h"
#include "graven/python/errors.h"
#include "graven/python/graph_object.h"
#include "graven/python/results.h"
#include "graven/python/tensor_object.h"
#include "graven/python/typed_operands.h"
#include "graven/runtime/eager_builder.h"

// Python's functions of the ops, made of their records: inputs in order, attributes that must be
// given, others with their defaults, then the name of the node.

namespace nb = nanobind;

namespace graven::python {
namespace {

using engine::ArgSpec;
using engine::AttrField;
using engine::AttrValue;
using engine::DType;
using engine::Op;
using engine::Status;
using engine::Tensor;
using engine::Tensors;
using engine::type_error;

const AttrField& field_of(const Op& op, int field) {
  return op.attrs_type().fields[static_cast<size_t>(field)];
}

// Attributes that follow from the inputs are no parameters: type parameters that an input has,
// lists of types, counts.
bool follows_from_inputs(const Op& op, int field) {
  std::string_view name = op.attrs_type().fields[field].name;
  for (const ArgSpec& input : op.inputs()) {
    if (input.type_list_attr == field || input.count_attr == field) return true;
    if (input.type_param >= 0 && op.type_params()[input.type_param].name == name) return true;
  }
  return false;
}

// Reads Python's value as an attribute of the type of the member.
Status read_attribute(PyObject* object, bool& member) {
  if (!PyBool_Check(object) && !PyLong_Check(object)) {
    return type_error("Expected bool, not ", text_of(object));
  }
  ASSIGN_OR_RETURN(member, to_truth(object));
  return {};
}
Status read_attribute(PyObject* object, int64_t& member) {
  ASSIGN_OR_RETURN(member, to_integer(object));
  return {};
}
Status read_attribute(PyObject* object, double& member) {
  ASSIGN_OR_RETURN(member, to_double(object));
  return {};
}
Status read_attribute(PyObject* object, std::string& member) {
  ASSIGN_OR_RETURN(member, to_text(object));
  return {};
}
Status read_attribute(PyObject* object, DType& member) {
  ASSIGN_OR_RETURN(member, to_dtype(object));
  return {};
}
Status read_attribute(PyObject* object, engine::Shape& member) {
  ASSIGN_OR_RETURN(member, to_shape(object));
  return {};
}
Status read_attribute(PyObject* object, Tensor& member) {
  ASSIGN_OR_RETURN(member, to_eager_tensor(object));
  return {};
}
// Bodies and kinds that only the optimiser makes.
template <typename T>
Status read_attribute(PyObject*, T&) {
  return type_error("This attribute cannot be given from Python");
}
template <typename T>
Status read_attribute(PyObject* object, std::vector<T>& member) {
  Object items = items_of(object, "a list");
  if (!items) {
    PyErr_Clear();
    return type_error("Expected a list, not ", text_of(object));
  }
  member.assign(static_cast<size_t>(PyTuple_GET_SIZE(items.get())), T());
  for (size_t i = 0; i < member.size(); ++i) {
    PyObject* item = PyTuple_GET_ITEM(items.get(), static_cast<Py_ssize_t>(i));
    RETURN_IF_ERROR(read_attribute(item, member[i]));
  }
  return {};
}

class OpCallable final : public Callable {
 public:
  OpCallable(const Op& op, const std::string& name, std::vector<int> attr_fields)
      : Callable(name, names_of(op, attr_fields), num_required_of(op, attr_fields)),
        op_(op),
        attr_fields_(std::move(attr_fields)) {}

  PyObject* call(std::span<PyObject* const> arguments) const override;
  Object default_of(size_t parameter) const override;
  nb::dict record() const override;

 private:
  static std::vector<std::string> names_of(const Op& op, std::span<const int> attr_fields);
  static size_t num_required_of(const Op& op, std::span<const int> attr_fields);
  Status read_attributes(std::span<PyObject* const> arguments, engine::Attrs& attrs) const;
  Status read_inputs(std::span<PyObject* const> arguments, engine::Attrs& attrs,
                     Tensors& inputs) const;
  PyObject* pack(engine::AttrsRef attrs, Tensors& outputs) const;

  const Op& op_;
  const std::vector<int> attr_fields_;  // the attributes that are parameters, in order
  mutable Object tuple_class_;          // of several outputs, made when it is first needed
};

Status OpCallable::read_attributes(std::span<PyObject* const> arguments,
                                   engine::Attrs& attrs) const {
  size_t at = op_.inputs().size();
  for (int field : attr_fields_) {
    PyObject* object = arguments[at++];
    if (!object) continue;
    const AttrField& attribute = field_of(op_, field);
    AttrValue value = attribute.get(engine::AttrsRef(attrs).data());
    // None stands for a shape that is not known.
    if (object == Py_None && !std::holds_alternative<engine::Shape>(value)) continue;
    Status status = std::visit([&](auto& member) { return read_attribute(object, member); }, value);
    if (!status.ok()) {
      return status.with_prefix(engine::str_cat("[", op_.name(), "] attribute '",
                                                op_.parameter_name(std::string(attribute.name)),
                                                "': "));
    }
    RETURN_IF_ERROR(attrs.set(attribute.name, std::move(value)));
  }
  return {};
}

Status OpCallable::read_inputs(std::span<PyObject* const> arguments, engine::Attrs& attrs,
                               Tensors& inputs) const {
  const auto type_of = [](const ArgSpec& input) {
    return OperandType{.name = input.name, .fixed = input.fixed, .type_param = input.type_param};
  };
  TypedOperands operands(op_.name(), op_.type_params().size(), op_.type_params());
  for (size_t p = 0; p < op_.type_params().size(); ++p) {
    const AttrValue given = engine::AttrsRef(attrs).get(op_.type_params()[p].name);
    if (const auto* dtype = std::get_if<DType>(&given)) {
      operands.set_type(static_cast<int>(p), *dtype);
    }
  }
  for (size_t i = 0; i < op_.inputs().size(); ++i) {
    const ArgSpec& input = op_.inputs()[i];
    operands.look_at(type_of(input), arguments[i]);
  }
  const ArgSpec* first_list = nullptr;
  size_t length = 0;
  for (size_t i = 0; i < op_.inputs().size(); ++i) {
    const ArgSpec& input = op_.inputs()[i];
    if (!input.is_list) {
      ASSIGN_OR_RETURN(Tensor tensor, operands.convert(type_of(input), arguments[i]));
      inputs.push_back(std::move(tensor));
      continue;
    }
    ASSIGN_OR_RETURN(std::vector<Tensor> items,
                     operands.convert_list(type_of(input), arguments[i]));
    // Lists of one op are equally long.
    if (first_list && items.size() != length) {
      return engine::value_error("List argument '", op_.parameter_name(input.name), "' to '",
                                 op_.name(), "' Op with length ", items.size(),
                                 " must match length ", length, " of argument '",
                                 op_.parameter_name(first_list->name), "'.");
    }
    first_list = &input;
    length = items.size();
    if (input.type_list_attr >= 0) {
      std::vector<DType> types;
      for (const Tensor& item : items) types.push_back(item.dtype());
      RETURN_IF_ERROR(attrs.set(field_of(op_, input.type_list_attr).name, std::move(types)));
    }
    if (input.count_attr >= 0) {
      RETURN_IF_ERROR(
          attrs.set(field_of(op_, input.count_attr).name, static_cast<int64_t>(items.size())));
    }
    for (Tensor& item : items) inputs.push_back(std::move(item));
  }
  return {};
}

PyObject* OpCallable::call(std::span<PyObject* const> arguments) const {
  engine::Attrs attrs(op_.attrs_type());
  if (Status status = read_attributes(arguments, attrs); !status.ok()) return raise(status);
  std::string wished;
  PyObject* name = arguments.back();
  if (name && name != Py_None) {
    auto text = to_text(name);
    if (!text.ok()) return raise(text.status());
    wished = std::move(*text);
    if (engine::Frame::current().is_graph()) {
      if (Status status = check_node_name(wished); !status.ok()) return raise(status);
    }
  } else if (engine::Frame::current().is_graph()) {
    const std::string& usual = op_.record().default_node_name;
    wished = usual.empty() ? op_.name() : usual;
  }
  NodeScope scope(wished);
  Tensors inputs;
  if (Status status = read_inputs(arguments, attrs, inputs); !status.ok()) return raise(status);
  auto outputs = engine::apply(op_, {inputs.data(), inputs.size()}, attrs, scope.name());
  return outputs.ok() ? pack(attrs, *outputs) : raise(outputs.status());
}

// How many of the flat outputs belong to each argument of the op.
std::vector<int> output_counts(const Op& op, engine::AttrsRef attrs, int num_outputs) {
  std::vector<int> counts;
  int known = 0, open = -1;
  for (const ArgSpec& output : op.outputs()) {
    int count = 1;
    if (output.is_list) {
      count = -1;
      if (output.type_list_attr >= 0) {
        AttrValue types = output.type_list_attr >= 0
                              ? attrs.type().fields[output.type_list_attr].get(attrs.data())
                              : AttrValue();
        if (const auto* list = std::get_if<std::vector<DType>>(&types)) {
          count = static_cast<int>(list->size());
        }
      } else if (output.count_attr >= 0) {
        AttrValue number = attrs.type().fields[output.count_attr].get(attrs.data());
        if (const auto* n = std::get_if<int64_t>(&number)) count = static_cast<int>(*n);
      }
    }
    if (count < 0) {
      open = static_cast<int>(counts.size());
    } else {
      known += count;
    }
    counts.push_back(count);
  }
  // A list as long as an input's takes the remaining outputs.
  if (open >= 0) counts[open] = num_outputs - known;
  return counts;
}

PyObject* OpCallable::pack(engine::AttrsRef attrs, Tensors& outputs) const {
  const auto specs = op_.outputs();
  if (specs.size() == 1 && !specs[0].is_list) return wrap(std::move(outputs[0]));
  if (specs.empty()) return operation_or_none(0);
  const std::vector<int> counts = output_counts(op_, attrs, static_cast<int>(outputs.size()));
  const std::span<Tensor> flat(outputs.begin(), outputs.size());
  if (counts.size() == 1) return list_of(flat.first(static_cast<size_t>(counts[0]))).release();
  Object parts = Object::take(PyTuple_New(static_cast<Py_ssize_t>(counts.size())));
  size_t next = 0;
  for (size_t i = 0; parts && i < counts.size(); ++i) {
    const auto count = static_cast<size_t>(counts[i]);
    Object part = specs[i].is_list ? list_of(flat.subspan(next, count))
                                   : Object::take(wrap(std::move(flat[next])));
    if (!part) return nullptr;
    PyTuple_SET_ITEM(parts.get(), static_cast<Py_ssize_t>(i), part.release());
    next += count;
  }
  if (!tuple_class_) {
    std::vector<std::string> names;
    for (const ArgSpec& output : specs) names.push_back(output.name);
    Object made = named_tuple_class(op_.name(), names);
    if (!tuple_class_) tuple_class_ = std::move(made);  // or another thread was first
  }
  if (!tuple_class_ || !parts) return nullptr;
  return run_python<PyObject_CallObject>(tuple_class_.get(), parts.get());
}

std::vector<std::string> OpCallable::names_of(const Op& op, std::span<const int> attr_fields) {
  std::vector<std::string> names;
  for (const ArgSpec& input : op.inputs()) names.push_back(op.parameter_name(input.name));
  for (int field : attr_fields) {
    names.push_back(op.parameter_name(std::string(field_of(op, field).name)));
  }
  names.emplace_back("name");
  return names;
}

size_t OpCallable::num_required_of(const Op& op, std::span<const int> attr_fields) {
  return op.inputs().size() +
         static_cast<size_t>(std::ranges::count_if(
             attr_fields, [&](int field) { return field_of(op, field).is_required; }));
}

// The function of an op: the parameters without defaults come first.
std::unique_ptr<Callable> callable_of(const Op& op, const std::string& name) {
  std::vector<int> fields;
  for (bool is_required : {true, false}) {
    for (int i = 0; i < static_cast<int>(op.attrs_type().fields.size()); ++i) {
      if (field_of(op, i).is_required == is_required && !follows_from_inputs(op, i)) {
        fields.push_back(i);
      }
    }
  }
  return std::make_unique<OpCallable>(op, name, std::move(fields));
}

// A default as Python writes it: text is not bytes.
Object default_value(const AttrValue& value) {
  if (const auto* text = std::get_if<std::string>(&value)) {
    return Object::take(
        PyUnicode_FromStringAndSize(text->data(), static_cast<Py_ssize_t>(text->size())));
  }
  return Object::take(wrap_attribute(value));
}

Object OpCallable::default_of(size_t parameter) const {
  const size_t at = parameter - op_.inputs().size();
  if (at >= attr_fields_.size()) return Object::borrow(Py_None);  // the name
  engine::Attrs attrs(op_.attrs_type());
  engine::AttrsRef values = attrs;
  return default_value(field_of(op_, attr_fields_[at]).get(values.data()));
}

// The names of attributes' types in OpDefs, by their index in AttrValue.
constexpr std::string_view kAttrTypes[] = {
    "",           "bool",        "int",        "float",     "string",      "type",
    "shape",      "tensor",      "func",       "list(int)", "list(float)", "list(string)",
    "list(type)", "list(shape)", "list(func)", "fusion"};
static_assert(std::size(kAttrTypes) == std::variant_size_v<AttrValue>);

nb::dict OpCallable::record() const {
  const engine::OpRecord& record = op_.record();
  nb::dict result;
  result["name"] = record.name;
  result["python"] = record.python;
  result["summary"] = record.summary;
  result["details"] = record.details;
  nb::list inputs, outputs;
  for (const std::string& input : record.inputs) {
    const size_t colon = std::min(input.find(':'), input.size());
    inputs.append(nb::cast(op_.parameter_name(input.substr(0, colon)) + input.substr(colon)));
  }
  for (const std::string& output : record.outputs) outputs.append(nb::cast(output));
  result["inputs"] = inputs;
  result["outputs"] = outputs;
  result["types"] = types_to_python(record.types);
  nb::dict attributes;
  for (int field : attr_fields_) {
    const std::string name = op_.parameter_name(std::string(field_of(op_, field).name));
    attributes[nb::cast(name)] = nb::cast(std::string(kAttrTypes[field_of(op_, field).kind]));
  }
  result["attributes"] = attributes;
  result["is_differentiable"] =
      record.gradient != nullptr && record.gradient != engine::not_differentiable;
  result["is_stateful"] = op_.is_stateful_ever();
  return result;
}

// The public names of a record: "math.add, add".
template <typename F>
void for_each_public_name(const Op& op, F&& f) {
  std::string_view names = op.record().python;
  while (!names.empty()) {
    size_t comma = names.find(',');
    std::string_view name = names.substr(0, comma);
    while (!name.empty() && name.front() == ' ') name.remove_prefix(1);
    if (!name.empty()) f(name);
    names = comma == std::string_view::npos ? std::string_view() : names.substr(comma + 1);
  }
}

// An op with an attribute that Python cannot give is the optimiser's own, and an op whose name
// begins with _ is a part of another.
bool is_offered(const Op& op) {
  if (op.name().starts_with('_')) return false;
  return std::ranges::none_of(op.attrs_type().fields, [](const engine::AttrField& field) {
    return field.is<engine::Ref<const engine::Fusion>>();
  });
}

}  // namespace

void bind_op_function(nb::module_& m) {
  m.def(
      "raw_op",
      [](const std::string& name) -> nb::object {
        const Op* op = engine::OpRegistry::global().find(name);
        return op && is_offered(*op) ? steal(wrap(callable_of(*op, "raw_ops." + name)))
                                     : nb::none();
      },
      nb::arg("name"), "The function of an op by its OpDef name, or None.");
  m.def(
      "declared_dtypes",
      [](const std::string& op, const std::string& attribute) {
        std::vector<std::string> names;
        const Op* found = engine::OpRegistry::global().find(op);
        if (!found) return names;
        for (const engine::TypeConstraint& type : found->type_params()) {
          for (int d = 0; type.name == attribute && d < engine::kNumDTypes; ++d) {
            const auto dtype = static_cast<engine::DType>(d);
            if ((type.allowed | type.declared).contains(dtype))
              names.emplace_back(dtype_name(dtype));
          }
        }
        return names;
      },
      nb::arg("op"), nb::arg("attribute"),
      "The dtypes that an OpDef declares for a type attribute, with a kernel here or without.");
  m.def(
      "op_names",
      [] {
        nb::list names;
        for (const auto& op : engine::OpRegistry::global().ops()) {
          if (is_offered(*op)) names.append(nb::cast(op->name()));
        }
        return names;
      },
      "The OpDef names of all ops but those that only Graven itself applies.");
  m.def(
      "public_op_names",
      [] {
        nb::dict names;
        for (const auto& op : engine::OpRegistry::global().ops()) {
          for_each_public_name(*op, [&](std::string_view name) {
            names[nb::cast(std::string(name))] = nb::cast(op->name());
          });
        }
        return names;
      },
      "The OpDef name of each public name, such as math.add.");
  m.def(
      "public_op",
      [](const std::string& public_name, const std::string& op_name) -> nb::object {
        const Op* op = engine::OpRegistry::global().find(op_name);
        if (!op) return nb::none();
        return steal(wrap(callable_of(*op, public_name)));
      },
      nb::arg("public_name"), nb::arg("op_name"), "The function of an op under a public name.");
  m.def("registry_errors", [] {
    nb::list errors;
    for (const std::string& error : engine::OpRegistry::global().errors()) {
      errors.append(nb::cast(error));
    }
    return errors;
  });
}

}  // namespace graven::python
