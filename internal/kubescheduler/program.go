package kubescheduler

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/provisioning"
)

// Program is a running program of benchmarks/kubescheduler. It is for one goroutine.
type Program struct {
	// Minor is the minor version of Kubernetes, as in "1.37"; empty if Start was not told.
	Minor string

	process   *exec.Cmd
	in        io.Closer
	questions *json.Encoder
	answers   *json.Decoder
}

// Start runs a program, given as its path or as MINOR=PATH. It ends with ctx or by Close.
func Start(ctx context.Context, program string) (*Program, error) {
	minor, path, named := strings.Cut(program, "=")
	if !named {
		minor, path = "", program
	}
	p := &Program{Minor: minor, process: exec.CommandContext(ctx, path)}
	p.process.Stderr = os.Stderr
	in, err := p.process.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := p.process.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := p.process.Start(); err != nil {
		return nil, fmt.Errorf("%w; benchmarks/kubescheduler/build MINOR FILE makes the program", err)
	}
	p.in, p.questions, p.answers = in, json.NewEncoder(in), json.NewDecoder(bufio.NewReaderSize(out, 1<<20))
	return p, nil
}

// ForTest runs programs that are given as MINOR=PATH, separated by commas, until the test ends. It
// skips the test if there are none.
func ForTest(t testing.TB, programs string) (all []*Program) {
	t.Helper()
	for program := range strings.FieldsFuncSeq(programs, func(r rune) bool { return r == ',' }) {
		p, err := Start(context.Background(), program)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := p.Close(); err != nil {
				t.Error(err)
			}
		})
		if p.Minor == "" {
			t.Fatalf("program %s: write MINOR=PATH", program)
		}
		all = append(all, p)
	}
	if len(all) == 0 {
		t.Skip("no program of benchmarks/kubescheduler: see -kubescheduler")
	}
	return all
}

// Close ends the program.
func (p *Program) Close() error { return errors.Join(p.in.Close(), p.process.Wait()) }

// Ask asks a question. The error says why it could not be answered.
func (p *Program) Ask(q *Question) (*Answer, error) {
	a := &Answer{}
	sent := make(chan error, 1)
	go func() { sent <- p.questions.Encode(q) }()
	err := p.answers.Decode(a)
	if err == nil && a.Error != "" {
		err = errors.New(a.Error)
	}
	if err != nil {
		return nil, fmt.Errorf("kube-scheduler %s: %w", p.Minor, err)
	}
	return a, <-sent
}

// Refusal is a pod of a plan that kube-scheduler does not bind to its node.
type Refusal struct {
	Pod     *corev1.Pod
	Node    string
	Verdict Verdict
}

// String renders the refusal as one line.
func (r Refusal) String() string {
	return fmt.Sprintf("pod %s/%s on node %s: %s: %s", r.Pod.Namespace, r.Pod.Name, r.Node, r.Verdict.Plugin, r.Verdict.Reason)
}

// Refusals binds the pods of a plan in its order, as described at CarryOut, and returns the pods
// that kube-scheduler refuses.
func (p *Program) Refusals(in provisioning.Input, plan *provisioning.Plan, choose func(options int) int) (refused []Refusal, err error) {
	q, err := CarryOut(in, plan, choose)
	if err != nil || len(q.Bind) == 0 {
		return nil, err
	}
	a, err := p.Ask(q)
	if err != nil {
		return nil, err
	}
	for i, verdict := range a.Bind {
		if verdict.Plugin != "" {
			refused = append(refused, Refusal{q.Pods[q.Bind[i][0]], q.State.Nodes[q.Bind[i][1]].Node.Name, verdict})
		}
	}
	return refused, nil
}
