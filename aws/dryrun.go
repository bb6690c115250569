package aws

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	karpv1 "github.com/dovetail-sdk/dovetail/api/v1"
	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
	"github.com/dovetail-sdk/dovetail/aws/bootstrap"
	"github.com/dovetail-sdk/dovetail/aws/internal/api"
	"github.com/dovetail-sdk/dovetail/aws/internal/cache"
	"github.com/dovetail-sdk/dovetail/aws/internal/instancetype"
	"github.com/dovetail-sdk/dovetail/aws/internal/launch"
	"github.com/dovetail-sdk/dovetail/aws/internal/nodeclass"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

const (
	// dryRunGood is how long the answer of a dry run is kept if the class does not change.
	dryRunGood = 30 * time.Minute
	// dryRunPause is the time between a dry run that failed and the next one. Meanwhile launches
	// get the same error at once instead of trying one by one.
	dryRunPause = 3 * time.Second
)

// trial is the answer of EC2 to trial launches. An empty reason is a success. pools are the
// NodePools that the launches were tried for, as poolsOf writes them.
type trial struct{ reason, message, pools string }

// missingProfile is the answer that the instance profile does not exist. It is an error of the cache,
// so that it is kept for seconds only: a profile that is made changes nothing in the class.
type missingProfile trial

func (m missingProfile) Error() string { return m.message }

// newDryRuns returns the cache of the answers of dry runs, by name and state of the class. As in
// every cache.Keyed, an outdated answer is renewed in the background.
func newDryRuns(now func() time.Time, asking *cache.Asking) *cache.Keyed[trial] {
	return cache.NewKeyed(cache.Settings[trial]{
		Name: "dry run", Now: now, Refresh: dryRunGood, Asking: asking,
		Pause: func(int, error) time.Duration { return dryRunPause },
	})
}

// dryRun asks EC2 whether a launch from the class would be allowed, without launching: by making a
// launch template, and by dry runs of CreateFleet and RunInstances. A non-empty reason says why it
// would be refused; an error means that the answer is not known. One allowed launch is enough.
// Answers are kept until the class changes, refusals also only until its NodePools ask for other
// instance types, and errors for some seconds, as is the answer that the instance profile does not exist.
func (p *Provider) dryRun(ctx context.Context, class *awsv1.EC2NodeClass) (reason, message string, err error) {
	key, err := dryRunKey(class)
	if err != nil {
		return "", "", err
	}
	key = class.Name + "/" + key
	p.forgetDryRuns(class.Name, key)
	tried := class.DeepCopy() // the dry run may go on for longer than this call
	ask := func(ctx context.Context) (trial, error) {
		t, err := p.tryLaunches(ctx, tried)
		if err == nil && t.reason == awsv1.ReasonInstanceProfileNotFound {
			err = missingProfile(t)
		}
		return t, err
	}
	t, _, err := p.dryRuns.Get(ctx, key, ask)
	if err == nil && t.reason != "" {
		var pools string
		if _, pools, err = p.poolsOf(ctx, class.Name); err == nil && pools != t.pools {
			p.dryRuns.Forget(func(other string) bool { return other == key })
			t, _, err = p.dryRuns.Get(ctx, key, ask)
		}
	}
	if missing, ok := errors.AsType[missingProfile](err); ok {
		return missing.reason, missing.message, nil
	}
	return t.reason, t.message, err
}

// forgetDryRuns drops the answers for a class except the one with the key but.
func (p *Provider) forgetDryRuns(class, but string) {
	p.dryRuns.Forget(func(key string) bool { return key != but && strings.HasPrefix(key, class+"/") })
}

// dryRunKey returns a key of the class that changes with everything that may change the answer.
func dryRunKey(class *awsv1.EC2NodeClass) (string, error) {
	status := class.Status.DeepCopy()
	status.Conditions, status.CapacityReservations = nil, nil
	slices.SortFunc(status.Subnets, func(a, b awsv1.Subnet) int { return strings.Compare(a.ID, b.ID) })
	text, err := json.Marshal(struct {
		UID         string
		Annotations map[string]string
		Spec        awsv1.EC2NodeClassSpec
		Status      *awsv1.EC2NodeClassStatus
	}{string(class.UID), class.Annotations, class.Spec, status})
	if err != nil {
		return "", fmt.Errorf("EC2NodeClass %s: %w", class.Name, err)
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:]), nil
}

// trialName is the name of a dry run's request in errors.
const trialName = "trial"

