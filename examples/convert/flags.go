package main

import (
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"

	"github.com/dovetail-sdk/dovetail/api/convert"
)

//go:embed sample.yaml
var sample []byte

// settings is what the command line asks for.
type settings struct {
	files   []string // "-" is standard input; none is the sample
	check   bool
	quiet   bool
	options convert.Options
}

const usage = `Convert rewrites manifests of earlier versions of Karpenter as those of v1.

usage: convert [flags]

  -f FILE                  read FILE, YAML or JSON, or standard input if FILE is
                           -; may be repeated: all are converted together.
                           Default: a sample
  -check                   write nothing but the names of files that would
                           change, and exit with 1 if there are any
  -q                       no remarks of severity info
  -role NAME               the IAM role of nodes, for classes that name none
  -instance-profile NAME   the instance profile of nodes, in place of a role
  -ami-version VERSION     pin images to a version such as v20240807 where the
                           newest was taken. Default latest
  -h                       print this

The v1 manifests go to standard output, remarks to standard error.
`

// errUsage tells that the command line is wrong.
var errUsage = errors.New("usage")

// parseFlags reads the command line. What it has to say to the user it writes
// to out.
func parseFlags(args []string, out io.Writer) (settings, error) {
	s := settings{}
	set := flag.NewFlagSet("convert", flag.ContinueOnError)
	set.SetOutput(io.Discard)
	set.Func("f", "", func(name string) error {
		if name == "" {
			return errors.New("the file name is empty")
		}
		s.files = append(s.files, name)
		return nil
	})
	set.BoolVar(&s.check, "check", false, "")
	set.BoolVar(&s.quiet, "q", false, "")
	set.StringVar(&s.options.Role, "role", "", "")
	set.StringVar(&s.options.InstanceProfile, "instance-profile", "", "")
	set.StringVar(&s.options.AMIVersion, "ami-version", "", "")
	err := set.Parse(args)
	if errors.Is(err, flag.ErrHelp) {
		return s, flag.ErrHelp
	}
	if err == nil && set.NArg() > 0 {
		err = fmt.Errorf("unexpected argument %q; files are named with -f", strings.Join(set.Args(), " "))
	}
	if err == nil && s.options.Role != "" && s.options.InstanceProfile != "" {
		err = errors.New("flags -role and -instance-profile exclude each other: a class has one of them")
	}
	if err == nil && strings.ContainsAny(s.options.AMIVersion, "@ ") {
		err = fmt.Errorf("invalid value %q for flag -ami-version: want a version such as v20240807", s.options.AMIVersion)
	}
	if err == nil {
		return s, nil
	}
	fmt.Fprintf(out, "convert: %v\n\n%s", err, usage)
	return s, errUsage
}
