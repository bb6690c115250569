// Command amirollout shows the effects of amiSelectorTerms: which images are selected, which nodes
// drift and why, the terms to promote once they are tested, and when the nodes would be replaced
// under the budgets of their NodePools. It needs neither a cloud nor a cluster. README.md has
// commands to begin with and the exit codes.
package main

import (
	_ "embed"
	"flag"
	"io"
	"os"
	"slices"
	"time"

	"github.com/dovetail-sdk/dovetail/amiselect"
	"github.com/dovetail-sdk/dovetail/budgets"
	"github.com/dovetail-sdk/dovetail/disruption/rollout"
	"github.com/dovetail-sdk/dovetail/examples/internal/command"
)

func main() {
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

type settings struct {
	manifest, images, nodes string    // file names; "-" is standard input, empty the sample
	className               string    // which EC2NodeClass of the manifest; may be empty if there is only one
	now                     time.Time // zero for the default
	selecting               amiselect.Options
	waves                   rollout.Options // without a canary there are none
	replacement             time.Duration
}

const about = `Amirollout shows what amiSelectorTerms lead to, and when nodes would follow.

Each FILE may be -, for standard input. Without -f the class is that of a sample, and so are other files that are left out.`

func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	var s settings
	set := flag.NewFlagSet("amirollout", flag.ContinueOnError)
	set.StringVar(&s.manifest, "f", "", "`FILE` an EC2NodeClass and its NodePools, YAML or JSON; needs -images and -nodes")
	set.StringVar(&s.className, "class", "", "`NAME` the EC2NodeClass to look at, where there are several")
	set.StringVar(&s.images, "images", "", "`FILE` images, as \"aws ec2 describe-images\" prints them")
	set.StringVar(&s.nodes, "nodes", "", "`FILE` nodes, as \"kubectl get nodeclaims -o yaml\" prints them")
	set.StringVar(&s.selecting.Environment.KubernetesVersion, "kubernetes", sampleKubernetes, "`VERSION` version of the control plane. Default 1.31")
	set.StringVar(&s.selecting.Environment.Account, "account", sampleAccount, "`NUMBER` the account that owner self is. Default 111122223333")
	command.Time(set, "now", &s.now, "`TIME` the time to decide for; images that were created later are passed over. Default: the present with -f, and 2024-09-06T15:00:00Z for the sample")
	set.DurationVar(&s.selecting.MinAge, "min-age", 0, "`DURATION` pass over images that are younger, such as 168h. Default 0")
	set.DurationVar(&s.replacement, "replace", 30*time.Minute, "`DURATION` how long the replacement of a node takes. Default 30m")
	set.IntVar(&s.waves.Canary, "canary", 0, "`N` go in waves: N nodes of each NodePool, then twice as many, and so on. Default 0: as fast as the budgets let them")
	set.DurationVar(&s.waves.Soak, "soak", 0, "`DURATION` wait so long after each wave of -canary. Default 0")
	command.List(set, "deny", &s.selecting.Deny, "the image is empty", "`IMAGE` never take this image: an id, or a pattern of names; may be repeated")
	return command.Run(set, args, about, stdout, stderr, s.check, func() error {
		switch {
		case !s.now.IsZero():
		case s.manifest == "":
			s.now = sampleNow
		default:
			s.now = time.Now()
		}
		in, err := s.read(stdin)
		if err != nil {
			return command.Input(err)
		}
		r, err := s.decide(in)
		if err != nil {
			return command.Input(err)
		}
		_, err = io.WriteString(stdout, r.String())
		return err
	})
}

func (s *settings) check(f *command.Faults) {
	command.NotNegative(f, "min-age", s.selecting.MinAge)
	command.NotNegative(f, "replace", s.replacement)
	command.NotNegative(f, "canary", s.waves.Canary)
	command.NotNegative(f, "soak", s.waves.Soak)
	f.If(s.waves.Soak > 0 && s.waves.Canary == 0, "-soak is the time after a wave; have waves by -canary")
	f.If(s.manifest != "" && (s.images == "" || s.nodes == ""), "-f needs -images and -nodes beside it; those of the sample are of another class")
	stdin := slices.DeleteFunc([]string{s.manifest, s.images, s.nodes}, func(name string) bool { return name != "-" })
	f.If(len(stdin) > 1, `standard input, "-", can be one file only`)
}

func (s *settings) decide(in *input) (*report, error) {
	now := s.now.UTC()
	selection, err := amiselect.Select(now, in.Terms, in.Images, &s.selecting)
	if err != nil {
		return nil, err
	}
	diff, err := amiselect.Diff(amiselect.Selection{}, selection, in.Nodes)
	if err != nil {
		return nil, err
	}
	var drifted []rollout.Node
	for _, n := range diff.Drifted {
		drifted = append(drifted, rollout.Node{Name: n.Name, NodePool: n.NodePool, Created: n.Created, Reason: n.Explanation.String()})
	}
	waves := s.waves
	if waves.Canary == 0 {
		waves.Canary = max(1, len(drifted)) // one wave of all
	}
	preview, err := rollout.Preview(now, drifted, &rollout.PreviewOptions{Waves: waves, Pace: rollout.BudgetPace(in.Pools, in.Counts, budgets.Drifted), Replacement: s.replacement})
	if err != nil {
		return nil, err
	}
	r := &report{settings: s, input: in, Selection: selection, Diff: diff, Rollout: preview}
	r.Lock, r.LockErr = amiselect.Lock(in.Terms, selection)
	for _, text := range s.selecting.Deny {
		name, _ := amiselect.ParsePattern(text) // Select has read it
		if !slices.ContainsFunc(in.Images, func(i amiselect.Image) bool { return i.ID == text || name.Match(i.Name) }) {
			r.Missed = append(r.Missed, text)
		}
	}
	return r, nil
}

// The sample.
var (
	//go:embed sample/class.yaml
	sampleClass string
	//go:embed sample/images.json
	sampleImages string
	//go:embed sample/nodes.yaml
	sampleNodes string
)

// The environment of the sample.
const (
	sampleKubernetes = "1.31"
	sampleAccount    = "111122223333"
)

// sampleNow is a Friday afternoon, so that the rollout meets the budgets of the night and of the
// weekend.
var sampleNow = time.Date(2024, 9, 6, 15, 0, 0, 0, time.UTC)
