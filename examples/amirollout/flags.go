package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"
	"time"
)

// settings is what the command line asks for.
type settings struct {
	manifest, images, nodes string // file names; "-" is standard input, empty the sample
	kubernetes, account     string
	now                     time.Time
	minAge, replacement     time.Duration
	deny                    []string
}

const usage = `Amirollout shows what amiSelectorTerms lead to, and when nodes would follow.

usage: amirollout [flags]

  -f FILE             an EC2NodeClass and its NodePools, YAML or JSON
  -images FILE        images, as "aws ec2 describe-images" prints them
  -nodes FILE         nodes, as "kubectl get nodeclaims -o yaml" prints them
  -kubernetes VERSION version of the control plane. Default 1.31
  -account NUMBER     the account that owner self is. Default 111122223333
  -now TIME           the time to decide for. Default 2024-09-06T15:00:00Z
  -min-age DURATION   pass over images that are younger, such as 168h. Default 0
  -deny IMAGE         never take this image: an id, or a pattern of names; may be
                      repeated
  -replace DURATION   how long the replacement of a node takes. Default 30m
  -h                  print this

Each FILE may be -, for standard input. Files left out are those of a sample.
`

// errUsage tells that the command line is wrong.
var errUsage = errors.New("usage")

// parseFlags reads the command line. What it has to say it writes to out.
func parseFlags(args []string, out io.Writer) (settings, error) {
	s := settings{}
	now := sampleNow
	set := flag.NewFlagSet("amirollout", flag.ContinueOnError)
	set.SetOutput(io.Discard)
	set.StringVar(&s.manifest, "f", "", "")
	set.StringVar(&s.images, "images", "", "")
	set.StringVar(&s.nodes, "nodes", "", "")
	set.StringVar(&s.kubernetes, "kubernetes", sampleKubernetes, "")
	set.StringVar(&s.account, "account", sampleAccount, "")
	set.StringVar(&now, "now", now, "")
	set.DurationVar(&s.minAge, "min-age", 0, "")
	set.DurationVar(&s.replacement, "replace", 30*time.Minute, "")
	set.Func("deny", "", func(text string) error {
		s.deny = append(s.deny, text)
		return nil
	})
	err := set.Parse(args)
	if errors.Is(err, flag.ErrHelp) {
		return s, flag.ErrHelp
	}
	var faults []string
	if err != nil {
		faults = append(faults, err.Error())
	} else {
		faults = s.faults(now, set.Args())
	}
	if len(faults) == 0 {
		return s, nil
	}
	for _, f := range faults {
		fmt.Fprintln(out, "amirollout: "+f)
	}
	fmt.Fprint(out, "\n"+usage)
	return s, errUsage
}

// faults lists what is wrong with flags that could be parsed, and takes in the
// time.
func (s *settings) faults(now string, rest []string) []string {
	var faults []string
	if len(rest) > 0 {
		faults = append(faults, fmt.Sprintf("unexpected argument %q; files are named with -f, -images and -nodes", strings.Join(rest, " ")))
	}
	var err error
	if s.now, err = time.Parse(time.RFC3339, now); err != nil {
		faults = append(faults, fmt.Sprintf("invalid value %q for flag -now: want a time such as %s", now, sampleNow))
	}
	s.now = s.now.UTC()
	if s.minAge < 0 {
		faults = append(faults, fmt.Sprintf("invalid value %s for flag -min-age: must not be negative", s.minAge))
	}
	if s.replacement < 0 {
		faults = append(faults, fmt.Sprintf("invalid value %s for flag -replace: must not be negative", s.replacement))
	}
	stdin := 0
	for _, name := range []string{s.manifest, s.images, s.nodes} {
		if name == "-" {
			stdin++
		}
	}
	if stdin > 1 {
		faults = append(faults, `standard input, "-", can be one file only`)
	}
	return faults
}
