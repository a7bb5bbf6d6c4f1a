#pragma once
#include <span>
#include <string_view>

#include "graven/base/export.h"
#include "graven/base/inline_vector.h"
#include "graven/base/ref.h"
#include "graven/base/status.h"
#include "graven/ir/attributes.h"
#include "graven/ir/graph.h"
#include "graven/ir/op.h"

namespace graven::engine {

// Bodies that a node holds, as its op's record says (OpRecord::bodies). Code that must know which
// graphs run inside a node calls bodies_of and switches on BodyRun; no code compares ops.
//
//   kOnce          There is one body, which takes all inputs of the node and gives all its
//                  outputs. The node runs when these inputs are there, and is done when the body
//                  is.
//   kOneOf         Input 0, a scalar, chooses a body: of a list by its number, where one out of
//                  range chooses the last; of two attributes by a bool, the first for false. The
//                  others do not run, and their effects and errors do not happen.
//   kWhile         The first body is the condition: it has one output, a scalar, and takes the same
//                  inputs as the second. The second takes the node's inputs first, then its own
//                  outputs, which therefore have the dtypes of its inputs. When the condition gives
//                  false, its inputs become the outputs of the node.
//   kAsTheOpLikes  The op's kernel runs the bodies, or hands them to an object that does, perhaps
//                  later and on other threads. When the node has run, they need not have.
//
// In the first three, all inputs of a body are inputs of the node.
struct NodeBody {
  Ref<Body> body;              // null if the attribute of a kAsTheOpLikes op was not set
  std::string_view attribute;  // of the op
  // The inputs of the node that are the last inputs of the body. The inputs of the body before them
  // are not inputs of the node.
  Op::Range inputs;
  // The outputs of the node that are the outputs of the body, if gives_outputs.
  Op::Range outputs;
  bool gives_outputs = false;
};
struct NodeBodies {
  BodyRun run = BodyRun::kAsTheOpLikes;
  bool is_list = false;           // the bodies are a list: a number chooses one of them, not a bool
  InlineVector<NodeBody, 2> all;  // in the order of the record; a list's in its order
  bool empty() const { return all.empty(); }
};

// The bodies of a node. Empty, and cheap to ask, for nearly all nodes.
GRAVEN_API NodeBodies bodies_of(const Op& op, AttrsRef attrs);
inline NodeBodies bodies_of(const Node& node) { return bodies_of(node.op(), node.attrs()); }
// The body of a kOnce node, which is a call; null for all other nodes.
GRAVEN_API Ref<Body> called_body(const Op& op, AttrsRef attrs);
inline Ref<Body> called_body(const Node& node) { return called_body(node.op(), node.attrs()); }

// The attributes with `bodies` in place of bodies_of, in the same order. Attributes that list the
// types of the bodies' arguments (Tin, Tout) become those of the new bodies' inputs and outputs. A
// new body has as many inputs that are not inputs of the node as the old one.
GRAVEN_API Attrs with_bodies(const Op& op, AttrsRef attrs, std::span<const Ref<Body>> bodies);

// For records: the union of the effects of all bodies, on the inputs of the node; stateful.
GRAVEN_API Effects effects_of_bodies(const Op& op, AttrsRef attrs);

// A check of the verifier: bodies are there, their number fits the BodyRun, and the numbers and
// dtypes of their inputs and outputs are those of the node. Shapes may differ: a call may give more
// or less special ones.
GRAVEN_API Status verify_bodies(const Node& node);

// True if the body holds itself: a node of its graph holds it, or holds a body that holds it. No
// front end makes such a body, but a graph that is loaded or changed may hold one. It can be
// printed, verified and counted; it cannot be planned or differentiated.
GRAVEN_API bool holds_itself(const Body& body);

}  // namespace graven::engine