// tryLaunches makes dry runs of launches from the class, until one is allowed. If none is, it
// returns the answer for the first.
func (p *Provider) tryLaunches(ctx context.Context, class *awsv1.EC2NodeClass) (trial, error) {
	pools, text, err := p.poolsOf(ctx, class.Name)
	if err != nil {
		return trial{}, err
	}
	c, err := p.offerings.Build(ctx, class)
	if err != nil {
		return trial{}, err
	}
	cluster, _, err := p.sources.Cluster(ctx)
	if err != nil {
		return trial{}, err
	}
	r := &nodeclass.Resolution{Class: class}
	if class.Spec.PlacementGroupSelector != nil {
		if r.PlacementGroup, _, err = p.sources.PlacementGroup(ctx, class.Spec.PlacementGroupSelector); err != nil {
			return trial{}, err
		}
	}
	first, tried := trial{message: nothingToTry(c)}, []string{}
	for i, req := range trials(c, pools) {
		plan, err := p.trialPlan(req, r, cluster, c)
		t := trial{pools: text}
		subnets := class.Status.Subnets
		if i > 0 {
			subnets = subnets[:min(moreSubnets, len(subnets))]
		}
		if t.reason, t.message, err = p.tryLaunch(ctx, plan, subnets, err); err != nil || !refused(t.reason) {
			return t, err
		}
		if i == 0 {
			first = t
		}
		tried = append(tried, req.Options[0].InstanceType.Name)
	}
	if len(tried) > 0 {
		first.message = fmt.Sprintf("no launch of %s is allowed: %s", strings.Join(tried, ", "), first.message)
	}
	return first, nil
}

// nothingToTry says why no launch from a catalog can be tried.
func nothingToTry(c *instancetype.Catalog) string {
	const text = "not tried, as no instance type can be launched now"
	if len(c.Types) > 0 || len(c.Problems) == 0 {
		return text
	}
	first := c.Problems[0]
	return fmt.Sprintf("%s: all %d are left out, such as %s: %s", text, len(c.Problems), first.InstanceType,
		strings.ReplaceAll(strings.TrimSuffix(first.Detail, "; left out"), "\n", "; "))
}

// refused reports whether a reason may apply only to the instance type that was tried.
func refused(reason string) bool {
	return reason == awsv1.ReasonCreateFleetAuthCheckFailed || reason == awsv1.ReasonRunInstancesAuthCheckFailed
}

// tryLaunch makes the calls of a dry run for a plan, calling RunInstances for each of the given
// subnets. err is the error of making the plan; if it is not nil, tryLaunch only interprets it.
func (p *Provider) tryLaunch(ctx context.Context, plan *plan, subnets []awsv1.Subnet, err error) (reason, message string, _ error) {
	var size *bootstrap.SizeError
	switch {
	case errors.As(err, &size):
		return awsv1.ReasonUserDataSizeLimitExceeded, plain(causeOf(err)), nil
	case err != nil && cloudprovider.KindOf(err) == cloudprovider.KindDenied:
		return nodeclass.ReasonInvalidSpec, plain(causeOf(err)), nil
	case err != nil:
		return "", "", err
	}
	class := plan.class
	done, err := p.templates.Use(ctx, plan.templates[0])
	if err != nil {
		return judgeTrial(class, awsv1.ReasonCreateLaunchTemplateAuthCheckFailed, err)
	}
	defer done()
	inZone := map[string]string{}
	for _, s := range class.Status.Subnets {
		if inZone[s.Zone] == "" {
			inZone[s.Zone] = s.ID
		}
	}
	in, err := plan.spec.Request(launch.RequestInput{Count: 1, Subnets: inZone, DryRun: true})
	if err != nil {
		return "", "not tried, as no subnet is in a zone of the instance types", nil
	}
	in.ClientToken = nil
	_, err = p.clients.EC2.CreateFleet(ctx, in)
	p.forgetProfile(class, err)
	reason, message, err = judgeTrial(class, awsv1.ReasonCreateFleetAuthCheckFailed, err)
	if reason != "" || err != nil {
		return reason, message, err
	}
	return p.tryRun(ctx, plan, subnets)
}

// tryRun tries RunInstances in the subnets until one allows it. If none does, it returns the answer
// for the first.
func (p *Provider) tryRun(ctx context.Context, plan *plan, subnets []awsv1.Subnet) (reason, message string, err error) {
	class := plan.class
	for i, s := range subnets {
		_, failed := p.clients.EC2.RunInstances(ctx, trialRun(plan, s.ID))
		p.forgetProfile(class, failed)
		r, m, e := judgeTrial(class, awsv1.ReasonRunInstancesAuthCheckFailed, failed)
		if r == "" && e == nil {
			return "", "", nil
		}
		if i == 0 {
			reason, message, err = r, m, e
		}
		if ctx.Err() != nil {
			return "", "", context.Cause(ctx)
		}
	}
	return reason, message, err
}

