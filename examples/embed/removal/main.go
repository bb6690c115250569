// Command removal says for each node whether it can be removed, and what that would save.
package main

import (
	"context"
	_ "embed"
	"fmt"
	"log"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/disruption"
	"github.com/dovetail-sdk/dovetail/fake"
	"github.com/dovetail-sdk/dovetail/provisioning"
)

//go:embed cluster.yaml
var cluster []byte

func main() {
	var in disruption.Input
	if err := yaml.UnmarshalStrict(cluster, &in); err != nil {
		log.Fatal(err)
	}
	in.InstanceTypes = map[string][]*cloudprovider.InstanceType{"general": fake.Catalog()}
	in.Vocabulary = fake.Vocabulary()
	fleet, err := disruption.Observe(time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC), in, nil)
	if err != nil {
		log.Fatal(err)
	}
	problem, err := provisioning.Prepare(in.Input, nil)
	if err != nil {
		log.Fatal(err)
	}
	candidates, blocked := fleet.Candidates(disruption.MethodConsolidation)
	for _, b := range blocked {
		fmt.Printf("%s stays: %s\n", b.Node, b.Detail)
	}
	for _, c := range candidates { // each answer is about one node, with all others there
		if err := ask(context.Background(), problem, c); err != nil {
			log.Fatal(err)
		}
	}
}

// ask plans for the pods of a node without that node. It prints how many pods are unplaced, how
// many nodes would be launched, and the saving.
func ask(ctx context.Context, problem *provisioning.Problem, c disruption.Candidate) error {
	without, err := problem.Without(c.Node)
	if err != nil {
		return err
	}
	plan, err := without.Solve(ctx)
	if err == nil {
		fmt.Printf("%s: pods without a place: %d of %d, new nodes: %d, saves %.3f of %.3f USD/h\n",
			c.Node, len(plan.Unplaced), len(c.Pods), len(plan.Create), c.Price-plan.Cost, c.Price)
	}
	return err
}
