#include "graven/python/tensor_object.h"

#include <structmember.h>

#include <array>
#include <cstddef>
#include <string>
#include <unordered_map>
#include <vector>

#include "graven/base/sanitizer.h"
#include "graven/ir/call_sizes.h"
#include "graven/ir/frame.h"
#include "graven/ir/graph.h"
#include "graven/python/bind.h"
#include "graven/python/convert.h"
#include "graven/python/dlpack.h"
#include "graven/python/errors.h"
#include "graven/python/graph_object.h"
#include "graven/python/object.h"
#include "graven/tensor/device_queues.h"

namespace graven::python {

PyTypeObject* tensor_type = nullptr;
PyTypeObject* eager_tensor_type = nullptr;
PyTypeObject* symbolic_tensor_type = nullptr;
int traces_in_progress = 0;

namespace {

using engine::DType;
using engine::Shape;
using engine::Tensor;

// Memory of tensor objects that died, for the next ones. The GIL guards it. Under the address
// sanitizer there is none, so that it sees the use of an object that died.
constexpr size_t kMaxFree = 64;
std::array<PyObject*, kMaxFree> g_free;
size_t g_num_free = 0;

// Objects by their tensors, borrowed; each takes itself out when it goes.
std::unordered_map<const engine::TensorObject*, PyObject*>& noted_operands() {
  static auto* map = new std::unordered_map<const engine::TensorObject*, PyObject*>();
  return *map;
}

TensorObject* self_of(PyObject* object) { return reinterpret_cast<TensorObject*>(object); }

// A tensor can be part of a cycle through its attributes only, so the cycle collector visits those
// alone that have some. It counts all that are made beyond the free list, and may run then.
void track_attributes(PyObject* object) {
  if (self_of(object)->attributes && !PyObject_GC_IsTracked(object)) PyObject_GC_Track(object);
}

int set_attribute(PyObject* object, PyObject* name, PyObject* value) {
  int result = PyObject_GenericSetAttr(object, name, value);
  track_attributes(object);
  return result;
}

PyObject* get_attributes(PyObject* object, void* context) {
  PyObject* attributes = PyObject_GenericGetDict(object, context);
  track_attributes(object);
  return attributes;
}

int set_attributes(PyObject* object, PyObject* value, void* context) {
  int result = PyObject_GenericSetDict(object, value, context);
  track_attributes(object);
  return result;
}

int traverse(PyObject* object, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(object));
  Py_VISIT(self_of(object)->attributes);
  return 0;
}

int clear(PyObject* object) {
  Py_CLEAR(self_of(object)->attributes);
  return 0;
}

void dealloc(PyObject* object) {
  TensorObject* self = self_of(object);
  if (PyObject_GC_IsTracked(object)) PyObject_GC_UnTrack(object);
  if (self->is_noted) noted_operands().erase(self->tensor.get());
  if (self->weak_references) PyObject_ClearWeakRefs(object);
  Py_CLEAR(self->attributes);
  self->tensor.~Tensor();
  PyTypeObject* type = Py_TYPE(object);
  if (!engine::kAddressSanitizer && g_num_free < kMaxFree) {
    g_free[g_num_free++] = object;
  } else {
    PyObject_GC_Del(object);
  }
  Py_DECREF(type);
}

std::string full_name(const Tensor& tensor) {
  const auto& symbol = engine::symbolic(tensor);
  return engine::str_cat(symbol.node().name(), ":", symbol.output().index);
}

PyObject* no_graph_here(const char* attribute) {
  return PyErr_Format(PyExc_AttributeError,
                      "Tensor.%s is undefined when eager execution is enabled.", attribute);
}

PyObject* get_dtype(PyObject* self, void*) { return wrap(tensor_of(self).dtype()); }
PyObject* get_shape(PyObject* self, void*) { return shape_of_tensor(self); }
PyObject* method_get_shape(PyObject* self, PyObject*) { return shape_of_tensor(self); }

PyObject* get_ndim(PyObject* self, void*) {
  const Shape& shape = tensor_of(self).shape();
  if (!shape.has_rank()) {
    PyErr_SetString(PyExc_ValueError, "The rank of this tensor is not known while tracing");
    return nullptr;
  }
  return PyLong_FromLong(shape.rank());
}

PyObject* get_device(PyObject* self, void*) {
  const Tensor& tensor = tensor_of(self);
  const std::string& name =
      tensor.is_symbolic() ? engine::symbolic(tensor).node().device() : tensor.device().name();
  return PyUnicode_FromStringAndSize(name.data(), static_cast<Py_ssize_t>(name.size()));
}

PyObject* get_name(PyObject* self, void*) {
  const Tensor& tensor = tensor_of(self);
  if (!tensor.is_symbolic()) return no_graph_here("name");
  std::string name = full_name(tensor);
  return PyUnicode_FromStringAndSize(name.data(), static_cast<Py_ssize_t>(name.size()));
}

PyObject* get_graph(PyObject* self, void*) {
  const Tensor& tensor = tensor_of(self);
  if (!tensor.is_symbolic()) return no_graph_here("graph");
  return wrap(engine::symbolic(tensor).graph());
}

PyObject* get_op(PyObject* self, void*) {
  const Tensor& tensor = tensor_of(self);
  if (!tensor.is_symbolic()) return no_graph_here("op");
  const auto& symbol = engine::symbolic(tensor);
  return wrap_operation(symbol.graph(), &symbol.node());
}

PyObject* get_value_index(PyObject* self, void*) {
  const Tensor& tensor = tensor_of(self);
  if (!tensor.is_symbolic()) return no_graph_here("value_index");
  return PyLong_FromLong(engine::symbolic(tensor).output().index);
}

PyObject* get_id(PyObject* self, void*) {
  return PyLong_FromUnsignedLongLong(tensor_of(self).get()->id());
}

PyObject* set_shape(PyObject* self, PyObject* argument) {
  auto shape = to_shape(argument);
  if (!shape.ok()) return raise(shape.status());
  const Tensor& tensor = tensor_of(self);
  if (tensor.is_symbolic()) {
    if (shape->rank() == tensor.rank()) {
      for (int i = 0; i < shape->rank(); ++i) {
        if ((*shape)[i].is_number()) engine::CallSizes::read(tensor, i);
      }
    }
    auto* symbol = static_cast<engine::SymbolicTensor*>(tensor.get());
    if (engine::Status status = symbol->set_shape(*shape); !status.ok()) {
      return raise(status.as_kind(engine::ErrorKind::kValueError));
    }
  } else if (!engine::are_compatible(tensor.shape(), *shape)) {
    return PyErr_Format(PyExc_ValueError,
                        "Tensor's shape %s is not compatible with supplied shape %s.",
                        tensor.shape().to_text().c_str(), shape->to_text().c_str());
  }
  Py_RETURN_NONE;
}

PyObject* make_reference(PyObject* self, PyObject*) {
  Object module = Object::take(run_python<PyImport_ImportModule>("graven._reference"));
  return module ? run_python<PyObject_CallMethod>(module.get(), "Reference", "O", self) : nullptr;
}

PyObject* return_self(PyObject* self, PyObject*) { return Py_NewRef(self); }

PyObject* tensor_cpu(PyObject* self, PyObject*) {
  const Tensor& tensor = tensor_of(self);
  if (tensor.device().is_host()) return Py_NewRef(self);
  auto copy = engine::on_device(tensor, engine::Device::host());
  return copy.ok() ? wrap(std::move(*copy)) : raise(copy.status());
}

// __tf_tensor__(dtype=None, name=None)
PyObject* tf_tensor(PyObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject*) {
  if (nargs < 1 || args[0] == Py_None) return Py_NewRef(self);
  auto dtype = to_dtype(args[0]);
  if (!dtype.ok()) return raise(dtype.status());
  auto tensor = to_tensor(self, *dtype);
  return tensor.ok() ? Py_NewRef(self) : raise(tensor.status());
}

Py_ssize_t length(PyObject* self) {
  const Tensor& tensor = tensor_of(self);
  if (tensor.is_symbolic()) {
    PyErr_Format(PyExc_TypeError,
                 "len is not well defined for a symbolic Tensor (%s). Please call `x.shape` rather "
                 "than `len(x)` for shape information.",
                 full_name(tensor).c_str());
    return -1;
  }
  if (tensor.rank() == 0) {
    PyErr_SetString(PyExc_TypeError, "Scalar tensor has no `len()`");
    return -1;
  }
  return tensor.shape().size(0);
}

// One step of an iteration; numbers from Python's own sequence protocol.
PyObject* item(PyObject* self, Py_ssize_t i) {
  const Tensor& tensor = tensor_of(self);
  if (tensor.shape().has_rank() && tensor.rank() > 0 && tensor.shape()[0].is_number() &&
      (i < 0 || i >= tensor.shape().size(0))) {
    PyErr_SetString(PyExc_IndexError, "index out of range");
    return nullptr;
  }
  Object key = Object::take(PyLong_FromSsize_t(i));
  return key ? tensor_subscript(self, key.get()) : nullptr;
}

PyObject* iterate(PyObject* self) {
  const Tensor& tensor = tensor_of(self);
  if (tensor.is_symbolic()) {
    return raise(engine::Status(
        engine::Code::kInvalidArgument,
        "Iterating over a symbolic `tf.Tensor` is not allowed: it has no value while a function is "
        "traced, and AutoGraph does not convert this place: a function with autograph=False or "
        "do_not_convert, a comprehension, code of a library. Write a `for` in a function that is "
        "converted, or use tf.unstack. See docs/errors/symbolic-tensor.md",
        engine::ErrorKind::kOperatorNotAllowedInGraphError));
  }
  if (tensor.rank() == 0) {
    PyErr_SetString(PyExc_TypeError, "Cannot iterate over a scalar tensor.");
    return nullptr;
  }
  return PySeqIter_New(self);
}

Py_hash_t refuse_hash(PyObject*) {
  PyErr_SetString(PyExc_TypeError,
                  "Tensor is unhashable. Instead, use tensor.ref() as the key. See "
                  "docs/errors/unhashable-tensor.md");
  return -1;
}

// --- Eager tensors.

PyObject* method_numpy(PyObject* self, PyObject*) { return to_numpy(tensor_of(self)); }

// __array__(dtype=None, copy=None)
PyObject* method_array(PyObject* self, PyObject* args, PyObject* keywords) {
  static const char* names[] = {"dtype", "copy", nullptr};
  PyObject *dtype = Py_None, *copy = Py_None;
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "|OO", const_cast<char**>(names), &dtype,
                                   &copy)) {
    return nullptr;
  }
  Object array = Object::take(to_numpy_array(tensor_of(self)));
  if (!array || dtype == Py_None) return array.release();
  return run_python<PyObject_CallMethod>(array.get(), "astype", "O", dtype);
}

