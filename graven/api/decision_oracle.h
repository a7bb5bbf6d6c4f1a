#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <source_location>
#include <string>
#include <utility>
#include <vector>

#include "graven/api/loop_shapes.h"
#include "graven/api/loop_steps.h"
#include "graven/api/staged_states.h"
#include "graven/base/export.h"
#include "graven/base/function_ref.h"
#include "graven/base/status.h"
#include "graven/ir/graph_builder.h"
#include "graven/ir/value.h"

// How staged() traces a body: the body is run from its start for each sequence of answers. Not for
// users.
//
// A run follows a path: the ops that earlier runs applied and the questions that were asked, in
// order. As long as the path goes on, ops are not applied: they are compared with those of the
// path, whose outputs they get. Then ops become nodes of the graph that is built now, and are added
// to the path. A question behind the end of the path ends the run. It becomes a cond, whose
// functions are runs of the path with one answer more. If one of these runs asks the same question
// with the same states, the cond is given up, and the question becomes a while_loop: its variables
// are the values of the States and the condition itself, as computed before the question; its body
// is the run that is answered true, from the question to the next time it is asked. If that gives
// them other shapes, the loop is traced again with shapes that leave open what changes. Then the
// run goes on that is answered false, with the values behind the loop. A run that leaves the loop
// without being asked again (break, return) ends the loop at its last question; it goes on behind
// the loop, with the values that the States had there.
//
// Each way behind a loop has twins: paths to the same place through one more iteration, one for
// each way through the loop's body. A run must do the same on the way and on its twins, or
// something has changed in an iteration that is no State. For the same reason iterations are
// followed one behind the other, in every order of two.
//
// A tape that a run made is told of the loop as a step, when the run gets the values behind it.

namespace graven::internal {

// The answers of one body in one trace.
class DecisionOracle {
 public:
  // The body must live as long as the oracle.
  explicit DecisionOracle(std::function<engine::Result<engine::Value>()> body)
      : body_(std::move(body)), outer_(current()) {}
  // The oracle of the body that this thread runs; null outside of traced bodies.
  static DecisionOracle* current();
  // The states of the run of the current oracle.
  static const std::shared_ptr<States>& current_states();

  // Traces the body in the current frame, which builds a graph. Throws.
  engine::Value trace();
  // The answer to a question, or an exception that ends the run.
  bool decide(const engine::Tensor& condition, const std::source_location& where);

 private:
  friend class PathBuilder;
  // An op that was applied, or (no node) a question.
  struct Event {
    std::vector<engine::Tensor> inputs = {};  // of a question: its condition
    engine::Tensors outputs = {};
    engine::Node* node = nullptr;
    engine::Ref<engine::Graph> graph = {};  // of the node
    std::source_location where = {};
    States::Seen seen = {};
    // Earlier questions of the path at the same place and with the same states, latest first.
    std::vector<size_t> same = {};
    bool answer = false;
    // The values that the States get with the answer, if they change.
    std::optional<std::vector<engine::Value>> values = {};
    // What tapes are told of them: the loop that gave them. None for those of an iteration.
    std::shared_ptr<const LoopSteps> steps = {};
    bool has_listeners = false;  // the question was asked under tapes
  };
  using Path = std::vector<Event>;
  // A path to be followed and gone on, whose last question is answered.
  struct Way {
    Path path;
    std::vector<Path> twins = {};
  };
  // A question that became a loop, whose body is traced now.
  struct Loop {
    size_t at;                          // on the path
    bool answer = true;                 // that goes on
    bool is_left = false;               // also from inside of its body: the last variable
                                        // says where, 0 if not
    std::vector<Path> leaves = {};      // the paths on which it is, by number from 1
    std::vector<Path> iterations = {};  // the paths to where it is asked again
    LoopShapes shapes = {};             // of its variables
  };
  // Where runs ended: at the end of the body, or where a loop is asked again.
  struct Outcome {
    engine::Value value = {};
    std::optional<size_t> again = {};  // the question of the loop
  };
  // Thrown where a question of a cond is asked again, which goes on by this answer.
  struct FoundLoop {
    size_t at;
    bool answer;
  };
  // Thrown where the body of a loop leaves it, which is not known yet.
  struct FoundLeave {
    size_t at;  // the loop
  };
  // Thrown where an iteration of a loop changes the shapes of its variables, which are open then.
  struct FoundShapes {
    size_t at;  // the loop
  };
  // A loop, and the answers of a path from it.
  using LoopPath = std::pair<size_t, std::vector<bool>>;
  // Thrown where a loop is asked again, and another iteration would not be the same.
  struct FoundNoLoop {
    LoopPath path;
    engine::Status reason;
  };
  // Thrown by a run that did not follow its path.
  struct LeftPath {
    engine::Status status;
  };

