package aws

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	karpv1 "github.com/dovetail-sdk/dovetail/api/v1"
	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
	"github.com/dovetail-sdk/dovetail/aws/bootstrap"
	"github.com/dovetail-sdk/dovetail/aws/internal/launch"
	"github.com/dovetail-sdk/dovetail/aws/internal/launchtemplate"
	"github.com/dovetail-sdk/dovetail/aws/internal/nodeclass"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

// ofTurn gives the call copies of its plan's launch templates that only this turn of the process
// uses.
func (c *call) ofTurn(turn string) {
	c.templates = make([]launchtemplate.Template, len(c.plan.templates))
	names := map[string]string{}
	for i, t := range c.plan.templates {
		c.templates[i] = t.OfTurn(turn)
		names[t.Name] = c.templates[i].Name
	}
	c.spec.Groups = slices.Clone(c.spec.Groups)
	for i := range c.spec.Groups {
		g := &c.spec.Groups[i]
		g.Template = names[g.Template]
	}
}

// prepare makes the launch templates and, the first time, the input of the call. done releases the
// templates; it is never nil.
func (c *call) prepare(ctx context.Context) (done func(), err error) {
	done, err = c.useTemplates(ctx)
	if err != nil || c.input != nil {
		return done, err
	}
	if err := c.ensureSoleLauncher(ctx); err != nil {
		return done, err
	}
	need := map[string]int64{}
	for zone, pods := range c.plan.addresses {
		need[zone] = pods * int64(len(c.Orders))
	}
	candidates := subnetsOf(c.plan.subnets)
	chosen, claim := c.p.addresses.Choose(c.p.now(), candidates, need)
	c.claim = claim
	inZone := map[string]string{}
	c.zones = map[string]string{}
	for zone, s := range chosen {
		inZone[zone] = s.ID
		c.zones[s.ID] = zone
	}
	in, err := c.spec.Request(launch.RequestInput{Count: len(c.Orders), Token: c.Token, Subnets: inZone, Tags: c.Tags})
	if err != nil {
		return done, c.noSubnet(err, candidates)
	}
	c.input = in
	return done, nil
}

// ensureSoleLauncher makes sure, before the first call for many of this process, that no earlier
// process has launched for the cluster. EC2 already lists the templates of this process, and
// therefore all older ones. If an earlier process has launched, the error is KindNotReady, and each
// repeated launch gets a call of its own.
func (c *call) ensureSoleLauncher(ctx context.Context) error {
	if c.Turn == "" || c.p.soleLauncher.Load() {
		return nil
	}
	others, err := c.p.templates.Others(ctx)
	if err != nil {
		return err
	}
	if c.p.book.EarlierCallsPossible(others) {
		return &cloudprovider.Error{Op: "Create", Kind: cloudprovider.KindNotReady, RetryAfter: time.Second,
			Err: errors.New("another process has launched for this cluster recently, so each launch needs its own call for a while; repeat")}
	}
	c.p.soleLauncher.Store(true)
	return nil
}

// noSubnet returns the error if no zone of the options has a subnet of the class with free
// addresses.
func (c *call) noSubnet(err error, candidates []launch.Subnet) error {
	e := &cloudprovider.Error{Op: "Create", Kind: cloudprovider.KindInsufficientCapacity, Reason: "InsufficientFreeAddressesInSubnet",
		Err: fmt.Errorf("EC2NodeClass %s: %w that has free addresses; give it larger subnets, or more", c.plan.class.Name, err)}
	full := false
	for _, g := range c.spec.Groups {
		for _, o := range g.Options {
			full = full || c.p.addresses.AllFull(o.Offering.Zone, candidates)
			e.Offerings = append(e.Offerings, o.Key())
		}
	}
	if !full {
		e.Reason = "SubnetResolutionFailed"
		e.Err = fmt.Errorf("EC2NodeClass %s: %w; select a subnet in one of their zones by spec.subnetSelectorTerms", c.plan.class.Name, err)
	}
	return e
}

