package main

import (
	_ "embed"
	"flag"
	"fmt"
	"io"
	"strings"

	"github.com/dovetail-sdk/dovetail/api/convert"
	"github.com/dovetail-sdk/dovetail/examples/internal/command"
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

const usage = `Migrate rewrites manifests of earlier versions of Karpenter as those of v1.

usage: migrate [flags]

  -f FILE                  read FILE, YAML or JSON, or standard input if FILE is
                           -; may be repeated: all are converted together.
                           Default: a sample
  -check                   write nothing but the names of files that would
                           change, judge what is of v1 already too, say nothing
                           of kinds that need neither, and exit
                           with 1 if there is anything to convert or complete
  -q                       only remarks of severity action or error: what is
                           left to be done
  -role NAME               the IAM role of nodes, for classes that name none
  -instance-profile NAME   the instance profile of nodes, in place of a role
  -ami-version VERSION     pin images to a version such as v20240807 where the
                           newest was taken. Default latest
  -h                       print this

The v1 manifests go to standard output, remarks to standard error.
`

// parseFlags reads the command line. If it is not ok the program is over.
func parseFlags(args []string, stdout, stderr io.Writer) (s settings, code int, ok bool) {
	set := flag.NewFlagSet("migrate", flag.ContinueOnError)
	command.Files(set, &s.files)
	set.BoolVar(&s.check, "check", false, "")
	set.BoolVar(&s.quiet, "q", false, "")
	set.StringVar(&s.options.Role, "role", "", "")
	set.StringVar(&s.options.InstanceProfile, "instance-profile", "", "")
	set.StringVar(&s.options.AMIVersion, "ami-version", "", "")
	code, ok = command.Parse(set, args, usage, stdout, stderr, func() []string {
		faults := append(command.Arguments(set, "-f"), command.Duplicates(s.files)...)
		if s.options.Role != "" && s.options.InstanceProfile != "" {
			faults = append(faults, "flags -role and -instance-profile exclude each other: a class has one of them")
		}
		if strings.ContainsAny(s.options.AMIVersion, "@ ") {
			faults = append(faults, fmt.Sprintf("invalid value %q for flag -ami-version: want a version such as v20240807", s.options.AMIVersion))
		}
		return faults
	})
	return s, code, ok
}
