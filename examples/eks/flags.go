package main

import (
	"flag"
	"io"

	"github.com/dovetail-sdk/dovetail/examples/internal/command"
	"github.com/dovetail-sdk/dovetail/examples/internal/place"
)

const usage = `Eks says which instances would be launched in an EKS cluster for the pods of
some manifests, by the NodePools and EC2NodeClasses beside them.

usage: eks [flags]

  -cluster NAME   the cluster. Default: one in a small AWS on this machine
  -region REGION  its region. Default: that of the AWS configuration, or in the
                  small AWS that of the nodes in the manifests
  -zones ZONE,... the zones of the small AWS. Default: those of the nodes and,
                  by their status, of the subnets of EC2NodeClasses
  -f FILE         read manifests from FILE, YAML or JSON, or from standard input
                  if FILE is -; may be repeated. Default: a sample
  -launch         launch what is planned; without it nothing is changed
  -loopback       ask the small AWS also if -cluster is given
  -h              print this
`

// settings are what the flags say.
type settings struct {
	cluster          string
	place            place.Asked
	files            []string
	launch, loopback bool
}

// parseFlags reads the command line. If it is not ok the program is over.
func parseFlags(args []string, stdout, stderr io.Writer) (s settings, code int, ok bool) {
	set := flag.NewFlagSet("eks", flag.ContinueOnError)
	set.StringVar(&s.cluster, "cluster", "", "")
	s.place.Flags(set)
	set.BoolVar(&s.launch, "launch", false, "")
	set.BoolVar(&s.loopback, "loopback", false, "")
	command.Files(set, &s.files)
	code, ok = command.Parse(set, args, usage, stdout, stderr, func() []string {
		s.loopback = s.loopback || s.cluster == ""
		faults := append(command.Arguments(set, "-f"), command.Duplicates(s.files)...)
		if s.launch && s.loopback {
			faults = append(faults, "-launch is for the AWS of -cluster; in the small AWS everything is launched anyway")
		}
		if len(s.place.Zones) > 0 && !s.loopback {
			faults = append(faults, "-zones is for the small AWS; in the AWS of -cluster the zones are those of the subnets that EC2NodeClasses select")
		}
		return faults
	})
	return s, code, ok
}
