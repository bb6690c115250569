package aws

import (
	"context"
	"errors"
	"maps"

	karpv1 "github.com/dovetail-sdk/dovetail/api/v1"
	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

// CollectLaunchTemplates deletes launch templates of the cluster that were not used for
// Options.TemplateRetention, and returns their names, sorted. A template that this process has not
// used counts as used at the first call. Call it every minute or so. The error joins all failures;
// the other templates are deleted.
func (p *Provider) CollectLaunchTemplates(ctx context.Context) ([]string, error) {
	return p.templates.Collect(ctx)
}

// CollectInstanceProfiles deletes instance profiles that were made for classes of the cluster and
// are no longer in use: named neither in the status of a class nor in the annotations of a
// NodeClaim (ClaimAnnotations), and not given to a class within the last hour. It returns their
// names, sorted. nodeClasses and claims must be all objects of the cluster. Without a client for
// IAM it does nothing. Call it every half hour. The error joins all failures; the other profiles
// are deleted.
func (p *Provider) CollectInstanceProfiles(
	ctx context.Context, nodeClasses []*awsv1.EC2NodeClass, claims []*karpv1.NodeClaim,
) ([]string, error) {
	if p.profiles == nil {
		return nil, nil
	}
	inUse := map[string]bool{}
	for _, c := range nodeClasses {
		if c != nil && c.Status.InstanceProfile != "" {
			inUse[c.Status.InstanceProfile] = true
		}
	}
	for _, c := range claims {
		if c != nil && c.Annotations[awsv1.InstanceProfileAnnotationKey] != "" {
			inUse[c.Annotations[awsv1.InstanceProfileAnnotationKey]] = true
		}
	}
	return p.profiles.Collect(ctx, inUse)
}

// ReleaseNodeClass deletes the instance profiles and launch templates that were made in AWS for a
// class. Call it when the class is being deleted and no NodeClaim of it is left, before its
// finalizer is taken off. It can be repeated. The error joins the failures of both. After an error
// some may be left: keep the finalizer and call ReleaseNodeClass again. For a nil class it does
// nothing.
func (p *Provider) ReleaseNodeClass(ctx context.Context, class *awsv1.EC2NodeClass) error {
	if class == nil {
		return nil
	}
	var err error
	if p.profiles != nil {
		_, err = p.profiles.DeleteClass(ctx, class)
	}
	_, err2 := p.templates.DeleteClass(ctx, class.Name)
	p.forgetDryRuns(class.Name, "")
	return errors.Join(err, err2)
}

// TagInstance adds to the instance of a NodeClaim the tags that are known only once its node has
// joined: Name (the name of the node) and the names of the NodeClaim and of the cluster. Existing
// tags stay, so a Name that the user has set is kept. It returns the annotations that record this
// on the NodeClaim. If the claim has both annotations already, or has no node or no instance,
// TagInstance does nothing and returns nil. The caller owns the map. While EC2 does not list the
// instance yet the error is KindNotReady: call again later.
func (p *Provider) TagInstance(ctx context.Context, claim *karpv1.NodeClaim) (map[string]string, error) {
	const op, done = "TagInstance", "true"
	if claim == nil || claim.Status.NodeName == "" || claim.Status.ProviderID == "" || !claim.DeletionTimestamp.IsZero() {
		return nil, nil
	}
	annotations := map[string]string{awsv1.InstanceTaggedAnnotationKey: done, awsv1.ClusterNameTaggedAnnotationKey: done}
	if claim.Annotations[awsv1.InstanceTaggedAnnotationKey] == done && claim.Annotations[awsv1.ClusterNameTaggedAnnotationKey] == done {
		return nil, nil
	}
	record, err := p.recentRecord(ctx, op, claim.Status.ProviderID)
	if err != nil {
		return nil, err
	}
	if record == nil {
		return nil, fault(op, claim.Name, cloudprovider.KindNotReady, "EC2 does not list the instance yet; repeat")
	}
	missing := map[string]string{
		awsv1.NameTagKey: claim.Status.NodeName, awsv1.NodeClaimTagKey: claim.Name, awsv1.ClusterNameTagKey: p.opts.Cluster.Name,
	}
	maps.DeleteFunc(missing, func(key, _ string) bool { _, found := record.Tags[key]; return found })
	if err := p.tag(ctx, record.ID, missing); err != nil {
		return nil, about(err, op, claim.Name)
	}
	return annotations, nil
}