  // Runs the body on path_. Returns its result; none if it ended at a question, the last of path_.
  std::optional<engine::Value> run();
  Outcome explore(const Way& way);
  Outcome explore_question(const Way& way);
  Outcome trace_loop(const Way& way, bool answer);
  // An error if the body has been run too often.
  void count_run();
  // Throws if a run that did not ask ended in another way than it should.
  void check_end(const engine::Result<engine::Value>& result) const;
  // Follows the twins in what the run did behind the way, and returns the way as it is now.
  Way checked_way(const Way& way, const engine::Value* result);
  // A path through a loop, and on through iterations of it.
  static Path followed(const Loop& loop, Path path, const std::vector<const Path*>& iterations);
  // The paths through iterations that become twins of the ways behind a loop.
  static std::vector<Path> twins_of(const Loop& loop);
  // Follows pairs of iterations.
  void check_iterations(const Loop& loop);
  // What becomes of several ways, of which `apply` makes one node. Those that leave the innermost
  // loop give its variables, as the ways do that ask it again.
  using Apply = std::function<engine::Value(std::vector<engine::Ref<engine::Callable>> functions)>;
  Outcome choose(const std::vector<Way>& ways, const Apply& apply);
  // A way, and its twins, whose last question is answered, with these values if any.
  static Way answered(Way way, bool answer, const std::vector<engine::Value>* values = nullptr,
                      std::shared_ptr<const LoopSteps> steps = nullptr);
  static LoopPath loop_path(size_t loop, const Path& path);
  // The way is known to leave the innermost loop.
  bool is_leave(const Way& way) const;
  // The variables of the innermost loop for its next iteration, or for none.
  engine::Value ask_again();
  engine::Value leave(const Path& path);
  void tell_listeners(const Event& question) const;
  // Follows a path to its end, a question or this result, with the values of another iteration in
  // what is no State. An error if it cannot be followed.
  engine::Status check(Path path, const engine::Value* result);
  // The path was in a loop, in which it may have met tensors of an iteration.
  bool was_in_loop() const;
  // True if the question is the next event of the path.
  bool is_next(const engine::Tensor& condition, const std::source_location& where) const;
  // The error of a run that came to `now` in place of what was expected, null for the end.
  engine::Status other_line(const Event* expected, std::string_view now) const;

  const std::function<engine::Result<engine::Value>()> body_;
  DecisionOracle* const outer_;  // of the body that traces this one
  Path path_;
  size_t next_ = 0;       // the event that comes next, if it is on the path
  bool is_over_ = false;  // the run asked, and is being left
  // What the run is for: to go on behind the path, or to follow it to its last question or beyond
  // that to the end of the body.
  enum class Purpose { kTrace, kCheckToQuestion, kCheckToEnd };
  Purpose purpose_ = Purpose::kTrace;
  int64_t num_known_ = 0;                  // answers that followed from the path
  std::optional<engine::Status> failure_;  // of the run
  std::vector<Loop> loops_;                // from the outermost
  std::set<LoopPath> leaves_;              // paths that are known to leave a loop
  std::set<LoopPath> no_loops_;            // at whose end a question is no loop, though asked again
  std::shared_ptr<States> states_;         // of the run
  // A gradient of the run went from a loop's iteration to those before, for which it stands still.
  std::shared_ptr<bool> used_earlier_iterations_;
  uint64_t frame_ = 0;    // of the run
  int64_t num_runs_ = 0;  // of the outermost oracle: all runs
};

}  // namespace graven::internal
