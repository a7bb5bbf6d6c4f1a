#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <structmember.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "graven/ir/graph_builder.h"
#include "graven/ir/op.h"
#include "graven/python/apply.h"
#include "graven/python/bind.h"
#include "graven/python/convert.h"
#include "graven/python/errors.h"
#include "graven/python/graph_object.h"
#include "graven/python/object.h"
#include "graven/python/tensor_object.h"
#include "graven/python/variable_object.h"
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
using engine::InlineVector;
using engine::Op;
using engine::Result;
using engine::Status;
using engine::Tensor;
using engine::Tensors;
using engine::type_error;

struct OpFunctionObject {
  PyObject_HEAD vectorcallfunc vectorcall;
  const Op* op;
  PyObject* name;                 // str: "relu", or the op's own name in raw_ops
  PyObject* parameters;           // tuple of interned str
  std::vector<int>* attr_fields;  // the fields of the attributes that are parameters, in order
  PyObject* output_type;          // a named tuple's class, or null
  PyObject* dict;
  PyObject* weak_references;
};

PyTypeObject* op_function_type = nullptr;

OpFunctionObject* self_of(PyObject* object) { return reinterpret_cast<OpFunctionObject*>(object); }

std::string text_of(PyObject* object) {
  Object text = Object::take(run_python<PyObject_Repr>(object));
  const char* utf8 = text ? PyUnicode_AsUTF8(text.get()) : nullptr;
  if (!utf8) PyErr_Clear();
  return utf8 ? utf8 : "<?>";
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

template <typename T, typename F>
Result<AttrValue> list_attribute(PyObject* object, F&& convert) {
  Object items = items_of(object, "a list");
  if (!items) {
    PyErr_Clear();
    return type_error("Expected a list, not ", text_of(object));
  }
  std::vector<T> values;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(items.get()); ++i) {
    ASSIGN_OR_RETURN(T value, convert(PyTuple_GET_ITEM(items.get(), i)));
    values.push_back(std::move(value));
  }
  return AttrValue(std::move(values));
}

Result<int64_t> to_integer(PyObject* object) {
  if (PyBool_Check(object) || !PyIndex_Check(object)) {
    return type_error("Expected int, not ", text_of(object));
  }
  Object number = Object::take(run_python<PyNumber_Index>(object));
  int64_t value = number ? PyLong_AsLongLong(number.get()) : -1;
  if (value == -1 && PyErr_Occurred()) return pending_exception();
  return value;
}

Result<double> to_double(PyObject* object) {
  double value = PyFloat_AsDouble(object);
  if (value == -1 && PyErr_Occurred()) {
    PyErr_Clear();
    return type_error("Expected float, not ", text_of(object));
  }
  return value;
}

Result<std::string> to_text(PyObject* object) {
  if (PyBytes_Check(object)) {
    return std::string(PyBytes_AS_STRING(object), static_cast<size_t>(PyBytes_GET_SIZE(object)));
  }
  Py_ssize_t size = 0;
  const char* data = PyUnicode_Check(object) ? PyUnicode_AsUTF8AndSize(object, &size) : nullptr;
  if (data) return std::string(data, static_cast<size_t>(size));
  PyErr_Clear();
  return type_error("Expected string, not ", text_of(object));
}

template <typename T>
constexpr size_t kind_index() {
  return AttrValue(std::in_place_type<T>).index();
}

