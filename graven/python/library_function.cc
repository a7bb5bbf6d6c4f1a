#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "graven/ir/frame.h"
#include "graven/library/function.h"
#include "graven/python/apply.h"
#include "graven/python/argument_kinds.h"
#include "graven/python/bind.h"
#include "graven/python/callable.h"
#include "graven/python/convert.h"
#include "graven/python/errors.h"
#include "graven/python/numpy.h"
#include "graven/python/tensor_object.h"
#include "graven/python/typed_operands.h"
#include "graven/python/user_callable.h"
#include "graven/python/value.h"
#include "graven/python/variable_object.h"

// Python's functions of the records of graven/library: their parameters in order, then the name of
// the node.

namespace nb = nanobind;

namespace graven::python {
namespace {

using engine::DType;
using engine::ParameterField;
using engine::ParameterRole;
using engine::PublicFunction;
using engine::Result;
using engine::Status;
using engine::Tensor;

bool is_default_number(PyObject* object, const engine::DefaultNumber& number) {
  if (std::holds_alternative<std::monostate>(number)) return false;
  if (PyBool_Check(object) || !(PyLong_Check(object) || PyFloat_Check(object))) return false;
  const double value = PyFloat_AsDouble(object);
  if (value == -1 && PyErr_Occurred()) {
    PyErr_Clear();  // an integer that no double holds
    return false;
  }
  return engine::is_default(number, value);
}

// {name of a function: {type: handler}}: the handler is called in place of the function if an
// argument has the type. Made with the module, for ever.
PyObject* all_handlers = nullptr;

// Those of a function, borrowed. Null with an exception.
PyObject* handlers_of(const std::string& name) {
  Object key = Object::take(PyUnicode_FromString(name.c_str()));
  Object made = Object::take(PyDict_New());
  return key && made ? PyDict_SetDefault(all_handlers, key.get(), made.get()) : nullptr;
}

// The handler of an argument's type or one of its bases, borrowed; null if there is none.
PyObject* find_handler(PyObject* handlers, PyObject* argument) {
  PyObject* types = Py_TYPE(argument)->tp_mro;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(types); ++i) {
    if (PyObject* found = PyDict_GetItem(handlers, PyTuple_GET_ITEM(types, i))) return found;
  }
  return nullptr;
}

class LibraryCallable final : public Callable {
 public:
  explicit LibraryCallable(const PublicFunction& function)
      : Callable(function.name(), names_of(function), num_required_of(function),
                 position_of_variadic(function)),
        function_(function),
        name_at_(position_of_name(function)),
        handlers_(handlers_of(function.name())) {}

  PyObject* call(std::span<PyObject* const> arguments) const override;
  Object default_of(size_t parameter) const override;
  nb::dict record() const override;

 private:
  static std::vector<std::string> names_of(const PublicFunction& function);
  static size_t num_required_of(const PublicFunction& function);
  static std::optional<size_t> position_of_variadic(const PublicFunction& function);
  // The place of `name` among the parameters; none if there is no such parameter.
  static std::optional<size_t> position_of_name(const PublicFunction& function);
  // The result of the handler of an argument or of an item of a list; none if there is none.
  std::optional<PyObject*> dispatch(std::span<PyObject* const> arguments) const;
  PyObject* pack(std::span<Tensor> outputs, std::span<PyObject* const> arguments,
                 size_t nodes_before) const;

  friend class Binder;
  const PublicFunction& function_;
  const std::optional<size_t> name_at_;
  PyObject* const handlers_;
  mutable Object tuple_class_;  // of a named tuple, when it was first needed
};

// Fills the parameters of one call.
class Binder {
 public:
  Binder(const LibraryCallable& callable, std::span<PyObject* const> arguments, void* parameters)
      : callable_(callable),
        fields_(callable.function_.parameters().fields),
        arguments_(arguments),
        parameters_(parameters),
        operands_(callable.name(), callable.function_.type_params().size(),
                  callable.function_.record().types) {}

