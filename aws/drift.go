package aws

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	karpv1 "github.com/dovetail-sdk/dovetail/api/v1"
	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
	"github.com/dovetail-sdk/dovetail/aws/internal/api"
	"github.com/dovetail-sdk/dovetail/aws/internal/launch"
	"github.com/dovetail-sdk/dovetail/aws/internal/nodeclass"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/cloudprovider/drift"
)

// The reasons of drift, in the order in which IsDrifted checks them. Karpenter has the same
// reasons.
const (
	// DriftNodeClass: the spec of the class has changed.
	DriftNodeClass = "NodeClassDrift"
	// DriftAMI: the class selects another image for the instance type.
	DriftAMI = "AMIDrift"
	// DriftSecurityGroup: the class selects other security groups.
	DriftSecurityGroup = "SecurityGroupDrift"
	// DriftSubnet: the class does not select the subnet.
	DriftSubnet = "SubnetDrift"
	// DriftCapacityReservation: the class does not select the reservation.
	DriftCapacityReservation = "CapacityReservationDrift"
	// DriftPlacementGroup: the class has another placement group.
	DriftPlacementGroup = "PlacementGroupDrift"
)

// recent is how old a description of an instance may be to be compared for drift.
const recent = time.Minute

// scheme says how classes are hashed.
func scheme(caBundle string) drift.Scheme[*awsv1.EC2NodeClass] {
	return drift.Scheme[*awsv1.EC2NodeClass]{
		HashKey: awsv1.EC2NodeClassHashAnnotationKey, VersionKey: awsv1.EC2NodeClassHashVersionAnnotationKey,
		Version: awsv1.EC2NodeClassHashVersion, Reason: DriftNodeClass,
		Hash: func(c *awsv1.EC2NodeClass) string { return c.Hash(caBundle) },
	}
}

// ClaimAnnotations returns the annotations for a NodeClaim that was launched from the class of this
// name: the hash of the class and its version, by which IsDrifted compares, and the instance
// profile, which CollectInstanceProfiles then keeps. The caller owns the map. Errors are those that
// InstanceTypes has for a class, and that the cluster cannot be read; the map is nil then.
func (p *Provider) ClaimAnnotations(ctx context.Context, nodeClass string) (map[string]string, error) {
	const op = "ClaimAnnotations"
	r, err := p.resolve(ctx, op, reference(nodeClass))
	if err != nil {
		return nil, err
	}
	cluster, _, err := p.sources.Cluster(ctx)
	if err != nil {
		return nil, api.Wrap(op, nodeClass, err)
	}
	annotations := scheme(cluster.CertificateAuthority).Annotations(r.Class)
	if name := r.Class.Status.InstanceProfile; name != "" {
		annotations[awsv1.InstanceProfileAnnotationKey] = name
	}
	return annotations, nil
}

// MigrateClaims returns the annotations to rewrite after a change from a release of Karpenter with
// another hash of classes, such as those before 1.15. Until they are rewritten, NodeClaims of that
// release are not compared with their class and never have NodeClassDrift. claims are those of the
// class, in any order; drift.Scheme.Migrate says what is rewritten on each. Call it at every start:
// it returns an empty Migration if all have the present version. Errors are those of
// ClaimAnnotations; the Migration is empty then.
func (p *Provider) MigrateClaims(ctx context.Context, nodeClass string, claims []*karpv1.NodeClaim) (drift.Migration, error) {
	const op = "MigrateClaims"
	r, err := p.resolve(ctx, op, reference(nodeClass))
	if err != nil {
		return drift.Migration{}, err
	}
	cluster, _, err := p.sources.Cluster(ctx)
	if err != nil {
		return drift.Migration{}, api.Wrap(op, nodeClass, err)
	}
	return scheme(cluster.CertificateAuthority).Migrate(r.Class, r.Class.Annotations, claims), nil
}

// IsDrifted compares an instance with what its class asks for now, in the order of the reasons
// above. An image, subnet, group or reservation that could not be looked up is not compared. An
// instance has also drifted if the class no longer selects an image for its type but does for
// others. The instance is read from EC2 at most once a minute; if EC2 does not list it yet, only
// the NodeClaim is compared. Errors: KindDenied for a claim that names no class, KindNotFound if
// the class or the instance is gone.
func (p *Provider) IsDrifted(ctx context.Context, claim *karpv1.NodeClaim) (cloudprovider.Drift, error) {
	const op = "IsDrifted"
	if claim == nil || claim.Spec.NodeClassRef == nil {
		name := ""
		if claim != nil {
			name = claim.Name
		}
		return cloudprovider.Drift{}, fault(op, name, cloudprovider.KindDenied, "spec.nodeClassRef: missing; name an EC2NodeClass")
	}
	r, err := p.resolve(ctx, op, *claim.Spec.NodeClassRef)
	if err != nil {
		return cloudprovider.Drift{}, err
	}
	record, err := p.recentRecord(ctx, op, claim.Status.ProviderID)
	if err != nil {
		return cloudprovider.Drift{}, err
	}
	cluster, _, err := p.sources.Cluster(ctx)
	if err != nil {
		return cloudprovider.Drift{}, api.Wrap(op, claim.Name, err)
	}
	if verdict, d := scheme(cluster.CertificateAuthority).Compare(r.Class, claim); verdict == drift.Drifted {
		return d, nil
	}
	d, err := p.imageDrift(ctx, r, claim, record)
	if err != nil || d != (cloudprovider.Drift{}) || record == nil {
		return d, err
	}
	return placeDrift(r, record), nil
}