PyObject* method_complex(PyObject* self, PyObject*) {
  Object number = Object::take(to_numpy(tensor_of(self)));
  return number ? run_python<PyObject_CallFunctionObjArgs>(
                      reinterpret_cast<PyObject*>(&PyComplex_Type), number.get(), nullptr)
                : nullptr;
}

PyObject* method_reduce(PyObject* self, PyObject*) {
  const Tensor& tensor = tensor_of(self);
  Object module = Object::take(run_python<PyImport_ImportModule>("graven._reference"));
  Object make =
      module ? Object::take(run_python<PyObject_GetAttrString>(module.get(), "tensor_from_pickle"))
             : Object();
  Object array = make ? Object::take(to_numpy_array(tensor)) : Object();
  if (!array) return nullptr;
  std::string name(dtype_name(tensor.dtype()));
  return Py_BuildValue("(O(Os))", make.get(), array.get(), name.c_str());
}

const char* format_of(DType dtype) {
  switch (dtype) {
    case DType::kBool:
      return "?";
    case DType::kInt8:
      return "b";
    case DType::kUInt8:
      return "B";
    case DType::kInt16:
      return "h";
    case DType::kUInt16:
      return "H";
    case DType::kInt32:
      return "i";
    case DType::kUInt32:
      return "I";
    case DType::kInt64:
      return "l";
    case DType::kUInt64:
      return "L";
    case DType::kHalf:
      return "e";
    case DType::kFloat32:
      return "f";
    case DType::kFloat64:
      return "d";
    case DType::kComplex64:
      return "Zf";
    case DType::kComplex128:
      return "Zd";
    default:
      return nullptr;
  }
}

