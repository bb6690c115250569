package nodeclass

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
	"github.com/dovetail-sdk/dovetail/aws/internal/api"
	"github.com/dovetail-sdk/dovetail/aws/internal/cache"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/internal/status"
)

// Reasons of conditions in addition to those of package v1.
const (
	// ReasonInvalidSpec: the spec has faults that no other reason covers.
	ReasonInvalidSpec = "InvalidSpec"
	// ReasonLookupFailed: AWS gave no answer, and there is no earlier one.
	ReasonLookupFailed = "LookupFailed"
	// ReasonRoleNotFound: there is no such role.
	ReasonRoleNotFound = "RoleNotFound"
	// ReasonInstanceProfilesUnavailable: the Resolver cannot make instance profiles for roles.
	ReasonInstanceProfilesUnavailable = "InstanceProfilesUnavailable"
	// ReasonUnhealthyDependents: Ready is False because another condition is.
	ReasonUnhealthyDependents = "UnhealthyDependents"
	// ReasonReconcilingDependents: Ready is Unknown because another condition is.
	ReasonReconcilingDependents = "ReconcilingDependents"
)

// conditions collects the new conditions of a class.
type conditions struct {
	list       []metav1.Condition
	before     []metav1.Condition
	generation int64
	now        metav1.Time
}

func (c *conditions) init(class *awsv1.EC2NodeClass, now time.Time) {
	c.before, c.generation, c.now = class.Status.Conditions, class.Generation, metav1.NewTime(now)
}

// find returns the condition of a type in a list.
func find(list []metav1.Condition, kind string) (metav1.Condition, bool) {
	i := slices.IndexFunc(list, func(c metav1.Condition) bool { return c.Type == kind })
	if i < 0 {
		return metav1.Condition{Status: metav1.ConditionUnknown}, false
	}
	return list[i], true
}

// kept reports whether the condition was True for this generation of the class, so that its part of
// the status is valid.
func (c *conditions) kept(kind string) bool {
	was, found := find(c.before, kind)
	return found && was.Status == metav1.ConditionTrue && was.ObservedGeneration == c.generation
}

// set adds a condition, each type once. A condition that is True has its type as the
// reason.
func (c *conditions) set(kind string, is metav1.ConditionStatus, reason, message string) {
	out := metav1.Condition{Type: kind, Status: is, Reason: cmp.Or(reason, kind), Message: status.Short(message, status.MaxMessage),
		ObservedGeneration: c.generation, LastTransitionTime: c.now}
	if was, found := find(c.before, kind); found && was.Status == is && !was.LastTransitionTime.IsZero() {
		out.LastTransitionTime = was.LastTransitionTime
	}
	at, _ := slices.BinarySearchFunc(c.list, out, func(a, b metav1.Condition) int { return cmp.Compare(a.Type, b.Type) })
	c.list = slices.Insert(c.list, at, out)
}

func (c *conditions) isTrue(kind, message string) { c.set(kind, metav1.ConditionTrue, "", message) }

func (c *conditions) isFalse(kind, reason, message string) {
	c.set(kind, metav1.ConditionFalse, reason, message)
}

func (c *conditions) unknown(kind, reason, message string) {
	c.set(kind, metav1.ConditionUnknown, reason, message)
}

// ready sets Ready.
func (c *conditions) ready(reservedCapacity bool) {
	var no, open []string
	for _, kind := range awsv1.ReadyConditions(reservedCapacity) {
		switch is, _ := find(c.list, kind); is.Status {
		case metav1.ConditionTrue:
		case metav1.ConditionFalse:
			no = append(no, kind+"=False")
		default:
			open = append(open, kind+"=Unknown")
		}
	}
	switch {
	case len(no) > 0:
		c.isFalse(awsv1.ConditionTypeReady, ReasonUnhealthyDependents, strings.Join(append(no, open...), ", "))
	case len(open) > 0:
		c.unknown(awsv1.ConditionTypeReady, ReasonReconcilingDependents, strings.Join(open, ", "))
	default:
		c.isTrue(awsv1.ConditionTypeReady, "")
	}
}

