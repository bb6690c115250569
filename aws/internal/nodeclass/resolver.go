package nodeclass

import (
	"context"
	"errors"
	"fmt"
	"time"

	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/dovetail-sdk/dovetail/amiselect"
	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
	"github.com/dovetail-sdk/dovetail/aws/internal/instancetype"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

// Profiles makes instance profiles for classes that name a role.
type Profiles interface {
	// Ensure returns the name of an instance profile with the role of the class,
	// and makes it if there is none. Errors: KindNotFound if there is no such role,
	// else as AWS gave them.
	Ensure(ctx context.Context, class *awsv1.EC2NodeClass) (name string, err error)
}

// ResolverOptions configure a Resolver. Now is required.
type ResolverOptions struct {
	// Now gives the time. It must be safe for concurrent use.
	Now func() time.Time
	// ReservedCapacity looks up capacity reservations. Without it a class has none.
	ReservedCapacity bool
	// Profiles makes instance profiles. Without it a class with a role is not
	// ready.
	Profiles Profiles
	// MinImageAge is MinAge of amiselect.Options: how old an image must be.
	MinImageAge time.Duration
	// DenyImages is Deny of amiselect.Options: images never to take.
	DenyImages []string
	// Expressions checks the expressions of a class. Without it a class with expressions is not
	// ready.
	Expressions awsv1.ExpressionEvaluator
	// Unevaluated, if not nil, returns a text that names the instance types for which an expression
	// of a class has no value; empty if there are none. It is called for classes with expressions
	// once everything that a catalog needs is known, with the status filled in.
	Unevaluated func(ctx context.Context, class *awsv1.EC2NodeClass) (string, error)
	// DryRun, if not nil, tries whether nodes of a class could be launched. It is called once
	// everything that a launch needs is known, with the status filled in. A reason that is not
	// empty says why not, and message is for a person to read.
	DryRun func(ctx context.Context, class *awsv1.EC2NodeClass) (reason, message string, err error)
}

// Resolver resolves classes. Create it with New.
type Resolver struct {
	src  *Sources
	opts ResolverOptions
}

// NewResolver returns a Resolver that asks src. The error lists the faults of DenyImages;
// package aws checks the other options.
func NewResolver(src *Sources, opts ResolverOptions) (*Resolver, error) {
	var faults []error
	for i, text := range opts.DenyImages {
		if _, err := amiselect.ParsePattern(text); err != nil {
			faults = append(faults, fmt.Errorf("nodeclass: denyImages[%d]: %w", i, err))
		}
	}
	return &Resolver{src, opts}, errors.Join(faults...)
}

// Resolution is the result of resolving a class. It is read-only.
type Resolution struct {
	// Class is a copy of the class with its defaults and a new status.
	Class *awsv1.EC2NodeClass
	// Selection is what the image terms selected. It is empty if the images are an earlier answer,
	// or there are none.
	Selection amiselect.Selection
	// Subnets are those of the status, in their order, as EC2 described them. Subnets of an earlier
	// answer have only the fields of the status.
	Subnets []Subnet
	// PlacementGroup is the group that the class names. Nil if it names none, or no such group
	// exists.
	PlacementGroup *ec2types.PlacementGroup
	// Stale has a note for each lookup that gave an earlier answer: when the answer is from and why
	// there is no new one. It is in the order of the lookups.
	Stale []string
	// Next is when to resolve the class again, if nothing of it changes before.
	Next time.Time

	failures []error         // of lookups without any answer
	faults   field.ErrorList // of the spec
}

// resolveInterval is how long a resolution is used.
const resolveInterval = time.Minute

// Resolve resolves a class. In this order:
//
//  1. The class is copied and Default is called on the copy. Its spec is
//     validated. A selector with a fault selects nothing; all else goes on.
//  2. Images, capacity reservations, the placement group, subnets and security groups are looked
//     up. Groups that are selected by name or tags count only if they are in the VPC of the
//     subnets, if all subnets are in one. While the VPC is not known, the groups of the earlier
//     answer count, or none.
//  3. instanceProfile goes into the status, or else the profile that Options.Profiles returns for
//     the role.
//  4. ValidationSucceeded: False for faults of the spec and its expressions, and if the family
//     needs the service CIDR and it is not known; else False or Unknown if a condition that a
//     launch needs is so; else False if an expression has no value for an instance type; else the
//     answer of Options.DryRun, or True.
//  5. Ready: False if any of awsv1.ReadyConditions is False, else Unknown if any is Unknown, else
//     True.
//
// Times of transition are kept where a condition does not change. Problems are in the conditions
// and in Resolution.Err; the error is that of ctx, or KindDenied for a nil class.
func (r *Resolver) Resolve(ctx context.Context, class *awsv1.EC2NodeClass) (*Resolution, error) {
	if class == nil {
		return nil, &cloudprovider.Error{Op: "Resolve", Object: "EC2NodeClass", Kind: cloudprovider.KindDenied,
			Err: errors.New("nil; give a class")}
	}
	w := &work{r: r, ctx: ctx, now: r.opts.Now(), before: class, class: class.DeepCopy()}
	w.class.Default()
	w.class.Status = awsv1.EC2NodeClassStatus{}
	w.conditions.init(class, w.now)
	w.out = &Resolution{Class: w.class, Next: w.now.Add(resolveInterval)}
	w.expressions = w.class.ValidateExpressions(r.opts.Expressions)
	w.faults = append(w.class.Validate(), w.expressions...)
	w.out.faults = w.faults
	for _, step := range []func(){w.images, w.reservations, w.placementGroup, w.subnets, w.securityGroups, w.instanceProfile, w.validation} {
		step()
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
	w.conditions.ready(r.opts.ReservedCapacity)
	w.class.Status.Conditions = w.conditions.list
	if change, found := instancetype.NextReservationChange(w.now, w.class.Status.CapacityReservations); found && change.Before(w.out.Next) {
		w.out.Next = change
	}
	return w.out, nil
}

// work is one Resolve under way.
type work struct {
	r      *Resolver
	ctx    context.Context
	now    time.Time
	before *awsv1.EC2NodeClass
	class  *awsv1.EC2NodeClass
	faults field.ErrorList
	out    *Resolution

	expressions field.ErrorList // those among the faults that are about expressions
	unread      error           // why the subnets could not be read

	conditions conditions
}
