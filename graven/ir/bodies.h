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

// Bodies that a node holds, as its op's record says (OpRecord::bodies). Whoever must know what
// runs inside a node asks here and switches on the run word; nobody compares ops.
//
//   kOnce          There is one body, which takes all inputs of the node and gives all its
//                  outputs. The node runs when these inputs are there, and is done when the body
//                  is.
//   kOneOf         Input 0, a scalar, chooses among the bodies by number; a number that is none of
//                  theirs chooses the last. So of two, the first stands for false. The others do
//                  not run, and their effects and errors do not happen.
//   kWhile         The first body is the condition: it has one output, a scalar, and sees what
//                  the second is given. The second takes the node's inputs first, then its own
//                  outputs, which therefore have the dtypes of its inputs. When the condition gives
//                  false, what it saw is what the node gives.
//   kAsTheOpLikes  The op's kernel runs them, or hands them on to what does, later and on other
//                  threads perhaps. That the node has run says nothing of them.
//
// In the first three, all inputs of a body are inputs of the node.
struct NodeBody {
  Ref<Body> body;              // null if an op that runs them as it likes was not given one
  std::string_view attribute;  // of the op
  // Inputs of the node that are the last inputs of the body. Those of the body before them belong
  // to no input of the node.
  Op::Range inputs;
  // Outputs of the node that are the outputs of the body, if any are.
  Op::Range outputs;
  bool gives_outputs = false;
};
struct NodeBodies {
  BodyRun run = BodyRun::kAsTheOpLikes;
  InlineVector<NodeBody, 2> all;  // in the order of the record; those of a list in its order
  bool empty() const { return all.empty(); }
};

// What the node holds; empty for nearly all, and that is found out quickly.
GRAVEN_API NodeBodies bodies_of(const Op& op, AttrsRef attrs);
inline NodeBodies bodies_of(const Node& node) { return bodies_of(node.op(), node.attrs()); }
// The body of a node that runs it once, a call; null for all others.
GRAVEN_API Ref<Body> called_body(const Op& op, AttrsRef attrs);
inline Ref<Body> called_body(const Node& node) { return called_body(node.op(), node.attrs()); }

// The attributes with other bodies, one for each of bodies_of, in order; lists of types of the
// arguments that are theirs (Tin, Tout) become those of the new bodies' inputs and outputs. Each
// has as many inputs that belong to no input of the node as the old one has.
GRAVEN_API Attrs with_bodies(const Op& op, AttrsRef attrs, std::span<const Ref<Body>> bodies);

// For records: the effects of all bodies together, on the inputs of the node; stateful.
GRAVEN_API Effects effects_of_bodies(const Op& op, AttrsRef attrs);

// What the verifier checks: bodies are there, their number fits the run word, and the dtypes and
// numbers of their inputs and outputs are those of the node. Shapes may differ: a call may
// give more or less special ones.
GRAVEN_API Status verify_bodies(const Node& node);

// True if the body holds itself: a node of its graph holds it, or holds a body that does. No front
// end makes such a body, but a graph that is loaded or changed may hold one. It can be printed,
// verified and counted; it cannot be planned or differentiated.
GRAVEN_API bool holds_itself(const Body& body);

}  // namespace graven::engine