  // Parameters that are no tensors come first: they may give the dtypes of tensors.
  Status bind() {
    bool has_tensors = false;
    for (size_t i = 0; i < fields_.size(); ++i) {
      if (!is_bound(i) && fields_[i].role != ParameterRole::kRequired) continue;
      if (is_tensor_field(i)) {
        has_tensors = true;
      } else {
        RETURN_IF_ERROR(bind_plain(i));
      }
    }
    RETURN_IF_ERROR(callable_.function_.check_dtypes(parameters_));
    if (!has_tensors) return {};
    find_dtypes();
    for (size_t i = 0; i < fields_.size(); ++i) {
      if (is_bound(i) && is_tensor_field(i)) RETURN_IF_ERROR(bind_tensor(i));
    }
    return {};
  }

 private:
  bool is_tensor_field(size_t i) const { return !fields_[i].type.empty(); }
  // Whether a default number is a tensor of that number, as None is something else.
  bool keeps_default(size_t i) const {
    return callable_.function_.tensor_types()[i].may_be_none &&
           !std::holds_alternative<std::monostate>(fields_[i].default_number);
  }
  bool is_bound(size_t i) const { return arguments_[i] || keeps_default(i); }

  Status bind_plain(size_t i) {
    const ParameterField& field = fields_[i];
    if (field.role == ParameterRole::kRefused) return check_not_given(i);
    if (!field.ref) return {};  // ignored, or the name
    Status status =
        std::visit([&](auto* member) { return set(i, *member); }, field.ref(parameters_));
    if (status.ok() || status.kind() == engine::ErrorKind::kUserException) return status;
    return status.with_prefix(
        engine::str_cat(callable_.name(), "() argument '", field.name, "': "));
  }

  Status check_not_given(size_t i) const {
    PyObject* object = arguments_[i];
    if (object == Py_None || object == Py_False) return {};
    return Status(engine::Code::kUnimplemented,
                  engine::str_cat("tf.", callable_.function_.name(), ": Graven does not support ",
                                  fields_[i].name, "=", text_of(object),
                                  ". See docs/errors/not-in-graven.md"),
                  engine::ErrorKind::kNotImplementedError);
  }