// The elements, read-only and without a copy.
int get_buffer(PyObject* self, Py_buffer* view, int flags) {
  const Tensor& tensor = tensor_of(self);
  const char* format = format_of(tensor.dtype());
  if (!format || (flags & PyBUF_WRITABLE)) {
    PyErr_SetString(PyExc_BufferError, format ? "A tensor cannot be written to"
                                              : "A tensor of this dtype has no buffer");
    view->obj = nullptr;
    return -1;
  }
  if (!tensor.device().is_host()) {
    PyErr_Format(PyExc_BufferError, "The tensor is on %s; numpy() gives a copy of it",
                 tensor.device().name().c_str());
    view->obj = nullptr;
    return -1;
  }
  int rank = tensor.rank();
  auto* sizes = new Py_ssize_t[2 * static_cast<size_t>(rank) + 1];  // sizes, then strides
  auto itemsize = static_cast<Py_ssize_t>(dtype_size(tensor.dtype()));
  Py_ssize_t stride = itemsize;
  for (int i = rank; i-- > 0;) {
    sizes[i] = tensor.shape().size(i);
    sizes[rank + i] = stride;
    stride *= sizes[i];
  }
  view->obj = Py_NewRef(self);
  view->buf = tensor.mutable_raw_data();
  view->len = static_cast<Py_ssize_t>(tensor.bytes());
  view->readonly = 1;
  view->itemsize = itemsize;
  view->format = flags & PyBUF_FORMAT ? const_cast<char*>(format) : nullptr;
  view->ndim = rank;
  view->shape = flags & PyBUF_ND ? sizes : nullptr;
  view->strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? sizes + rank : nullptr;
  view->suboffsets = nullptr;
  view->internal = sizes;
  return 0;
}

