package report

import "github.com/dovetail-sdk/dovetail/internal/layout"

// Options control how a text is rendered. The zero value, and nil, mean the defaults.
type Options struct {
	// Color adds the codes by which terminals show colours. Default: none.
	Color bool
	// All has the text of a Proposal name every node that is left alone with all its reasons.
	// Default: nodes are grouped by their main reason.
	All bool
	// Hints tell the reader how to see what the text leaves out. Default: no hints.
	Hints Hints
}

// Hints tell the reader of a text how to see what it leaves out, in the terms of the program that
// prints it, such as the names of its flags. An empty hint is left out.
type Hints struct {
	// Explain is printed below pods that stay pending. It is a format string: %s is the name of one
	// of them, or of its workload, as ExplainPod understands it.
	Explain string
	// Why is printed below the text of ExplainPod for a pod on a new node. It is a format string:
	// the first %s is the name of the node, the second that of its cheapest instance type.
	Why string
	// More is printed after "... and 3 more", where the text leaves something out.
	More string
	// LeftAlone is printed below the nodes that a Proposal leaves alone.
	LeftAlone string
	// NotAsked is printed after the constraints of an Advice whose price was not computed.
	NotAsked string
}

// page returns an empty page in the style of the options.
func (o *Options) page() layout.Page {
	return layout.Page{Style: layout.Style{On: o != nil && o.Color}}
}

func (o *Options) hints() Hints {
	if o == nil {
		return Hints{}
	}
	return o.Hints
}