Result<AttrValue> to_attribute(PyObject* object, size_t kind) {
  auto wrapped = [](auto result) -> Result<AttrValue> {
    if (!result.ok()) return result.status();
    return AttrValue(std::move(*result));
  };
  switch (kind) {
    case 1: {  // bool
      int truth =
          PyBool_Check(object) || PyLong_Check(object) ? run_python<PyObject_IsTrue>(object) : -1;
      if (truth < 0) {
        PyErr_Clear();
        return type_error("Expected bool, not ", text_of(object));
      }
      return AttrValue(truth == 1);
    }
    case 2:
      return wrapped(to_integer(object));
    case 3:
      return wrapped(to_double(object));
    case 4:
      return wrapped(to_text(object));
    case 5:
      return wrapped(to_dtype(object));
    case 6:
      return wrapped(to_shape(object));
    case 7:
      return wrapped(to_eager_tensor(object));
    case 9:
      return list_attribute<int64_t>(object, to_integer);
    case 10:
      return list_attribute<double>(object, to_double);
    case 11:
      return list_attribute<std::string>(object, to_text);
    case 12:
      return list_attribute<DType>(object, to_dtype);
    case 13:
      return list_attribute<engine::Shape>(object, to_shape);
    default:
      return type_error("This attribute cannot be given from Python");
  }
}
static_assert(
    std::is_same_v<std::variant_alternative_t<5, AttrValue>, DType> &&
    std::is_same_v<std::variant_alternative_t<13, AttrValue>, std::vector<engine::Shape>>);

std::optional<DType> dtype_if_tensor(PyObject* object) {
  if (is_tensor(object)) return tensor_of(object).dtype();
  if (variable_base_type && is_variable(object)) return variable_of(object)->variable()->dtype();
  return std::nullopt;
}

// One call: arguments to tensors and attributes, the op, and the outputs.
class Call {
 public:
  Call(OpFunctionObject* self, std::span<PyObject*> arguments)
      : self_(self), op_(*self->op), arguments_(arguments), attrs_(op_.attrs_type()) {}

  Result<Tensors> run() {
    RETURN_IF_ERROR(read_attributes());
    PyObject* name = arguments_.back();
    std::string wished;
    if (name && name != Py_None) {
      ASSIGN_OR_RETURN(wished, to_text(name));
      if (engine::Frame::current().is_graph()) RETURN_IF_ERROR(check_node_name(wished));
    } else if (engine::Frame::current().is_graph()) {
      const std::string& usual = op_.record().default_node_name;
      wished = usual.empty() ? op_.name() : usual;
    }
    NodeScope scope(wished);
    find_dtypes();
    for (size_t i = 0; i < op_.inputs().size(); ++i) {
      Status status = read_input(static_cast<int>(i));
      if (!status.ok()) {
        return status;
      }
    }
    return engine::apply(op_, {inputs_.data(), inputs_.size()}, attrs_, scope.name());
  }

  int num_inputs() const { return static_cast<int>(inputs_.size()); }
  const engine::Attrs& attrs() const { return attrs_; }

 private:
  Status read_attributes() {
    size_t at = op_.inputs().size();
    for (int field : *self_->attr_fields) {
      PyObject* object = arguments_[at++];
      const AttrField& attribute = op_.attrs_type().fields[field];
      if (!object) continue;
      // None is what a type or shape that is not known is called.
      if (object == Py_None && attribute.kind != 6) continue;
      auto value = to_attribute(object, attribute.kind);
      if (!value.ok()) {
        return value.status().with_prefix(
            engine::str_cat("[", op_.name(), "] attribute '",
                            op_.parameter_name(std::string(attribute.name)), "': "));
      }
      RETURN_IF_ERROR(attrs_.set(attribute.name, std::move(*value)));
    }
    return {};
  }

  // Python values take the dtype of the tensors with the same type parameter.
  void find_dtypes() {
    for (size_t i = 0; i < op_.type_params().size(); ++i) dtypes_.push_back(DType::kInvalid);
    engine::AttrsRef attrs = attrs_;
    for (const AttrField& field : attrs.type().fields) {
      for (size_t p = 0; p < dtypes_.size(); ++p) {
        if (field.name != op_.type_params()[p].name) continue;
        AttrValue given = field.get(attrs.data());
        if (const auto* dtype = std::get_if<DType>(&given)) dtypes_[p] = *dtype;
      }
    }
    // Where a function is traced, no value is cut to the dtype of a tensor that comes after it.
    if (engine::Frame::current().is_graph()) return;
    for (size_t i = 0; i < op_.inputs().size(); ++i) {
      const ArgSpec& input = op_.inputs()[i];
      if (input.type_param < 0 || dtypes_[input.type_param] != DType::kInvalid) continue;
      find_dtype(input, arguments_[i]);
    }
  }

