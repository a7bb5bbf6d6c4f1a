#include "graven/python/variable_object.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <structmember.h>

#include <unordered_map>

#include "graven/function/function.h"
#include "graven/ir/frame.h"
#include "graven/ir/structural_ops.h"
#include "graven/python/bind.h"
#include "graven/python/convert.h"
#include "graven/python/errors.h"
#include "graven/python/object.h"
#include "graven/python/tensor_object.h"
#include "graven/runtime/eager_builder.h"

namespace nb = nanobind;

namespace graven::python {

PyTypeObject* variable_base_type = nullptr;

namespace {

using engine::Status;
using engine::Tensor;

// The Python variable of each live resource, not owned; a view (the result of an assignment) is
// not among them.
std::unordered_map<const engine::Resource*, PyObject*>& variables() {
  static auto* map = new std::unordered_map<const engine::Resource*, PyObject*>();
  return *map;
}

// Every variable gets a number, in order of creation.
int64_t g_next_number = 0;

PyObject* make(PyTypeObject* type, PyObject*, PyObject*) {
  auto* self = reinterpret_cast<VariableObject*>(type->tp_alloc(type, 0));
  if (self) new (&self->handle) Tensor();
  return reinterpret_cast<PyObject*>(self);
}

void dealloc(PyObject* object) {
  PyObject_GC_UnTrack(object);
  VariableObject* self = variable_of(object);
  if (self->handle) {  // first, because the code after this may run code that looks for it
    auto at = variables().find(self->handle.resource().get());
    if (at != variables().end() && at->second == object) variables().erase(at);
  }
  if (self->weak_references) PyObject_ClearWeakRefs(object);
  self->handle.~Tensor();
  Py_CLEAR(self->dict);
  PyTypeObject* type = Py_TYPE(object);
  type->tp_free(object);
  Py_DECREF(type);
}

int traverse(PyObject* object, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(object));
  Py_VISIT(variable_of(object)->dict);
  return 0;
}

int clear(PyObject* object) {
  Py_CLEAR(variable_of(object)->dict);
  return 0;
}

VariableObject* checked(PyObject* object) {
  VariableObject* self = variable_of(object);
  if (self->handle) return self;
  PyErr_SetString(PyExc_RuntimeError, "The variable was not initialised: call Variable.__init__");
  return nullptr;
}

PyObject* get_handle(PyObject* object, void*) {
  VariableObject* self = checked(object);
  return self ? wrap(self->handle) : nullptr;
}
PyObject* get_dtype(PyObject* object, void*) {
  VariableObject* self = checked(object);
  return self ? wrap(self->variable()->dtype()) : nullptr;
}
PyObject* get_shape(PyObject* object, void*) {
  VariableObject* self = checked(object);
  return self ? wrap(self->variable()->shape()) : nullptr;
}
PyObject* get_trainable(PyObject* object, void*) {
  VariableObject* self = checked(object);
  return self ? PyBool_FromLong(self->variable()->is_trainable()) : nullptr;
}

PyObject* method_read(PyObject* object, PyObject*) {
  VariableObject* self = checked(object);
  if (!self) return nullptr;
  auto value = read_variable(self);
  return value.ok() ? wrap(std::move(*value)) : raise(value.status());
}

// The value itself, without tapes or nodes; an error if there is none.
PyObject* method_peek(PyObject* object, PyObject*) {
  VariableObject* self = checked(object);
  if (!self) return nullptr;
  auto value = self->variable()->read();
  return value.ok() ? wrap(std::move(*value)) : raise(value.status());
}

PyMethodDef methods[] = {
    {"_read", method_read, METH_NOARGS, nullptr},
    {"_peek", method_peek, METH_NOARGS, nullptr},
    {nullptr, nullptr, 0, nullptr},
};
PyGetSetDef properties[] = {
    {"handle", get_handle, nullptr, "The scalar tensor of dtype resource that names it.", nullptr},
    {"dtype", get_dtype, nullptr, "The dtype of its values.", nullptr},
    {"shape", get_shape, nullptr, "The shape that all of its values fit.", nullptr},
    {"trainable", get_trainable, nullptr, "Whether tapes watch it when it is read.", nullptr},
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr, nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};
PyMemberDef members[] = {
    {"__dictoffset__", T_PYSSIZET, offsetof(VariableObject, dict), READONLY, nullptr},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(VariableObject, weak_references), READONLY,
     nullptr},
    {nullptr, 0, 0, 0, nullptr},
};

// The operators of two tensors read a variable among their operands, so they are its operators too.
constexpr int kSharedSlots[] = {
    Py_nb_add,          Py_nb_subtract,  Py_nb_multiply, Py_nb_true_divide,
    Py_nb_floor_divide, Py_nb_remainder, Py_nb_power,    Py_nb_matrix_multiply,
    Py_nb_and,          Py_nb_or,        Py_nb_xor,
};

// Unary operators are applied to the value that is read.
template <PyObject* (*apply)(PyObject*)>
PyObject* of_value(PyObject* object) {
  Object value = Object::take(method_read(object, nullptr));
  return value ? apply(value.get()) : nullptr;
}

VariableObject* variable_argument(nb::handle object) {
  if (!is_variable(object.ptr())) throw nb::type_error("a variable is needed");
  return variable_of(object.ptr());
}

void throw_if_error(const Status& status) {
  if (status.ok()) return;
  raise(status);
  throw nb::python_error();
}

}  // namespace

