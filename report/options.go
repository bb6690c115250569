package report

import "github.com/dovetail-sdk/dovetail/internal/layout"

// Options say how a text is set. The zero value, and nil, mean the defaults.
type Options struct {
	// Color adds the codes by which terminals show colours. Default: none.
	Color bool
	// All has the text of a Proposal name every node that is left alone with all its reasons.
	// Default: nodes are grouped by their main reason.
	All bool
	// Hints are what to tell the reader about more that there is to see. Default: nothing.
	Hints Hints
}

// Hints tell the reader of a text how to see more of it, in the words of the program that prints it,
// such as the names of its flags. An empty hint is left out.
type Hints struct {
	// Explain stands below pods that stay pending. It is a format: %s is the name of one of
	// them, or of its workload, as ExplainPod understands it.
	Explain string
	// Why stands below the text of ExplainPod on a pod for a new node. It is a format: the
	// first %s is the name of the node, the second that of its cheapest instance type.
	Why string
	// More stands behind "... and 3 more", where the text leaves something out.
	More string
	// LeftAlone stands below the nodes that a Proposal leaves alone.
	LeftAlone string
	// NotAsked stands behind the constraints that an Advice was not asked about.
	NotAsked string
}

// page is an empty page.
func (o *Options) page() layout.Page {
	return layout.Page{Style: layout.Style{On: o != nil && o.Color}}
}

func (o *Options) hints() Hints {
	if o == nil {
		return Hints{}
	}
	return o.Hints
}
