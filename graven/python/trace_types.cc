#include "graven/python/trace_types.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <optional>
#include <utility>
#include <vector>

#include "graven/function/composite_type.h"
#include "graven/ir/call_sizes.h"
#include "graven/ir/frame.h"
#include "graven/python/bind.h"
#include "graven/python/container.h"
#include "graven/python/convert.h"
#include "graven/python/errors.h"
#include "graven/python/literal.h"
#include "graven/python/opaque.h"
#include "graven/python/results.h"
#include "graven/python/tensor_object.h"
#include "graven/python/value.h"

namespace nb = nanobind;

namespace graven::python {
namespace {

using engine::make_ref;
using engine::Ref;
using engine::Result;
using engine::Status;
using engine::Tensor;
using engine::TensorType;
using engine::TraceType;
using engine::TraceTypeRef;
using engine::Value;

// The Python object of an engine's type.
struct TypeView {
  TraceTypeRef type;
};
struct TensorSpecView : TypeView {};

constexpr const char* kTraceTypes = "graven._trace_types";
constexpr const char* kTypeSpecs = "graven._type_spec";

PyObject* trace_type_class() {
  static constinit Imported klass(kTraceTypes, "TraceType");
  return klass.get();
}

// A type outlived the Functions that owned its Python object.
Status gone() {
  return Status(engine::Code::kFailedPrecondition,
                "A type of an argument is gone, because the tf.function that was traced with it is "
                "gone: keep that alive for as long as its types are used",
                engine::ErrorKind::kRuntimeError);
}

// A type that Python code defines: a user's TraceType, a composite tensor's spec.
class PythonType final : public engine::CompositeType, public engine::HasClassName {
 public:
  explicit PythonType(PyObject* object) : held_(object) {}
  ~PythonType() override {
    if (!argument_ || !Py_IsInitialized()) return;
    HoldGil gil;
    drop(argument_);
  }
  HeldObject& held() const { return held_; }
  // For a class that leaves out placeholder_value: what the body sees is the argument of the call
  // that this type was made for. It is held weakly, as a trace keeps the type. False with an
  // exception set if it fails.
  bool stand_for(PyObject* argument) {
    argument_ = PyWeakref_NewRef(argument, nullptr);
    return argument_ != nullptr;
  }
  // Empty if the Functions that owned it are gone.
  Object object() const { return Object::borrow(held_.get()); }

