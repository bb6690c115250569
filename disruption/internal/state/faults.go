package state

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/dovetail-sdk/dovetail/internal/engine/faults"
	"github.com/dovetail-sdk/dovetail/provisioning"
)

// Faults collects the faults of an input, or its warnings.
type Faults struct{ List []*provisioning.InputError }

// Add adds a fault in a field of an object.
func (l *Faults) Add(object, field, format string, args ...any) {
	l.List = append(l.List, &provisioning.InputError{Object: object, Field: field, Detail: fmt.Sprintf(format, args...)})
}

// Wrap adds an error about a field of an object.
func (l *Faults) Wrap(object, field string, err error) {
	l.List = append(l.List, &provisioning.InputError{Object: object, Field: field, Detail: faults.DetailOf(field, err), Err: err})
}

// InField adds each of the errors that err joins. The text of each is "FIELD is DETAIL".
func (l *Faults) InField(object string, err error) {
	for _, e := range Joined(err) {
		path, detail := faults.CutField(" is ", e)
		l.List = append(l.List, &provisioning.InputError{Object: object, Field: path, Detail: detail, Err: e})
	}
}

// Split adds each of the errors that err joins. The path of each field is relative to path.
func (l *Faults) Split(object, path string, err error) {
	for _, e := range Joined(err) {
		fault, ok := e.(*field.Error)
		if !ok {
			l.Wrap(object, path, e)
			continue
		}
		whole := *fault
		whole.Field = path
		if fault.Field != "" && fault.Field[0] != '[' {
			whole.Field += "."
		}
		whole.Field += fault.Field
		l.Wrap(object, whole.Field, &whole)
	}
}

// Joined returns the errors that err, or an error that it wraps, joins.
func Joined(err error) []error {
	for inner := err; inner != nil; inner = errors.Unwrap(inner) {
		switch list := inner.(type) {
		case interface{ Unwrap() []error }:
			return list.Unwrap()
		case interface{ Errors() []error }:
			return list.Errors()
		}
	}
	return []error{err}
}

// Err joins the faults, sorted and without duplicates; nil if there are none.
func (l *Faults) Err() error {
	slices.SortStableFunc(l.List, CompareFaults)
	l.List = slices.CompactFunc(l.List, func(a, b *provisioning.InputError) bool { return CompareFaults(a, b) == 0 })
	all := make([]error, len(l.List))
	for i, e := range l.List {
		all[i] = e
	}
	return errors.Join(all...)
}

// CompareFaults orders faults by their text.
func CompareFaults(a, b *provisioning.InputError) int { return strings.Compare(a.Error(), b.Error()) }

// PoolObject returns the name of a NodePool as messages show it.
func PoolObject(name string) string { return fmt.Sprintf("NodePool %q", name) }

func nodeObject(n provisioning.Node) string {
	if n.Node == nil {
		return fmt.Sprintf("NodeClaim %q", n.Name())
	}
	return fmt.Sprintf("Node %q", n.Name())
}

// NameOf returns the namespace and name of a pod.
func NameOf(p *corev1.Pod) types.NamespacedName {
	return types.NamespacedName{Namespace: p.Namespace, Name: p.Name}
}

// PodObject returns the name of a pod as messages show it.
func PodObject(p *corev1.Pod) string { return fmt.Sprintf("Pod %q", p.Namespace+"/"+p.Name) }
