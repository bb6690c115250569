package launch

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	karpv1 "github.com/dovetail-sdk/dovetail/api/v1"
	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

// Record is an instance as EC2 describes it.
type Record struct {
	// ID is the id of the instance, such as i-0123456789abcdef0.
	ID string
	// Type, Zone, ImageID and SubnetID are those of the instance.
	Type, Zone, ImageID, SubnetID string
	// CapacityType is spot, on-demand or reserved.
	CapacityType string
	// ReservationID is the reservation if CapacityType is reserved, and Block and Interruptible are
	// its kind.
	ReservationID        string
	Block, Interruptible bool
	// Tenancy is default or dedicated.
	Tenancy string
	// GroupID and Partition are the placement group and the partition in it.
	GroupID   string
	Partition int32
	// SecurityGroups are the ids of its security groups, sorted.
	SecurityGroups []string
	// LaunchedAt is when it was launched.
	LaunchedAt time.Time
	// Terminating says that it is shutting down or terminated, and Gone that it is terminated.
	Terminating, Gone bool
	// Tags are its tags.
	Tags map[string]string
}

// ProviderID returns spec.providerID of the node.
func (r *Record) ProviderID() string { return "aws:///" + r.Zone + "/" + r.ID }

// NodePool returns the name of the NodePool in the tags.
func (r *Record) NodePool() string { return r.Tags[karpv1.NodePoolLabelKey] }

// NodeClass returns the name of the EC2NodeClass in the tags.
func (r *Record) NodeClass() string { return r.Tags[awsv1.NodeClassTagKey] }

// NodeClaim returns the name of the NodeClaim in the tags. Without such a tag it returns "".
func (r *Record) NodeClaim() string { return r.Tags[awsv1.NodeClaimTagKey] }

// Roster returns the requests that the instance may have been launched for.
func (r *Record) Roster() (Roster, bool) { return ReadRoster(r.Tags, r.NodePool()) }

var idForm = regexp.MustCompile(`^i-[0-9a-f]{1,32}$`)

// ParseProviderID returns the id of an instance in spec.providerID of a node, and the zone. It
// reports false for a text that is not an id of EC2.
func ParseProviderID(text string) (zone, id string, ok bool) {
	rest, found := strings.CutPrefix(text, "aws:///")
	if !found {
		return "", "", false
	}
	zone, id, found = strings.Cut(rest, "/")
	if !found || zone == "" || !idForm.MatchString(id) {
		return "", "", false
	}
	return zone, id, true
}

// ReadInstance reads an instance. It reports false for one without an id.
func ReadInstance(i *ec2types.Instance) (Record, bool) {
	r := Record{
		ID: awssdk.ToString(i.InstanceId), Type: string(i.InstanceType), ImageID: awssdk.ToString(i.ImageId), SubnetID: awssdk.ToString(i.SubnetId),
		LaunchedAt: awssdk.ToTime(i.LaunchTime), ReservationID: awssdk.ToString(i.CapacityReservationId), Tenancy: awsv1.TenancyDefault,
		Tags: make(map[string]string, len(i.Tags)),
	}
	if r.ID == "" {
		return Record{}, false
	}
	if p := i.Placement; p != nil {
		r.Zone, r.GroupID, r.Partition = awssdk.ToString(p.AvailabilityZone), awssdk.ToString(p.GroupId), awssdk.ToInt32(p.PartitionNumber)
		r.Tenancy = cmp.Or(string(p.Tenancy), r.Tenancy)
	}
	for _, t := range i.Tags {
		r.Tags[awssdk.ToString(t.Key)] = awssdk.ToString(t.Value)
	}
	for _, g := range i.SecurityGroups {
		r.SecurityGroups = append(r.SecurityGroups, awssdk.ToString(g.GroupId))
	}
	// Other interfaces may have groups that others have set, such as the groups of pods; only those
	// of the primary interface are ours.
	slices.Sort(r.SecurityGroups)
	r.SecurityGroups = slices.Compact(r.SecurityGroups)
	if s := i.State; s != nil {
		r.Gone = s.Name == ec2types.InstanceStateNameTerminated
		r.Terminating = r.Gone || s.Name == ec2types.InstanceStateNameShuttingDown
	}
	r.readMarket(i)
	return r, true
}

// readMarket reads how the instance was bought. An on-demand instance that uses an open reservation
// counts as on demand.
func (r *Record) readMarket(i *ec2types.Instance) {
	only := false
	if s := i.CapacityReservationSpecification; s != nil {
		only = s.CapacityReservationPreference == ec2types.CapacityReservationPreferenceCapacityReservationsOnly
		if t := s.CapacityReservationTarget; t != nil && awssdk.ToString(t.CapacityReservationId) != "" {
			only = true
		}
	}
	r.Block = i.InstanceLifecycle == ec2types.InstanceLifecycleTypeCapacityBlock
	r.Interruptible = string(i.InstanceLifecycle) == string(ec2types.MarketTypeInterruptibleCapacityReservation)
	switch {
	case i.InstanceLifecycle == ec2types.InstanceLifecycleTypeSpot:
		r.CapacityType, r.ReservationID = karpv1.CapacityTypeSpot, ""
	case r.ReservationID != "" && (only || r.Block || r.Interruptible):
		r.CapacityType = karpv1.CapacityTypeReserved
	default:
		r.CapacityType, r.ReservationID = karpv1.CapacityTypeOnDemand, ""
	}
}

// Machine is one instance in a Book. It has a Record, or Launched, or both.
type Machine struct {
	// ID is its id in EC2.
	ID string
	// Name is the name of its NodeClaim. Empty if it is not known.
	Name string
	// Record is the instance as EC2 described it last, and Seen when that was.
	Record *Record
	Seen   time.Time
	// Launched is the result of Create, if this process launched the instance.
	Launched *cloudprovider.Instance
	// Ended is when EC2 accepted to terminate it; zero if it was not asked to.
	Ended time.Time
	// Gone says that the instance no longer exists.
	Gone bool

	mark   string    // of the request; empty if that is not known
	at     time.Time // when it was launched
	goneAt time.Time
}

// Over reports whether it is gone or shutting down.
func (k *Machine) Over() bool {
	return k.Gone || !k.Ended.IsZero() || k.Record != nil && k.Record.Terminating
}

// ReservationID returns the reservation that the instance is in, or "".
func (k *Machine) ReservationID() string {
	switch {
	case k.Record != nil:
		return k.Record.ReservationID
	case k.Launched != nil:
		return k.Launched.ReservationID
	}
	return ""
}

// inBlock reports whether an instance is in a capacity block.
func (k *Machine) inBlock() bool {
	switch {
	case k.Record != nil:
		return k.Record.Block && k.Record.ReservationID != "" && !k.Record.Terminating
	case k.Launched != nil:
		return k.Launched.ReservationID != "" &&
			k.Launched.Labels[awsv1.LabelCapacityReservationType] == string(awsv1.CapacityReservationTypeCapacityBlock)
	}
	return false
}

// ProviderID returns the ID of the instance in Kubernetes.
func (k *Machine) ProviderID() string {
	if k.Record != nil {
		return k.Record.ProviderID()
	}
	return k.Launched.ID
}
