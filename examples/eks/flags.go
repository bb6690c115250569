package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
)

const usage = `usage: eks [-cluster NAME] [-region REGION] [-f FILE]... [-launch | -loopback]

Says which instances would be launched in an EKS cluster for the pods of some
manifests, by the NodePools and EC2NodeClasses beside them.

  -cluster NAME   the cluster; without it a small AWS on this machine is asked
  -region REGION  its region; default: that of the AWS configuration
  -f FILE         manifests, - for standard input; repeatable; default: a sample
  -launch         launch what is planned; without it nothing is changed
  -loopback       ask the small AWS also if -cluster is given
`

// settings are what the flags say.
type settings struct {
	cluster, region  string
	files            []string
	launch, loopback bool
}

// parseFlags reads the arguments. It has told the user of an error.
func parseFlags(args []string, stderr io.Writer) (s settings, err error) {
	flags := flag.NewFlagSet("eks", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.StringVar(&s.cluster, "cluster", "", "")
	flags.StringVar(&s.region, "region", "", "")
	flags.BoolVar(&s.launch, "launch", false, "")
	flags.BoolVar(&s.loopback, "loopback", false, "")
	flags.Func("f", "", func(name string) error {
		if name == "" {
			return errors.New("the file name is empty")
		}
		if slices.Contains(s.files, name) {
			return errors.New("it is given twice")
		}
		s.files = append(s.files, name)
		return nil
	})
	err = flags.Parse(args)
	if err == nil {
		s.loopback = s.loopback || s.cluster == ""
		err = s.check(flags.Args())
	}
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		for line := range strings.Lines(err.Error()) {
			fmt.Fprintln(stderr, "eks: "+strings.TrimRight(line, "\n"))
		}
		fmt.Fprintf(stderr, "\n%s", usage)
	}
	return s, err
}

func (s settings) check(rest []string) error {
	var errs []error
	if len(rest) > 0 {
		errs = append(errs, fmt.Errorf("unexpected argument %q; files are named with -f", strings.Join(rest, " ")))
	}
	if s.launch && s.loopback {
		errs = append(errs, errors.New("-launch is for the AWS of -cluster; in the small AWS everything is launched anyway"))
	}
	return errors.Join(errs...)
}
