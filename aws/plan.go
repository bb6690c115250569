package aws

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/amiselect"
	karpv1 "github.com/dovetail-sdk/dovetail/api/v1"
	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
	"github.com/dovetail-sdk/dovetail/aws/internal/api"
	"github.com/dovetail-sdk/dovetail/aws/internal/instancetype"
	"github.com/dovetail-sdk/dovetail/aws/internal/launch"
	"github.com/dovetail-sdk/dovetail/aws/internal/launchtemplate"
	"github.com/dovetail-sdk/dovetail/aws/internal/nodeclass"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

// plan is the content of the EC2 call for one request. Requests whose plans have the same key may
// share a call.
type plan struct {
	key       string
	class     *awsv1.EC2NodeClass
	placement placement
	tenancy   string
	spec      launch.Spec
	templates []launchtemplate.Template
	subnets   []nodeclass.Subnet
	addresses map[string]int64 // that one instance may take, by zone
	room      int              // for tags of instances
}

// optionFor returns the option of a request by which an instance was launched.
func optionFor(req *cloudprovider.LaunchRequest, key cloudprovider.OfferingKey) (cloudprovider.LaunchOption, bool) {
	for _, o := range req.Options {
		if o.InstanceType != nil && o.Offering != nil && o.Key() == key {
			return o, true
		}
	}
	return cloudprovider.LaunchOption{}, false
}

// plan makes the plan of a request.
func (p *Provider) plan(ctx context.Context, req *cloudprovider.LaunchRequest) (*plan, error) {
	const op = "Create"
	r, err := p.resolve(ctx, op, req.NodeClassRef)
	if err != nil {
		return nil, err
	}
	if err := p.usable(op, r); err != nil {
		return nil, err
	}
	c, err := p.offerings.Build(ctx, r.Class)
	if err != nil {
		return nil, api.Wrap(op, "EC2NodeClass "+r.Class.Name, err)
	}
	cluster, _, err := p.sources.Cluster(ctx)
	if err != nil {
		return nil, api.Wrap(op, req.Name, err)
	}
	b := p.planner(req, r, cluster, c)
	admitted, err := b.admit()
	if err != nil {
		return nil, err
	}
	options, err := p.choose(req, admitted, c.Images)
	if err != nil {
		return nil, err
	}
	return b.plan(options)
}

// choose filters the admitted options of a request.
func (p *Provider) choose(req *cloudprovider.LaunchRequest, options []cloudprovider.LaunchOption, images map[string]string) (launch.Selection, error) {
	admitted := *req
	admitted.Options = options
	s := launch.Select(&admitted, images)
	if len(s.Options) == 0 {
		return s, nothingLeft(req, admitted.Options, s)
	}
	relaxed := p.opts.RelaxMinValues || req.Annotations[karpv1.NodeClaimMinValuesRelaxedAnnotationKey] == "true"
	if len(s.Unmet) > 0 && !relaxed {
		return s, fault("Create", req.Name, cloudprovider.KindInsufficientCapacity,
			"one call cannot offer as many values as minValues asks for: %s; lower minValues, or widen the requirements", s.Unmet[0])
	}
	if s.InflexibleTypes > 0 {
		p.warn(WarnInflexible, req.Name,
			"launched on demand with %d instance types, though spot is allowed; allow more types, so that spot capacity is found", s.InflexibleTypes)
	}
	return s, nil
}

// nothingLeft returns the error if no option can be tried: EC2 refused all of them recently, or the
// class does not offer them.
func nothingLeft(req *cloudprovider.LaunchRequest, admitted []cloudprovider.LaunchOption, s launch.Selection) error {
	var refused []cloudprovider.OfferingKey
	for _, o := range req.Options {
		if !slices.Contains(admitted, o) || !o.Offering.Launchable() {
			refused = append(refused, o.Key())
		}
	}
	if len(refused) == 0 && len(s.Dropped) > 0 {
		return &cloudprovider.Error{Op: "Create", Kind: cloudprovider.KindDenied, Object: req.Name,
			Err: fmt.Errorf("no option can be launched with the node class: %s; plan anew with what InstanceTypes returns", s.Dropped[0])}
	}
	return &cloudprovider.Error{Op: "Create", Kind: cloudprovider.KindInsufficientCapacity, Object: req.Name, Reason: "RefusedLately",
		Offerings: refused, Err: errors.New("EC2 refused every option a short while ago, and none is tried again yet")}
}

// planner makes a plan of chosen options.
type planner struct {
	p          *Provider
	req        *cloudprovider.LaunchRequest
	resolution *nodeclass.Resolution
	cluster    nodeclass.Cluster
	images     map[string]string
	// kubelets has the kubelet settings by instance type, with their expressions evaluated.
	// settings has the same by boot.kubelet.
	kubelets, settings map[string]*awsv1.KubeletConfiguration
	partition          int32 // see admit
}