// faultsOf returns the faults of the spec below a field of it.
func (w *work) faultsOf(fields ...string) (out field.ErrorList) {
	for _, f := range w.faults {
		for _, name := range fields {
			rest, below := strings.CutPrefix(f.Field, "spec."+name)
			if below && (rest == "" || rest[0] == '.' || rest[0] == '[') {
				out = append(out, f)
				break
			}
		}
	}
	return out
}

func list(faults field.ErrorList) string {
	var lines []string
	for _, f := range faults {
		lines = append(lines, f.Error())
	}
	return strings.Join(lines, "; ")
}

// invalid sets a condition False if one of the fields that it depends on has a
// fault, and reports whether it did.
func (w *work) invalid(kind string, fields ...string) bool {
	faults := w.faultsOf(fields...)
	if len(faults) == 0 {
		return false
	}
	w.conditions.isFalse(kind, ReasonInvalidSpec, list(faults))
	return true
}

// failed notes that a lookup had no answer. If the status has an earlier one, keep restores it and
// the condition stays True.
func (w *work) failed(kind, what string, err error, keep func()) {
	if w.conditions.kept(kind) {
		keep()
		note := fmt.Sprintf("%s: as in the status before: %s", what, api.Message(err))
		w.out.Stale = append(w.out.Stale, note)
		w.conditions.isTrue(kind, note)
		return
	}
	w.out.failures = append(w.out.failures, err)
	w.conditions.unknown(kind, ReasonLookupFailed, fmt.Sprintf("%s: %s", what, oneLine(err)))
}

// stale notes that an answer is an earlier one, and returns the note.
func (w *work) stale(what string, reading cache.Reading) string {
	if !reading.Stale {
		return ""
	}
	note := fmt.Sprintf("%s: as of %s: %s", what, reading.At.UTC().Format(time.RFC3339), oneLine(reading.Err))
	w.out.Stale = append(w.out.Stale, note)
	return note
}

// oneLine returns the text of an error without the time to wait, with which the text of a condition
// would change every second.
func oneLine(err error) string {
	var e *cloudprovider.Error
	if errors.As(err, &e) && e != nil && e.RetryAfter > 0 {
		same := *e
		same.RetryAfter = 0
		err = &same
	}
	return strings.ReplaceAll(err.Error(), "\n", "; ")
}

// Err returns nil if nodes of the class can be launched, else an *cloudprovider.Error with the name
// of the class and the message of each condition that is not True. It is KindNotReady, except if no
// condition is False and a lookup had no answer: then it has the kind of that failure and the time
// to wait.
func (r *Resolution) Err() error {
	conditions := r.Class.Status.Conditions
	ready, _ := find(conditions, awsv1.ConditionTypeReady)
	if ready.Status == metav1.ConditionTrue {
		return nil
	}
	out := &cloudprovider.Error{Op: "Resolve", Object: "EC2NodeClass " + r.Class.Name, Kind: cloudprovider.KindNotReady}
	var texts []error
	for _, c := range conditions {
		if c.Type == awsv1.ConditionTypeReady || c.Status == metav1.ConditionTrue || c.Reason == awsv1.ReasonDependenciesNotReady {
			continue
		}
		out.Reason = cmp.Or(out.Reason, c.Reason)
		if c.Type == awsv1.ConditionTypeValidationSucceeded && len(r.faults) > 0 {
			if c.Message = list(r.untold(conditions)); c.Message == "" {
				continue
			}
		}
		texts = append(texts, fmt.Errorf("%s: %s", c.Type, c.Message))
	}
	failure := errors.Join(r.failures...)
	if ready.Status == metav1.ConditionUnknown && failure != nil {
		out.Kind, out.RetryAfter = cloudprovider.KindOf(failure), cloudprovider.RetryAfter(failure)
	}
	out.Err = api.Explained(errors.Join(texts...).Error(), failure)
	return out
}

// untold returns the faults of the spec that no other condition names.
func (r *Resolution) untold(conditions []metav1.Condition) (out field.ErrorList) {
	for _, fault := range r.faults {
		if !slices.ContainsFunc(conditions, func(c metav1.Condition) bool {
			return c.Type != awsv1.ConditionTypeValidationSucceeded && c.Type != awsv1.ConditionTypeReady && strings.Contains(c.Message, fault.Error())
		}) {
			out = append(out, fault)
		}
	}
	return out
}