  // --- One for each kind that is no tensor. None leaves the default of the struct.
  template <typename T>
  Status assign(Result<T> value, T& member) {
    RETURN_IF_ERROR(value.status());
    member = std::move(*value);
    return {};
  }
  bool is_none(size_t i) const { return arguments_[i] == Py_None; }
  Status set(size_t i, bool& member) {
    return is_none(i) ? Status() : assign(to_truth(arguments_[i]), member);
  }
  Status set(size_t i, int64_t& member) { return assign(to_integer(arguments_[i]), member); }
  Status set(size_t i, double& member) { return assign(to_double(arguments_[i]), member); }
  Status set(size_t i, std::string& member) {
    const bool is_default = is_none(i) && fields_[i].role == ParameterRole::kOptional;
    return is_default ? Status() : assign(to_text(arguments_[i]), member);
  }
  template <typename T>
  Status set(size_t i, std::optional<T>& member) {
    if (is_none(i)) {
      member.reset();
      return {};
    }
    return set(i, member.emplace());
  }
  Status set(size_t i, DType& member) {
    // None is a dtype only where it stands for none.
    const bool is_default =
        is_none(i) && fields_[i].role == ParameterRole::kOptional && member == DType::kInvalid;
    return is_default ? Status() : assign(to_dtype(arguments_[i]), member);
  }
  Status set(size_t i, engine::Shape& member) { return assign(to_shape(arguments_[i]), member); }
  Status set(size_t i, engine::Axes& member) {
    return assign<engine::Integers>(to_integers(arguments_[i], fields_[i].name), member);
  }
  Status set(size_t i, engine::Sizes& member) {
    RETURN_IF_ERROR(assign<engine::Integers>(to_integers(arguments_[i], fields_[i].name), member));
    if (!member.is_none() || fields_[i].role != ParameterRole::kRequired) return {};
    return engine::value_error(
        "Attempt to convert a value (None) with an unsupported type "
        "(<class 'NoneType'>) to a Tensor.");
  }
  Status set(size_t i, engine::OpenSizes& member) {
    return assign<engine::Integers>(to_open_sizes(arguments_[i], fields_[i].name), member);
  }
  Status set(size_t i, engine::AxisPairs& member) {
    return assign(to_axis_pairs(arguments_[i], fields_[i].name), member);
  }
  Status set(size_t i, engine::Number& member) {
    return is_none(i) ? Status() : assign(to_number(arguments_[i], fields_[i].name), member);
  }
  Status set(size_t i, engine::NumberOrText& member) {
    return assign(to_number_or_text(arguments_[i]), member);
  }
  Status set(size_t i, engine::Window& member) { return assign(to_window(arguments_[i]), member); }
  Status set(size_t i, engine::Padding& member) {
    return assign(to_padding(arguments_[i]), member);
  }
  Status set(size_t i, engine::Ref<engine::Callable>& member) {
    return is_none(i) ? Status() : assign(to_callable(arguments_[i], fields_[i].name), member);
  }
  Status set(size_t i, engine::Choices& member) {
    return assign(to_choices(arguments_[i]), member);
  }
  Status set(size_t i, engine::Value& member) {
    return assign(to_value(arguments_[i], /*allow_specs=*/false), member);
  }
  Status set(size_t i, engine::ShapeStructure& member) {
    return is_none(i) ? Status() : assign(to_shape_structure(arguments_[i]), member.value);
  }
  Status set(size_t, Tensor&) { return {}; }
  Status set(size_t, engine::TensorOrVariable&) { return {}; }
  Status set(size_t, engine::TensorList&) { return {}; }

  // --- Tensors.
  void find_dtypes() {
    const auto params = callable_.function_.type_params();
    for (size_t p = 0; p < params.size(); ++p) {
      DType dtype = params[p].only;
      if (params[p].dtype_field >= 0) {
        dtype =
            *std::get<DType*>(fields_[static_cast<size_t>(params[p].dtype_field)].ref(parameters_));
      }
      operands_.set_type(static_cast<int>(p), dtype);
    }
    for (size_t i = 0; i < fields_.size(); ++i) {
      if (!arguments_[i] || !is_tensor_field(i)) continue;
      operands_.look_at(type_of(i), arguments_[i], looks_ahead(type_of(i)));
    }
  }
  // Whether a value before it is to take the dtype of this argument in a graph, too.
  bool looks_ahead(const OperandType& type) const {
    return std::ranges::any_of(callable_.function_.tensor_types(),
                               [&](const PublicFunction::TensorType& other) {
                                 return other.is_mutual && other.type_param == type.type_param;
                               });
  }
  OperandType type_of(size_t i) const {
    const PublicFunction::TensorType type = callable_.function_.tensor_types()[i];
    return {.name = fields_[i].name,
            .fixed = type.fixed,
            .type_param = type.is_own ? -1 : type.type_param,
            .is_like = type.is_like,
            .is_each = type.is_each,
            .is_common = type.is_common,
            .may_be_none = type.may_be_none};
  }