// forgetProfile makes the next lookup of a class's instance profile ask AWS again, if EC2 says that
// the profile does not exist.
func (p *Provider) forgetProfile(class *awsv1.EC2NodeClass, err error) {
	if err != nil && noProfile(err) && p.profiles != nil {
		p.profiles.Forget(class.Status.InstanceProfile)
	}
}

// trialRun returns the dry run of RunInstances in a subnet.
func trialRun(plan *plan, subnet string) *ec2.RunInstancesInput {
	yes, one, device, latest := true, int32(1), int32(0), "$Latest"
	tags := api.Tags(plan.spec.Tags)
	in := &ec2.RunInstancesInput{
		DryRun: &yes, MinCount: &one, MaxCount: &one,
		InstanceType:   ec2types.InstanceType(plan.spec.Groups[0].Options[0].InstanceType.Name),
		ImageId:        &plan.spec.Groups[0].ImageID,
		LaunchTemplate: &ec2types.LaunchTemplateSpecification{LaunchTemplateName: &plan.templates[0].Name, Version: &latest},
		TagSpecifications: []ec2types.TagSpecification{
			{ResourceType: ec2types.ResourceTypeInstance, Tags: tags},
			{ResourceType: ec2types.ResourceTypeVolume, Tags: tags},
			{ResourceType: ec2types.ResourceTypeNetworkInterface, Tags: tags},
		},
	}
	// The template has the network interfaces, so the subnet is set on an interface. Policies may
	// depend on its public address, so it is requested as in a launch.
	i := ec2types.InstanceNetworkInterfaceSpecification{
		DeviceIndex: &device, SubnetId: &subnet, AssociatePublicIpAddress: plan.class.Spec.AssociatePublicIPAddress,
	}
	for _, g := range plan.class.Status.SecurityGroups {
		i.Groups = append(i.Groups, g.ID)
	}
	in.NetworkInterfaces = []ec2types.InstanceNetworkInterfaceSpecification{i}
	if plan.spec.CapacityType == karpv1.CapacityTypeSpot {
		in.InstanceMarketOptions = &ec2types.InstanceMarketOptionsRequest{MarketType: ec2types.MarketTypeSpot}
	}
	return in
}

// judgeTrial interprets the answer of one call: a reason if the launch is not allowed, an error if
// that is unknown.
func judgeTrial(class *awsv1.EC2NodeClass, denied string, err error) (reason, message string, _ error) {
	code := api.Code(err)
	switch {
	case err == nil || code == "DryRunOperation":
		return "", "", nil
	case noProfile(err):
		if class.Spec.InstanceProfile != nil {
			return awsv1.ReasonInstanceProfileNotFound,
				"spec.instanceProfile: " + *class.Spec.InstanceProfile + ": there is no such instance profile; create it, or name another", nil
		}
		// EC2 does not know a new profile everywhere yet.
		return "", "", fault("DryRun", class.Name, cloudprovider.KindNotReady, "the instance profile is not known to EC2 yet: %w", err)
	case strings.Contains(err.Error(), "User data is limited"):
		return awsv1.ReasonUserDataSizeLimitExceeded, "spec.userData: " + api.Message(err) + "; make it smaller", nil
	case api.Kind(err) == cloudprovider.KindDenied && (code == "UnauthorizedOperation" || strings.Contains(code, "AccessDenied")):
		return denied, api.Message(err), nil
	case api.Kind(err) == cloudprovider.KindInsufficientCapacity:
		return "", "", nil
	}
	return "", "", api.Wrap("DryRun", class.Name, err)
}

// causeOf removes the name of the tried launch from an error, whose text becomes one line.
func causeOf(err error) error {
	var e *cloudprovider.Error
	if errors.As(err, &e) && e.Err != nil {
		return e.Err
	}
	return err
}

func plain(err error) string { return strings.ReplaceAll(err.Error(), "\n", "; ") }

// trialPlan returns the plan of a dry run's request.
func (p *Provider) trialPlan(req *cloudprovider.LaunchRequest, r *nodeclass.Resolution, cluster nodeclass.Cluster, c *instancetype.Catalog) (*plan, error) {
	req.Token, req.Name, req.NodeClassRef = trialName, trialName, reference(r.Class.Name)
	return p.planner(req, r, cluster, c).plan(launch.Select(req, c.Images))
}
