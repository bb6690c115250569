package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/dovetail-sdk/dovetail/benchmarks/internal/family"
	"github.com/dovetail-sdk/dovetail/benchmarks/internal/measure"
	"github.com/dovetail-sdk/dovetail/benchmarks/internal/replay"
	"github.com/dovetail-sdk/dovetail/benchmarks/internal/results"
	"github.com/dovetail-sdk/dovetail/benchmarks/scenario"
)

// mostForAll is the largest cluster, in nodes, that all contenders consolidate. A larger one would
// take some of them hours, and is consolidated by this library alone.
const mostForAll = 1000

// clusters returns the clusters to consolidate, by the value of -sizes.
func clusters() map[string][]family.Spec {
	of := func(nodes int) family.Spec {
		return family.Spec{Family: "consolidate", Types: "aws", Nodes: nodes, Seed: 1}
	}
	return map[string][]family.Spec{
		"small": {of(20)},
		"full":  {of(100), of(500), of(1000), of(5000)},
		"huge":  {of(5000)},
	}
}

// shrinking is a cluster and the result of each contender.
type shrinking struct {
	name    string
	nodes   int
	cost    float64 // USD per hour, before any action
	entries []shrunk
}

// shrunk is the result of one contender on one cluster.
type shrunk struct {
	contender       string
	first           float64 // seconds until the first proposal
	seconds         float64 // seconds of computing until no proposal was left, or the time limit
	actions, rounds int
	nodes, launched int
	cost            float64
	moved           int
	refused, judged int // actions that break a rule, and actions judged
	quiet           bool
	fault           error
}

// mostJudged returns the number of a contender's actions to judge in a cluster with the given
// number of nodes. The judged actions are evenly spread. Their number is limited because judging
// one action reads all nodes.
func mostJudged(nodes int) int { return max(20, 200_000/max(nodes, 1)) }

// consolidate runs the contenders on clusters and writes the section about consolidation.
func consolidate(ctx context.Context, c settings) error {
	all, ok := clusters()[c.sizes]
	if !ok {
		return fmt.Errorf("-sizes is %q; use one of %s", c.sizes, strings.Join(sizeNames(), ", "))
	}
	section := &consolidation{about: about(ctx, c), limit: c.limit}
	err := each(ctx, c, all, section.about.Text()+"\n"+consolidationHead(), func(dir string, contenders []contender, spec family.Spec) (string, []error) {
		m, err := shrink(ctx, dir, spec, contenders, c.limit)
		if err != nil {
			return "", []error{err}
		}
		section.clusters = append(section.clusters, m)
		return m.text(), faultsOf(m.entries, func(e shrunk) (string, error) { return e.contender, e.fault })
	})
	if c.out != "" && len(section.clusters) > 0 {
		err = errors.Join(err, section.write(c.out))
	}
	return err
}

// shrink runs all contenders on one cluster, one after the other.
func shrink(ctx context.Context, dir string, spec family.Spec, contenders []contender, limit time.Duration) (*shrinking, error) {
	s, err := family.Generate(spec)
	if err != nil {
		return nil, err
	}
	file := filepath.Join(dir, s.Name+".json.gz")
	if err := scenario.WriteScenario(file, s); err != nil {
		return nil, err
	}
	before, err := replay.New(s)
	if err != nil {
		return nil, err
	}
	m := &shrinking{name: s.Name, nodes: len(s.Nodes), cost: before.Cost()}
	for _, c := range contenders {
		if spec.Nodes > mostForAll && c.name != "dovetail" {
			continue
		}
		e := shrunk{contender: c.name}
		e.fault = e.run(ctx, dir, file, s, c, limit)
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		m.entries = append(m.entries, e)
	}
	return m, nil
}