  bool is_subtype_of(const TraceType& other) const override {
    HoldGil gil;
    Object self = object(), that = type_to_python(TraceTypeRef(&other));
    if (!that) PyErr_Clear();  // an object that is gone covers nothing
    return self && that &&
           is_true(self,
                   run_python<PyObject_CallMethod>(self.get(), "is_subtype_of", "O", that.get()));
  }
  TraceTypeRef common_supertype(const TraceType& other) const override {
    HoldGil gil;
    Object self = object(), that = type_to_python(TraceTypeRef(&other));
    if (!that) PyErr_Clear();
    if (!self || !that) return nullptr;
    Object others = Object::take(PyList_New(1));
    PyList_SET_ITEM(others.get(), 0, Py_NewRef(that.get()));
    Object common = Object::take(run_python<PyObject_CallMethod>(
        self.get(), "most_specific_common_supertype", "O", others.get()));
    if (!common) return complain(self);
    if (common.get() == Py_None) return nullptr;
    TraceTypeRef type = trace_type_of_object(common.get());
    if (!type) {
      run_python<PyErr_Format>(
          PyExc_TypeError,
          "most_specific_common_supertype of %R must return a TraceType or None, not %R",
          self.get(), common.get());
      return complain(self);
    }
    if (is_subtype_of(*type) && other.is_subtype_of(*type)) return type;
    if (TypeComparisons::has_failed()) return nullptr;
    warn_of_supertype(self.get(), that.get(), common.get());
    return nullptr;
  }
  bool equals(const TraceType& other) const override {
    if (other.kind() != Kind::kForeign) return false;
    HoldGil gil;
    const auto* that = dynamic_cast<const PythonType*>(&other);
    Object a = object(), b = that ? that->object() : Object();
    return a && b && is_true(a, run_python<PyObject_RichCompare>(a.get(), b.get(), Py_EQ));
  }
  uint64_t hash() const override {
    HoldGil gil;
    Object self = object();
    if (!self) return 0;
    Py_hash_t hash = run_python<PyObject_Hash>(self.get());
    if (hash == -1 && PyErr_Occurred()) complain(self);
    return static_cast<uint64_t>(hash);
  }
  std::string repr() const override {
    HoldGil gil;
    Object self = object();
    Object repr = self ? Object::take(run_python<PyObject_Repr>(self.get())) : Object();
    const char* text = repr ? PyUnicode_AsUTF8(repr.get()) : nullptr;
    if (!text) PyErr_Clear();
    return text ? text : "TraceType";
  }
  std::string class_name() const override {
    HoldGil gil;
    Object self = object();
    return self ? full_class_name(self.get()) : "a type that is gone";
  }
  Result<Value> placeholder(engine::PlaceholderContext& context) const override {
    HoldGil gil;
    static constinit Imported make_context(kTraceTypes, "PlaceholderContext");
    if (!make_context.get()) return pending_exception();
    Object self = object();
    if (!self) return gone();
    Object py_context = Object::take(
        run_python<PyObject_CallFunction>(make_context.get(), "s", context.name.c_str()));
    Object made = argument_    ? Object::borrow(PyWeakref_GetObject(argument_))
                  : py_context ? Object::take(run_python<PyObject_CallMethod>(
                                     self.get(), "placeholder_value", "O", py_context.get()))
                               : Object();
    if (!made) return pending_exception();
    Value value;
    value.kind = Value::Kind::kObject;
    value.object = make_ref<StrongOpaque>(made.get());
    return value;
  }
  Status to_tensors(const Value& value, std::vector<Tensor>& tensors) const override {
    for (const Value& item : value.items) tensors.push_back(item.tensor);
    return {};
  }

  // --- Of specs (graven._type_spec.TypeSpec).
  Result<std::vector<Ref<const TensorType>>> tensor_types() const override {
    HoldGil gil;
    Object specs = called("flatten");
    Object list = specs ? items_of(specs.get(), "flatten must give a list") : Object();
    if (!list) return pending_exception();
    std::vector<Ref<const TensorType>> types;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(list.get()); ++i) {
      TraceTypeRef type = trace_type_of_object(PyTuple_GET_ITEM(list.get(), i));
      const auto* tensor = dynamic_cast<const TensorType*>(type.get());
      if (!tensor) return engine::type_error("flatten of ", repr(), " must give TensorSpecs");
      types.emplace_back(tensor);
    }
    return types;
  }
  Result<std::optional<std::vector<int>>> ragged_ranks() const override {
    HoldGil gil;
    Object ranks = called_if_there("_ragged_ranks");
    if (!ranks) return pending_exception();
    if (ranks.get() == Py_None) return std::optional<std::vector<int>>();
    Object list = items_of(ranks.get(), "_ragged_ranks must give a list");
    if (!list) return pending_exception();
    std::vector<int> made;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(list.get()); ++i) {
      made.push_back(static_cast<int>(PyLong_AsLong(PyTuple_GET_ITEM(list.get(), i))));
    }
    if (PyErr_Occurred()) return pending_exception();
    return std::optional(std::move(made));
  }
  Result<TraceTypeRef> type_of_row() const override {
    HoldGil gil;
    return type_or_none(called_if_there("_unbatch"));
  }
  Result<TraceTypeRef> type_of_rows(std::optional<int64_t> count) const override {
    HoldGil gil;
    Object number = count ? Object::take(PyLong_FromLongLong(*count)) : Object::borrow(Py_None);
    return type_or_none(number ? called_if_there("_batch", number.get()) : Object());
  }
  Result<TraceTypeRef> with_shape(const engine::Shape& shape) const override {
    HoldGil gil;
    Object object = Object::take(wrap(shape));
    return type_or_none(object ? called_if_there("_with_shape", object.get()) : Object());
  }
  bool is_spec() const override {
    HoldGil gil;
    static constinit Imported type_spec(kTypeSpecs, "TypeSpec");
    Object self = object();
    const int is_one =
        self && type_spec.get() ? run_python<PyObject_IsInstance>(self.get(), type_spec.get()) : -1;
    if (is_one < 0) PyErr_Clear();
    return is_one > 0;
  }
  std::string spec_text() const override {
    std::string text = is_spec() ? repr() : "";
    // What prints its address is another text in each run.
    return text.find(" at 0x") == text.npos ? text : "";
  }
  std::string spec_code() const override {
    std::string text = spec_text();
    if (text.empty()) return text;
    HoldGil gil;
    static constinit Imported with_modules(kTypeSpecs, "with_modules");
    PyObject* call = with_modules.get();
    Object code =
        call ? Object::take(run_python<PyObject_CallFunction>(call, "s", text.c_str())) : Object();
    const char* chars = code ? PyUnicode_AsUTF8(code.get()) : nullptr;
    if (!chars) PyErr_Clear();
    return chars ? chars : text;
  }
  bool is_compatible_with(const TraceType& other) const override {
    HoldGil gil;
    Object self = object(), that = type_to_python(TraceTypeRef(&other));
    if (!that) PyErr_Clear();
    return self && that &&
           is_true(self, run_python<PyObject_CallMethod>(self.get(), "is_compatible_with", "O",
                                                         that.get()));
  }