func subnetsOf(all []nodeclass.Subnet) []launch.Subnet {
	out := make([]launch.Subnet, len(all))
	for i, s := range all {
		out[i] = launch.Subnet{ID: s.ID, Zone: s.Zone, Free: s.Free, At: s.At}
	}
	return out
}

// useTemplates makes the missing launch templates, concurrently.
func (c *call) useTemplates(ctx context.Context) (done func(), err error) {
	all := c.templates
	dones, errs := make([]func(), len(all)), make([]error, len(all))
	var wg sync.WaitGroup
	for i := range all {
		wg.Go(func() { dones[i], errs[i] = c.p.templates.Use(ctx, all[i]) })
	}
	wg.Wait()
	done = func() {
		for _, d := range dones {
			if d != nil {
				d()
			}
		}
	}
	for _, err := range errs {
		if err != nil {
			return done, err
		}
	}
	return done, nil
}

func (c *call) forgetTemplates() {
	for _, t := range c.templates {
		c.p.templates.Forget(t.Name)
	}
}

// userData renders the user data for options that boot alike.
func (b *planner) userData(k boot, capacityType string) (string, error) {
	class := b.resolution.Class
	settings := class.Spec.Kubelet
	if own := b.settings[k.kubelet]; own != nil {
		settings = own
	}
	node := bootstrap.Node{
		Family: class.ResolvedAMIFamily(), ClusterName: b.p.opts.Cluster.Name,
		Endpoint: b.cluster.Endpoint, CABundle: b.cluster.CertificateAuthority, ClusterCIDR: b.cluster.ServiceCIDR,
		DNSIP: b.p.opts.Cluster.DNSIP, Labels: b.labels(capacityType), Taints: b.req.Taints, StartupTaints: b.req.StartupTaints,
		Compress: b.p.opts.CompressUserData,
	}
	if settings != nil {
		node.Kubelet = *settings
	}
	if b.cluster.IPv6 {
		node.IPFamily = bootstrap.IPv6
	}
	if k.maxPods >= 0 {
		node.MaxPods = new(int32(min(k.maxPods, 1<<30)))
	}
	if class.Spec.UserData != nil {
		node.CustomUserData = *class.Spec.UserData
	}
	if s := class.Spec.InstanceStorePolicy; s != nil {
		node.InstanceStore = *s
	}
	for _, ami := range class.Status.AMIs {
		if ami.ID == k.image {
			node.BottlerocketVersion = bootstrap.BottlerocketVersion(ami.Name)
		}
	}
	data, err := bootstrap.Render(node)
	if err != nil {
		return "", &cloudprovider.Error{Op: "Create", Kind: cloudprovider.KindDenied, Object: cmp.Or(b.req.Name, class.Name),
			Err: fmt.Errorf("EC2NodeClass %s: user data: %w", class.Name, err)}
	}
	for _, w := range data.Warnings {
		b.p.warn(WarnUserData, "EC2NodeClass "+class.Name, "%s", w)
	}
	if data.NearLimit() {
		b.p.warn(WarnUserData, "EC2NodeClass "+class.Name, "user data has %d bytes of the %d that EC2 takes; make spec.userData smaller",
			len(data.Bytes()), bootstrap.MaxBytes)
	}
	return data.Base64(), nil
}

// labels returns the labels with which the node registers: those that are the same for all options.
func (b *planner) labels(capacityType string) map[string]string {
	labels := maps.Clone(b.req.Labels)
	if labels == nil {
		labels = map[string]string{}
	}
	labels[karpv1.CapacityTypeLabelKey] = capacityType
	if b.req.NodePool != "" {
		labels[karpv1.NodePoolLabelKey] = b.req.NodePool
	}
	labels[awsv1.LabelNodeClass] = b.resolution.Class.Name
	return labels
}
