package main

import (
	"errors"
	"fmt"
	"slices"

	"github.com/dovetail-sdk/dovetail/internal/podlife"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/verify"
)

// maxJudged is the largest number of launch options of all new nodes for which a plan is checked
// without -verify. It takes a few seconds.
const maxJudged = 100_000

func countOptions(plan *provisioning.Plan) int {
	n := 0
	for i := range plan.Create {
		n += len(plan.Create[i].Options)
	}
	return n
}

// check returns an error if the plan breaks a rule. Such a plan is a bug of the library and must
// not be shown.
func check(in provisioning.Input, plan *provisioning.Plan, opts *provisioning.Options) error {
	var errs []error
	for _, v := range verify.Plan(in, plan, opts) {
		errs = append(errs, fmt.Errorf("the plan breaks a rule, please report this: %s", v))
	}
	return errors.Join(errs...)
}

// withoutNodes returns the input that Problem.Without plans for, so that the referee can check the
// plan: the nodes are being deleted, and the pods that need another place are pending.
func withoutNodes(in provisioning.Input, names []string) provisioning.Input {
	in.Nodes, in.Pods = slices.Clone(in.Nodes), slices.Clone(in.Pods)
	for i := range in.Nodes {
		n := &in.Nodes[i]
		if !slices.Contains(names, n.Name()) {
			continue
		}
		*n = n.Leaving()
		for _, pod := range n.Pods {
			if podlife.Moves(pod) {
				in.Pods = append(in.Pods, podlife.Moved(pod, ""))
			}
		}
	}
	return in
}
