package main

import (
	"context"
	"errors"
	"log/slog"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/aws"
	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
	"github.com/dovetail-sdk/dovetail/aws/kubeletcel"
)

const collectEvery = 10 * time.Minute // time between collections of what instances and classes left behind

// ec2Cloud is Amazon EC2. It also maintains the EC2NodeClasses.
type ec2Cloud struct {
	*aws.Provider
	api         client.Client
	nextCollect time.Time
}

// newEC2 returns the cloud. It reads classes from the API server.
func newEC2(api client.Client, clients aws.Clients, options aws.Options, log *slog.Logger) (*ec2Cloud, error) {
	options.KubeletExpressions = kubeletcel.New()
	options.NodeClasses = func(ctx context.Context, name string) (*awsv1.EC2NodeClass, error) {
		class := &awsv1.EC2NodeClass{}
		err := api.Get(ctx, client.ObjectKey{Name: name}, class)
		if apierrors.IsNotFound(err) {
			return nil, nil
		}
		return class, err
	}
	options.NodePools = func(ctx context.Context) ([]*v1.NodePool, error) {
		var err error
		pools := all(ctx, api, &v1.NodePoolList{}, func(l *v1.NodePoolList) []v1.NodePool { return l.Items }, &err)
		return pools, err
	}
	options.Warn = func(w aws.Warning) { log.Warn(w.Detail, "reason", w.Reason, "object", w.Object) }
	provider, err := aws.New(clients, &options)
	if err != nil {
		return nil, err
	}
	return &ec2Cloud{Provider: provider, api: api}, nil
}

// keep updates the classes, and the records of each other that AWS and the objects hold.
func (c *ec2Cloud) keep(ctx context.Context, a *autoscaler, s *snapshot) error {
	var err error
	classes := all(ctx, c.api, &awsv1.EC2NodeClassList{}, func(l *awsv1.EC2NodeClassList) []awsv1.EC2NodeClass { return l.Items }, &err)
	if err != nil {
		return err
	}
	edits, err := c.Keep(ctx, aws.Objects{NodeClasses: classes, NodeClaims: s.NodeClaims, Nodes: s.Nodes, Instances: a.instances})
	errs := []error{err}
	for _, e := range edits { // in their order
		if err := store(ctx, a, e.Before, e.After); !errors.Is(err, errStale) {
			errs = append(errs, err)
		}
	}
	if !s.Now.Before(c.nextCollect) {
		c.nextCollect = s.Now.Add(collectEvery)
		_, templates := c.CollectLaunchTemplates(ctx)
		_, profiles := c.CollectInstanceProfiles(ctx, classes, s.NodeClaims)
		errs = append(errs, templates, profiles)
	}
	return errors.Join(errs...)
}
