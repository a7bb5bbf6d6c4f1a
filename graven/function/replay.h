#pragma once
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "graven/base/export.h"
#include "graven/base/function_ref.h"
#include "graven/base/ref.h"
#include "graven/base/status.h"
#include "graven/ir/frame.h"
#include "graven/ir/graph_builder.h"

namespace graven::engine {

// Capture by re-execution. A body whose conditions ask for the truth of tensors is run once for
// each sequence of answers, in the graph that is being built. The nodes of each run are taken out
// of the graph as a Path; once all are known, paths are written to the graph again, parts of them
// into the bodies of conds. A front end decides which runs there are, and what goes where.

// The place of a value in a run: output `output` of its node number `node`.
struct PathValue {
  int node = 0, output = 0;
  friend bool operator==(const PathValue&, const PathValue&) = default;
  friend auto operator<=>(const PathValue&, const PathValue&) = default;
};

// The tensors that stand for outputs of nodes, where tapes listen: they know a value by its tensor.
using OriginalTensors = std::map<std::pair<const Node*, int>, Tensor>;

// The nodes that one run added to a graph, in order. Captures are none of them: they stay in the
// graph. Used by the thread that builds the graph.
class GRAVEN_API Path : public RefCounted {
 public:
  int size() const { return static_cast<int>(nodes_.size()); }
  // The place of a value; none of a tensor that the run did not make.
  std::optional<PathValue> find(const Tensor& tensor) const;
  Tensor tensor(PathValue value) const;

  // The op of a node and its line, for messages.
  std::string node_text(int i) const;

  // The first of the nodes before `end` that is not the same in another run, or -1: the same op
  // with the same attributes and inputs.
  int first_difference(const Path& other, int end) const;
  // Whether the nodes from `start` on are those of another run from `other_start` on, up to the
  // tensors that come from before. Returns the pairs of these, or none if the nodes differ. Tensors
  // that both runs have from their first `num_common` nodes, or from outside, are left out.
  using Pair = std::pair<Tensor, Tensor>;
  std::optional<std::vector<Pair>> same_from(int start, const Path& other, int other_start,
                                             int num_common) const;
  // How many nodes before `end`, but not before `start`, are the same as those of another run
  // before `other_end`, whatever their inputs are.
  int same_kinds_before(int end, int start, const Path& other, int other_end,
                        int other_start) const;
  // The values that the nodes from `start` to `end` read of nodes before.
  std::vector<PathValue> reads_before(int start, int end) const;

  // --- Writing. Each value of the run stands for one in the graphs that are being built.

  // Adds copies of the nodes from `start` to `end` to the current frame's graph.
  Status write(int start, int end);
  // What stands for a tensor now: the tensor itself if the run did not make it.
  Result<Tensor> written(const Tensor& tensor) const;
  void bind(PathValue value, Tensor tensor);
  // Takes over what the first nodes of another run, which are the same there, stand for.
  void adopt(const Path& other, int end);
  // Forgets what the nodes from `start` to `end` stand for.
  void forget(int start, int end);

 private:
  friend class Replay;
  struct Written {
    Node* node = nullptr;
    Tensors outputs;
  };
  bool same_node(const Path& other, int i, int j,
                 FunctionRef<bool(OutputRef, OutputRef)> same_input,
                 FunctionRef<bool(const Node*, const Node*)> same_control) const;
  int index_of(const Node* node) const;
  Tensor tensor_of(OutputRef output) const;
  Ref<Graph> graph_;
  std::shared_ptr<const OriginalTensors> originals_;
  std::vector<Node*> nodes_;
  std::unordered_map<const Node*, int> index_;
  std::vector<Written> written_;
};

// The runs of one body in the graph of the current frame.
class GRAVEN_API Replay {
 public:
  // A replay of the frame that is current, which builds a graph.
  static Result<std::unique_ptr<Replay>> create();
  ~Replay();
  Replay(const Replay&) = delete;

  // Whether the graph of the replay is the one that is being built now.
  bool is_current() const;
  // Whether tapes listen to the frame.
  bool has_listeners() const { return listener_ != nullptr; }
  void start_run();
  // How many nodes this run has added so far.
  int num_nodes() const;
  // Whether this run has created variables.
  bool has_created_variables() const;
  // Takes the nodes of this run, but the first num_kept, out of the graph. An error if the run has
  // created variables whose initial values need nodes that are taken.
  Result<Ref<Path>> end_run(int num_kept);
  // Takes the nodes of this run out of the graph, but those that initial values of variables need.
  void drop_run();
  // Drops the nodes that were taken, for good. Called once.
  void finish();

 private:
  // Notes the tensors of the steps that tapes are told of.
  class Noting final : public Listener {
   public:
    explicit Noting(const Graph* graph) : graph_(graph) {}
    void on_op(const Op&, AttrsRef, std::span<const Tensor> inputs,
               const Tensors& outputs) override;
    void on_step(std::span<const Tensor> inputs, std::span<const Tensor> outputs,
                 const BackwardRef&) override;
    bool wants(std::span<const Tensor>) const override { return true; }  // to be told of steps
    bool wants_higher_orders() const override { return false; }
    void on_frame_end() override {}
    void on_variable(const Tensor&) override {}
    std::shared_ptr<OriginalTensors> tensors = std::make_shared<OriginalTensors>();

   private:
    void note(const Tensor& tensor);
    const Graph* graph_;
  };

  explicit Replay(Frame& frame);
  std::vector<Node*> nodes_since(int id) const;
  void take(const std::unordered_set<const Node*>& nodes);
  Ref<Graph> graph_;
  uint64_t frame_;
  std::unique_ptr<Noting> listener_;
  int first_id_ = 0;        // of this run
  size_t num_created_ = 0;  // variables before this run
  std::vector<Node*> taken_;
  bool is_finished_ = false;
};

}  // namespace graven::engine
