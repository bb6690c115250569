package scenario

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Proposal says what to do with the existing nodes of a Scenario, with the time that finding it
// took.
type Proposal struct {
	// Contender names who made the proposal, with its version.
	Contender string `json:"contender"`
	// Scenario is the name of the scenario that the proposal answers.
	Scenario string `json:"scenario"`
	// SolveSeconds and SetupSeconds are as in Plan. If Converged is set, there is one entry, the
	// total of all computing.
	SolveSeconds []float64 `json:"solveSeconds"`
	SetupSeconds []float64 `json:"setupSeconds"`
	// CostBefore and CostAfter are the cost of all nodes before and after the actions, in USD per
	// hour.
	CostBefore float64 `json:"costBefore"`
	CostAfter  float64 `json:"costAfter"`
	// Actions are in the order in which they are to be carried out.
	Actions []Action `json:"actions"`
	// Blocked says why nodes are left alone.
	Blocked []Blocked `json:"blocked"`
	// Converged reports whether the contender carried out its own actions until it proposed none.
	Converged bool `json:"converged"`
	// Rounds is how often the contender was asked for actions, and Stopped says why it was not
	// asked again.
	Rounds  int    `json:"rounds,omitempty"`
	Stopped string `json:"stopped,omitempty"`
	// NodesAfter is the number of nodes that are left.
	NodesAfter int `json:"nodesAfter"`
}

// Action removes nodes, after launching their replacements.
type Action struct {
	// Reason is Empty, Underutilized, Drifted or another word of the contender.
	Reason string `json:"reason"`
	// Nodes are the names of the nodes to remove.
	Nodes []string `json:"nodes"`
	// Replacements are the nodes to launch.
	Replacements []NewNodeClaim `json:"replacements"`
	// Moves has the new place of each pod that needs one, by PodKey: the name of a node, or
	// replacement-0 and so on.
	Moves map[string]string `json:"moves"`
	// SavingsPerHour is the saving of the action in USD per hour, as the contender computes it.
	SavingsPerHour float64 `json:"savingsPerHour"`
	// Seconds is the time that finding the action took, if the contender measures each action.
	Seconds float64 `json:"seconds,omitempty"`
}

// Blocked says why a node is left alone.
type Blocked struct {
	Node   string `json:"node"`
	Rule   string `json:"rule"`
	Reason string `json:"reason"`
}

// Replacement returns the name that Action.Moves uses for the i-th new node of an action.
func Replacement(i int) string { return "replacement-" + strconv.Itoa(i) }

// ReplacementIndex inverts Replacement. It reports false for any other name.
func ReplacementIndex(name string) (int, bool) {
	digits, found := strings.CutPrefix(name, "replacement-")
	if !found {
		return 0, false
	}
	i, err := strconv.Atoi(digits)
	return i, err == nil && i >= 0
}

// ReadProposal reads a proposal from a file and validates it.
func ReadProposal(path string) (*Proposal, error) { return readFile(path, DecodeProposal) }

// DecodeProposal reads a proposal from JSON. The error joins all faults.
func DecodeProposal(data []byte) (*Proposal, error) { return decodeValid[Proposal]("proposal", data) }

// WriteProposal writes a proposal to a file.
func WriteProposal(path string, p *Proposal) error { return writeFile(path, p) }

// Validate returns an error that joins all faults that can be found without the scenario: no
// scenario named, actions without nodes, nodes removed twice, replacements without a pool or
// instance types, and moves to replacements that do not exist.
func (p *Proposal) Validate() error {
	f := &faults{document: "proposal"}
	if p.Scenario == "" {
		f.add("scenario", "is empty; name the scenario that the proposal answers")
	}
	removed := map[string]bool{}
	for i, a := range p.Actions {
		where := fmt.Sprintf("actions[%d]", i)
		if len(a.Nodes) == 0 {
			f.add(where, "removes no node; name those that it removes")
		}
		for _, n := range a.Nodes {
			f.unique(removed, where+".nodes", n)
		}
		for k, c := range a.Replacements {
			at := fmt.Sprintf("%s.replacements[%d]", where, k)
			if c.NodePool == "" {
				f.add(at, "nodePool is empty; name the pool of the node")
			}
			if len(c.InstanceTypes) == 0 {
				f.add(at, "has no instanceTypes; name those that it may become")
			}
		}
		for _, pod := range slices.Sorted(maps.Keys(a.Moves)) {
			to := a.Moves[pod]
			if k, ok := ReplacementIndex(to); ok && k >= len(a.Replacements) || to == "" {
				f.add(where+".moves", "%q goes to %q, which the action does not launch", pod, to)
			}
		}
	}
	return errors.Join(f.found...)
}