void release_buffer(PyObject*, Py_buffer* view) {
  delete[] static_cast<Py_ssize_t*>(view->internal);
}

// --- Symbolic tensors.

PyObject* refuse_array(PyObject* self, PyObject*, PyObject*) {
  return PyErr_Format(PyExc_NotImplementedError,
                      "Cannot convert a symbolic tf.Tensor (%s) to a numpy array. This error may "
                      "indicate that you're trying to pass a Tensor to a NumPy call, which is not "
                      "supported. See docs/errors/symbolic-tensor.md",
                      full_name(tensor_of(self)).c_str());
}

// Python's own words for a name that is missing, and where to read why.
PyObject* refuse_numpy(PyObject*, void*) {
  PyErr_SetString(PyExc_AttributeError,
                  "'SymbolicTensor' object has no attribute 'numpy': it has no value while a "
                  "function is traced. See docs/errors/symbolic-tensor.md");
  return nullptr;
}

PyObject* consumers(PyObject* self, PyObject*) {
  const auto& symbol = engine::symbolic(tensor_of(self));
  Object list = Object::take(PyList_New(0));
  for (engine::Node* node : symbol.graph()->nodes()) {
    for (engine::OutputRef input : node->inputs()) {
      if (!(input == symbol.output())) continue;
      Object operation = Object::take(wrap_operation(symbol.graph(), node));
      if (!operation || PyList_Append(list.get(), operation.get()) < 0) return nullptr;
      break;
    }
  }
  return list.release();
}

PyGetSetDef tensor_properties[] = {
    {"dtype", get_dtype, nullptr, "The DType of the elements.", nullptr},
    {"shape", get_shape, nullptr, "The TensorShape, as far as it is known.", nullptr},
    {"ndim", get_ndim, nullptr, "The number of dimensions.", nullptr},
    {"device", get_device, nullptr, "The name of the device that holds it.", nullptr},
    {"backing_device", get_device, nullptr, "The name of the device that holds it.", nullptr},
    {"name", get_name, nullptr, "\"<op>:<output>\" in its graph.", nullptr},
    {"graph", get_graph, nullptr, "The graph that computes it.", nullptr},
    {"op", get_op, nullptr, "The Operation that computes it.", nullptr},
    {"value_index", get_value_index, nullptr, "Which output of its op it is.", nullptr},
    {"_id", get_id, nullptr, nullptr, nullptr},
    {"__dict__", get_attributes, set_attributes, nullptr, nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

constexpr char kTensorDoc[] = R"(An array of elements of one dtype, which never changes.

It has a value (an eager tensor), or stands for what a node computes (while a function is traced).
tf.constant and tf.convert_to_tensor make tensors, ops make others of them. Operators are ops;
indices select as NumPy's do, tf.newaxis, ... and masks included. An eager tensor has numpy().

Source: tf.Tensor.)";

PyMethodDef tensor_methods[] = {
    {"get_shape", method_get_shape, METH_NOARGS, "get_shape($self, /)\n--\n\nReturns x.shape."},
    {"set_shape", set_shape, METH_O,
     "set_shape($self, shape, /)\n--\n\nSays what is known of the shape.\n\nArgs:\n  shape: What "
     "tf.TensorShape takes.\n\nRaises:\n  ValueError: It contradicts what was known."},
    {"ref", make_reference, METH_NOARGS,
     "ref($self, /)\n--\n\nReturns a hashable object that stands for this tensor."},
    {"__copy__", return_self, METH_NOARGS, nullptr},
    {"__deepcopy__", return_self, METH_O, nullptr},
    {"__format__", tensor_format, METH_O, nullptr},
    {"__tf_tensor__", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)(void)>(tf_tensor)),
     METH_FASTCALL | METH_KEYWORDS, nullptr},
    {nullptr, nullptr, 0, nullptr}};