  Status bind_tensor(size_t i) {
    const ParameterField& field = fields_[i];
    const Object number = arguments_[i] ? Object() : callable_.default_of(i);
    PyObject* object = arguments_[i] ? arguments_[i] : number.get();
    const OperandType type = type_of(i);
    const bool is_optional = field.role == ParameterRole::kOptional || type.may_be_none;
    const engine::ParameterRef ref = field.ref(parameters_);
    if (auto* const* list = std::get_if<engine::TensorList*>(&ref)) {
      return bind_list(type, object, **list);
    }
    if (auto* const* either = std::get_if<engine::TensorOrVariable*>(&ref)) {
      if (callable_.function_.tensor_types()[i].is_sole && PyList_Check(object)) {
        if (PyList_GET_SIZE(object) != 1) return refuse_list(i);
        object = PyList_GET_ITEM(object, 0);
      }
      if (!variable_base_type || !is_variable(object)) {
        return assign(operands_.convert(type, object), (*either)->tensor);
      }
      VariableObject* variable = variable_of(object);
      note_variable(variable);
      (*either)->handle = variable->handle;
      (*either)->dtype = variable->variable()->dtype();
      return {};
    }
    const bool is_default = !keeps_default(i) && is_default_number(object, field.default_number);
    // None does not stand for a default number.
    const bool takes_none =
        type.may_be_none || std::holds_alternative<std::monostate>(field.default_number);
    if (is_optional && (is_default || (object == Py_None && takes_none))) return {};
    return assign(operands_.convert(type, object), *std::get<Tensor*>(ref));
  }

  Status refuse_list(size_t i) const {
    if (PyList_GET_SIZE(arguments_[i]) == 0) {
      return engine::value_error("'", fields_[i].name, "' must not be an empty list");
    }
    return Status(engine::Code::kUnimplemented,
                  engine::str_cat("tf.", callable_.function_.name(), ": Graven takes one tensor '",
                                  fields_[i].name, "', not ", PyList_GET_SIZE(arguments_[i])),
                  engine::ErrorKind::kNotImplementedError);
  }

  Status bind_list(const OperandType& type, PyObject* object, engine::TensorList& list) {
    // Arrays count as one tensor.
    const bool is_iterable = !is_tensor(object) && !is_numpy(object) &&
                             run_python<PyObject_HasAttrString>(object, "__iter__") &&
                             !PyUnicode_Check(object) && !PyBytes_Check(object);
    list.is_list = is_iterable;
    if (is_iterable) return assign(operands_.convert_list(type, object), list.tensors);
    ASSIGN_OR_RETURN(Tensor single, operands_.convert(type, object));
    list.tensors.push_back(std::move(single));
    return {};
  }

