package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/dovetail-sdk/dovetail/aws"
	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
	"github.com/dovetail-sdk/dovetail/aws/kubeletcel"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/examples/internal/awsinput"
	"github.com/dovetail-sdk/dovetail/examples/internal/command"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/report"
)

// visit is the planning for one cluster.
type visit struct {
	provider *aws.Provider
	in       *awsinput.Input
	out      io.Writer
}

func newVisit(clients aws.Clients, opts aws.Options, in *awsinput.Input, out io.Writer) (*visit, error) {
	opts.KubeletExpressions = kubeletcel.New() // leave it out where no class has any
	p, err := aws.New(clients, &opts)
	if err != nil {
		return nil, err
	}
	return &visit{p, in, out}, nil
}

// say prints a text in lines that fit the page.
func (v *visit) say(format string, args ...any) {
	for _, line := range command.Wrap(fmt.Sprintf(format, args...), command.PageWidth, "  ") {
		fmt.Fprintln(v.out, line)
	}
}

// plan prints the state of the cluster and the nodes to launch.
func (v *visit) plan(ctx context.Context) (*provisioning.Plan, error) {
	if err := v.refresh(ctx); err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(v.in.Classes)) {
		if err := v.showClass(ctx, name); err != nil {
			return nil, err
		}
	}
	c := v.in.Cluster
	for _, line := range c.Depart(time.Now()) {
		v.say("%s", line)
	}
	in := c.Input.Input
	in.InstanceTypes = map[string][]*cloudprovider.InstanceType{}
	in.Vocabulary = cloudprovider.Vocabulary(v.provider)
	for _, pool := range c.NodePools {
		types, err := v.provider.InstanceTypes(ctx, pool)
		if err != nil {
			return nil, fmt.Errorf("NodePool %s: %w", pool.Name, err)
		}
		in.InstanceTypes[pool.Name] = types
		v.say("NodePool %s: %s, bought in %s", pool.Name, command.Count(len(types), "instance type"), command.Count(available(types), "way"))
	}
	plan, err := provisioning.Solve(ctx, in, nil)
	if err != nil {
		return nil, c.Explain(err)
	}
	v.say("")
	fmt.Fprint(v.out, report.NewPlan(in, plan, nil).Format(nil))
	return plan, nil
}

// refresh waits for current prices, but only for a while: a plan with older prices is better than
// none.
func (v *visit) refresh(ctx context.Context) error {
	short, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	if err := v.provider.Refresh(short); err != nil && ctx.Err() == nil {
		v.say("not all prices are those of today: %v", err)
	}
	return ctx.Err()
}

func available(types []*cloudprovider.InstanceType) (n int) {
	for _, t := range types {
		for i := range t.Offerings {
			if t.Offerings[i].Launchable() {
				n++
			}
		}
	}
	return n
}

// showClass prints the objects that the selectors of a class match, or why the class is not ready.
func (v *visit) showClass(ctx context.Context, name string) error {
	class, err := v.provider.NodeClass(ctx, name)
	if err != nil {
		return err
	}
	v.say("EC2NodeClass %s", name)
	shown := map[string]bool{} // an image is there once for each kind of node that it boots
	for _, a := range class.Status.AMIs {
		if !shown[a.ID] {
			v.say("  image           %s %s", a.ID, a.Name)
		}
		shown[a.ID] = true
	}
	for _, s := range class.Status.Subnets {
		v.say("  subnet          %s %s", s.ID, s.Zone)
	}
	for _, g := range class.Status.SecurityGroups {
		v.say("  security group  %s %s", g.ID, g.Name)
	}
	v.say("  profile         %s", class.Status.InstanceProfile)
	v.say("")
	for _, pool := range v.in.Cluster.NodePools {
		if ref := pool.Spec.Template.Spec.NodeClassRef; ref != nil && ref.Name == name {
			return notReady(name, class.Status.Conditions, cloudprovider.NodeClassReady(ctx, v.provider, *ref))
		}
	}
	return nil // no NodePool uses it
}

// notReady returns an error with the message of each false condition of a class, one line each.
// Conditions that only wait for others are left out.
func notReady(name string, conditions []metav1.Condition, err error) error {
	var errs []error
	for _, c := range conditions {
		if c.Type != awsv1.ConditionTypeReady && c.Status == metav1.ConditionFalse && !strings.HasPrefix(c.Message, "waits for ") && cloudprovider.KindOf(err) == cloudprovider.KindNotReady {
			errs = append(errs, fmt.Errorf("EC2NodeClass %s: %s", name, strings.TrimPrefix(c.Message, "EC2NodeClass "+name+": ")))
		}
	}
	return cmp.Or(errors.Join(errs...), err)
}

// launch launches the nodes of a plan one after the other. If a launch fails, it prints the error
// and continues.
func (v *visit) launch(ctx context.Context, plan *provisioning.Plan) error {
	var errs []error
	for i := range plan.Create {
		n := &plan.Create[i]
		req := n.Request("eks-example-" + rand.Text()) // names begin anew with each run, on the same account
		req.Name = n.Name
		instance, err := v.provider.Create(ctx, req)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		v.say("launched %s: %s, %s, %.4f USD/h", n.Name, path.Base(instance.ID), instance.OfferingKey(), instance.Price)
	}
	return errors.Join(errs...)
}
