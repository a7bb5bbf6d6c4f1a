#include "graven/control/define_control_flow.h"
#include "graven/library/define_functions.h"

namespace graven::engine {
namespace {

// `library` lists the families below this room, which it does not know.
const bool kInstalled = [] {
  add_family(define_branches);
  add_family(define_loops);
  add_family(define_maps);
  add_family(define_scans);
  add_family(define_vectorized_maps);
  return true;
}();

}  // namespace
}  // namespace graven::engine