  const LibraryCallable& callable_;
  const std::span<const ParameterField> fields_;
  const std::span<PyObject* const> arguments_;
  void* const parameters_;
  TypedOperands operands_;
};

std::vector<std::string> LibraryCallable::names_of(const PublicFunction& function) {
  std::vector<std::string> names;
  for (const ParameterField& field : function.parameters().fields) names.emplace_back(field.name);
  const bool has_name = std::ranges::find(names, "name") != names.end();
  if (!has_name && !function.record().scope.empty()) names.emplace_back("name");
  return names;
}

size_t LibraryCallable::num_required_of(const PublicFunction& function) {
  return static_cast<size_t>(std::ranges::count(function.parameters().fields,
                                                ParameterRole::kRequired, &ParameterField::role));
}

std::optional<size_t> LibraryCallable::position_of_variadic(const PublicFunction& function) {
  const auto fields = function.parameters().fields;
  const auto at = std::ranges::find(fields, ParameterRole::kVariadic, &ParameterField::role);
  if (at == fields.end()) return std::nullopt;
  return static_cast<size_t>(at - fields.begin());
}

std::optional<size_t> LibraryCallable::position_of_name(const PublicFunction& function) {
  const std::vector<std::string> names = names_of(function);
  const auto at = std::ranges::find(names, "name");
  if (at == names.end()) return std::nullopt;
  return static_cast<size_t>(at - names.begin());
}

std::optional<PyObject*> LibraryCallable::dispatch(std::span<PyObject* const> arguments) const {
  PyObject* handler = nullptr;
  for (size_t i = 0; i < arguments.size() && !handler; ++i) {
    PyObject* argument = arguments[i];
    if (!argument || argument == Py_None || is_tensor(argument)) continue;
    if (PyFloat_CheckExact(argument) || PyLong_CheckExact(argument)) continue;
    handler = find_handler(handlers_, argument);
    if (handler || (!PyList_Check(argument) && !PyTuple_Check(argument))) continue;
    for (Py_ssize_t j = 0; j < PySequence_Fast_GET_SIZE(argument) && !handler; ++j) {
      handler = find_handler(handlers_, PySequence_Fast_GET_ITEM(argument, j));
    }
  }
  if (!handler) return std::nullopt;
  Object keywords = Object::take(PyDict_New());
  for (size_t i = 0; keywords && i < arguments.size(); ++i) {
    if (!arguments[i]) continue;
    if (PyDict_SetItemString(keywords.get(), parameters()[i].c_str(), arguments[i]) < 0)
      return nullptr;
  }
  Object none = Object::take(PyTuple_New(0));
  if (!keywords || !none) return nullptr;
  return run_python<PyObject_Call>(handler, none.get(), keywords.get());
}

PyObject* LibraryCallable::call(std::span<PyObject* const> arguments) const {
  if (handlers_ && PyDict_GET_SIZE(handlers_) > 0) {
    if (auto result = dispatch(arguments)) return *result;
  }
  std::string wished;
  if (engine::Frame::current().is_graph()) {
    wished = function_.record().scope;
    PyObject* name = name_at_ ? arguments[*name_at_] : nullptr;
    if (name && name != Py_None) {
      auto text = to_text(name);
      if (!text.ok()) return raise(text.status());
      if (!text->empty()) wished = std::move(*text);
      if (Status status = check_node_name(wished); !status.ok()) return raise(status);
    }
  }
  NodeScope scope(wished);
  const size_t nodes_before = count_nodes();
  engine::ParameterValues parameters(function_.parameters());
  Binder binder(*this, arguments, parameters.get());
  if (Status status = binder.bind(); !status.ok()) return raise(status);
  engine::FunctionContext context(engine::current_builder(), engine::eager_builder(), scope.name());
  auto outputs = function_.call(context, parameters.get());
  if (!outputs.ok()) return raise(outputs.status());
  if (function_.record().results.is_structure) return to_python(outputs->structure).release();
  return pack({outputs->tensors.data(), outputs->tensors.size()}, arguments, nodes_before);
}

// The object of a tensor: the argument itself where the function gives that; None of no tensor.
Object same_or_new(Tensor tensor, std::span<PyObject* const> arguments) {
  if (!tensor) return Object::borrow(Py_None);
  for (PyObject* argument : arguments) {
    if (argument && is_tensor(argument) && tensor_of(argument) == tensor) {
      return Object::borrow(argument);
    }
  }
  return Object::take(wrap(std::move(tensor)));
}

PyObject* LibraryCallable::pack(std::span<Tensor> outputs, std::span<PyObject* const> arguments,
                                size_t nodes_before) const {
  const auto& parts = function_.record().results.parts;
  if (parts.empty()) return operation_or_none(nodes_before);
  const size_t length_of_list =
      outputs.size() -
      static_cast<size_t>(std::ranges::count(parts, false, &engine::Results::Part::is_list));
  if (parts.size() == 1) {
    return parts[0].is_list ? list_of(outputs).release()
                            : same_or_new(std::move(outputs[0]), arguments).release();
  }
  Object packed = Object::take(PyTuple_New(static_cast<Py_ssize_t>(parts.size())));
  size_t next = 0;
  for (size_t i = 0; packed && i < parts.size(); ++i) {
    const size_t count = parts[i].is_list ? length_of_list : 1;
    Object part = parts[i].is_list ? list_of(outputs.subspan(next, count))
                                   : same_or_new(std::move(outputs[next]), arguments);
    if (!part) return nullptr;
    PyTuple_SET_ITEM(packed.get(), static_cast<Py_ssize_t>(i), part.release());
    next += count;
  }
  const std::string& type_name = function_.record().results.type_name;
  if (!packed || type_name.empty()) return packed.release();
  if (!tuple_class_) {
    std::vector<std::string> names;
    for (const auto& part : parts) names.push_back(part.name);
    Object made = named_tuple_class(type_name, names);
    if (!tuple_class_) tuple_class_ = std::move(made);  // or another thread was first
  }
  return tuple_class_ ? run_python<PyObject_CallObject>(tuple_class_.get(), packed.get()) : nullptr;
}

// --- For documentation and stubs.

// A member of the parameters as Python writes it: its default.
struct ToPython {
  Object operator()(const bool* value) const { return Object::borrow(*value ? Py_True : Py_False); }
  Object operator()(const int64_t* value) const {
    return Object::take(PyLong_FromLongLong(*value));
  }
  Object operator()(const double* value) const { return Object::take(PyFloat_FromDouble(*value)); }
  Object operator()(const std::string* value) const {
    return Object::take(
        PyUnicode_FromStringAndSize(value->data(), static_cast<Py_ssize_t>(value->size())));
  }
  Object operator()(const DType* value) const {
    return *value == DType::kInvalid ? Object::borrow(Py_None) : Object::take(wrap(*value));
  }
  Object operator()(const engine::Axes* value) const { return integers(value); }
  Object operator()(const engine::Sizes* value) const { return integers(value); }
  Object integers(const engine::Integers* value) const {
    if (value->is_none()) return Object::borrow(Py_None);
    Object list = Object::take(PyList_New(0));
    for (int64_t number : *value->numbers) {
      Object item = Object::take(PyLong_FromLongLong(number));
      if (value->is_scalar) return item;
      if (!list || !item || PyList_Append(list.get(), item.get()) < 0) return {};
    }
    return list;
  }
  Object operator()(const engine::OpenSizes* value) const { return integers(value); }
  Object operator()(const engine::Padding* value) const { return (*this)(&value->kind); }
  Object operator()(const engine::Number* value) const { return (*this)(&value->number); }
  Object operator()(const engine::NumberOrText* value) const {
    return std::visit([this](const auto& held) { return (*this)(&held); }, *value);
  }
  template <typename T>
  Object operator()(const std::optional<T>* value) const {
    return *value ? (*this)(&**value) : Object::borrow(Py_None);
  }
  template <typename Other>
  Object operator()(const Other*) const {
    return Object::borrow(Py_None);
  }
};

// The kind of a parameter, for stubs.
struct KindName {
  const char* operator()(Tensor*) const { return "TensorLike"; }
  const char* operator()(engine::TensorOrVariable*) const { return "TensorLike"; }
  const char* operator()(engine::TensorList*) const { return "Sequence[TensorLike]"; }
  const char* operator()(engine::Axes*) const { return "Axes"; }
  const char* operator()(engine::Sizes*) const { return "ShapeLike"; }
  const char* operator()(engine::OpenSizes*) const { return "ShapeLike"; }
  const char* operator()(engine::AxisPairs*) const { return "AxisPairs"; }
  const char* operator()(engine::Number*) const { return "TensorLike"; }
  const char* operator()(engine::NumberOrText*) const { return "NumberOrText"; }
  const char* operator()(engine::Window*) const { return "Sizes"; }
  const char* operator()(engine::Padding*) const { return "Padding"; }
  const char* operator()(DType*) const { return "DTypeLike"; }
  const char* operator()(engine::Shape*) const { return "ShapeLike"; }
  const char* operator()(bool*) const { return "bool"; }
  const char* operator()(int64_t*) const { return "int"; }
  const char* operator()(double*) const { return "float"; }
  const char* operator()(std::string*) const { return "str"; }
  const char* operator()(engine::Ref<engine::Callable>*) const { return "Callable[..., Any]"; }
  const char* operator()(engine::Choices*) const { return "Any"; }
  const char* operator()(engine::Value*) const { return "Any"; }
  const char* operator()(engine::ShapeStructure*) const { return "Any"; }
  template <typename T>
  const char* operator()(std::optional<T>*) const {
    return (*this)(static_cast<T*>(nullptr));
  }
};

Object LibraryCallable::default_of(size_t parameter) const {
  const auto fields = function_.parameters().fields;
  if (parameter >= fields.size() || !fields[parameter].ref) return Object::borrow(Py_None);
  const ParameterField& field = fields[parameter];
  if (const auto* number = std::get_if<int64_t>(&field.default_number)) return ToPython()(number);
  if (const auto* number = std::get_if<double>(&field.default_number)) return ToPython()(number);
  engine::ParameterValues defaults(function_.parameters());
  return std::visit(ToPython(), field.ref(defaults.get()));
}

nb::dict LibraryCallable::record() const {
  const engine::FunctionRecord& texts = function_.record();
  nb::dict result;
  result["names"] = nb::cast(function_.name());
  result["summary"] = texts.summary;
  result["details"] = texts.details;
  result["returns"] = texts.returns;
  result["source"] = texts.source;
  nb::list raises, parameters, results;
  for (const auto& [error, when] : texts.raises)
    raises.append(nb::make_tuple(std::string(error), std::string(when)));
  engine::ParameterValues defaults(function_.parameters());
  for (const ParameterField& field : function_.parameters().fields) {
    constexpr const char* kRoles[] = {"required", "optional", "variadic", "ignored", "refused"};
    parameters.append(nb::make_tuple(
        std::string(field.name), kRoles[static_cast<int>(field.role)], std::string(field.type),
        field.ref ? std::visit(KindName(), field.ref(defaults.get())) : "Any",
        std::string(field.doc)));
  }
  for (const auto& part : texts.results.parts) {
    results.append(nb::make_tuple(part.name, part.is_list));
  }
  result["raises"] = raises;
  result["parameters"] = parameters;
  result["results"] = results;
  result["is_structure"] = texts.results.is_structure;
  result["type_name"] = texts.results.type_name;
  result["types"] = types_to_python(texts.types);
  return result;
}

}  // namespace