func (p *Provider) planner(
	req *cloudprovider.LaunchRequest, r *nodeclass.Resolution, cluster nodeclass.Cluster, c *instancetype.Catalog,
) *planner {
	return &planner{
		p: p, req: req, resolution: r, cluster: cluster, images: c.Images,
		kubelets: c.Kubelets, settings: map[string]*awsv1.KubeletConfiguration{},
	}
}

// typesOf returns the names of the instance types of options.
func typesOf(options []cloudprovider.LaunchOption) []string {
	names := map[string]bool{}
	for _, o := range options {
		if o.InstanceType != nil {
			names[o.InstanceType.Name] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// boot is the key of launch templates: options with equal boot share one.
type boot struct {
	image       string
	reservation launchtemplate.Reservation
	efas        int64
	firstCard   int32  // of the first adapter
	maxPods     int64  // -1 if user data does not state it
	kubelet     string // the kubelet settings as JSON, with expressions evaluated; empty without expressions
}

func (b *planner) plan(s launch.Selection) (*plan, error) {
	class := b.resolution.Class
	out := &plan{
		class: class, placement: placement{groupID(b.resolution), b.partition}, subnets: b.resolution.Subnets,
		addresses: map[string]int64{},
	}
	var err error
	if out.tenancy, err = b.tenancy(); err != nil {
		return nil, err
	}
	tags, err := b.tags()
	if err != nil {
		return nil, err
	}
	out.room = room(tags)
	out.spec = launch.Spec{CapacityType: s.CapacityType, Reservation: s.Reservation, Tags: tags, Prioritized: b.prioritized(s)}
	if b.req.Annotations[karpv1.NodeClaimMinValuesRelaxedAnnotationKey] != "true" {
		out.spec.Context = class.Spec.Context
	}
	out.spec.Types = typesOf(b.req.Options)
	byBoot := map[boot][]cloudprovider.LaunchOption{}
	var order []boot
	for _, o := range s.Options {
		k := b.boot(o, s.Reservation)
		if byBoot[k] == nil {
			order = append(order, k)
		}
		byBoot[k] = append(byBoot[k], o)
		pods := max(o.InstanceType.Capacity.Get(corev1.ResourcePods), 1)
		if least, found := out.addresses[o.Offering.Zone]; !found || pods < least {
			out.addresses[o.Offering.Zone] = pods
		}
	}
	for _, k := range order {
		t, err := b.template(k, out, s.CapacityType)
		if err != nil {
			return nil, err
		}
		out.templates = append(out.templates, t)
		out.spec.Groups = append(out.spec.Groups, launch.Group{Template: t.Name, ImageID: k.image, Options: byBoot[k]})
	}
	out.key = out.spec.Key()
	return out, nil
}

// boot returns the key of the launch template that an option needs.
func (b *planner) boot(o cloudprovider.LaunchOption, kind launch.ReservationKind) boot {
	class := b.resolution.Class
	k := boot{image: b.images[o.InstanceType.Name], maxPods: -1}
	if o.Offering.CapacityType == karpv1.CapacityTypeReserved {
		k.reservation = launchtemplate.Reservation{ID: o.Offering.ReservationID, Block: kind.Block, Interruptible: kind.Interruptible}
	}
	if b.wantsAdapters() && len(class.Spec.NetworkInterfaces) == 0 {
		k.efas, k.firstCard = o.InstanceType.Capacity.Get(awsv1.ResourceEFA), instancetype.FirstEFACard(o.InstanceType.Name)
	}
	// A number of pods that the class states is in the user data of all nodes.
	stated := class.Spec.Kubelet != nil && class.Spec.Kubelet.MaxPods != nil
	if !stated && class.ResolvedAMIFamily() != amiselect.FamilyCustom {
		k.maxPods = o.InstanceType.Capacity.Get(corev1.ResourcePods)
	}
	if own := b.kubelets[o.InstanceType.Name]; own != nil {
		// Types with the same values share a launch template.
		text, _ := json.Marshal(own)
		k.kubelet = string(text)
		b.settings[k.kubelet] = own
	}
	return k
}

// wantsAdapters reports whether pods ask for elastic fabric adapters, by the
// resource or by devices of dynamic resource allocation.
func (b *planner) wantsAdapters() bool {
	if b.req.Requests.Get(awsv1.ResourceEFA) > 0 {
		return true
	}
	for driver := range strings.SplitSeq(b.req.Annotations[karpv1.DRADriversAnnotationKey], ",") {
		if strings.TrimSpace(driver) == instancetype.EFADriver {
			return true
		}
	}
	return false
}

// template makes the launch template of some options.
func (b *planner) template(k boot, out *plan, capacityType string) (launchtemplate.Template, error) {
	userData, err := b.userData(k, capacityType)
	if err != nil {
		return launchtemplate.Template{}, err
	}
	in := launchtemplate.Input{
		Region: b.p.opts.Region, Class: out.class, ImageID: k.image, UserData: userData, CapacityType: capacityType,
		OpenReservations: b.p.opts.NoReservedCapacity, EFAs: k.efas, FirstEFACard: k.firstCard, Tenancy: out.tenancy, GroupID: out.placement.group,
		Partition: out.placement.partition, IPv6: b.cluster.IPv6, Tags: out.spec.Tags,
	}
	if k.reservation.ID != "" {
		in.Reservation = &k.reservation
	}
	t, err := launchtemplate.Build(in)
	if err != nil {
		return t, &cloudprovider.Error{Op: "Create", Kind: cloudprovider.KindDenied, Object: b.req.Name, Err: err}
	}
	return t, nil
}

// prioritized reports whether the launch has to follow our order of options, because our prices
// differ from EC2's.
func (b *planner) prioritized(s launch.Selection) bool {
	return b.req.Annotations[karpv1.PriceOverlayAppliedAnnotationKey] == "true" ||
		slices.ContainsFunc(s.Options, func(o cloudprovider.LaunchOption) bool { return o.Offering.PriceOverlay != "" })
}

// tenancy returns the tenancy of the launch: the default one if the request allows it.
func (b *planner) tenancy() (string, error) {
	r, found := b.req.Requirements.Get(awsv1.LabelInstanceTenancy)
	switch {
	case !found || r.Has(awsv1.TenancyDefault):
		return awsv1.TenancyDefault, nil
	case r.Has(awsv1.TenancyDedicated):
		return awsv1.TenancyDedicated, nil
	}
	return "", fault("Create", b.req.Name, cloudprovider.KindDenied, "requirement %s: use default or dedicated", r)
}

// admit returns the options of the request that EC2 has not refused recently. If the
// request names partitions of the placement group, it chooses the one in which most of
// the options are left, and the lowest of several.
func (b *planner) admit() ([]cloudprovider.LaunchOption, error) {
	group := groupID(b.resolution)
	options := b.p.availability(placement{group: group}).Admit(b.req.Options)
	allowed, err := b.partitions()
	if len(allowed) == 0 || err != nil {
		return options, err
	}
	var best []cloudprovider.LaunchOption
	for _, n := range allowed {
		if left := b.p.availability(placement{group, n}).Admit(options); b.partition == 0 || len(left) > len(best) {
			best, b.partition = left, n
		}
	}
	return best, nil
}

// partitions returns the partitions of the placement group that the request allows, sorted. It is
// empty if the request allows all: EC2 chooses then.
func (b *planner) partitions() ([]int32, error) {
	r, found := b.req.Requirements.Get(awsv1.LabelPlacementGroupPartition)
	count := partitionCount(b.resolution.PlacementGroup)
	if !found || count == 0 || !r.AllowsPresent() {
		return nil, nil
	}
	var allowed []int32
	for n := int32(1); n <= count; n++ {
		if r.Has(strconv.Itoa(int(n))) {
			allowed = append(allowed, n)
		}
	}
	switch len(allowed) {
	case int(count):
		return nil, nil
	case 0:
		return nil, fault("Create", b.req.Name, cloudprovider.KindDenied, "requirement %s: the placement group has partitions 1 to %d", r, count)
	}
	return allowed, nil
}

// tags returns the tags of every AWS resource that is made for the request.
func (b *planner) tags() (map[string]string, error) {
	class := b.resolution.Class
	tags := map[string]string{}
	for _, key := range slices.Sorted(maps.Keys(class.Spec.Tags)) {
		if awsv1.IsRestrictedTag(key) {
			return nil, fault("Create", "EC2NodeClass "+class.Name, cloudprovider.KindNotReady,
				"spec.tags[%s]: the controller sets this tag; remove it", key)
		}
		tags[key] = class.Spec.Tags[key]
	}
	tags[awsv1.ClusterTagKey(b.p.opts.Cluster.Name)] = awsv1.ClusterTagValue
	tags[awsv1.NodePoolTagKey] = b.req.NodePool
	tags[awsv1.ClusterNameTagKey] = b.p.opts.Cluster.Name
	tags[awsv1.NodeClassTagKey] = class.Name
	return tags, nil
}

// maxTags is how many tags EC2 allows.
const maxTags = 50

// room returns how many tags of an instance are left for its roster, after the given tags and those
// that TagInstance adds later.
func room(tags map[string]string) int {
	later := 1
	if _, named := tags[awsv1.NameTagKey]; !named {
		later++
	}
	return max(0, maxTags-len(tags)-later)
}