 private:
  // The result of a method of the spec. Empty with an exception on failure.
  Object called(const char* method, PyObject* argument = nullptr) const {
    Object self = object();
    if (!self) {
      raise(gone());
      return {};
    }
    return Object::take(argument
                            ? run_python<PyObject_CallMethod>(self.get(), method, "O", argument)
                            : run_python<PyObject_CallMethod>(self.get(), method, nullptr));
  }
  // The same; None of a type that is no TypeSpec.
  Object called_if_there(const char* method, PyObject* argument = nullptr) const {
    Object self = object();
    if (self && !has_attribute(self.get(), method)) return Object::borrow(Py_None);
    return called(method, argument);
  }
  static Result<TraceTypeRef> type_or_none(const Object& made) {
    if (!made) return pending_exception();
    return made.get() == Py_None ? TraceTypeRef() : trace_type_of_object(made.get());
  }
  static TraceTypeRef complain(const Object& self) {
    TypeComparisons::fail(self.get());
    return nullptr;
  }
  // TensorFlow traces with such a type, and again at each call, as no call is covered by it.
  static void warn_of_supertype(PyObject* a, PyObject* b, PyObject* common) {
    static constinit Imported warn_once("graven._logging", "warn_once");
    Object text = Object::take(run_python<PyUnicode_FromFormat>(
        "most_specific_common_supertype gave %R for %R and %R, but is_subtype_of says that it does "
        "not cover both: it is left out, and each of them has a trace of its own.",
        common, a, b));
    Object done = text && warn_once.get()
                      ? Object::take(run_python<PyObject_CallOneArg>(warn_once.get(), text.get()))
                      : Object();
    if (!done) complain(Object::borrow(a));
  }
  static bool is_true(const Object& self, PyObject* result) {
    Object object = Object::take(result);
    if (object && object.get() == Py_NotImplemented) return false;
    int truth = object ? run_python<PyObject_IsTrue>(object.get()) : -1;
    if (truth < 0) complain(self);
    return truth > 0;
  }
  mutable HeldObject held_;
  PyObject* argument_ = nullptr;  // a weak reference, or null
};

