package nomination

import (
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
)

// TaintKey is the key of the startup taint that keeps a node for its pods. Its value is the name of
// the NodeClaim, or a hash of it if the name is too long for a taint; its effect is NoSchedule.
const TaintKey = "dovetail-sdk.github.io/nominated"

// Defaults of Options.
const (
	// DefaultHold is how long a ready node is kept for its pods. kube-scheduler binds a pod within
	// seconds, or retries it within five minutes after a failure.
	DefaultHold = 90 * time.Second
	// DefaultLaunch is how long a node may take to become ready. After the same time Karpenter
	// deletes a NodeClaim that has not registered.
	DefaultLaunch = 15 * time.Minute
	// DefaultMove is how long pods may take to leave the nodes that they run on.
	DefaultMove = time.Hour
)

// swapAfter is how long kube-scheduler may take to try a pod on a ready node: twice its longest
// back-off.
const swapAfter = 20 * time.Second

// Options say how long promises last. The zero value, and nil, mean the defaults.
type Options struct {
	// Hold is how long a node is kept for its pods after it is ready; zero means DefaultHold. It is
	// longer while kube-scheduler has not reached these pods yet, judged by what it bound in the
	// last 20 seconds:
	//
	//   - three times Hold while it binds pods of the same kind;
	//   - Launch while it is behind: it binds pods to nodes that have been kept for them for a third
	//     of Hold. Then a Binding, too, holds for longer than its Until.
	Hold time.Duration
	// Launch is how long pods wait for a node that is not ready, from the creation of its
	// NodeClaim; zero means DefaultLaunch.
	Launch time.Duration
	// Move is how long a node is kept for pods that will be evicted from other nodes, from the
	// reservation; zero means DefaultMove. It ends early when the nodes of the pods are gone.
	Move time.Duration
	// NoTaint leaves nodes open to all pods, for programs that may not change pods. Promises are
	// still recorded as a hint, and their pods are still left out of plans.
	NoTaint bool
}

// Validate reports each duration that is below zero.
func (o *Options) Validate() error {
	if o == nil {
		return nil
	}
	var errs []error
	for _, f := range []struct {
		name  string
		value time.Duration
	}{{"Hold", o.Hold}, {"Launch", o.Launch}, {"Move", o.Move}} {
		if f.value < 0 {
			errs = append(errs, fmt.Errorf("nomination: Options.%s is %s; give a duration above zero, or none for the default", f.name, f.value))
		}
	}
	return errors.Join(errs...)
}

// complete returns o with its defaults.
func (o *Options) complete() Options {
	var out Options
	if o != nil {
		out = *o
	}
	for _, f := range []struct {
		value *time.Duration
		def   time.Duration
	}{{&out.Hold, DefaultHold}, {&out.Launch, DefaultLaunch}, {&out.Move, DefaultMove}} {
		if *f.value == 0 {
			*f.value = f.def
		}
	}
	return out
}

// Reserve returns a copy of a NodeClaim that lists its pods: those of a new node of a plan, pending
// ones and ones that will be evicted from their nodes. Pass pods as they are stored in the cluster:
// in a plan of Problem.Without moved pods are pending, but a promise to a bound pod needs the name
// of its node. A claim that was not created yet (it has no UID) also gets the startup taint, unless
// Options.NoTaint is set. For an existing claim pods are added to the annotation, which the caller
// has to store. A pod that another claim was promised to before belongs to the new claim.
//
// It is an error if the claim is nil or has no name, if one of its annotations cannot be read, and
// if pods are nil, have no UID or are listed twice. Without pods the copy is equal.
func Reserve(now time.Time, claim *v1.NodeClaim, pods []*corev1.Pod, opts *Options) (*v1.NodeClaim, error) {
	if claim == nil {
		return nil, errors.New("nomination: no NodeClaim is given")
	}
	errs := []error{opts.Validate()}
	if claim.Name == "" {
		errs = append(errs, errors.New("nomination: the NodeClaim has no name: give it one before it is created"))
	}
	if year := now.UTC().Year(); year < 1 || year > 9999 {
		errs = append(errs, fmt.Errorf("nomination: now is in the year %d", year))
	}
	have, err := read(claim.Annotations[AnnotationKey])
	if err != nil {
		errs = append(errs, unreadable(claim.Name, err))
	}
	errs = append(errs, checkPods(pods)...)
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	out := claim.DeepCopy()
	if len(pods) == 0 {
		return out, nil
	}
	if out.Annotations == nil {
		out.Annotations = map[string]string{}
	}
	out.Annotations[AnnotationKey] = write(with(have, groupsOf(pods, now)))
	if opts.complete().NoTaint || claim.UID != "" || len(reserving(claim.Spec.StartupTaints)) > 0 {
		return out, nil
	}
	out.Spec.StartupTaints = append(slices.Clip(out.Spec.StartupTaints),
		corev1.Taint{Key: TaintKey, Value: taintValue(claim.Name), Effect: corev1.TaintEffectNoSchedule})
	return out, nil
}