// run consolidates a cluster twice: once for the time to the first proposal, and once until nothing
// is proposed. It judges the actions of the second run.
func (e *shrunk) run(ctx context.Context, dir, file string, s *scenario.Scenario, c contender, limit time.Duration) error {
	first, err := c.propose(ctx, file, filepath.Join(dir, s.Name+"."+c.name+".first.json.gz"), "-reps", "3")
	if err != nil {
		return err
	}
	e.first = measure.Median(first.SolveSeconds)
	p, err := c.propose(ctx, file, filepath.Join(dir, s.Name+"."+c.name+".json.gz"), "-converge", "-limit", limit.String())
	if err != nil {
		return err
	}
	e.contender, e.seconds, e.actions, e.rounds, e.quiet = p.Contender, p.SolveSeconds[0], len(p.Actions), p.Rounds, p.Converged
	end, err := replay.New(s)
	if err != nil {
		return err
	}
	most := mostJudged(len(s.Nodes))
	every := max(1, (len(p.Actions)+most-1)/most)
	for i, a := range p.Actions {
		e.moved, e.launched = e.moved+len(a.Moves), e.launched+len(a.Replacements)
		if i%every == 0 {
			violations, err := end.Judge(a)
			if err != nil {
				return fmt.Errorf("actions[%d]: %w", i, err)
			}
			e.judged++
			if len(violations) > 0 {
				e.refused++
			}
		}
		if err := end.Apply(a); err != nil {
			return fmt.Errorf("actions[%d]: %w", i, err)
		}
	}
	e.nodes, e.cost = len(end.Scenario().Nodes), end.Cost()
	return nil
}

// propose runs the contender on a cluster and reads the proposal. The contender's output goes to
// standard error.
func (c contender) propose(ctx context.Context, scenarioFile, proposalFile string, args ...string) (*scenario.Proposal, error) {
	args = append([]string{"-consolidate", "-scenario", scenarioFile, "-plan", proposalFile}, args...)
	if c.name == "dovetail" {
		args = append(args, "-verify=false") // its plan is judged below, like those of the others
	}
	cmd := exec.CommandContext(ctx, c.program, args...)
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	if err := cmd.Run(); err != nil {
		return nil, err
	}
	return scenario.ReadProposal(proposalFile)
}

// consolidation is the section about consolidation in RESULTS.md.
type consolidation struct {
	about    circumstances
	limit    time.Duration
	clusters []*shrinking
}

func consolidationHead() string {
	return fmt.Sprintf("%-11s %8s %9s %7s %6s %6s %8s %7s %7s %8s\n%-11s %8s %9s %7s %6s %6s %8s %7s %7s %8s\n",
		"", "first s", "all s", "actions", "rounds", "nodes", "USD/h", "moved", "per", "refused",
		"", "", "", "", "", "left", "left", "pods", "USD/h", "")
}

// text returns the cluster and a line for each contender.
func (m *shrinking) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n%s (%d nodes at %.2f USD/h)\n", m.name, m.nodes, m.cost)
	for _, e := range m.entries {
		name, _, _ := strings.Cut(e.contender, " ")
		if e.fault != nil {
			fmt.Fprintf(&b, "%-11s failed\n", name)
			continue
		}
		perDollar := "-"
		if e.cost < m.cost {
			perDollar = fmt.Sprintf("%.1f", float64(e.moved)/(m.cost-e.cost))
		}
		refused := fmt.Sprintf("%d/%d", e.refused, e.judged)
		fmt.Fprintf(&b, "%-11s %8.2f %9.2f %7d %6d %6d %8.2f %7d %7s %8s", name, e.first, e.seconds, e.actions, e.rounds, e.nodes, e.cost, e.moved, perDollar, refused)
		if !e.quiet {
			b.WriteString("  not quiet")
		}
		b.WriteString("\n")
	}
	return b.String()
}

const consolidationTitle = "## Consolidation"

// markdown returns the section as Markdown.
func (s *consolidation) markdown() string {
	var names []string
	for _, m := range s.clusters {
		for _, e := range m.entries {
			if !slices.Contains(names, e.contender) {
				names = append(names, e.contender)
			}
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, `%s

Written by %s.

Contenders: %s. Each carries its own actions out on paper until it
proposes nothing more, or for %s ("not quiet" then). "First" is the time to the
first answer, the median of three: a proposal of all that may begin here, one
command there. "All" is the computing until quiet, without validation and without
the waits and launches between two actions. "Moved" counts pods, and "per USD/h"
is for each USD per hour saved. "Refused" are actions that break a rule of
kube-scheduler or of the pools, of those that were judged.

`, consolidationTitle, "`"+s.about.Command+"`", strings.Join(names, " and "), s.limit)
	b.WriteString("```text\n" + s.about.Text() + "\n" + consolidationHead())
	for _, m := range s.clusters {
		b.WriteString(m.text())
	}
	b.WriteString("```\n")
	return b.String()
}

// write replaces the section in a file. If the file has no such section, write appends it.
func (s *consolidation) write(path string) error {
	return results.WriteSection(path, consolidationTitle, s.markdown())
}
