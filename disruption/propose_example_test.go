package disruption_test

import (
	"context"
	"fmt"
	"time"

	"github.com/dovetail-sdk/dovetail/disruption"
)

// wasteful returns a cluster of three nodes that two smaller ones could do for.
func wasteful() disruption.Input {
	_, medium, large, all := sizes()
	return fleetOf(all,
		machine("n1", "default", large, load("api", 2500), load("db", 1200)),
		machine("n2", "default", medium, load("web", 3500)),
		machine("n3", "default", medium, load("cache", 200)))
}

func ExamplePropose() {
	p, faults, err := disruption.Propose(context.Background(), noon, wasteful(), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, fault := range faults {
		fmt.Println(fault) // an object that is left alone
	}
	show(p.Actions)
	show(p.Blocked)
	fmt.Printf("%.2f USD/h now, %.2f then, %.2f less\n", p.CostBefore, p.CostAfter, p.Savings())
	// Output:
	// Delete n1 (Underutilized): it costs 0.4 USD/h; there is room for 2 pods on 1 other node
	// Consolidation of n2: no cheaper place for its pods: the cheapest that holds what finds no room elsewhere is medium/a/on-demand at 0.2 USD/h, and it costs 0.2 USD/h
	// Consolidation of n3: Pod "shop/api" is about to come here
	// 0.80 USD/h now, 0.40 then, 0.40 less
}

// Two nodes have room for the pod of n1, and something that it cannot share.
func ExampleProposal_Explain() {
	p, _, err := disruption.Propose(context.Background(), noon, keeping(binding(80)), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	stay, err := p.Explain(context.Background(), "n1")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(stay.Report())
	// Output:
	// Pod "shop/web-1" finds no place on 3 other nodes: 1 has no room, 2 have room
	//   n2: it asks for port 80/TCP, which shop/web-2 has there
	//   n3: it asks for port 80/TCP, which shop/web-3 has there
}

func ExampleConfirm() {
	p, _, _ := disruption.Propose(context.Background(), noon, wasteful(), nil)
	// A quarter of a minute later another pod has come.
	fresh := wasteful()
	fresh.Nodes[2].Pods = append(fresh.Nodes[2].Pods, load("late", 3000))
	for _, a := range p.Actions {
		objections, err := disruption.Confirm(context.Background(), noon.Add(15*time.Second), fresh, a, nil)
		if err != nil {
			fmt.Println(err)
			return
		}
		show(objections)
	}
	// Output:
	// Destination: Node "n3" has no room left for Pod "shop/api": no other place for Pod "shop/api": there is no NodePool to launch a node from; of 2 existing nodes, 2 have too little room
}
