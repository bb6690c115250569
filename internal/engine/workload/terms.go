package workload

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/internal/engine/constraint/kinds"
	"github.com/dovetail-sdk/dovetail/internal/engine/model"
	"github.com/dovetail-sdk/dovetail/internal/engine/topology"
	"github.com/dovetail-sdk/dovetail/internal/minors"
	"github.com/dovetail-sdk/dovetail/internal/order"
	"github.com/dovetail-sdk/dovetail/internal/podterm"
)

// BoundTerms are the required anti-affinities of running pods, by kind.
type BoundTerms map[int32][]Term

// Term is one constraint of a pod with other pods.
type Term struct {
	Kind topology.Kind
	Key  string // the label whose values are the domains
	Pods int    // index of the selection

	// For topology spread.
	Skew, MinDomains          int
	HonorAffinity, HonorTaint bool

	// Weight is the weight of a soft constraint, 1 to 100; 0 means required. A soft term of kind
	// Apart or Together is a preference.
	Weight int

	// Storage says that the term represents a claim shared by several pods whose volume is made
	// where they go.
	Storage bool
}

// HostSpreads lists the required topology spread constraints of a class over the hostname.
func (c *Class) HostSpreads() []Term {
	var out []Term
	for _, t := range c.Terms {
		if t.Weight == 0 && t.Kind == topology.Spread && t.Key == corev1.LabelHostname {
			out = append(out, t)
		}
	}
	return out
}

// faultError is a fault of one pod of a problem: that pod stays pending and the others are placed.
type faultError struct{ field, message string }

func (e *faultError) Error() string { return e.field + " " + e.message }

func badPod(field, format string, args ...any) error {
	return &faultError{field, fmt.Sprintf(format, args...)}
}

// TermReader reads the constraints of pods and numbers their selections.
type TermReader struct {
	Namespaces *podterm.Namespaces
	Selections []Selection
	number     map[string]int
	soft       bool // soft constraints are read too
	Defaults   *podterm.Defaults
	kubernetes minors.Range
}

// NewTermReader returns a reader and reports faults of namespaces.
func NewTermReader(in *model.Input, opts *model.Options, f *model.Faults) *TermReader {
	namespaceFaults(in.Namespaces, f)
	return &TermReader{
		Namespaces: namespaces(in),
		number:     map[string]int{},
		soft:       opts.Preferences != model.Ignore,
		Defaults:   newDefaultSpread(in, opts.DefaultSpread, f),
		kubernetes: opts.Kubernetes,
	}
}

func (r *TermReader) selection(conjuncts ...podterm.Pods) int {
	return r.numbered(newSelection(conjuncts...))
}

// claimSelection returns the number of the selection of the pods that use a claim.
func (r *TermReader) claimSelection(claim string) int {
	return r.numbered(Selection{Claim: claim, text: "claim " + claim})
}

func (r *TermReader) numbered(s Selection) int {
	id, ok := r.number[s.text]
	if !ok {
		id = len(r.Selections)
		r.number[s.text] = id
		r.Selections = append(r.Selections, s)
	}
	return id
}

// Terms returns the distinct constraints of a pod, required ones first. The error joins a
// *faultError for every fault; then no constraints are returned. The functions below do the same.
func (r *TermReader) Terms(pod *corev1.Pod) ([]Term, error) {
	var out []Term
	var faults []error
	constraints, own := r.Defaults.Of(pod)
	field := "spec.topologySpreadConstraints"
	if !own {
		field = "Options.DefaultSpread"
	}
	for i := range constraints {
		t, err := r.spread(pod, &constraints[i], fmt.Sprintf("%s[%d]", field, i))
		out, faults = append(out, t), append(faults, err)
	}
	if a := pod.Spec.Affinity; a != nil {
		affinity, err := r.affinity(pod, a)
		out, faults = append(out, affinity...), append(faults, err)
	}
	if err := errors.Join(faults...); err != nil {
		return nil, err
	}
	if !r.soft {
		out = slices.DeleteFunc(out, func(t Term) bool { return t.Weight > 0 })
	}
	slices.SortFunc(out, compareTerms)
	return slices.Compact(out), nil
}