PyObject* find_variable(const Tensor& handle) {
  if (handle.is_symbolic() || handle.dtype() != engine::DType::kResource) return nullptr;
  auto at = variables().find(handle.resource().get());
  return at == variables().end() ? nullptr : at->second;
}

PyObject* variable_object(const Tensor& handle) {
  if (PyObject* known = find_variable(handle)) return Py_NewRef(known);
  static constinit Imported of_handle("graven._variable", "_of_handle");
  Object tensor = Object::take(wrap(handle));
  if (!tensor || !of_handle.get()) return nullptr;
  return run_python<PyObject_CallOneArg>(of_handle.get(), tensor.get());
}

bool is_deleted(const Tensor& handle) {
  const auto* variable = dynamic_cast<const engine::Variable*>(handle.resource().get());
  return variable && variable->has_owner() && !find_variable(handle);
}

void note_variable(const VariableObject* variable) {
  auto listeners = engine::Frame::current().listeners;
  for (engine::Listener* listener : listeners) listener->on_variable(variable->handle);
}

engine::Result<Tensor> read_variable(VariableObject* variable) {
  note_variable(variable);
  const Tensor inputs[] = {variable->handle};
  ASSIGN_OR_RETURN(engine::Tensors outputs,
                   engine::apply(*engine::kReadVariable, inputs,
                                 engine::ReadVariableAttrs{variable->variable()->dtype()}));
  return std::move(outputs[0]);
}

void bind_variable(nb::module_& m) {
  std::vector<PyType_Slot> slots = {
      {Py_tp_new, reinterpret_cast<void*>(make)},
      {Py_tp_dealloc, reinterpret_cast<void*>(dealloc)},
      {Py_tp_traverse, reinterpret_cast<void*>(traverse)},
      {Py_tp_clear, reinterpret_cast<void*>(clear)},
      {Py_tp_methods, methods},
      {Py_tp_getset, properties},
      {Py_tp_members, members},
      {Py_nb_negative, reinterpret_cast<void*>(of_value<PyNumber_Negative>)},
      {Py_nb_absolute, reinterpret_cast<void*>(of_value<PyNumber_Absolute>)},
      {Py_nb_invert, reinterpret_cast<void*>(of_value<PyNumber_Invert>)}};
  for (int slot : kSharedSlots) {
    if (void* function = PyType_GetSlot(tensor_type, slot)) slots.push_back({slot, function});
  }
  slots.push_back({0, nullptr});
  PyType_Spec spec = {"graven._engine.VariableBase", sizeof(VariableObject), 0,
                      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, slots.data()};
  variable_base_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
  if (!variable_base_type) throw nb::python_error();
  m.attr("VariableBase") = nb::handle(reinterpret_cast<PyObject*>(variable_base_type));

  m.def(
      "create_variable",
      [](nb::handle object, nb::handle dtype, nb::handle shape, const std::string& name,
         bool trainable) {
        VariableObject* self = variable_argument(object);
        auto engine_dtype = to_dtype(dtype.ptr());
        throw_if_error(engine_dtype.status());
        auto engine_shape = to_shape(shape.ptr());
        throw_if_error(engine_shape.status());
        auto resource =
            engine::make_ref<engine::Variable>(*engine_dtype, *engine_shape, name, trainable,
                                               /*has_owner=*/true);
        variables()[resource.get()] = object.ptr();
        self->handle = Tensor::of_resource(resource);
        return g_next_number++;
      },
      "Gives a new VariableBase its resource, without a value; returns its number.");
  m.def(
      "share_variable",
      [](nb::handle view, nb::handle object) {
        variable_argument(view)->handle = variable_argument(object)->handle;
      },
      "Makes a VariableBase a view of another one.");
  m.def(
      "adopt_variable",
      [](nb::handle object, nb::handle handle) {
        VariableObject* self = variable_argument(object);
        self->handle = tensor_of(handle.ptr());
        variables()[self->variable()] = object.ptr();
        return nb::make_tuple(self->variable()->name(), g_next_number++);
      },
      "Makes a new VariableBase the object of a variable that has none; returns its name and its "
      "number.");
  m.def("initialize_variable", [](nb::handle object, nb::handle value) {
    throw_if_error(variable_argument(object)->variable()->assign(tensor_of(value.ptr())));
  });
  m.def("is_initialized",
        [](nb::handle object) { return variable_argument(object)->variable()->is_initialized(); });
  m.def("note_variable", [](nb::handle object) { note_variable(variable_argument(object)); });
  m.def(
      "creates_in_trace", [] { return engine::VariableCreation::current() != nullptr; },
      "Whether a Function is being traced, so that what is created must be recorded.");
  m.def(
      "record_created",
      [](nb::handle object, nb::handle initial_value) {
        engine::CreatedVariable created;
        created.handle = variable_argument(object)->handle;
        if (!initial_value.is_none()) created.initial_value = tensor_of(initial_value.ptr());
        throw_if_error(engine::VariableCreation::current()->record(std::move(created)));
      },
      "Tells the trace of a variable that it made; an error where that is not allowed.",
      nb::arg("variable"), nb::arg("initial_value").none());
  m.def("check_creation_allowed", [] {
    auto* creation = engine::VariableCreation::current();
    if (creation && creation->policy() == engine::VariableCreation::Policy::kForbid) {
      throw_if_error(creation->record({}));
    }
  });
}

}  // namespace graven::python
