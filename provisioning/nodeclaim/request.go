package nodeclaim

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/cloudprovider/launch"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// Request returns the launch request of a NodeClaim, only from the stored object and the catalog of
// its pool: so a controller that was restarted after the decision launches the same. The claim may
// also be one that a user wrote.
//
//   - Token is the UID of the claim, so that only one machine is launched, however often and by
//     whichever process it is requested. Name is that of the claim, NodePool the value of its label
//     karpenter.sh/nodepool, empty if it has none.
//   - Requirements are those of requirements.FromNodeClaim, Requests the
//     resources that the claim requests.
//   - Options are the launchable offerings of types (see cloudprovider/launch.Compatible) whose
//     labels satisfy these requirements and that have room for these resources, cheapest first;
//     with equal prices, in the order of OfferingKey. For a claim made by
//     provisioning.NewNode.NodeClaim they are the options in it, with current prices and stock.
//     Pass types through availability.Cache.Apply first.
//   - NodeClassRef, labels, annotations, taints and startup taints are those of the claim, and
//     shared with it, as Options are with types. The record of a command that launches the claim
//     (v1.DisruptionCommandAnnotationKey) is not among the annotations, because the Node takes no
//     part in the command.
//
// v is the vocabulary of labels; nil means requirements.DefaultVocabulary. An instance type that is
// nil, or whose allocatable is out of range, is not an option.
//
// The error is a *cloudprovider.Error. For a claim that can never be launched as it is, it is of
// KindDenied and lists every fault: a nil claim, one that is being deleted, no UID, no node class,
// requirements or requests that do not parse, negative requests, requirements that no value of a
// label satisfies. If no offering is possible, it is of
// KindInsufficientCapacity, and gives the reason. See Launched for the consequences of both.
func Request(claim *v1.NodeClaim, types []*cloudprovider.InstanceType, v *requirements.Vocabulary) (cloudprovider.LaunchRequest, error) {
	if claim == nil {
		return cloudprovider.LaunchRequest{}, denied("", errors.New("the NodeClaim is nil; pass the object as it is stored"))
	}
	reqs, requests, err := readClaim(claim, v)
	if err != nil {
		return cloudprovider.LaunchRequest{}, denied(claim.Name, err)
	}
	req := cloudprovider.LaunchRequest{
		Token: string(claim.UID), Name: claim.Name, NodePool: claim.Labels[v1.NodePoolLabelKey],
		NodeClassRef: *claim.Spec.NodeClassRef,
		Requirements: reqs, Requests: requests,
		Labels: claim.Labels, Annotations: forNode(claim.Annotations),
		Taints: claim.Spec.Taints, StartupTaints: claim.Spec.StartupTaints,
	}
	req.Options = optionsFor(present(types), reqs, requests)
	if len(req.Options) == 0 {
		return cloudprovider.LaunchRequest{}, &cloudprovider.Error{Op: "launch", Object: claim.Name,
			Kind: cloudprovider.KindInsufficientCapacity, Err: obstacle(types, reqs, requests)}
	}
	return req, nil
}

// forNode returns the annotations of a claim that its Node gets: all except the record of a
// command.
func forNode(annotations map[string]string) map[string]string {
	if _, ok := annotations[v1.DisruptionCommandAnnotationKey]; !ok {
		return annotations
	}
	out := maps.Clone(annotations)
	delete(out, v1.DisruptionCommandAnnotationKey)
	return out
}

func denied(name string, err error) error {
	return &cloudprovider.Error{Op: "launch", Object: name, Kind: cloudprovider.KindDenied, Err: err}
}

