// Command eks says which instances would be launched in an EKS cluster for the pods of some
// manifests, by the NodePools and EC2NodeClasses in them. It asks AWS, or a simulated AWS: a server
// on 127.0.0.1 with the protocols of the real one, so the whole provider runs. README.md has commands
// to begin with.
//
// The exit code is 0; 1 when something broke or is not ready; 2 when the input or the flags are
// wrong.
package main

import (
	"context"
	_ "embed"
	"errors"
	"flag"
	"io"
	"os"
	"time"

	"github.com/dovetail-sdk/dovetail/aws"
	"github.com/dovetail-sdk/dovetail/aws/awstest"
	"github.com/dovetail-sdk/dovetail/examples/internal/awsclients"
	"github.com/dovetail-sdk/dovetail/examples/internal/awsinput"
	"github.com/dovetail-sdk/dovetail/examples/internal/command"
	"github.com/dovetail-sdk/dovetail/examples/internal/place"
	"github.com/dovetail-sdk/dovetail/fake/catalog"
)

func main() {
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

const about = `Eks says which instances would be launched in an EKS cluster for the pods of some manifests, by the NodePools and EC2NodeClasses in them.

Without -cluster the region and the zones are those of a small AWS on this machine. In the AWS of -cluster they are those of its configuration and of the subnets that EC2NodeClasses select.`

type settings struct {
	cluster          string
	place            place.Asked
	files            []string
	launch, loopback bool
}

func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	var s settings
	set := flag.NewFlagSet("eks", flag.ContinueOnError)
	set.StringVar(&s.cluster, "cluster", "", "`NAME` the cluster. Default: one in a small AWS on this machine")
	s.place.Flags(set)
	set.BoolVar(&s.launch, "launch", false, "launch what is planned; without it nothing is changed")
	set.BoolVar(&s.loopback, "loopback", false, "ask the small AWS also if -cluster is given")
	command.Files(set, &s.files, "manifests")
	return command.Run(set, args, about, stdout, stderr, func(f *command.Faults) {
		s.loopback = s.loopback || s.cluster == ""
		f.Twice(s.files)
		s.place.Check(f)
		f.If(s.launch && s.loopback, "-launch is for the AWS of -cluster; in the small AWS everything is launched anyway")
		f.If(len(s.place.Zones) > 0 && !s.loopback, "-zones is for the small AWS; in the AWS of -cluster the zones are those of the subnets that EC2NodeClasses select")
	}, func() error {
		in, err := awsinput.Read(s.files, stdin, sample)
		if err != nil {
			return command.Input(err)
		}
		if s.loopback {
			return play(context.Background(), s, in, stdout)
		}
		return ask(context.Background(), s, in, stdout)
	})
}

// ask plans for a cluster in AWS, and launches the plan with -launch.
func ask(ctx context.Context, s settings, in *awsinput.Input, out io.Writer) error {
	cfg, err := awsclients.Load(ctx, s.place.Region)
	if err != nil {
		return err
	}
	if !s.launch {
		cfg = awsclients.Watch(cfg)
	}
	v, err := newVisit(aws.Connect(cfg), aws.Options{Region: cfg.Region, Cluster: aws.Cluster{Name: s.cluster}, NodeClasses: in.Class, NodePools: in.Pools, NoDryRun: !s.launch}, in, out)
	if err != nil {
		return err
	}
	plan, err := v.plan(ctx)
	if err == nil && s.launch {
		err = v.launch(ctx, plan)
	} else if err == nil {
		v.say("")
		v.say("Nothing was changed; -launch launches the nodes.")
	}
	return errors.Join(err, v.provider.Close(ctx))
}

// play plans for a cluster in the simulated AWS, and carries the plan out.
func play(ctx context.Context, s settings, in *awsinput.Input, out io.Writer) error {
	account := in.Account(s.cluster, s.place)
	account.Boot, account.Shutdown = 40*time.Second, 30*time.Second
	cloud, err := awstest.Start(account)
	if err != nil {
		return err
	}
	defer cloud.Close()
	in.Furnish(cloud.Cloud)
	o := cloud.Options()
	v, err := newVisit(aws.Connect(cloud.Config()), aws.Options{
		Region: o.Region, Cluster: aws.Cluster{Name: o.Cluster.Name}, NodeClasses: in.Class, NodePools: in.Pools, Now: cloud.Now,
		InterruptionQueue: o.Queue, Batch: aws.Batch{Idle: -1},
	}, in, out)
	if err != nil {
		return err
	}
	v.say("Cluster %s is in a small AWS on this machine; name one in AWS with -cluster.", o.Cluster.Name)
	if o.Region != catalog.DefaultRegion {
		v.say("Its prices are those of %s.", catalog.DefaultRegion)
	}
	v.say("")
	plan, err := v.plan(ctx)
	if err == nil && len(plan.Create) > 0 {
		v.say("")
		err = v.spend(ctx, smallAWS{cloud, in.Classes}, plan)
	}
	return errors.Join(err, v.provider.Close(ctx))
}

// sample is the cluster that is planned for if no manifests are given.
//
//go:embed sample.yaml
var sample []byte
