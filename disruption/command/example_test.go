package command_test

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/disruption/command"
)

// exampleNow is the instant of the examples.
var exampleNow = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)

// exampleCommand replaces one node.
func exampleCommand() command.Command {
	c, err := command.New(exampleNow, command.Spec{
		Reason:    v1.DisruptionReasonDrifted,
		Sources:   []command.Source{{NodeClaim: "web-old", Node: "ip-10-0-0-1"}},
		NodePools: []string{"web"},
	})
	if err != nil {
		panic(err)
	}
	return c
}

func ExampleNew() {
	c := exampleCommand()
	fmt.Println(c.Mode, c.Replacements[0].Token, c.Deadline.Format(time.TimeOnly))
	_, err := command.New(exampleNow, command.Spec{Reason: "Empty"})
	fmt.Println(err)
	// Output:
	// replace-first web-497db539bde6-0 09:10:00
	// sources: there are 0; a command removes 1 to 200 nodes
}

func ExampleTimeout() {
	fmt.Println(command.Timeout(3), command.Timeout(10_000), command.Timeout(1_000_000))
	// Output: 10m0s 13m20s 1h0m0s
}

// A command from its start to its end. Writes are carried out on the input here, and by an
// API server elsewhere, with Write.EditClaim and EditNode.
func ExampleAdvance() {
	c := exampleCommand()
	view := command.Input{
		Claims: []command.Claim{{Name: "web-old", Initialized: true}},
		Nodes:  []command.Node{{Name: "ip-10-0-0-1"}},
	}
	writes, err := command.Start(c, view)
	if err != nil {
		fmt.Println(err)
		return
	}
	for round := 0; ; round++ {
		for _, s := range writes {
			fmt.Println("  ", s)
			view = apply(view, s)
		}
		p := command.Advance(exampleNow, c, view)
		fmt.Println(p.State, p.Waiting)
		writes = p.Writes
		if len(writes) > 0 {
			continue
		}
		// There is nothing to do until something happens.
		switch p.State {
		case command.Awaiting:
			view.Claims[1].Initialized = true
		case command.Draining:
			view.Claims, view.Nodes = view.Claims[1:], nil
		default:
			return
		}
	}
	// Output:
	//    record nodeclaim/web-old: takes part in command 497db539bde6
	// marking []
	//    reason nodeclaim/web-old Drifted
	//    taint node/ip-10-0-0-1: no new pods
	// launching []
	//    create nodeclaim/web-497db539bde6-0 from nodepool/web: replacement
	// awaiting [web-497db539bde6-0]
	// deleting []
	//    delete nodeclaim/web-old: Drifted
	// draining [web-old]
	// releasing []
	//    release nodeclaim/web-497db539bde6-0: it has taken over
	// finished []
}

// After a crash the objects are all there is. The replacement was lost
// meanwhile, which a controller that has crashed cannot know, so it is created
// once more; one that was there to see it undoes the command.
func ExampleRecover() {
	c := exampleCommand()
	record := command.Record{Command: c}.String()
	view := command.Input{
		Claims: []command.Claim{{Name: "web-old", Initialized: true, Record: record, Reason: "Drifted"}},
		Nodes: []command.Node{
			{Name: "ip-10-0-0-1", Tainted: true, Record: record},
			{Name: "ip-10-0-0-2", Tainted: true},
		},
	}
	recovery := command.Recover(view)
	for _, s := range recovery.Writes {
		fmt.Println(s)
	}
	for _, c := range recovery.Commands {
		fmt.Println(command.Advance(exampleNow, c, view).Writes)
		view.Created = []string{c.Replacements[0].Token}
		p := command.Advance(exampleNow, c, view)
		fmt.Println(p.Failure, p.Writes)
	}
	// Output:
	// untaint node/ip-10-0-0-2: no command explains it
	// [create nodeclaim/web-497db539bde6-0 from nodepool/web: replacement]
	// replacement-lost [record nodeclaim/web-old: to be undone: replacement-lost]
}

func ExampleStart() {
	_, err := command.Start(exampleCommand(), command.Input{
		Claims: []command.Claim{{Name: "web-old", Deleting: true}}})
	fmt.Println(err)
	// Output: command 497db539bde6: nodeclaim "web-old": it is being deleted already; decide again without it
}

func ExampleParseRecord() {
	text := command.Record{Command: exampleCommand()}.String()
	fmt.Println(text)
	r, err := command.ParseRecord(text)
	fmt.Println(r.Command.ID, err)
	_, err = command.ParseRecord(`{"id":"x","colour":"red"}`)
	fmt.Println(err)
	// Output:
	// {"id":"497db539bde6","reason":"Drifted","mode":"replace-first","created":"2026-03-02T09:00:00Z","deadline":"2026-03-02T09:10:00Z","sources":[{"nodeClaim":"web-old","node":"ip-10-0-0-1"}],"replacements":[{"token":"web-497db539bde6-0","nodePool":"web"}]}
	// 497db539bde6 <nil>
	// record of a command: json: unknown field "colour"
}

func ExampleObserveClaim() {
	claim := &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "web-old", Finalizers: []string{v1.TerminationFinalizer}}}
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "ip-10-0-0-1", Labels: map[string]string{v1.NodeInitializedLabelKey: "true"}}}
	c := command.ObserveClaim(claim, node, 4)
	fmt.Println(c.Name, c.Initialized, c.Pods, c.Terminated)
	// Output: web-old true 4 false
}

func ExampleObserveNode() {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "ip-10-0-0-1"}}
	node.Spec.Taints = []corev1.Taint{v1.DisruptedNoScheduleTaint()}
	fmt.Println(command.ObserveNode(node).Tainted)
	// Output: true
}
