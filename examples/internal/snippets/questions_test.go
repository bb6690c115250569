package snippets_test

import (
	"bytes"
	"context"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/internal/testlong"
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

// TestQuestions runs the commands of docs/questions.md, and finds below each what stands there.
func TestQuestions(t *testing.T) {
	if testlong.UnderRace {
		t.Skip("the programs are processes of their own, which the race detector does not see")
	}
	root := filepath.Join("..", "..", "..")
	page, err := os.ReadFile(filepath.Join(root, "docs", "questions.md"))
	require.NoError(t, err)
	bin := t.TempDir()
	build := []string{"build", "-C", root, "-ldflags=-s", "-o", bin + string(filepath.Separator)}
	for line := range strings.Lines(string(page)) {
		if args, ok := strings.CutPrefix(line, "go run "); ok && !slices.Contains(build, strings.Fields(args)[0]) {
			build = append(build, strings.Fields(args)[0])
		}
	}
	out, err := exec.Command("go", build...).CombinedOutput()
	require.NoError(t, err, string(out))
	var commands int
	var printed string
	lang := ""
	for line := range strings.Lines(string(page)) {
		line = strings.TrimRight(line, "\n")
		switch {
		case lang == "" && strings.HasPrefix(line, "```"):
			if lang = strings.TrimPrefix(line, "```"); lang == "" {
				lang = "output"
			} else {
				printed = ""
			}
		case line == "```":
			lang = ""
		case lang == "sh":
			args := strings.Fields(strings.TrimPrefix(line, "go run "))
			commands++
			program, err := filepath.Abs(filepath.Join(bin, filepath.Base(args[0])))
			require.NoError(t, err)
			cmd := exec.Command(program, args[1:]...)
			cmd.Dir = root
			var stdout, stderr bytes.Buffer
			cmd.Stdout, cmd.Stderr = &stdout, &stderr
			require.NoError(t, cmd.Run(), "%s: %s", line, &stderr)
			printed += stdout.String()
		case lang == "output":
			require.Contains(t, printed, line)
		}
	}
	require.Greater(t, commands, 14)
}
