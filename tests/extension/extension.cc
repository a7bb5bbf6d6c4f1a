// What test_extension.py tries: functions, tensors and variables that cross between C++ and Python,
// in both directions. Written with Python's own interface; pybind11 and nanobind need less of it.
#include <graven/python_api.h>

#include <cstdint>
#include <cstdio>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

namespace {

using graven::from_python;
using graven::python_guard;
using graven::Tensor;
using graven::to_python;
using graven::Variable;
using OfTensor = graven::Function<Tensor(const Tensor&)>;

// --- Functions that are made here. Each call of a maker makes a new one.

PyObject* make_step(PyObject*, PyObject*) {
  return python_guard([] {
    Variable w(Tensor{1.0, 2.0}, {.name = "w"});
    auto step = graven::function(graven::captures(w),
                                 [w](const Tensor& x, const Tensor& y) {
                                   graven::GradientTape tape;
                                   Tensor loss = graven::reduce_sum(graven::square(x * w - y));
                                   w.assign_sub(0.1 * tape.gradient(loss, w));
                                   return loss;
                                 },
                                 {.name = "step", .parameters = {"x", "y"}, .max_traces = 5});
    return to_python(step);
  });
}

PyObject* make_weighted(PyObject*, PyObject* variable) {
  return python_guard([&] {
    auto w = from_python<Variable>(variable);
    return to_python(graven::function(graven::captures(w),
                                      [w](const Tensor& x) { return graven::reduce_sum(x * w); },
                                      {.name = "weighted", .parameters = {"x"}}));
  });
}

PyObject* make_scale(PyObject*, PyObject*) {
  return python_guard([] {
    return to_python(graven::function([](const Tensor& x, double factor) { return x * factor; },
                                      {.name = "scale", .parameters = {"x", "factor"}}));
  });
}

PyObject* make_pair(PyObject*, PyObject*) {
  return python_guard([] {
    // Parameters by value: another type than those that the others ask for.
    return to_python(
        graven::function([](Tensor x, float number) { return std::pair(x + number, x * number); },
                         {.name = "pair"}));
  });
}

struct Point {
  Tensor x, y;
  auto members() { return std::tie(x, y); }
};

PyObject* make_structured(PyObject*, PyObject*) {
  return python_guard([] {
    auto body = [](const std::map<std::string, Tensor>& named, const std::vector<Point>& points,
                   std::optional<int64_t> times, const std::string& key, bool negate) {
      Tensor sum = named.at(key);
      for (const Point& point : points) sum = sum + point.x * point.y;
      if (times) sum = sum * *times;
      if (negate) sum = -sum;
      return std::tuple(sum, std::map<std::string, Tensor>{{"twice", 2 * sum}});
    };
    return to_python(graven::function(
        body, {.name = "structured", .parameters = {"named", "points", "times", "key", "negate"}}));
  });
}

graven::watched<double> rate(0.5);

PyObject* make_rated(PyObject*, PyObject* how) {
  return python_guard([&] {
    const std::map<std::string, graven::Stale> ways = {{"retrace", graven::Stale::kRetrace},
                                                       {"warn", graven::Stale::kWarn},
                                                       {"error", graven::Stale::kError},
                                                       {"ignore", graven::Stale::kIgnore}};
    const graven::Stale stale = ways.at(from_python<std::string>(how));
    return to_python(graven::function(graven::captures(rate),
                                      [](const Tensor& x) { return x * rate.get(); },
                                      {.name = "rated", .stale = stale}));
  });
}

PyObject* set_rate(PyObject*, PyObject* value) {
  return python_guard([&] {
    rate = from_python<double>(value);
    return Py_NewRef(Py_None);
  });
}

// A function of C++ that calls one of Python's.
PyObject* make_twice(PyObject*, PyObject* inner) {
  return python_guard([&] {
    auto f = from_python<OfTensor>(inner);
    return to_python(
        graven::function([f](const Tensor& x) { return f(x) * 2; }, {.name = "twice"}));
  });
}

PyObject* make_identity(PyObject*, PyObject*) {
  return python_guard([] {
    return to_python(graven::function([](const Tensor& x) { return x; }, {.name = "identity"}));
  });
}

PyObject* make_failing(PyObject*, PyObject* how) {
  return python_guard([&] {
    auto kind = from_python<std::string>(how);
    return to_python(graven::function(
        [kind](const Tensor& x) {
          if (kind == "op") return graven::matmul(x, x);
          if (kind == "run") return graven::gather(x, 7);
          if (kind == "range") throw std::out_of_range("no such thing");
          if (kind == "number") throw 3;
          throw std::runtime_error("the body fails");
        },
        {.name = "failing"}));
  });
}

PyObject* make_nothing(PyObject*, PyObject*) {
  return python_guard([] { return to_python(graven::function([] {}, {.name = "nothing"})); });
}

// Owns something whose end can be seen.
PyObject* make_owner(PyObject*, PyObject* owned) {
  return python_guard([&] {
    // A handle of a Python function owns it.
    auto f = from_python<OfTensor>(owned);
    return to_python(graven::function([f](const Tensor& x) { return f(x); }, {.name = "owner"}));
  });
}

// --- Functions of Python's, used here.

PyObject* call(PyObject*, PyObject* args) {
  PyObject *function, *x;
  if (!PyArg_ParseTuple(args, "OO", &function, &x)) return nullptr;
  return python_guard(
      [&] { return to_python(from_python<OfTensor>(function)(from_python<Tensor>(x))); });
}

// As a function of another type than it has.
PyObject* call_with_number(PyObject*, PyObject* args) {
  PyObject *function, *x, *number;
  if (!PyArg_ParseTuple(args, "OOO", &function, &x, &number)) return nullptr;
  return python_guard([&] {
    using Signature = std::tuple<Tensor, Tensor>(const Tensor&, double);
    auto f = from_python<graven::Function<Signature>>(function);
    auto [sum, product] = f(from_python<Tensor>(x), from_python<double>(number));
    return to_python(std::vector<Tensor>{sum, product});
  });
}

PyObject* update(PyObject*, PyObject* args) {
  PyObject *function, *variable;
  if (!PyArg_ParseTuple(args, "OO", &function, &variable)) return nullptr;
  return python_guard([&] {
    auto f = from_python<graven::Function<void(const Variable&)>>(function);
    f(from_python<Variable>(variable));
    return Py_NewRef(Py_None);
  });
}

PyObject* gradient(PyObject*, PyObject* args) {
  PyObject *function, *x;
  if (!PyArg_ParseTuple(args, "OO", &function, &x)) return nullptr;
  return python_guard([&] {
    auto f = from_python<OfTensor>(function);
    auto input = from_python<Tensor>(x);
    graven::GradientTape tape;
    tape.watch(input);
    return to_python(tape.gradient(f(input), input));
  });
}

PyObject* explain(PyObject*, PyObject* args) {
  PyObject *function, *x = nullptr;
  if (!PyArg_ParseTuple(args, "O|O", &function, &x)) return nullptr;
  return python_guard([&] {
    auto f = from_python<OfTensor>(function);
    auto made = x ? f.explain(from_python<Tensor>(x)) : f.explain();
    return PyUnicode_FromString(made.to_text().c_str());
  });
}

PyObject* explain_open(PyObject*, PyObject* function) {
  return python_guard([&] {
    auto f = from_python<OfTensor>(function);
    auto made = f.explain(graven::TensorSpec{{graven::Dim::unknown()}});
    return PyUnicode_FromString(made.to_text().c_str());
  });
}

PyObject* trace_counts(PyObject*, PyObject* function) {
  return python_guard([&] {
    auto f = from_python<OfTensor>(function);
    auto info = f.cache_info();
    return Py_BuildValue("(sLLL)", f.name().c_str(), info.entries, info.traces, info.hits);
  });
}

PyObject* concrete(PyObject*, PyObject* function) {
  return python_guard([&] {
    from_python<OfTensor>(function).get_concrete_function(Tensor(1.0));
    return Py_NewRef(Py_None);
  });
}

// (code, kind, message, whether the line is known) of the error of a call.
PyObject* error_of(PyObject*, PyObject* args) {
  PyObject *function, *x;
  if (!PyArg_ParseTuple(args, "OO", &function, &x)) return nullptr;
  return python_guard([&]() -> PyObject* {
    auto f = from_python<OfTensor>(function);
    auto input = from_python<Tensor>(x);
    try {
      f(input);
    } catch (const graven::TraceLockError& error) {
      return Py_BuildValue("(iiss)", static_cast<int>(error.code()), static_cast<int>(error.kind()),
                           error.message().c_str(), "lock");
    } catch (const graven::Error& error) {
      const std::string what = error.what();
      const bool has_line = what.find("extension.cc:") != std::string::npos;
      return Py_BuildValue("(iiss)", static_cast<int>(error.code()), static_cast<int>(error.kind()),
                           error.message().c_str(), has_line ? "line" : "");
    }
    return Py_NewRef(Py_None);
  });
}

// Threads that Python knows nothing of; each calls the function so often.
PyObject* call_on_threads(PyObject*, PyObject* args) {
  PyObject *function, *x;
  int num_threads, num_calls;
  if (!PyArg_ParseTuple(args, "OOii", &function, &x, &num_threads, &num_calls)) return nullptr;
  return python_guard([&] {
    auto f = from_python<OfTensor>(function);
    auto input = from_python<Tensor>(x);
    std::vector<float> sums(static_cast<size_t>(num_threads));
    PyThreadState* state = PyEval_SaveThread();
    std::vector<std::thread> threads;
    for (float& sum : sums) {
      threads.emplace_back([&sum, f, input, num_calls] {
        for (int i = 0; i < num_calls; ++i) sum += graven::reduce_sum(f(input)).item<float>();
      });
    }
    for (std::thread& thread : threads) thread.join();
    PyEval_RestoreThread(state);
    Tensor total(0.0);
    for (float sum : sums) total = total + sum;
    return to_python(total);
  });
}

// A handle that outlives all of Python's references.
std::unique_ptr<OfTensor> kept;

PyObject* keep(PyObject*, PyObject* function) {
  return python_guard([&] {
    kept =
        function == Py_None ? nullptr : std::make_unique<OfTensor>(from_python<OfTensor>(function));
    return Py_NewRef(Py_None);
  });
}

// Uses it in the destructor of a static object, when Python has ended.
struct AtEnd {
  ~AtEnd() {
    if (!is_asked) return;
    try {
      std::printf("%g\n", (*kept)(Tensor(1.0f)).item<float>());
      kept->explain();
      std::puts("explained");
    } catch (const graven::Error& error) {
      std::puts(error.status().message().c_str());
    }
  }
  bool is_asked = false;
} at_end;

PyObject* use_kept_at_end(PyObject*, PyObject*) {
  at_end.is_asked = true;
  return Py_NewRef(Py_None);
}

PyObject* from_null(PyObject*, PyObject* function) {
  return python_guard([&] {
    return to_python(
        from_python<Tensor>(function == Py_None ? nullptr : PyObject_CallNoArgs(function)));
  });
}

PyObject* call_kept(PyObject*, PyObject* x) {
  return python_guard([&] { return to_python((*kept)(from_python<Tensor>(x))); });
}

// Drops it on a thread without the GIL.
PyObject* drop_kept_elsewhere(PyObject*, PyObject*) {
  return python_guard([&] {
    PyThreadState* state = PyEval_SaveThread();
    std::thread([] { kept = nullptr; }).join();
    PyEval_RestoreThread(state);
    return Py_NewRef(Py_None);
  });
}

// The same of a variable, which is dropped with null.
Variable kept_variable;

PyObject* keep_variable(PyObject*, PyObject* variable) {
  return python_guard([&] {
    kept_variable = variable == Py_None ? Variable() : from_python<Variable>(variable);
    return Py_NewRef(Py_None);
  });
}

// One of which Python knows nothing.
PyObject* keep_new_variable(PyObject*, PyObject* value) {
  return python_guard([&] {
    kept_variable = Variable(from_python<Tensor>(value), {.name = "new"});
    return Py_NewRef(Py_None);
  });
}

PyObject* read_kept_variable(PyObject*, PyObject*) {
  return python_guard([] { return to_python(kept_variable.value()); });
}

PyObject* through_function(PyObject*, PyObject* function) {
  return python_guard([&] { return to_python(from_python<OfTensor>(function)); });
}

// --- Tensors, variables and other values.

PyObject* through_tensor(PyObject*, PyObject* object) {
  return python_guard([&] { return to_python(from_python<Tensor>(object)); });
}

PyObject* through_variable(PyObject*, PyObject* object) {
  return python_guard([&] { return to_python(from_python<Variable>(object)); });
}

PyObject* make_variable(PyObject*, PyObject* value) {
  return python_guard([&] {
    return to_python(Variable(from_python<Tensor>(value), {.name = "made", .trainable = true}));
  });
}

PyObject* through_structure(PyObject*, PyObject* object) {
  return python_guard([&] {
    using Structure = std::map<std::string, std::vector<std::pair<int32_t, std::optional<double>>>>;
    return to_python(from_python<Structure>(object));
  });
}

PyObject* call_python(PyObject*, PyObject* function) {
  return python_guard([&] {
    PyObject* result = PyObject_CallNoArgs(function);
    if (!result) graven::throw_python_exception();
    return result;
  });
}

PyObject* version(PyObject*, PyObject*) {
  return PyUnicode_FromString(graven::internal::kPythonApiVersion);
}

// What the import would say to an extension module of another version, or of another libgraven.so.
PyObject* import_with(PyObject*, PyObject* how) {
  static graven::internal::PythonApi other = graven::internal::python_api();
  return python_guard([&] {
    other = graven::internal::python_api();
    if (from_python<std::string>(how) == "version") {
      other.version = "0.0.9";
    } else {
      other.library = &other;
      other.library_file = "/elsewhere/libgraven.so";
    }
    return PyCapsule_New(&other, graven::internal::kPythonApiCapsule, nullptr);
  });
}

PyMethodDef methods[] = {{"make_step", make_step, METH_NOARGS, nullptr},
                         {"make_weighted", make_weighted, METH_O, nullptr},
                         {"make_scale", make_scale, METH_NOARGS, nullptr},
                         {"make_pair", make_pair, METH_NOARGS, nullptr},
                         {"make_structured", make_structured, METH_NOARGS, nullptr},
                         {"make_rated", make_rated, METH_O, nullptr},
                         {"set_rate", set_rate, METH_O, nullptr},
                         {"make_twice", make_twice, METH_O, nullptr},
                         {"make_identity", make_identity, METH_NOARGS, nullptr},
                         {"make_failing", make_failing, METH_O, nullptr},
                         {"make_nothing", make_nothing, METH_NOARGS, nullptr},
                         {"make_owner", make_owner, METH_O, nullptr},
                         {"call", call, METH_VARARGS, nullptr},
                         {"call_with_number", call_with_number, METH_VARARGS, nullptr},
                         {"update", update, METH_VARARGS, nullptr},
                         {"gradient", gradient, METH_VARARGS, nullptr},
                         {"explain", explain, METH_VARARGS, nullptr},
                         {"explain_open", explain_open, METH_O, nullptr},
                         {"trace_counts", trace_counts, METH_O, nullptr},
                         {"concrete", concrete, METH_O, nullptr},
                         {"error_of", error_of, METH_VARARGS, nullptr},
                         {"call_on_threads", call_on_threads, METH_VARARGS, nullptr},
                         {"keep", keep, METH_O, nullptr},
                         {"use_kept_at_end", use_kept_at_end, METH_NOARGS, nullptr},
                         {"from_null", from_null, METH_O, nullptr},
                         {"call_kept", call_kept, METH_O, nullptr},
                         {"drop_kept_elsewhere", drop_kept_elsewhere, METH_NOARGS, nullptr},
                         {"keep_variable", keep_variable, METH_O, nullptr},
                         {"keep_new_variable", keep_new_variable, METH_O, nullptr},
                         {"read_kept_variable", read_kept_variable, METH_NOARGS, nullptr},
                         {"through_function", through_function, METH_O, nullptr},
                         {"through_tensor", through_tensor, METH_O, nullptr},
                         {"through_variable", through_variable, METH_O, nullptr},
                         {"make_variable", make_variable, METH_O, nullptr},
                         {"through_structure", through_structure, METH_O, nullptr},
                         {"call_python", call_python, METH_O, nullptr},
                         {"version", version, METH_NOARGS, nullptr},
                         {"import_with", import_with, METH_O, nullptr},
                         {nullptr, nullptr, 0, nullptr}};
PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "extension", nullptr, 0, methods, nullptr, nullptr, nullptr, nullptr};

}  // namespace

PyMODINIT_FUNC PyInit_extension() {
  if (!graven::import_graven()) return nullptr;
  return PyModule_Create(&definition);
}
