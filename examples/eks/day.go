package main

import (
	"context"
	"maps"
	"path"

	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
	"github.com/dovetail-sdk/dovetail/aws/awstest"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/examples/internal/command"
	"github.com/dovetail-sdk/dovetail/examples/internal/day"
	"github.com/dovetail-sdk/dovetail/provisioning"
)

// smallAWS is a simulated AWS with the events of a day.
type smallAWS struct {
	*awstest.Server
	classes map[string]*awsv1.EC2NodeClass // by name
}

func (a smallAWS) SellOut(key cloudprovider.OfferingKey) { a.SetStock(key.Scope(), 0) }

func (a smallAWS) Interrupt(i *cloudprovider.Instance) error {
	_, err := a.Server.Interrupt(path.Base(i.ID))
	return err
}

// ChangeClass adds a tag to the machines of a class.
func (a smallAWS) ChangeClass(name string) {
	class := a.classes[name].DeepCopy()
	tags := map[string]string{}
	maps.Copy(tags, class.Spec.Tags)
	tags["team"] += "shop"
	class.Spec.Tags = tags
	class.Generation++
	a.classes[name] = class
}

// spend plays a day of a plan, in which the first call is refused.
func (v *visit) spend(ctx context.Context, cloud smallAWS, plan *provisioning.Plan) error {
	if err := cloud.Script(awstest.Fault{Op: "CreateFleet", Nth: 1, Err: awstest.ErrThrottled}); err != nil {
		return err
	}
	d := day.New(v.provider, cloud, v.provider.Availability().Marks, v.out)
	d.Annotations = v.provider.ClaimAnnotations
	if err := d.Spend(ctx, plan); err != nil {
		return err
	}
	d.Note("EC2 was called %s to launch; the queue has %s", command.Count(cloud.Count("CreateFleet"), "time"), command.Count(cloud.Queued(), "message"))
	return nil
}