  void find_dtype(const ArgSpec& input, PyObject* object) {
    if (auto dtype = dtype_if_tensor(object)) {
      dtypes_[input.type_param] = *dtype;
    } else if (input.is_list && (PyList_Check(object) || PyTuple_Check(object))) {
      for (Py_ssize_t j = 0; j < PySequence_Fast_GET_SIZE(object); ++j) {
        if (auto of_item = dtype_if_tensor(PySequence_Fast_GET_ITEM(object, j))) {
          dtypes_[input.type_param] = *of_item;
          break;
        }
      }
    }
  }

  // An empty list is one of floats, unless the op wants axes, sizes or places.
  bool takes_indices(const ArgSpec& input) const {
    if (input.type_param < 0) return false;
    const engine::DTypeSet& allowed = op_.type_params()[input.type_param].allowed;
    return allowed.contains(DType::kInt32) && !allowed.contains(DType::kUInt64) &&
           !allowed.contains(DType::kFloat32);
  }
  // A list without a number at any depth; one that is deeper than a tensor can be is none.
  static bool is_empty_list(PyObject* object, int max_depth = 32) {
    if (!PyList_Check(object) && !PyTuple_Check(object)) return false;
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(object); ++i) {
      PyObject* item = PySequence_Fast_GET_ITEM(object, i);
      if (max_depth == 0 || !is_empty_list(item, max_depth - 1)) return false;
    }
    return true;
  }

  Status add(PyObject* object, const ArgSpec& input, std::string_view name) {
    if (is_tensor(object)) {
      inputs_.push_back(operand_of(object));
    } else if (input.fixed == DType::kResource && variable_base_type && is_variable(object)) {
      inputs_.push_back(variable_of(object)->handle);
    } else {
      std::optional<DType> dtype;
      if (input.fixed != DType::kInvalid) dtype = input.fixed;
      if (input.type_param >= 0 && dtypes_[input.type_param] != DType::kInvalid) {
        dtype = dtypes_[input.type_param];
      }
      if (!dtype && is_empty_list(object) && takes_indices(input)) dtype = DType::kInt32;
      bool is_value = variable_base_type && is_variable(object);
      ASSIGN_OR_RETURN(Tensor tensor, to_tensor(object, is_value ? std::nullopt : dtype, name));
      inputs_.push_back(std::move(tensor));
    }
    if (input.type_param >= 0 && dtypes_[input.type_param] == DType::kInvalid) {
      dtypes_[input.type_param] = inputs_.back().dtype();
    }
    return {};
  }

  // Where a function is traced, values of a list without tensors must agree by themselves: nothing
  // is cut to the dtype of the first, as it is eagerly.
  Status check_all_alike(const ArgSpec& input, const std::vector<DType>& types) const {
    if (std::adjacent_find(types.begin(), types.end(), std::not_equal_to<>()) == types.end()) {
      return {};
    }
    std::string names;
    for (DType type : types) {
      names += names.empty() ? "" : ", ";
      names += dtype_name(type);
    }
    return type_error("Tensors in list passed to '", input.name, "' of '", op_.name(),
                      "' Op have types [", names, "] that don't all match.");
  }

  Status read_input(int i) {
    const ArgSpec& input = op_.inputs()[i];
    PyObject* object = arguments_[i];
    if (!input.is_list) return add(object, input, input.name);
    if (is_tensor(object)) {
      return type_error("Expected list for '", input.name, "' argument to '", op_.name(),
                        "' Op, not ", text_of(object), ".");
    }
    Object items = items_of(object, "a list");
    if (!items) {
      PyErr_Clear();
      return type_error("Expected list for '", input.name, "' argument to '", op_.name(),
                        "' Op, not ", text_of(object), ".");
    }
    Py_ssize_t n = PyTuple_GET_SIZE(items.get());
    std::vector<DType> types;
    if (input.type_param >= 0 && dtypes_[input.type_param] == DType::kInvalid) {
      find_dtype(input, items.get());
    }
    const bool each_as_it_comes = engine::Frame::current().is_graph() && input.type_param >= 0 &&
                                  dtypes_[input.type_param] == DType::kInvalid;
    for (Py_ssize_t j = 0; j < n; ++j) {
      if (each_as_it_comes) dtypes_[input.type_param] = DType::kInvalid;
      RETURN_IF_ERROR(
          add(PyTuple_GET_ITEM(items.get(), j), input, engine::str_cat(input.name, "_", j)));
      types.push_back(inputs_.back().dtype());
    }
    if (each_as_it_comes) RETURN_IF_ERROR(check_all_alike(input, types));
    if (input.type_list_attr >= 0) {
      RETURN_IF_ERROR(
          attrs_.set(op_.attrs_type().fields[input.type_list_attr].name, std::move(types)));
    }
    if (input.count_attr >= 0) {
      RETURN_IF_ERROR(
          attrs_.set(op_.attrs_type().fields[input.count_attr].name, static_cast<int64_t>(n)));
    }
    return {};
  }

  OpFunctionObject* self_;
  const Op& op_;
  std::span<PyObject*> arguments_;
  engine::Attrs attrs_;
  InlineVector<DType, 4> dtypes_;
  Tensors inputs_;
};

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
  // A list as long as an input's takes what is left.
  if (open >= 0) counts[open] = num_outputs - known;
  return counts;
}