// readClaim returns the requirements and requests of a claim, or all of its faults.
func readClaim(claim *v1.NodeClaim, v *requirements.Vocabulary) (requirements.Set, resources.List, error) {
	var errs []error
	if !claim.DeletionTimestamp.IsZero() {
		errs = append(errs, errors.New("it is being deleted; launch nothing for it"))
	}
	metadata, spec := field.NewPath("metadata"), field.NewPath("spec")
	if claim.UID == "" {
		errs = append(errs, field.Required(metadata.Child("uid"), "create the object first; its UID is what makes the launch repeatable"))
	}
	if ref := claim.Spec.NodeClassRef; ref == nil || ref.Name == "" {
		errs = append(errs, field.Required(spec.Child("nodeClassRef"), "name the node class to launch with"))
	}
	reqs, err := requirements.FromNodeClaim(claim, v)
	if err != nil {
		errs = append(errs, err)
	}
	for r := range reqs.All() {
		if r.Impossible() {
			errs = append(errs, field.Invalid(spec.Child("requirements"), r.Key(), "the requirements on this label contradict each other; no node satisfies all of them"))
		}
	}
	requests, err := resources.FromResourceList(claim.Spec.Resources.Requests)
	if err != nil {
		errs = append(errs, fmt.Errorf("%s: %w", spec.Child("resources", "requests"), err))
	}
	for _, name := range requests.Negative() {
		amount := claim.Spec.Resources.Requests[name]
		errs = append(errs, field.Invalid(spec.Child("resources", "requests").Key(string(name)), amount.String(), "it is negative; a request is zero or more"))
	}
	return reqs, requests, errors.Join(errs...)
}

// present returns types without those that are nil.
func present(types []*cloudprovider.InstanceType) (there []*cloudprovider.InstanceType) {
	for _, t := range types {
		if t != nil {
			there = append(there, t)
		}
	}
	return there
}

// optionsFor returns the launchable offerings whose labels satisfy reqs and that have room for the
// requests. For most types allocatable does not depend on the offering, so types that are too small
// are dropped before sorting.
func optionsFor(types []*cloudprovider.InstanceType, reqs requirements.Set, requests resources.List) []cloudprovider.LaunchOption {
	var differ []*cloudprovider.InstanceType // by offering
	var large []*cloudprovider.InstanceType
	for _, t := range types {
		room, err := t.Allocatable()
		switch {
		case slices.ContainsFunc(t.Offerings, overrides):
			differ = append(differ, t)
		case err == nil && requests.Fits(room):
			large = append(large, t)
		}
	}
	options := launch.Compatible(large, reqs)
	if len(differ) == 0 {
		return options
	}
	options = append(options, withRoom(launch.Compatible(differ, reqs), requests)...)
	slices.SortStableFunc(options, cloudprovider.LaunchOption.Compare)
	return options
}

func overrides(o cloudprovider.Offering) bool { return o.Capacity != nil || o.Overhead != nil }

// withRoom returns the options whose nodes have room for the requests.
func withRoom(options []cloudprovider.LaunchOption, requests resources.List) (fit []cloudprovider.LaunchOption) {
	for _, o := range options {
		if room, err := o.InstanceType.AllocatableFor(o.Offering); err == nil && requests.Fits(room) {
			fit = append(fit, o)
		}
	}
	return fit
}

// obstacle returns why nothing can be launched.
func obstacle(types []*cloudprovider.InstanceType, reqs requirements.Set, requests resources.List) error {
	var inStock []*cloudprovider.InstanceType
	for _, t := range present(types) {
		t = t.Clone()
		for i := range t.Offerings {
			t.Offerings[i].Available, t.Offerings[i].ReservationCapacity = true, 1
		}
		inStock = append(inStock, t)
	}
	admitted := launch.Compatible(inStock, reqs)
	switch fit := withRoom(admitted, requests); {
	case len(inStock) == 0:
		return errors.New("the catalog is empty")
	case len(admitted) == 0:
		return fmt.Errorf("no offering of %d instance types has the labels that it requires: %s", len(inStock), named(types, reqs))
	case len(fit) == 0:
		return fmt.Errorf("none of %d offerings with the labels that it requires has room for %s", len(admitted), requests)
	default:
		return fmt.Errorf("none of %d matching offerings can be launched now, such as %s", len(fit), fit[0].Key())
	}
}

// named returns the requirements whose labels the catalog has.
func named(types []*cloudprovider.InstanceType, reqs requirements.Set) requirements.Set {
	known := map[string]bool{corev1.LabelTopologyZone: true, v1.CapacityTypeLabelKey: true}
	for _, t := range present(types) {
		for r := range t.Requirements.All() {
			known[r.Key()] = true
		}
	}
	for r := range reqs.All() {
		if !known[r.Key()] {
			reqs = reqs.Without(r.Key())
		}
	}
	return reqs
}