std::string_view kind_name(const TraceType& type) {
  switch (type.kind()) {
    case TraceType::Kind::kTensor:
      return "tensor";
    case TraceType::Kind::kVariable:
      return "variable";
    case TraceType::Kind::kLiteral:
      return "literal";
    case TraceType::Kind::kContainer:
      return "container";
    case TraceType::Kind::kObject:
      return "object";
    case TraceType::Kind::kForeign:
      return "foreign";
  }
  return "";
}

const TensorType& tensor_type_of(const TypeView& view) {
  return static_cast<const TensorType&>(*view.type);
}

constinit thread_local TypeComparisons* t_comparisons = nullptr;

}  // namespace

TypeComparisons::TypeComparisons() : outer_(std::exchange(t_comparisons, this)) {}

TypeComparisons::~TypeComparisons() {
  t_comparisons = outer_;
  if (failure_.ok()) return;
  PyObject *type, *value, *traceback;
  PyErr_Fetch(&type, &value, &traceback);
  raise(failure_);
  run_python<PyErr_WriteUnraisable>(nullptr);
  PyErr_Restore(type, value, traceback);
}

void TypeComparisons::fail(PyObject* type) {
  if (!t_comparisons) return run_python<PyErr_WriteUnraisable>(type);
  Status failure = pending_exception();
  if (t_comparisons->failure_.ok()) t_comparisons->failure_ = std::move(failure);
}

bool TypeComparisons::has_failed() { return t_comparisons && !t_comparisons->failure_.ok(); }

Status TypeComparisons::take() {
  return t_comparisons ? std::exchange(t_comparisons->failure_, Status()) : Status();
}

TraceTypeRef trace_type_of_object(PyObject* object) {
  nb::handle handle(object);
  if (nb::isinstance<TypeView>(handle)) return nb::cast<const TypeView&>(handle).type;
  PyObject* klass = trace_type_class();
  if (!klass || PyType_Check(object)) {
    PyErr_Clear();
    return nullptr;
  }
  if (run_python<PyObject_IsInstance>(object, klass) != 1) {
    PyErr_Clear();
    return nullptr;
  }
  return make_ref<PythonType>(object);
}

HeldObject* held_object_of(const TraceType& type) {
  const auto* foreign = dynamic_cast<const PythonType*>(&type);
  return foreign ? &foreign->held() : nullptr;
}

Result<TraceTypeRef> own_trace_type(PyObject* object) {
  Object method = Object::take(run_python<PyObject_GetAttrString>(object, "__tf_tracing_type__"));
  if (!method) {
    PyErr_Clear();
    return TraceTypeRef();
  }
  static constinit Imported make_context(kTraceTypes, "TracingContext");
  Object context = make_context.get()
                       ? Object::take(run_python<PyObject_CallNoArgs>(make_context.get()))
                       : Object();
  Object type = context ? Object::take(run_python<PyObject_CallOneArg>(method.get(), context.get()))
                        : Object();
  if (!type) return pending_exception();
  if (TraceTypeRef known = trace_type_of_object(type.get())) {
    static constinit Imported has_placeholder(kTraceTypes, "_has_placeholder");
    const auto* foreign = dynamic_cast<const PythonType*>(known.get());
    if (!foreign) return known;
    Object has =
        has_placeholder.get()
            ? Object::take(run_python<PyObject_CallOneArg>(has_placeholder.get(), type.get()))
            : Object();
    if (!has) return pending_exception();
    if (has.get() == Py_True) return known;
    auto standing = make_ref<PythonType>(type.get());
    if (!standing->stand_for(object)) return pending_exception();
    return TraceTypeRef(std::move(standing));
  }
  Object repr = Object::take(run_python<PyObject_Repr>(type.get()));
  const char* text = repr ? PyUnicode_AsUTF8(repr.get()) : nullptr;
  PyErr_Clear();
  return engine::type_error(
      "Expected an instance of tf.types.experimental.TraceType for Tracing "
      "Protocol call to ",
      Py_TYPE(object)->tp_name, " but got ", text ? text : "another object");
}