// recentRecord returns a description of an instance that is at most a minute old. It is nil if the
// instance is so new that EC2 does not list it yet.
func (p *Provider) recentRecord(ctx context.Context, op, id string) (*launch.Record, error) {
	if _, short, ok := launch.ParseProviderID(id); ok {
		k, found := p.book.Get(short)
		if age := p.now().Sub(k.Seen); found && !k.Gone && k.Record != nil && age >= 0 && age < recent {
			return k.Record, nil
		}
	}
	k, err := p.get(ctx, op, id)
	return k.Record, err
}

// imageDrift compares the image.
func (p *Provider) imageDrift(
	ctx context.Context, r *nodeclass.Resolution, claim *karpv1.NodeClaim, record *launch.Record,
) (cloudprovider.Drift, error) {
	image, instanceType := claim.Status.ImageID, claim.Labels[corev1.LabelInstanceTypeStable]
	if record != nil {
		instanceType = record.Type
		if image == "" {
			image = record.ImageID
		}
	}
	if image == "" || len(r.Class.Status.AMIs) == 0 {
		return cloudprovider.Drift{}, nil
	}
	c, err := p.offerings.Build(ctx, r.Class)
	if err != nil {
		return cloudprovider.Drift{}, api.Wrap("IsDrifted", claim.Name, err)
	}
	want := c.Images[instanceType]
	if want == image {
		return cloudprovider.Drift{}, nil
	}
	if want == "" {
		// A type that is not in the catalog is not judged: it may be missing for
		// another reason.
		if !slices.ContainsFunc(c.Types, func(t *cloudprovider.InstanceType) bool { return t.Name == instanceType }) {
			return cloudprovider.Drift{}, nil
		}
		return cloudprovider.Drift{Reason: DriftAMI,
			Detail: fmt.Sprintf("boots %s, and the class no longer selects an image for %s", image, instanceType)}, nil
	}
	detail := fmt.Sprintf("boots %s, and the class selects %s for %s", image, want, instanceType)
	for _, ami := range r.Class.Status.AMIs {
		if ami.ID == want && ami.Name != "" {
			detail += " (" + ami.Name + ")"
		}
	}
	return cloudprovider.Drift{Reason: DriftAMI, Detail: detail}, nil
}

// placeDrift compares security groups, subnet, reservation and placement group.
func placeDrift(r *nodeclass.Resolution, record *launch.Record) cloudprovider.Drift {
	status := &r.Class.Status
	var groups []string
	for _, g := range status.SecurityGroups {
		groups = append(groups, g.ID)
	}
	slices.Sort(groups)
	// Which groups count depends on the VPC of the subnets.
	known := isTrue(status, awsv1.ConditionTypeSecurityGroupsReady) && isTrue(status, awsv1.ConditionTypeSubnetsReady)
	if known && len(groups) > 0 && len(record.SecurityGroups) > 0 && !slices.Equal(groups, record.SecurityGroups) {
		return cloudprovider.Drift{Reason: DriftSecurityGroup, Detail: fmt.Sprintf("has security groups %s, and the class selects %s",
			strings.Join(record.SecurityGroups, ", "), strings.Join(groups, ", "))}
	}
	in := func(s awsv1.Subnet) bool { return s.ID == record.SubnetID }
	if len(status.Subnets) > 0 && record.SubnetID != "" && !slices.ContainsFunc(status.Subnets, in) {
		return cloudprovider.Drift{Reason: DriftSubnet, Detail: fmt.Sprintf("is in %s, which the class does not select", record.SubnetID)}
	}
	if id := record.ReservationID; id != "" && isTrue(status, awsv1.ConditionTypeCapacityReservationsReady) {
		if !slices.ContainsFunc(status.CapacityReservations, func(c awsv1.CapacityReservation) bool { return c.ID == id }) {
			return cloudprovider.Drift{Reason: DriftCapacityReservation, Detail: fmt.Sprintf("is in %s, which the class does not select", id)}
		}
	}
	if want := groupID(r); want != record.GroupID && isTrue(status, awsv1.ConditionTypePlacementGroupReady) {
		return cloudprovider.Drift{Reason: DriftPlacementGroup, Detail: fmt.Sprintf("is in placement group %q, and the class has %q", record.GroupID, want)}
	}
	return cloudprovider.Drift{}
}

// isTrue reports whether a condition is true, which means that its part of the status is known.
func isTrue(status *awsv1.EC2NodeClassStatus, condition string) bool {
	return slices.ContainsFunc(status.Conditions, func(c metav1.Condition) bool { return c.Type == condition && c.Status == metav1.ConditionTrue })
}