Object list_of(Tensors& outputs, int first, int count) {
  Object list = Object::take(PyList_New(count));
  for (int i = 0; list && i < count; ++i) {
    PyObject* item = wrap(std::move(outputs[first + i]));
    if (!item) return {};
    PyList_SET_ITEM(list.get(), i, item);
  }
  return list;
}

// The class of the named tuple of several outputs.
PyObject* output_type(OpFunctionObject* self) {
  if (self->output_type) return self->output_type;
  const Op& op = *self->op;
  Object names = Object::take(PyList_New(0));
  for (const ArgSpec& output : op.outputs()) {
    Object name = Object::take(PyUnicode_FromString(output.name.c_str()));
    if (!name || PyList_Append(names.get(), name.get()) < 0) return nullptr;
  }
  Object collections = Object::take(run_python<PyImport_ImportModule>("collections"));
  if (!collections) return nullptr;
  Object made = Object::take(run_python<PyObject_CallMethod>(collections.get(), "namedtuple", "sO",
                                                             op.name().c_str(), names.get()));
  if (!self->output_type) self->output_type = made.release();  // or another thread was first
  return self->output_type;
}

PyObject* pack_outputs(OpFunctionObject* self, const Call& call, Tensors& outputs) {
  const Op& op = *self->op;
  if (op.outputs().size() == 1 && !op.outputs()[0].is_list) return wrap(std::move(outputs[0]));
  if (op.outputs().empty()) {
    engine::Frame& frame = engine::Frame::current();
    if (!frame.is_graph() || frame.graph()->nodes().empty()) Py_RETURN_NONE;
    return wrap_operation(frame.graph_builder()->graph_ref(), frame.graph()->nodes().back());
  }
  std::vector<int> counts = output_counts(op, call.attrs(), static_cast<int>(outputs.size()));
  if (counts.size() == 1) return list_of(outputs, 0, counts[0]).release();
  Object parts = Object::take(PyTuple_New(static_cast<Py_ssize_t>(counts.size())));
  int next = 0;
  for (size_t i = 0; parts && i < counts.size(); ++i) {
    Object part = op.outputs()[i].is_list ? list_of(outputs, next, counts[i])
                                          : Object::take(wrap(std::move(outputs[next])));
    if (!part) return nullptr;
    PyTuple_SET_ITEM(parts.get(), static_cast<Py_ssize_t>(i), part.release());
    next += counts[i];
  }
  PyObject* type = output_type(self);
  return type && parts ? run_python<PyObject_CallObject>(type, parts.get()) : nullptr;
}

