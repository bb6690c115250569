package main

import (
	"cmp"
	"context"
	"errors"
	"io"
	"time"

	"github.com/dovetail-sdk/dovetail/aws"
	"github.com/dovetail-sdk/dovetail/aws/awstest"
	"github.com/dovetail-sdk/dovetail/examples/internal/awsclients"
	"github.com/dovetail-sdk/dovetail/examples/internal/awsday"
	"github.com/dovetail-sdk/dovetail/examples/internal/awsinput"
	"github.com/dovetail-sdk/dovetail/examples/internal/command"
	"github.com/dovetail-sdk/dovetail/fake/catalog"
)

// run is the program. It returns the exit code.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	s, code, ok := parseFlags(args, stdout, stderr)
	if !ok {
		return code
	}
	in, err := awsinput.Read(s.files, stdin, sample)
	if err != nil {
		return command.Complain(stderr, "eks", err, command.BadInput)
	}
	do := ask
	if s.loopback {
		do = play
	}
	if err := do(context.Background(), s, in, stdout); err != nil {
		return command.Complain(stderr, "eks", err, command.Failed)
	}
	return command.OK
}

// ask plans for a cluster in AWS, and launches if that is wanted.
func ask(ctx context.Context, s settings, in *awsinput.Input, out io.Writer) error {
	cfg, err := awsclients.Load(ctx, s.place.Region)
	if err != nil {
		return err
	}
	clients := awsclients.Connect(cfg)
	if !s.launch {
		clients = awsclients.Watch(clients)
	}
	v, err := newVisit(clients, aws.Options{Region: cfg.Region, Cluster: aws.Cluster{Name: s.cluster}, NodeClasses: in.Class, NoDryRun: !s.launch}, in, out)
	if err != nil {
		return err
	}
	plan, err := v.plan(ctx)
	if err == nil && s.launch {
		_, err = v.launch(ctx, plan)
	} else if err == nil {
		v.say("")
		v.say("Nothing was changed; -launch launches the nodes.")
	}
	return errors.Join(err, v.provider.Close(ctx))
}

// play plans for a cluster in the small AWS, and carries the plan out.
func play(ctx context.Context, s settings, in *awsinput.Input, out io.Writer) error {
	region, zones := in.Where(s.place)
	cloud, err := awstest.Start(&awstest.Options{
		Region: region, Zones: zones, Cluster: awstest.Cluster{Name: s.cluster}, Roles: in.Roles(), Boot: 40 * time.Second, Shutdown: 30 * time.Second,
	})
	if err != nil {
		return err
	}
	defer cloud.Close()
	o := cloud.Options()
	v, err := newVisit(awsclients.Connect(cloud.Config()), aws.Options{
		Region: o.Region, Cluster: aws.Cluster{Name: o.Cluster.Name}, NodeClasses: in.Class, Now: cloud.Now,
		InterruptionQueue: o.Queue, Batch: aws.Batch{Idle: -1},
	}, in, out)
	if err != nil {
		return err
	}
	v.say("Cluster %s is in a small AWS on this machine; name one in AWS with -cluster.", cmp.Or(s.cluster, o.Cluster.Name))
	if region != catalog.DefaultRegion {
		v.say("Its prices are those of %s.", catalog.DefaultRegion)
	}
	v.say("")
	plan, err := v.plan(ctx)
	if err == nil && len(plan.Create) > 0 {
		v.say("")
		day := awsday.Day{Provider: v.provider, Cloud: cloud, Classes: in.Classes, Out: out}
		err = day.Spend(ctx, plan)
	}
	return errors.Join(err, v.provider.Close(ctx))
}
