package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/pricing"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/aws"
	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
	"github.com/dovetail-sdk/dovetail/aws/kubeletcel"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

const collectEvery = 10 * time.Minute // what instances and classes leave behind

// ec2Cloud is Amazon EC2, and keeps its EC2NodeClasses.
type ec2Cloud struct {
	*aws.Provider
	api         client.Client
	nextCollect time.Time
	observed    map[string]bool // NodeClaims whose Node has told how much memory it has
}

// awsClients are those of the credentials that the AWS command line would use.
func awsClients(ctx context.Context, region string) (aws.Clients, string, error) {
	cfg, err := config.LoadDefaultConfig(ctx, config.WithRegion(region), config.WithRetryer(aws.Retryer))
	if err != nil {
		return aws.Clients{}, "", fmt.Errorf("AWS configuration: %w", err)
	}
	return aws.Clients{EC2: ec2.NewFromConfig(cfg), SSM: ssm.NewFromConfig(cfg), Pricing: pricing.NewFromConfig(cfg),
		SQS: sqs.NewFromConfig(cfg), IAM: iam.NewFromConfig(cfg), EKS: eks.NewFromConfig(cfg)}, cfg.Region, nil
}

// newEC2 is the cloud of a cluster, whose classes are read from its API server.
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
	options.Warn = func(w aws.Warning) { log.Warn(w.Detail, "reason", w.Reason, "object", w.Object) }
	provider, err := aws.New(clients, options)
	if err != nil {
		return nil, err
	}
	return &ec2Cloud{Provider: provider, api: api, observed: map[string]bool{}}, nil
}

// keep brings the classes up to date, and what AWS and the objects say of each other.
func (c *ec2Cloud) keep(ctx context.Context, a *autoscaler, s *snapshot) error {
	var list awsv1.EC2NodeClassList
	if err := c.api.List(ctx, &list); err != nil {
		return err
	}
	classes := make([]*awsv1.EC2NodeClass, len(list.Items))
	for i := range list.Items {
		classes[i] = &list.Items[i]
	}
	errs := each(len(classes), func(i int) error { return c.keepClass(ctx, a, s, classes[i]) })
	errs = errors.Join(errs, each(len(s.NodeClaims), func(i int) error { return c.keepClaim(ctx, a, s, s.NodeClaims[i]) }))
	maps.DeleteFunc(c.observed, func(name string, _ bool) bool { return s.Claim(name) == nil })
	for _, claim := range s.NodeClaims {
		node := s.NodeOf(claim)
		if node == nil || !is(claim, v1.ConditionTypeRegistered) || c.observed[claim.Name] {
			continue
		}
		c.observed[claim.Name] = true
		errs = errors.Join(errs, c.ObserveNode(ctx, claim.Labels["node.kubernetes.io/instance-type"], claim.Status.ImageID, node))
	}
	if s.Now.Before(c.nextCollect) {
		return errs
	}
	c.nextCollect = s.Now.Add(collectEvery)
	_, templates := c.CollectLaunchTemplates(ctx)
	_, profiles := c.CollectInstanceProfiles(ctx, classes, s.NodeClaims)
	return errors.Join(errs, templates, profiles)
}

// keepClass stores what a class resolves to. One that is being deleted stays until no
// NodeClaim is of it and nothing is left in AWS.
func (c *ec2Cloud) keepClass(ctx context.Context, a *autoscaler, s *snapshot, class *awsv1.EC2NodeClass) error {
	var of []*v1.NodeClaim
	for _, claim := range s.NodeClaims {
		if ref := claim.Spec.NodeClassRef; ref != nil && ref.Name == class.Name && ref.Group == awsv1.Group {
			of = append(of, claim)
		}
	}
	after := class.DeepCopy()
	if class.DeletionTimestamp != nil {
		if len(of) > 0 || !controllerutil.RemoveFinalizer(after, awsv1.TerminationFinalizer) {
			return nil
		}
		if err := c.ReleaseNodeClass(ctx, class); err != nil {
			return err
		}
		return a.store(ctx, class, after)
	}
	controllerutil.AddFinalizer(after, awsv1.TerminationFinalizer)
	now, err := c.NodeClass(ctx, class.Name)
	if err != nil {
		return err
	}
	after.Status = now.Status
	migration, err := c.MigrateClaims(ctx, class.Name, of)
	for _, change := range migration.Claims {
		claim := s.Claim(change.Claim)
		next := claim.DeepCopy()
		annotate(next, change.Annotations)
		err = errors.Join(err, a.store(ctx, claim, next))
	}
	if err == nil { // the claims first
		annotate(after, migration.Class)
	}
	return errors.Join(err, a.store(ctx, class, after))
}

// keepClaim has the tags of an instance name its Node, and a NodeClaim lose the labels
// of a reservation that has ended.
func (c *ec2Cloud) keepClaim(ctx context.Context, a *autoscaler, s *snapshot, claim *v1.NodeClaim) error {
	tags, err := c.TagInstance(ctx, claim)
	if err != nil && !errors.Is(err, cloudprovider.ErrNotFound) && cloudprovider.KindOf(err) != cloudprovider.KindNotReady {
		return err
	}
	after := claim
	if i := slices.IndexFunc(a.instances, func(i *cloudprovider.Instance) bool { return i.ID == claim.Status.ProviderID }); i >= 0 {
		after = aws.DemoteClaim(claim, a.instances[i])
		if node := s.NodeOf(claim); node != nil {
			if err := a.storeNode(ctx, node, aws.DemoteNode(node, a.instances[i])); err != nil {
				return err
			}
		}
	}
	if len(tags) > 0 {
		after = after.DeepCopy()
		annotate(after, tags)
	}
	return a.storeClaim(ctx, claim, after)
}
