#include "graven/python/dlpack.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "graven/python/convert.h"
#include "graven/python/object.h"
#include "graven/python/tensor_object.h"
#include "graven/tensor/logical_cpus.h"

// The structs are those of DLPack's ABI before its version 1.0
// (https://dmlc.github.io/dlpack/latest/c_api.html), and the capsules those of its protocol for
// Python: the consumer renames a capsule and calls the deleter; one that nobody took does so
// itself.

namespace graven::python {
namespace {

using engine::DType;
using engine::Tensor;

constexpr int32_t kCpu = 1;  // kDLCPU

struct DLDevice {
  int32_t type = kCpu, number = 0;
};

struct DLDataType {
  uint8_t code = 0, bits = 0;
  uint16_t lanes = 1;
};

struct DLTensor {
  void* data = nullptr;
  DLDevice device;
  int32_t rank = 0;
  DLDataType dtype;
  int64_t* sizes = nullptr;
  int64_t* strides = nullptr;  // null: the elements stand one after the other
  uint64_t byte_offset = 0;
};

struct DLManagedTensor {
  DLTensor tensor;
  void* context = nullptr;
  void (*deleter)(DLManagedTensor*) = nullptr;
};

struct Exported {
  DLManagedTensor managed;
  Tensor tensor;
  std::vector<int64_t> sizes;
};

enum Code : uint8_t { kInt = 0, kUInt = 1, kFloat = 2, kBfloat = 4, kDLComplex = 5, kBool = 6 };

std::optional<Code> code_of(DType dtype) {
  if (dtype == DType::kBool) return kBool;
  if (dtype == DType::kBFloat16) return kBfloat;
  if (!is_plain(dtype)) return std::nullopt;
  if (is_complex(dtype)) return kDLComplex;
  if (is_floating(dtype)) return kFloat;
  switch (dtype) {
    case DType::kUInt8:
    case DType::kUInt16:
    case DType::kUInt32:
    case DType::kUInt64:
      return kUInt;
    default:
      return kInt;
  }
}

constexpr char kName[] = "dltensor";

void drop_capsule(PyObject* capsule) {
  if (!PyCapsule_IsValid(capsule, kName)) return;  // a consumer took it
  auto* managed = static_cast<DLManagedTensor*>(PyCapsule_GetPointer(capsule, kName));
  managed->deleter(managed);
}

// Where the consumer wants the elements: nothing, or the host.
bool is_host(PyObject* device) {
  int type = 0, number = 0;
  if (device == Py_None) return true;
  if (!PyTuple_Check(device)) {
    PyErr_SetString(PyExc_TypeError, "dl_device must be a tuple of a type and a number");
    return false;
  }
  if (!PyArg_ParseTuple(device, "ii", &type, &number)) return false;
  if (type == kCpu) return true;
  PyErr_Format(PyExc_BufferError, "A tensor is exported where it is, on the host, not to (%d, %d)",
               type, number);
  return false;
}

}  // namespace

PyObject* tensor_dlpack(PyObject* self, PyObject* args, PyObject* keywords) {
  static const char* names[] = {"stream", "max_version", "dl_device", "copy", nullptr};
  PyObject *stream = Py_None, *version = Py_None, *device = Py_None, *copy = Py_None;
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "|$OOOO", const_cast<char**>(names), &stream,
                                   &version, &device, &copy) ||
      !is_host(device)) {
    return nullptr;
  }
  const Tensor& tensor = tensor_of(self);
  if (copy == Py_True) {
    PyErr_SetString(PyExc_RuntimeError,
                    "tf.Tensor does not support DLPack export with a copy=True: copy what you get");
    return nullptr;
  }
  const std::optional<Code> code = code_of(tensor.dtype());
  if (!code || !engine::has_memory_of_host(tensor.device())) {
    PyErr_Format(PyExc_BufferError, "A tensor of dtype %s on %s has no form in DLPack",
                 std::string(dtype_name(tensor.dtype())).c_str(), tensor.device().name().c_str());
    return nullptr;
  }
  auto exported = std::make_unique<Exported>();
  exported->tensor = tensor;
  for (int i = 0; i < tensor.rank(); ++i) exported->sizes.push_back(tensor.shape().size(i));
  DLManagedTensor& managed = exported->managed;
  managed.tensor.data = exported->tensor.mutable_raw_data();
  managed.tensor.rank = tensor.rank();
  managed.tensor.dtype.code = *code;
  managed.tensor.dtype.bits = static_cast<uint8_t>(8 * dtype_size(tensor.dtype()));
  managed.tensor.sizes = exported->sizes.data();
  managed.context = exported.get();
  managed.deleter = [](DLManagedTensor* dropped) {
    delete static_cast<Exported*>(dropped->context);
  };
  PyObject* capsule = PyCapsule_New(&managed, kName, drop_capsule);
  if (capsule) (void)exported.release();
  return capsule;
}

PyObject* tensor_dlpack_device(PyObject*, PyObject*) { return Py_BuildValue("ii", kCpu, 0); }

}  // namespace graven::python