PyMemberDef tensor_members[] = {
    {"__weaklistoffset__", T_PYSSIZET, offsetof(TensorObject, weak_references), READONLY, nullptr},
    {"__dictoffset__", T_PYSSIZET, offsetof(TensorObject, attributes), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr}};

PyMethodDef eager_methods[] = {
    {"numpy", method_numpy, METH_NOARGS,
     "numpy($self, /)\n--\n\nReturns the value as a NumPy array of its own, or as a NumPy scalar."},
    {"__array__", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)(void)>(method_array)),
     METH_VARARGS | METH_KEYWORDS, nullptr},
    {"__complex__", method_complex, METH_NOARGS, nullptr},
    {"__dlpack__", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)(void)>(tensor_dlpack)),
     METH_VARARGS | METH_KEYWORDS, nullptr},
    {"__dlpack_device__", tensor_dlpack_device, METH_NOARGS, nullptr},
    {"__reduce__", method_reduce, METH_NOARGS, nullptr},
    {"cpu", tensor_cpu, METH_NOARGS, "cpu($self, /)\n--\n\nReturns the tensor on the host."},
    {nullptr, nullptr, 0, nullptr}};
PyType_Slot eager_slots[] = {{Py_tp_methods, eager_methods},
                             {Py_bf_getbuffer, reinterpret_cast<void*>(get_buffer)},
                             {Py_bf_releasebuffer, reinterpret_cast<void*>(release_buffer)},
                             {Py_tp_dealloc, reinterpret_cast<void*>(dealloc)},
                             {Py_tp_traverse, reinterpret_cast<void*>(traverse)},
                             {Py_tp_clear, reinterpret_cast<void*>(clear)},
                             {0, nullptr}};

PyMethodDef symbolic_methods[] = {
    {"__array__", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)(void)>(refuse_array)),
     METH_VARARGS | METH_KEYWORDS, nullptr},
    {"consumers", consumers, METH_NOARGS,
     "consumers($self, /)\n--\n\nReturns the Operations that use this tensor."},
    {nullptr, nullptr, 0, nullptr}};
