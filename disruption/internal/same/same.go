package same

import (
	"cmp"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/provisioning"
)

// object is a pointer to a Kubernetes API object.
type object[T any] interface {
	*T
	metav1.Object
}

// Objects reports whether two lists have equal objects, in any order. Each read from a cache
// returns new copies. Resource versions and managed fields are ignored.
func Objects[T any, P object[T]](a, b []P) bool {
	if len(a) != len(b) || slices.Equal(a, b) {
		return len(a) == len(b)
	}
	return slices.EqualFunc(byName[T](a), byName[T](b), sameObject[T, P])
}

// byName returns a copy of a list, sorted by namespace and name, nil first.
func byName[T any, P object[T]](list []P) []P {
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b P) int {
		if a == nil || b == nil {
			return cmp.Compare(order(a != nil), order(b != nil))
		}
		return cmp.Or(strings.Compare(a.GetNamespace(), b.GetNamespace()), strings.Compare(a.GetName(), b.GetName()))
	})
	return list
}

func sameObject[T any, P object[T]](a, b P) bool {
	if a == b || a == nil || b == nil {
		return a == b
	}
	if a.GetName() != b.GetName() || a.GetNamespace() != b.GetNamespace() || a.GetUID() != b.GetUID() {
		return false
	}
	x, y := *a, *b // shallow copies: only their metadata is changed
	for _, o := range []P{&x, &y} {
		o.SetResourceVersion("")
		o.SetManagedFields(nil)
	}
	return equality.Semantic.DeepEqual(&x, &y)
}

// Bare returns copies of pools without the counts in their status, which change with every node and
// are not read here.
func Bare(pools []*v1.NodePool) []*v1.NodePool {
	out := make([]*v1.NodePool, len(pools))
	for i, p := range pools {
		if p != nil {
			out[i] = &v1.NodePool{TypeMeta: p.TypeMeta, ObjectMeta: p.ObjectMeta, Spec: p.Spec}
			out[i].Status.Conditions = p.Status.Conditions
		}
	}
	return out
}

// Controllers is Objects for provisioning.Controller.
func Controllers(a, b []provisioning.Controller) bool {
	sorted := func(list []provisioning.Controller) []provisioning.Controller {
		list = slices.Clone(list)
		slices.SortStableFunc(list, func(x, y provisioning.Controller) int { return cmp.Compare(x.UID, y.UID) })
		return list
	}
	return len(a) == len(b) && equality.Semantic.DeepEqual(sorted(a), sorted(b))
}

// Catalogs reports whether each pool has equal types in both catalogs. Types that pools share are
// compared once.
func Catalogs(a, b map[string][]*cloudprovider.InstanceType) bool {
	if len(a) != len(b) {
		return false
	}
	known := map[[2]*cloudprovider.InstanceType]bool{}
	same := func(s, t *cloudprovider.InstanceType) bool {
		if s == t || s == nil || t == nil {
			return s == t
		}
		pair := [2]*cloudprovider.InstanceType{s, t}
		answer, seen := known[pair]
		if !seen {
			answer = reflect.DeepEqual(s, t)
			known[pair] = answer
		}
		return answer
	}
	for pool, types := range a { // the order does not matter
		others, found := b[pool]
		if !found || !slices.EqualFunc(typesByName(types), typesByName(others), same) {
			return false
		}
	}
	return true
}

// typesByName returns a copy of a list, sorted by name, nil first.
func typesByName(types []*cloudprovider.InstanceType) []*cloudprovider.InstanceType {
	compare := func(a, b *cloudprovider.InstanceType) int {
		if a == nil || b == nil {
			return cmp.Compare(order(a != nil), order(b != nil))
		}
		return strings.Compare(a.Name, b.Name)
	}
	if slices.IsSortedFunc(types, compare) {
		return types
	}
	types = slices.Clone(types)
	slices.SortStableFunc(types, compare)
	return types
}

// order returns 0 for false and 1 for true.
func order(b bool) int {
	if b {
		return 1
	}
	return 0
}
