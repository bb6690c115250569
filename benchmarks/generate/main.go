// Generate writes a scenario to a file. The same flags give the same file, byte for byte.
//
//	go run ./generate -family production -types aws -pods 5000 -seed 1 -o S.json.gz
//	go run ./generate -trace openb_pod_list_default.csv -at 12000000 -o S.json.gz
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/dovetail-sdk/dovetail/benchmarks/internal/family"
	"github.com/dovetail-sdk/dovetail/benchmarks/scenario"
)

func main() {
	var spec family.Spec
	flag.StringVar(&spec.Family, "family", "generic", "one of "+strings.Join(family.Names(), ", "))
	flag.IntVar(&spec.Pods, "pods", 1000, "pending pods; not for consolidate")
	flag.IntVar(&spec.Nodes, "nodes", 0, "nodes that exist; for mixedexisting and consolidate")
	flag.StringVar(&spec.Types, "types", "aws", "instance types: aws, or fake400 as in Karpenter's benchmark")
	flag.Uint64Var(&spec.Seed, "seed", 1, "tells scenarios of the same shape apart")
	trace := flag.String("trace", "", "make it of the pods of a CSV file in place of a family; see family.Trace")
	at := flag.Int64("at", -1, "with -trace: take the pods that are there at that second. Default: all")
	out := flag.String("o", "", "file to write; gzip if the name ends in .gz")
	flag.Parse()
	if err := run(spec, *trace, *at, *out); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

func run(spec family.Spec, trace string, at int64, out string) error {
	if out == "" {
		return errors.New("-o is required: name the file to write")
	}
	s, err := made(spec, trace, at)
	if err != nil {
		return err
	}
	if err := scenario.WriteScenario(out, s); err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "%s: %d pods, %d nodes, %d pools, %d instance types\n",
		s.Name, len(s.Pods), len(s.Nodes), len(s.NodePools), len(s.InstanceTypes))
	return nil
}

// made returns a scenario of a family, or of a trace if one is named.
func made(spec family.Spec, trace string, at int64) (*scenario.Scenario, error) {
	if trace == "" {
		return family.Generate(spec)
	}
	file, err := os.Open(trace)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	t := family.Trace{Name: strings.TrimSuffix(filepath.Base(trace), filepath.Ext(trace)), Pods: file}
	if at >= 0 {
		t.At = &at
		t.Name += fmt.Sprintf("-%d", at)
	}
	return family.FromTrace(t)
}
