#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "graven/base/export.h"
#include "graven/base/status.h"
#include "graven/tensor/dtype.h"
#include "graven/tensor/shape.h"
#include "graven/tensor/tensor.h"

namespace graven::engine {

class Graph;
class Node;

// A graph as data: names and values, none of the engine's objects. Its structs have the content of
// TensorFlow's messages of the same names, without knowing their wire format, so that any front end
// or reader of files makes a graph of them, or them of a graph.

// The name of a function of the same GraphDef.
struct FunctionName {
  std::string name;
  friend bool operator==(const FunctionName&, const FunctionName&) = default;
};
// A list without elements: the wire format does not say of which kind.
struct EmptyList {
  friend bool operator==(EmptyList, EmptyList) = default;
};
// The value of an attribute. Sizes in shapes are numbers or unknown, tensors are eager.
using AttrDef =
    std::variant<bool, int64_t, double, std::string, DType, Shape, Tensor, FunctionName, EmptyList,
                 std::vector<int64_t>, std::vector<double>, std::vector<std::string>,
                 std::vector<DType>, std::vector<Shape>, std::vector<FunctionName>>;
using AttrDefs = std::map<std::string, AttrDef, std::less<>>;

struct NodeDef {
  std::string name, op, device = {};
  // In a graph "a" for output 0 of node a, "a:1" for another; in a function "x" for the argument x,
  // "a:z:0" for tensor 0 of the output z of node a. Then, in both, "^a" for a control input.
  std::vector<std::string> inputs = {};
  AttrDefs attributes = {};
};

// The type of an argument or result of a function.
struct ArgDef {
  std::string name;
  DType dtype = DType::kInvalid;
  // What is known of an argument besides: its shape, and the type of the value behind a handle.
  Shape shape = Shape::unknown_rank();
  std::vector<std::pair<DType, Shape>> handle_data = {};
  AttrDefs attributes = {};  // of the argument's placeholder, such as "_user_specified_name"
};

struct FunctionDef {
  std::string name;
  std::vector<ArgDef> inputs = {}, outputs = {};
  bool is_stateful = false;
  std::vector<NodeDef> nodes = {};
  // The tensor of each output by the output's name, and the nodes that run at each call.
  std::map<std::string, std::string> results = {};
  std::vector<std::pair<std::string, std::string>> control_results = {};
  AttrDefs attributes = {};
};

struct GraphDef {
  std::vector<NodeDef> nodes = {};
  std::vector<FunctionDef> functions = {};
  // Of the format: a reader refuses data that asks for a newer one.
  int producer = kVersion, min_consumer = 0;
  static constexpr int kVersion = 2474;  // TensorFlow 2.21's, whose ops these are
};

// The nodes of a graph in their order, and the functions that they call, those of functions too.
// With add_shapes each node says the shapes of its outputs, as the attribute "_output_shapes".
//
// Not in the data: where the program made a node, custom gradients, that sizes are equal, and
// promised shapes unless add_shapes. Functions of one name that differ get numbers.
GRAVEN_API GraphDef graph_def_of(const Graph& graph, bool add_shapes = false);
// One node, as in graph_def_of.
GRAVEN_API NodeDef node_def_of(const Node& node);
// The graph as a function of its inputs, and the functions that it calls.
struct FunctionAndLibrary {
  FunctionDef function;
  std::vector<FunctionDef> library;
};
GRAVEN_API FunctionAndLibrary function_def_of(std::string name, const Graph& graph);
// All of it, a line for each argument, node and result: equal texts are equal data.
GRAVEN_API std::string to_text(const FunctionAndLibrary& data);

// A name as TensorFlow writes those of arguments: "cond/Add:0" is "cond_add_0".
GRAVEN_API std::string argument_name(std::string_view name);

}  // namespace graven::engine