PyGetSetDef symbolic_properties[] = {
    {"numpy", refuse_numpy, nullptr, "Not there: only an eager tensor has a value.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};
PyType_Slot symbolic_slots[] = {{Py_tp_methods, symbolic_methods},
                                {Py_tp_getset, symbolic_properties},
                                {Py_tp_dealloc, reinterpret_cast<void*>(dealloc)},
                                {Py_tp_traverse, reinterpret_cast<void*>(traverse)},
                                {Py_tp_clear, reinterpret_cast<void*>(clear)},
                                {0, nullptr}};

constexpr unsigned kFlags =
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_HAVE_GC;

PyTypeObject* make_type(PyType_Spec spec, PyTypeObject* base, const char* short_name) {
  Object bases = base ? Object::take(PyTuple_Pack(1, base)) : Object();
  auto* type = reinterpret_cast<PyTypeObject*>(PyType_FromSpecWithBases(&spec, bases.get()));
  if (!type) throw nanobind::python_error();
  // Python's messages use this name: "'SymbolicTensor' object has no attribute 'numpy'".
  type->tp_name = short_name;
  return type;
}

}  // namespace

PyObject* wrap(Tensor tensor) {
  PyTypeObject* type = tensor.is_symbolic() ? symbolic_tensor_type : eager_tensor_type;
  PyObject* object = nullptr;
  if (g_num_free > 0) {
    object = PyObject_Init(g_free[--g_num_free], type);
  } else {
    object = reinterpret_cast<PyObject*>(PyObject_GC_New(TensorObject, type));
  }
  if (!object) return nullptr;
  new (&self_of(object)->tensor) Tensor(std::move(tensor));
  self_of(object)->weak_references = nullptr;
  self_of(object)->attributes = nullptr;
  self_of(object)->is_noted = false;
  return object;
}

void note_operand(PyObject* object) {
  const Tensor& tensor = tensor_of(object);
  engine::Frame& frame = engine::Frame::current();
  if (!frame.is_graph()) return;
  if (tensor.is_symbolic() && engine::symbolic(tensor).graph().get() == frame.graph()) return;
  note_object(object);
}

void note_object(PyObject* object) {
  const Tensor& tensor = tensor_of(object);
  self_of(object)->is_noted |= noted_operands().emplace(tensor.get(), object).second;
}

PyObject* wrap_same(const Tensor& tensor) {
  auto noted = noted_operands().find(tensor.get());
  return noted == noted_operands().end() ? wrap(tensor) : Py_NewRef(noted->second);
}

void bind_tensor(nanobind::module_& module) {
  std::vector<PyType_Slot> slots = {{Py_tp_doc, const_cast<char*>(kTensorDoc)},
                                    {Py_tp_getset, tensor_properties},
                                    {Py_tp_methods, tensor_methods},
                                    {Py_tp_members, tensor_members},
                                    {Py_tp_dealloc, reinterpret_cast<void*>(dealloc)},
                                    {Py_tp_traverse, reinterpret_cast<void*>(traverse)},
                                    {Py_tp_clear, reinterpret_cast<void*>(clear)},
                                    {Py_tp_setattro, reinterpret_cast<void*>(set_attribute)},
                                    {Py_tp_str, reinterpret_cast<void*>(tensor_str)},
                                    {Py_tp_repr, reinterpret_cast<void*>(tensor_repr)},
                                    {Py_tp_richcompare, reinterpret_cast<void*>(tensor_compare)},
                                    {Py_tp_hash, reinterpret_cast<void*>(refuse_hash)},
                                    {Py_tp_iter, reinterpret_cast<void*>(iterate)},
                                    {Py_sq_length, reinterpret_cast<void*>(length)},
                                    {Py_sq_item, reinterpret_cast<void*>(item)},
                                    {Py_mp_length, reinterpret_cast<void*>(length)},
                                    {Py_mp_subscript, reinterpret_cast<void*>(tensor_subscript)}};
  for (PyType_Slot* slot = tensor_operator_slots; slot->slot; ++slot) slots.push_back(*slot);
  slots.push_back({0, nullptr});
  tensor_type = make_type(
      {"graven.Tensor", sizeof(TensorObject), 0, kFlags | Py_TPFLAGS_BASETYPE, slots.data()},
      nullptr, "Tensor");
  eager_tensor_type =
      make_type({"graven._engine.EagerTensor", sizeof(TensorObject), 0, kFlags, eager_slots},
                tensor_type, "EagerTensor");
  symbolic_tensor_type =
      make_type({"graven._engine.SymbolicTensor", sizeof(TensorObject), 0, kFlags, symbolic_slots},
                tensor_type, "SymbolicTensor");
  // NumPy arrays on the left leave operators to tensors.
  Object priority = Object::take(PyLong_FromLong(100));
  if (run_python<PyObject_SetAttrString>(reinterpret_cast<PyObject*>(tensor_type),
                                         "__array_priority__", priority.get()) < 0) {
    throw nanobind::python_error();
  }
  module.attr("Tensor") = nanobind::handle(reinterpret_cast<PyObject*>(tensor_type));
  module.attr("EagerTensor") = nanobind::handle(reinterpret_cast<PyObject*>(eager_tensor_type));
  module.attr("SymbolicTensor") =
      nanobind::handle(reinterpret_cast<PyObject*>(symbolic_tensor_type));
}

}  // namespace graven::python
