// Parts of the oracle: one walk over a graph's nodes.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "verify/oracle_ops.h"

namespace fusefarm::verify {

class Evaluator {
 public:
  // All arguments are borrowed for the evaluator's life. `graph` has no kRegion.
  Evaluator(const graph::Graph& graph, const graph::Bindings& bindings, const TensorValues& inputs,
            const EvaluateOptions& options)
      : graph_(graph), bindings_(bindings), inputs_(inputs), options_(options) {}

  Result<Evaluated> run();

 private:
  struct Held {
    std::optional<Values> values;
    std::optional<Integers> integers;
    std::optional<StateValues> state;
  };

  Result<void> check_inputs() const;
  Result<void> check_input(graph::TensorId id) const;
  void find_last_uses();
  Result<void> step(const graph::Node& node);
  Result<void> embedding(const graph::Node& node);
  Result<void> linear(const graph::Node& node);
  void split(const graph::Node& node);
  Result<void> kv_write(const graph::Node& node);
  Result<void> attend(const graph::Node& node);
  Result<void> route(const graph::Node& node);
  Result<void> experts(const graph::Node& node);
  void select_rows(const graph::Node& node);
  void choose(const graph::Node& node);
  Result<void> collective(const graph::Node& node);

  // Operands of a node, loaded from the inputs on first use.
  const Values& values(const graph::Node& node, std::size_t input);
  const Integers& integers(const graph::Node& node, std::size_t input);
  const StateValues& state(const graph::Node& node, std::size_t input);
  Result<const TensorView*> weight(const graph::Node& node, std::size_t input) const;
  graph::DType dtype_of(const graph::Node& node, std::size_t output = 0) const;
  std::vector<std::int64_t> shape_of(const graph::Node& node, std::size_t output = 0) const;
  // Keeps a computed output; `rounded`: its dtype is a rounding point that it just passed.
  void put(const graph::Node& node, std::size_t output, Values values, bool rounded = true);
  bool is_kept(graph::TensorId id) const;
  Result<void> collect();
  OracleTensor collect_state(const StateValues& state) const;

  const graph::Graph& graph_;
  const graph::Bindings& bindings_;
  const TensorValues& inputs_;
  const EvaluateOptions& options_;
  std::map<graph::TensorId, Held> held_;
  std::map<graph::TensorId, graph::NodeId> last_use_;
  Evaluated result_;
};

// Error that names the node.
Error node_error(const graph::Node& node, const std::string& message);

}  // namespace fusefarm::verify