func compareTerms(a, b Term) int {
	return cmp.Or(
		cmp.Compare(a.Weight, b.Weight), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Key, b.Key), cmp.Compare(a.Pods, b.Pods),
		cmp.Compare(a.Skew, b.Skew), cmp.Compare(a.MinDomains, b.MinDomains),
		order.Bools(a.HonorAffinity, b.HonorAffinity), order.Bools(a.HonorTaint, b.HonorTaint),
	)
}

// spread reads a topology spread constraint. field is its path in the pod, for faults.
func (r *TermReader) spread(pod *corev1.Pod, c *corev1.TopologySpreadConstraint, field string) (Term, error) {
	t := Term{Kind: topology.Spread, Key: c.TopologyKey, Skew: int(c.MaxSkew), HonorAffinity: true}
	faults := spreadFaults(c, field)
	if c.WhenUnsatisfiable == corev1.ScheduleAnyway {
		t.Weight = 100
	}
	if c.MinDomains != nil {
		t.MinDomains = int(*c.MinDomains)
	}
	if c.NodeAffinityPolicy != nil && *c.NodeAffinityPolicy != corev1.NodeInclusionPolicyHonor {
		t.HonorAffinity = false
	}
	if c.NodeTaintsPolicy != nil && *c.NodeTaintsPolicy == corev1.NodeInclusionPolicyHonor {
		t.HonorTaint = true
	}
	counted, err := podterm.Spread(pod, c, r.kubernetes)
	if faults = append(faults, below(field, err)...); len(faults) > 0 {
		return t, errors.Join(faults...)
	}
	t.Pods = r.selection(counted)
	return t, nil
}

// spreadFaults returns the faults in the fields of a topology spread constraint.
func spreadFaults(c *corev1.TopologySpreadConstraint, field string) (faults []error) {
	if c.WhenUnsatisfiable != corev1.DoNotSchedule && c.WhenUnsatisfiable != corev1.ScheduleAnyway {
		faults = append(faults, badPod(field+".whenUnsatisfiable", "is %q; use DoNotSchedule or ScheduleAnyway", c.WhenUnsatisfiable))
	}
	if c.TopologyKey == "" {
		faults = append(faults, badPod(field+".topologyKey", "is empty; name a node label"))
	}
	if c.MaxSkew < 1 {
		faults = append(faults, badPod(field+".maxSkew", "is %d; it must be at least 1", c.MaxSkew))
	}
	switch {
	case c.MinDomains == nil:
	case *c.MinDomains < 1:
		faults = append(faults, badPod(field+".minDomains", "is %d; it must be at least 1", *c.MinDomains))
	case c.WhenUnsatisfiable == corev1.ScheduleAnyway:
		faults = append(faults, badPod(field+".minDomains", "is set, but whenUnsatisfiable is ScheduleAnyway; it goes with DoNotSchedule only"))
	}
	return faults
}

// below converts faults of package podterm to faults of a field of the pod.
func below(field string, err error) (faults []error) {
	for _, f := range podterm.Faults(err) {
		faults = append(faults, badPod(field+"."+f.Field, "%s", f.Message))
	}
	return faults
}

// affinity reads pod affinity and anti-affinity. kube-scheduler looks for pods that match all
// required affinity terms at once, so these terms share one selection.
func (r *TermReader) affinity(pod *corev1.Pod, a *corev1.Affinity) ([]Term, error) {
	var out []Term
	var faults []error
	add := func(terms []Term, err error) { out, faults = append(out, terms...), append(faults, err) }
	if p := a.PodAffinity; p != nil {
		add(r.together(pod, p))
		add(r.preferred(pod, p.PreferredDuringSchedulingIgnoredDuringExecution, topology.Together, "spec.affinity.podAffinity"))
	}
	if p := a.PodAntiAffinity; p != nil {
		add(r.Apart(pod, p, true))
		add(r.preferred(pod, p.PreferredDuringSchedulingIgnoredDuringExecution, topology.Apart, "spec.affinity.podAntiAffinity"))
	}
	return out, errors.Join(faults...)
}