const AttrField& field_of(OpFunctionObject* self, int field) {
  return self->op->attrs_type().fields[static_cast<size_t>(field)];
}

// The parameters without defaults come first.
Py_ssize_t num_required(OpFunctionObject* self) {
  auto is_required = [&](int field) { return field_of(self, field).is_required; };
  return static_cast<Py_ssize_t>(self->op->inputs().size()) +
         std::count_if(self->attr_fields->begin(), self->attr_fields->end(), is_required);
}

PyObject* vectorcall(PyObject* object, PyObject* const* args, size_t nargsf, PyObject* keywords) {
  OpFunctionObject* self = self_of(object);
  Py_ssize_t nargs = PyVectorcall_NARGS(nargsf), n = PyTuple_GET_SIZE(self->parameters);
  if (nargs > n) {
    return PyErr_Format(PyExc_TypeError,
                        "%U() takes at most %zd positional arguments but %zd were "
                        "given",
                        self->name, n, nargs);
  }
  InlineVector<PyObject*, 16> bound(static_cast<size_t>(n), nullptr);
  std::copy(args, args + nargs, bound.begin());
  Py_ssize_t num_keywords = keywords ? PyTuple_GET_SIZE(keywords) : 0;
  for (Py_ssize_t k = 0; k < num_keywords; ++k) {
    PyObject* name = PyTuple_GET_ITEM(keywords, k);
    Py_ssize_t at = 0;
    while (at < n && PyTuple_GET_ITEM(self->parameters, at) != name &&
           PyUnicode_Compare(PyTuple_GET_ITEM(self->parameters, at), name) != 0) {
      ++at;
    }
    if (at == n) {
      return PyErr_Format(PyExc_TypeError, "%U() got an unexpected keyword argument '%U'",
                          self->name, name);
    }
    if (bound[at]) {
      return PyErr_Format(PyExc_TypeError, "%U() got multiple values for argument '%U'", self->name,
                          name);
    }
    bound[at] = args[nargs + k];
  }
  for (Py_ssize_t i = 0; i < num_required(self); ++i) {
    if (!bound[i]) {
      return PyErr_Format(PyExc_TypeError, "%U() missing required argument: '%U'", self->name,
                          PyTuple_GET_ITEM(self->parameters, i));
    }
  }
  Call call(self, {bound.begin(), bound.size()});
  auto outputs = call.run();
  if (!outputs.ok()) return raise(outputs.status());
  return pack_outputs(self, call, *outputs);
}

void dealloc(PyObject* object) {
  OpFunctionObject* self = self_of(object);
  if (self->weak_references) PyObject_ClearWeakRefs(object);
  Py_CLEAR(self->name);
  Py_CLEAR(self->parameters);
  Py_CLEAR(self->output_type);
  Py_CLEAR(self->dict);
  delete self->attr_fields;
  PyTypeObject* type = Py_TYPE(object);
  type->tp_free(object);
  Py_DECREF(type);
}

