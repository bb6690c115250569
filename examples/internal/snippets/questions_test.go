package snippets_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/provisioning"
)

func Example_capacityMix() {
	in := snapshot([]*v1.NodePool{pool("general", "karpenter.sh/capacity-type in (on-demand, spot)")}, pods("web", 8, "cpu=3, memory=8Gi")...)
	plan, err := provisioning.Solve(context.Background(), in, &provisioning.Options{
		CapacityMix: &provisioning.CapacityMix{OnDemandBase: 2, OnDemandPercent: 50},
	})
	if err != nil {
		log.Fatal(err)
	}
	count := map[string]int{}
	for _, n := range plan.Create {
		count[n.Options[0].Offering.CapacityType] += len(n.Pods)
	}
	fmt.Println(count)

	// Output:
	// map[on-demand:5 spot:3]
}

// TestQuestions checks that a test of its program runs each command of docs/questions.md.
func TestQuestions(t *testing.T) {
	root := filepath.Join("..", "..", "..")
	page, err := os.ReadFile(filepath.Join(root, "docs", "questions.md"))
	require.NoError(t, err)
	var commands int
	sh := false
	for line := range strings.Lines(string(page)) {
		switch {
		case strings.HasPrefix(line, "```"):
			sh = line == "```sh\n"
		case sh:
			commands++
			require.True(t, strings.HasPrefix(line, "go run ./examples/"), line)
			test, err := os.ReadFile(filepath.Join(root, strings.Fields(line)[2], "run_test.go"))
			require.NoError(t, err)
			_, body, _ := strings.Cut(string(test), "func TestQuestions(t *testing.T) {")
			body, _, _ = strings.Cut(body, "\n}\n")
			require.Contains(t, body, "output.Questions(t, ", line)
		}
	}
	require.Greater(t, commands, 14)
}