// together reads the required affinity of a pod. If kube-scheduler versions read the namespaces
// differently, a pod of each reading is required.
func (r *TermReader) together(pod *corev1.Pod, p *corev1.PodAffinity) ([]Term, error) {
	const field = "spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution"
	terms := p.RequiredDuringSchedulingIgnoredDuringExecution
	var out []Term
	var faults []error
	for _, read := range r.Namespaces.Readings(r.kubernetes) {
		var all []podterm.Pods
		faults = nil // the faults are equal for each reading
		for i := range terms {
			c, err := conjunct(pod, &terms[i], fmt.Sprintf("%s[%d]", field, i), read)
			all, faults = append(all, c), append(faults, err)
		}
		if errors.Join(faults...) != nil {
			continue
		}
		for i := range terms {
			out = append(out, Term{Kind: topology.Together, Key: terms[i].TopologyKey, Pods: r.selection(all...)}) // usually equal to those of the other readings
		}
	}
	return out, errors.Join(faults...)
}

// Apart reads the required anti-affinity of a pod, all terms or none. incoming says that the pod is
// being placed; otherwise it is running.
func (r *TermReader) Apart(pod *corev1.Pod, p *corev1.PodAntiAffinity, incoming bool) ([]Term, error) {
	const field = "spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution"
	read := podterm.Reading(r.Namespaces.Affinity)
	if incoming {
		all := r.Namespaces.Readings(r.kubernetes)
		read = all[len(all)-1]
	}
	var out []Term
	var faults []error
	for i := range p.RequiredDuringSchedulingIgnoredDuringExecution {
		t := &p.RequiredDuringSchedulingIgnoredDuringExecution[i]
		c, err := conjunct(pod, t, fmt.Sprintf("%s[%d]", field, i), read)
		if err != nil {
			faults = append(faults, err)
			continue
		}
		out = append(out, Term{Kind: topology.Apart, Key: t.TopologyKey, Pods: r.selection(c)})
	}
	if err := errors.Join(faults...); err != nil {
		return nil, err
	}
	return out, nil
}

func (r *TermReader) preferred(pod *corev1.Pod, terms []corev1.WeightedPodAffinityTerm, kind topology.Kind, parent string) ([]Term, error) {
	var out []Term
	var faults []error
	for i := range terms {
		field := fmt.Sprintf("%s.preferredDuringSchedulingIgnoredDuringExecution[%d]", parent, i)
		t := &terms[i]
		if t.Weight < 1 || t.Weight > 100 {
			faults = append(faults, badPod(field+".weight", "is %d; it must be from 1 to 100", t.Weight))
		}
		c, err := conjunct(pod, &t.PodAffinityTerm, field+".podAffinityTerm", r.Namespaces.Affinity)
		if err != nil {
			faults = append(faults, err)
			continue
		}
		out = append(out, Term{Kind: kind, Key: t.PodAffinityTerm.TopologyKey, Pods: r.selection(c), Weight: int(t.Weight)})
	}
	return out, errors.Join(faults...)
}

// conjunct reads the pods that an affinity term selects.
func conjunct(pod *corev1.Pod, t *corev1.PodAffinityTerm, field string, read podterm.Reading) (podterm.Pods, error) {
	out, err := read(pod, t)
	return out, errors.Join(below(field, err)...)
}

// Constrained says whether a pod may have constraints with other pods.
func (r *TermReader) Constrained(pod *corev1.Pod) bool {
	return kinds.Any(pod, r.Defaults != nil)
}