void bind_library_function(nb::module_& m) {
  all_handlers = PyDict_New();
  if (!all_handlers) throw nb::python_error();
  m.def(
      "library_names",
      [] {
        nb::dict names;
        for (const auto& function : engine::FunctionRegistry::global().functions()) {
          for (const std::string& name : function->names()) {
            names[nb::cast(name)] = nb::cast(function->name());
          }
        }
        return names;
      },
      "The first name of the library function of each public name: math.reduce_sum of reduce_sum.");
  m.def(
      "library_function",
      [](const std::string& name) -> nb::object {
        const PublicFunction* function = engine::FunctionRegistry::global().find(name);
        if (!function) return nb::none();
        PyObject* made = wrap(std::make_unique<LibraryCallable>(*function));
        if (!made) throw nb::python_error();
        return nb::steal(made);
      },
      nb::arg("name"), "A new object of the library function of a public name, or None.");
  m.def(
      "dispatch",
      [](const std::string& name, nb::handle type, nb::handle handler) {
        const PublicFunction* function = engine::FunctionRegistry::global().find(name);
        if (!function) throw nb::value_error("there is no such function");
        PyObject* handlers = handlers_of(function->name());
        if (!handlers || PyDict_SetItem(handlers, type.ptr(), handler.ptr()) < 0) {
          throw nb::python_error();
        }
      },
      nb::arg("name"), nb::arg("type"), nb::arg("handler"),
      "Lets a function call handler(**arguments) where an argument, or an item of a list, is of a "
      "type that is no tensor.");
  m.def("library_errors", [] {
    nb::list errors;
    for (const std::string& error : engine::FunctionRegistry::global().errors()) {
      errors.append(nb::cast(error));
    }
    return errors;
  });
}

}  // namespace graven::python
