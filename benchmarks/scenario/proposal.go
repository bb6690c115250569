package scenario

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Proposal is what to do with the nodes of a Scenario that exist, and what it
// took to find.
type Proposal struct {
	// Contender names who made the proposal, with its version.
	Contender string `json:"contender"`
	// Scenario is the name of the scenario that it answers.
	Scenario string `json:"scenario"`
	// SolveSeconds and SetupSeconds are as in Plan. In a proposal that was made
	// until nothing was left to do there is one entry, of all the computing.
	SolveSeconds []float64 `json:"solveSeconds"`
	SetupSeconds []float64 `json:"setupSeconds"`
	// CostBefore and CostAfter are what all nodes cost, in USD per hour, before
	// and after the actions.
	CostBefore float64 `json:"costBefore"`
	CostAfter  float64 `json:"costAfter"`
	// Actions are in the order in which they are to be carried out.
	Actions []Action `json:"actions"`
	// Blocked says why nodes are left alone.
	Blocked []Blocked `json:"blocked"`
	// Converged is whether the contender carried out its own actions until it
	// had none.
	Converged bool `json:"converged"`
	// Rounds is how often it was asked until then, and Stopped why it was asked
	// no more.
	Rounds  int    `json:"rounds,omitempty"`
	Stopped string `json:"stopped,omitempty"`
	// NodesAfter is how many nodes are left.
	NodesAfter int `json:"nodesAfter"`
}

// Action removes nodes, and launches others in their place first.
type Action struct {
	// Reason is Empty, Underutilized, Drifted or another word of the contender.
	Reason string `json:"reason"`
	// Nodes are the names of those to remove.
	Nodes []string `json:"nodes"`
	// Replacements are the nodes to launch.
	Replacements []NewNodeClaim `json:"replacements"`
	// Moves say where each pod goes that needs another place, by PodKey: to a
	// node, or to replacement-0 and so on.
	Moves map[string]string `json:"moves"`
	// SavingsPerHour is what the contender thinks it saves, in USD.
	SavingsPerHour float64 `json:"savingsPerHour"`
	// Seconds is how long it took to find, if the contender counts for each
	// action.
	Seconds float64 `json:"seconds,omitempty"`
}

// Blocked says why a node is left alone.
type Blocked struct {
	Node   string `json:"node"`
	Rule   string `json:"rule"`
	Reason string `json:"reason"`
}

// Replacement is the name that Action.Moves has for a new node.
func Replacement(i int) string { return "replacement-" + strconv.Itoa(i) }

// ReplacementIndex reads such a name back, and reports false for that of a node.
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
func DecodeProposal(data []byte) (*Proposal, error) {
	p := &Proposal{}
	if err := decode(data, p); err != nil {
		return nil, fmt.Errorf("proposal: %w", err)
	}
	if err := p.Validate(); err != nil {
		return nil, err
	}
	return p, nil
}

// WriteProposal writes a proposal to a file.
func WriteProposal(path string, p *Proposal) error { return writeFile(path, p) }

// Validate returns an error that joins all faults of a proposal that can be seen
// without its scenario: no scenario named, actions without nodes, nodes that are
// removed twice, replacements without a pool or instance types, and moves to
// replacements that there are not.
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