Object type_to_python(const TraceTypeRef& type) {
  if (!type) return Object::borrow(Py_None);
  if (const auto* foreign = dynamic_cast<const PythonType*>(type.get())) {
    Object object = foreign->object();
    if (!object) raise(gone());
    return object;
  }
  nb::object view = type->kind() == TraceType::Kind::kTensor ? nb::cast(TensorSpecView{{type}})
                                                             : nb::cast(TypeView{type});
  return Object::take(view.release().ptr());
}

Status tensors_of_foreign(const TraceType& type, PyObject* object, std::vector<Value>& items) {
  const auto* foreign = dynamic_cast<const PythonType*>(&type);
  if (!foreign) return {};
  Object self = foreign->object();
  if (!self) return gone();
  Object tensors =
      Object::take(run_python<PyObject_CallMethod>(self.get(), "to_tensors", "O", object));
  if (!tensors) {
    if (!PyErr_ExceptionMatches(PyExc_AttributeError)) return pending_exception();
    PyErr_Clear();  // a type without to_tensors feeds none
    return {};
  }
  Object list = items_of(tensors.get(), "to_tensors must give a list");
  if (!list) return pending_exception();
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(list.get()); ++i) {
    ASSIGN_OR_RETURN(Tensor tensor, to_tensor(PyTuple_GET_ITEM(list.get(), i)));
    items.push_back(Value::of_tensor(std::move(tensor)));
  }
  return {};
}

Object foreign_to_python(const Value& value, const engine::Tensors& tensors, size_t& next) {
  Object list = Object::take(PyList_New(0));
  for (size_t i = 0; list && i < value.items.size(); ++i) {
    Object tensor = Object::take(wrap(tensors[next++]));
    if (!tensor || PyList_Append(list.get(), tensor.get()) < 0) return {};
  }
  static constinit Imported rebuild(kTypeSpecs, "rebuild_composite");
  Object spec = type_to_python(engine::own_type_of(value));
  if (!rebuild.get() || !spec || !list) return {};
  return Object::take(
      run_python<PyObject_CallFunctionObjArgs>(rebuild.get(), spec.get(), list.get(), nullptr));
}

Result<bool> is_composite_tensor(PyObject* object) {
  static constinit Imported klass(kTypeSpecs, "CompositeTensor");
  if (!klass.get()) return pending_exception();
  int is_instance = run_python<PyObject_IsInstance>(object, klass.get());
  if (is_instance < 0) return pending_exception();
  return is_instance == 1;
}

Result<Value> composite_to_value(PyObject* object) {
  Object spec = Object::take(run_python<PyObject_GetAttrString>(object, "_type_spec"));
  if (!spec) return pending_exception();
  engine::TraceTypeRef type = trace_type_of_object(spec.get());
  if (!type) return engine::type_error("_type_spec must be a TraceType");
  Value value;
  value.kind = Value::Kind::kTyped;
  RETURN_IF_ERROR(tensors_of_foreign(*type, object, value.items));
  value.type = std::move(type);
  return value;
}