func unreadable(claim string, err error) error {
	return fmt.Errorf("nomination: NodeClaim %s: annotation %s: %w; delete the annotation to give its promises up", claim, AnnotationKey, err)
}

// checkPods returns an error for each pod that cannot have a promise.
func checkPods(pods []*corev1.Pod) (errs []error) {
	seen := map[types.UID]bool{}
	for i, p := range pods {
		switch {
		case p == nil:
			errs = append(errs, fmt.Errorf("nomination: pod %d is nil", i))
		case p.UID == "":
			errs = append(errs, fmt.Errorf("nomination: pod %s/%s has no UID: take it from the cluster", p.Namespace, p.Name))
		case seen[p.UID]:
			errs = append(errs, fmt.Errorf("nomination: pod %s/%s is there twice", p.Namespace, p.Name))
		default:
			seen[p.UID] = true
		}
	}
	return errs
}

// with adds groups to those of a claim. Pods that are promised again leave the group
// that they were in.
func with(have, more []group) []group {
	again := map[types.UID]bool{}
	for _, g := range more {
		for _, uid := range g.Pods {
			again[uid] = true
		}
	}
	out := slices.Clone(more)
	for _, g := range have {
		if g = g.without(again); len(g.Pods) > 0 {
			out = append(out, g)
		}
	}
	slices.SortStableFunc(out, compareGroups)
	return out
}

// reserving returns the taints of this package.
func reserving(taints []corev1.Taint) []corev1.Taint {
	var out []corev1.Taint
	for _, t := range taints {
		if t.Key == TaintKey {
			out = append(out, t)
		}
	}
	return out
}

// Opened returns a copy of a Node without the taint of TaintKey, or nil if it has none.
func Opened(n *corev1.Node) *corev1.Node {
	if len(reserving(n.Spec.Taints)) == 0 {
		return nil
	}
	out := n.DeepCopy()
	out.Spec.Taints = slices.DeleteFunc(out.Spec.Taints, func(t corev1.Taint) bool { return t.Key == TaintKey })
	return out
}

// taintValue returns a claim's name, or a hash of it if it is too long for a taint.
func taintValue(name string) string {
	if len(validation.IsValidLabelValue(name)) == 0 {
		return name
	}
	h := fnv.New64a()
	h.Write([]byte(name))
	return "h" + strconv.FormatUint(h.Sum64(), 36)
}

// Plain returns a pod as its owner wrote it: a copy without the tolerations of TaintKey, or the pod
// itself if it has none. Only the list of tolerations is copied.
//
// Use it for the pods of plans and decisions. Each promise adds a toleration with a unique value to
// its pod. Without Plain, otherwise equal pods of a workload differ by it, and a plan would have
// one class of pods for each node. Pass Review the pods unchanged. A nil pod stays nil.
func Plain(pod *corev1.Pod) *corev1.Pod {
	if pod == nil || !slices.ContainsFunc(pod.Spec.Tolerations, ours) {
		return pod
	}
	out := *pod
	out.Spec.Tolerations = slices.DeleteFunc(slices.Clone(pod.Spec.Tolerations), ours)
	if len(out.Spec.Tolerations) == 0 {
		out.Spec.Tolerations = nil
	}
	return &out
}

func ours(t corev1.Toleration) bool { return t.Key == TaintKey }