PyObject* make(const Op& op, const char* name) {
  Object object = Object::take(op_function_type->tp_alloc(op_function_type, 0));
  if (!object) return nullptr;
  OpFunctionObject* self = self_of(object.get());
  self->vectorcall = vectorcall;
  self->op = &op;
  self->attr_fields = new std::vector<int>();
  self->name = PyUnicode_FromString(name);
  std::vector<std::string> names;
  for (const ArgSpec& input : op.inputs()) names.push_back(op.parameter_name(input.name));
  for (bool is_required : {true, false}) {
    for (int i = 0; i < static_cast<int>(op.attrs_type().fields.size()); ++i) {
      const AttrField& field = field_of(self, i);
      if (field.is_required != is_required || follows_from_inputs(op, i)) continue;
      self->attr_fields->push_back(i);
      names.push_back(op.parameter_name(std::string(field.name)));
    }
  }
  names.emplace_back("name");
  self->parameters = PyTuple_New(static_cast<Py_ssize_t>(names.size()));
  if (!self->name || !self->parameters) return nullptr;
  for (size_t i = 0; i < names.size(); ++i) {
    PyObject* text = PyUnicode_InternFromString(names[i].c_str());
    if (!text) return nullptr;
    PyTuple_SET_ITEM(self->parameters, static_cast<Py_ssize_t>(i), text);
  }
  return object.release();
}

PyObject* get_name(PyObject* object, void*) { return Py_NewRef(self_of(object)->name); }

// A default as Python writes it: text is not bytes.
Object default_of(const AttrValue& value) {
  if (const auto* text = std::get_if<std::string>(&value)) {
    return Object::take(
        PyUnicode_FromStringAndSize(text->data(), static_cast<Py_ssize_t>(text->size())));
  }
  return Object::take(wrap_attribute(value));
}

// (parameter, default): those that must be given have no default, which is an empty tuple.
PyObject* get_defaults(PyObject* object, void*) {
  OpFunctionObject* self = self_of(object);
  engine::Attrs attrs(self->op->attrs_type());
  engine::AttrsRef values = attrs;
  Object list = Object::take(PyList_New(0));
  const Py_ssize_t num_inputs = static_cast<Py_ssize_t>(self->op->inputs().size());
  const Py_ssize_t required = num_required(self);
  for (Py_ssize_t i = 0; list && i < PyTuple_GET_SIZE(self->parameters); ++i) {
    PyObject* parameter = PyTuple_GET_ITEM(self->parameters, i);
    Object value = Object::borrow(Py_None);
    if (i < required) {
      value = Object::take(PyTuple_New(0));
    } else if (i + 1 < PyTuple_GET_SIZE(self->parameters)) {
      const int field = (*self->attr_fields)[static_cast<size_t>(i - num_inputs)];
      value = default_of(field_of(self, field).get(values.data()));
    }
    Object pair = value ? Object::take(PyTuple_Pack(2, parameter, value.get())) : Object();
    if (!pair || PyList_Append(list.get(), pair.get()) < 0) return nullptr;
  }
  return list.release();
}

// What OpDefs call the types of attributes, by their index in AttrValue.
constexpr std::string_view kAttrTypes[] = {
    "",           "bool",        "int",        "float",     "string",      "type",
    "shape",      "tensor",      "func",       "list(int)", "list(float)", "list(string)",
    "list(type)", "list(shape)", "list(func)", "fusion"};
static_assert(std::size(kAttrTypes) == std::variant_size_v<AttrValue>);

// The texts of the record, of which graven._op_docs makes a docstring and a signature, and with the
// types of the attributes that are parameters tools/stubs.py a stub.
PyObject* get_record(PyObject* object, void*) {
  const engine::OpRecord& record = self_of(object)->op->record();
  nb::dict result;
  result["name"] = record.name;
  result["python"] = record.python;
  result["summary"] = record.summary;
  result["details"] = record.details;
  nb::list inputs, outputs, types;
  for (const std::string& input : record.inputs) {
    const size_t colon = std::min(input.find(':'), input.size());
    inputs.append(nb::cast(self_of(object)->op->parameter_name(input.substr(0, colon)) +
                           input.substr(colon)));
  }
  for (const std::string& output : record.outputs) outputs.append(nb::cast(output));
  for (const engine::TypeConstraint& type : record.types) {
    nb::list names;
    for (int d = 0; d < engine::kNumDTypes; ++d) {
      if (type.allowed.contains(static_cast<DType>(d))) {
        names.append(nb::cast(std::string(dtype_name(static_cast<DType>(d)))));
      }
    }
    types.append(nb::make_tuple(type.name, names));
  }
  result["inputs"] = inputs;
  result["outputs"] = outputs;
  result["types"] = types;
  nb::dict attributes;
  for (int field : *self_of(object)->attr_fields) {
    const AttrField& attribute = field_of(self_of(object), field);
    const std::string name = self_of(object)->op->parameter_name(std::string(attribute.name));
    attributes[nb::cast(name)] = nb::cast(std::string(kAttrTypes[attribute.kind]));
  }
  result["attributes"] = attributes;
  result["is_differentiable"] =
      record.gradient != nullptr && record.gradient != engine::not_differentiable;
  result["is_stateful"] = self_of(object)->op->is_stateful_ever();
  return result.release().ptr();
}