void bind_trace_types(nb::module_& m) {
  nb::class_<TypeView>(m, "TraceTypeView", "A type of the cache, as the engine holds it.")
      .def(
          "is_subtype_of",
          [](const TypeView& self, nb::object other) {
            TraceTypeRef that = trace_type_of_object(other.ptr());
            return that && self.type->is_subtype_of(*that);
          },
          nb::arg("other"),
          "Tells whether every value of this type may be given where another is expected.\n\n"
          "Args:\n  other: A type of any class.")
      .def(
          "most_specific_common_supertype",
          [](const TypeView& self, nb::sequence others) -> nb::object {
            TraceTypeRef common = self.type;
            for (nb::handle other : others) {
              TraceTypeRef that = trace_type_of_object(other.ptr());
              common = that && common ? common->common_supertype(*that) : TraceTypeRef();
            }
            return steal(type_to_python(common));
          },
          nb::arg("others"),
          "Returns the most specific type that covers this one and the others, or None.\n\n"
          "Args:\n  others: Types of any class.")
      .def(
          "__eq__",
          [](const TypeView& self, nb::object other) {
            TraceTypeRef that = trace_type_of_object(other.ptr());
            return that && self.type->equals(*that);
          },
          nb::arg().none())
      .def(
          "__ne__",
          [](const TypeView& self, nb::object other) {
            TraceTypeRef that = trace_type_of_object(other.ptr());
            return !that || !self.type->equals(*that);
          },
          nb::arg().none())
      .def("__hash__", [](const TypeView& self) { return static_cast<int64_t>(self.type->hash()); })
      .def("__repr__", [](const TypeView& self) { return self.type->repr(); })
      .def_prop_ro(
          "kind", [](const TypeView& self) { return std::string(kind_name(*self.type)); },
          "Which of the types of S3 it is, such as \"tensor\" or \"dict\".")
      .def_prop_ro(
          "value",
          [](const TypeView& self) -> nb::object {
            if (self.type->kind() == TraceType::Kind::kLiteral) {
              return steal(
                  literal_to_python(static_cast<const engine::LiteralType&>(*self.type).literal()));
            }
            if (self.type->kind() == TraceType::Kind::kObject) {
              Object object =
                  object_of(*static_cast<const engine::ObjectType&>(*self.type).object());
              return object ? steal(object) : nb::none();
            }
            return nb::none();
          },
          "The Python value of a literal or object, else None.")
      .def_prop_ro(
          "components",
          [](const TypeView& self) {
            nb::list list;
            const auto* type = dynamic_cast<const engine::ContainerType*>(self.type.get());
            for (size_t i = 0; type && i < type->items().size(); ++i) {
              list.append(steal(type_to_python(type->items()[i])));
            }
            return list;
          },
          "The types of the parts of a container.")
      .def_prop_ro(
          "keys",
          [](const TypeView& self) {
            nb::list list;
            const auto* type = dynamic_cast<const engine::ContainerType*>(self.type.get());
            if (!type) return list;
            for (const engine::Literal& key : type->container()->keys()) {
              list.append(steal(literal_to_python(key)));
            }
            return list;
          },
          "The keys of a dict, or the names of the fields of a class.")
      .def(
          "with_components",
          [](const TypeView& self, nb::sequence components) {
            const auto& type = static_cast<const engine::ContainerType&>(*self.type);
            const engine::Container& container = *type.container();
            // A mapping becomes a plain dict.
            const bool has_class = container.maker() && !container.is_mapping();
            nb::object maker =
                has_class ? steal(object_or_error(*container.maker())) : nb::object();
            std::vector<Object> items;
            for (nb::handle component : components) {
              items.push_back(Object::borrow(component.ptr()));
            }
            return steal(put_together(container, maker.ptr(), std::move(items)));
          },
          nb::arg("components"),
          "Returns a container as this type describes, of other components.\n\n"
          "Args:\n  components: As many as `components` has.");

  m.def(
      "type_of",
      [](nb::object value) {
        engine::Value engine_value = value_or_raise(to_value(value.ptr(), true));
        engine::TypingContext context;
        return steal(type_to_python(value_or_raise(engine::type_of(engine_value, context))));
      },
      nb::arg().none());
  m.def("add_placeholder", [](const TensorSpecView& spec, const std::string& name) {
    engine::GraphBuilder* builder = engine::Frame::current().graph_builder();
    if (!builder) {
      throw_status(
          engine::value_error("placeholder_value may be called only while a function is "
                              "traced"));
    }
    engine::PlaceholderContext context{*builder, name, {}};
    return steal(to_python(value_or_raise(spec.type->placeholder(context))));
  });

  nb::class_<TensorSpecView, TypeView>(
      m, "TensorSpec",
      "The type of a tensor: shape, dtype and an optional name.\n\n"
      "Args:\n"
      "  shape: What tf.TensorShape takes; None means unknown rank.\n"
      "  dtype: What tf.as_dtype takes.\n"
      "  name: A name for the placeholder, or None.\n\n"
      "Source: tf.TensorSpec.")
      .def(
          "__init__",
          [](TensorSpecView* self, nb::object shape, nb::object dtype, nb::object name) {
            engine::Shape engine_shape = value_or_raise(to_shape(shape.ptr()));
            engine::DType engine_dtype =
                dtype.is_none() ? engine::DType::kFloat32 : value_or_raise(to_dtype(dtype.ptr()));
            std::optional<std::string> engine_name;
            if (!name.is_none()) engine_name = nb::cast<std::string>(name);
            new (self) TensorSpecView{
                {make_ref<TensorType>(engine_shape, engine_dtype, std::move(engine_name))}};
          },
          nb::arg("shape").none(), nb::arg("dtype") = nb::none(), nb::arg("name") = nb::none())
      .def_prop_ro(
          "shape",
          [](const TensorSpecView& self) { return nb::steal(wrap(tensor_type_of(self).shape())); },
          "The TensorShape, whose unknown dimensions are None.")
      .def_prop_ro(
          "dtype",
          [](const TensorSpecView& self) { return nb::steal(wrap(tensor_type_of(self).dtype())); },
          "The DType.")
      .def_prop_ro(
          "name",
          [](const TensorSpecView& self) -> nb::object {
            const auto& name = tensor_type_of(self).name();
            return name ? nb::cast(*name) : nb::none();
          },
          "The name of the placeholder, or None.")
      .def(
          "is_compatible_with",
          [](const TensorSpecView& self, nb::object other) {
            const TensorType& own = tensor_type_of(self);
            TraceTypeRef that = trace_type_of_object(other.ptr());
            if (!that) {
              auto tensor = to_tensor(other.ptr());
              if (!tensor.ok()) return false;
              return tensor->dtype() == own.dtype() &&
                     engine::are_compatible(tensor->shape(), own.shape());
            }
            if (that->kind() != TraceType::Kind::kTensor) return false;
            const auto& t = static_cast<const TensorType&>(*that);
            return t.dtype() == own.dtype() && engine::are_compatible(t.shape(), own.shape());
          },
          nb::arg("other"),
          "Tells whether some tensor may be of both types.\n\n"
          "Args:\n  other: A spec, or what tf.convert_to_tensor takes.")
      .def_static(
          "from_spec",
          [](const TensorSpecView& spec, nb::object name) {
            const TensorType& type = tensor_type_of(spec);
            auto wished = name.is_none() ? type.name() : nb::cast<std::string>(name);
            return TensorSpecView{{make_ref<TensorType>(type.shape(), type.dtype(), wished)}};
          },
          nb::arg("spec"), nb::arg("name") = nb::none(),
          "Returns a spec like another.\n\n"
          "Args:\n  spec: A TensorSpec.\n  name: Another name; None keeps it.")
      .def_static(
          "from_tensor",
          [](nb::object tensor, nb::object name) {
            Tensor value = value_or_raise(to_tensor(tensor.ptr()));
            std::optional<std::string> wished;
            if (!name.is_none()) wished = nb::cast<std::string>(name);
            const engine::Shape& shape = engine::CallSizes::read_shape(value);
            return TensorSpecView{{make_ref<TensorType>(shape, value.dtype(), wished)}};
          },
          nb::arg("tensor"), nb::arg("name") = nb::none(),
          "Returns the spec of a tensor.\n\n"
          "Args:\n  tensor: What tf.convert_to_tensor takes.\n  name: A name, or None.")
      .def("__reduce__", [](nb::object self) {
        return nb::make_tuple(
            self.type(), nb::make_tuple(self.attr("shape"), self.attr("dtype"), self.attr("name")));
      });
}

}  // namespace graven::python
