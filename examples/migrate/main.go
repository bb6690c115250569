// Command migrate rewrites manifests of earlier versions of Karpenter as those of version v1.
// README.md has commands to begin with, and the remarks with which the exit code is 1. It is 2 when
// the input cannot be read or the flags are wrong.
package main

import (
	"bytes"
	_ "embed"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/dovetail-sdk/dovetail/api/convert"
	"github.com/dovetail-sdk/dovetail/examples/internal/command"
	"github.com/dovetail-sdk/dovetail/examples/internal/manifest"
)

func main() {
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

//go:embed sample.yaml
var sample []byte

type settings struct {
	files   []string // "-" is standard input; empty for the sample
	check   bool
	quiet   bool
	options convert.Options
}

const about = `Migrate rewrites manifests of earlier versions of Karpenter as those of v1.

The v1 manifests go to standard output, remarks to standard error. The files are converted together. The exit code is 1 if a remark is of severity action or error.`

func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	var s settings
	set := flag.NewFlagSet("migrate", flag.ContinueOnError)
	command.Files(set, &s.files, "manifests")
	set.BoolVar(&s.check, "check", false, "write nothing but the names of files that would change, judge what is of v1 already too, say nothing of kinds that need neither, and exit with 1 if there is anything to convert or complete")
	set.BoolVar(&s.quiet, "q", false, "only remarks of severity action or error: what is left to be done")
	set.StringVar(&s.options.Role, "role", "", "`NAME` the IAM role of nodes, for classes that name none")
	set.StringVar(&s.options.InstanceProfile, "instance-profile", "", "`NAME` the instance profile of nodes, in place of a role")
	set.StringVar(&s.options.AMIVersion, "ami-version", "", "`VERSION` pin images to a version such as v20240807 where the newest was taken. Default latest")
	return command.Run(set, args, about, stdout, stderr, func(f *command.Faults) {
		f.Twice(s.files)
		f.If(s.options.Role != "" && s.options.InstanceProfile != "", "flags -role and -instance-profile exclude each other: a class has one of them")
		f.If(strings.ContainsAny(s.options.AMIVersion, "@ "), "invalid value %q for flag -ami-version: want a version such as v20240807", s.options.AMIVersion)
	}, func() error { return s.migrate(stdin, stdout, stderr) })
}

// migrate converts the files. The error is command.ErrTold if a person has to complete something, or,
// with -check, if something would be converted.
func (s *settings) migrate(stdin io.Reader, stdout, stderr io.Writer) (open error) {
	files, err := manifest.Sources(s.files, stdin, sample)
	if err != nil {
		return command.Input(err)
	}
	var sources []convert.Source
	for _, file := range files {
		sources = append(sources, convert.Source(file))
	}
	if !slices.ContainsFunc(sources, func(s convert.Source) bool { return len(bytes.TrimSpace(s.Data)) > 0 }) {
		return command.Input(fmt.Errorf("%s: there is nothing in it; look whether the command that wrote it failed", strings.Join(s.files, ", ")))
	}
	s.options.Check = s.check
	result := convert.Convert(sources, &s.options)
	for _, n := range result.Notes {
		if n.Severity >= convert.Action || !s.quiet {
			command.Say(stderr, n.String())
		}
	}
	if convert.Worst(result.Notes) >= convert.Action {
		open = command.ErrTold
	}
	if !s.check {
		if _, err := stdout.Write(result.Stream()); err != nil {
			return err
		}
		return open
	}
	for i, out := range result.Outputs {
		if !bytes.Equal(out.Data, sources[i].Data) {
			open = command.ErrTold
			fmt.Fprintln(stdout, out.Name)
		}
	}
	return open
}