PyObject* from_docs(PyObject* self, const char* function) {
  Object module = Object::take(run_python<PyImport_ImportModule>("graven._op_docs"));
  return module ? run_python<PyObject_CallMethod>(module.get(), function, "O", self) : nullptr;
}
PyObject* get_doc(PyObject* self, void*) { return from_docs(self, "docstring"); }
PyObject* get_signature(PyObject* self, void*) { return from_docs(self, "signature"); }

PyObject* repr(PyObject* self) {
  return PyUnicode_FromFormat("<function %U of the op %s>", self_of(self)->name,
                              self_of(self)->op->name().c_str());
}

PyGetSetDef properties[] = {
    {"__name__", get_name, nullptr, nullptr, nullptr},
    {"__qualname__", get_name, nullptr, nullptr, nullptr},
    {"__doc__", get_doc, nullptr, nullptr, nullptr},
    {"__signature__", get_signature, nullptr, nullptr, nullptr},
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr, nullptr},
    {"_parameters", get_defaults, nullptr, nullptr, nullptr},
    {"_record", get_record, nullptr, nullptr, nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};
PyMemberDef members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(OpFunctionObject, vectorcall), READONLY, nullptr},
    {"__dictoffset__", T_PYSSIZET, offsetof(OpFunctionObject, dict), READONLY, nullptr},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(OpFunctionObject, weak_references), READONLY,
     nullptr},
    {nullptr, 0, 0, 0, nullptr}};
PyType_Slot slots[] = {{Py_tp_dealloc, reinterpret_cast<void*>(dealloc)},
                       {Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
                       {Py_tp_repr, reinterpret_cast<void*>(repr)},
                       {Py_tp_getset, properties},
                       {Py_tp_members, members},
                       {0, nullptr}};
PyType_Spec spec = {
    "graven._engine.OpFunction", sizeof(OpFunctionObject), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};

nb::object steal(PyObject* object) {
  if (!object) throw nb::python_error();
  return nb::steal(object);
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

// An op with an attribute that nobody can give from outside is the optimiser's own, and one whose
// name begins with _ a part of another.
bool is_offered(const Op& op) {
  if (op.name().starts_with('_')) return false;
  static const size_t fusion = engine::AttrValue(engine::Ref<const engine::Fusion>()).index();
  return std::ranges::none_of(op.attrs_type().fields,
                              [](const engine::AttrField& field) { return field.kind == fusion; });
}

}  // namespace

void bind_op_function(nb::module_& m) {
  op_function_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
  if (!op_function_type) throw nb::python_error();
  m.attr("OpFunction") = nb::handle(reinterpret_cast<PyObject*>(op_function_type));
  m.def(
      "raw_op",
      [](const std::string& name) -> nb::object {
        const Op* op = engine::OpRegistry::global().find(name);
        return op && is_offered(*op) ? steal(make(*op, name.c_str())) : nb::none();
      },
      nb::arg("name"), "The function of an op by its OpDef name, or None.");
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
        size_t dot = public_name.rfind('.');
        return steal(make(*op, public_name.c_str() + (dot == std::string::npos ? 0 : dot + 1)));
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
