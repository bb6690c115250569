package provisioning

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/internal/podterm"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/topology"
)

// term is one constraint of a pod towards other pods.
type term struct {
	kind topology.Kind
	key  string // the label whose values are the domains
	pods int    // index of the selection

	// For spread.
	skew, minDomains          int
	honorAffinity, honorTaint bool

	// weight is that of a soft constraint, 1 to 100; 0 is a hard one. A soft
	// term of kind Apart or Together is a preference.
	weight int

	// storage says that the term stands for a claim that pods share, which gets
	// its volume where they go.
	storage bool
}

// besideStorage says whether pods are to be on one node as they share a claim:
// it need not have a label with its name.
func (t *term) besideStorage() bool { return t.storage && t.key == corev1.LabelHostname }

// hostSpreads lists the hard topology spread constraints of a class over the name
// of the node.
func (c *class) hostSpreads() []term {
	var out []term
	for _, t := range c.terms {
		if t.weight == 0 && t.kind == topology.Spread && t.key == corev1.LabelHostname {
			out = append(out, t)
		}
	}
	return out
}

// faultError says what is wrong with a pod that is part of a larger problem:
// the pod stays pending, and all else goes on.
type faultError struct{ field, message string }

func (e *faultError) Error() string { return e.field + " " + e.message }

func badPod(field, format string, args ...any) error {
	return &faultError{field, fmt.Sprintf(format, args...)}
}

// termReader reads the constraints of pods, and numbers their selections.
type termReader struct {
	namespaces *podterm.Namespaces
	selections []selection
	number     map[string]int
	soft       bool // read soft constraints too
	defaults   *podterm.Defaults
}

func newTermReader(in *Input, opts *Options, f *faults) *termReader {
	namespaceFaults(in.Namespaces, f)
	return &termReader{
		namespaces: in.namespaces(),
		number:     map[string]int{},
		soft:       opts.Preferences != Ignore,
		defaults:   newDefaultSpread(in, opts.DefaultSpread, f),
	}
}

func (r *termReader) selection(conjuncts ...podterm.Pods) int {
	s := newSelection(conjuncts...)
	id, ok := r.number[s.text]
	if !ok {
		id = len(r.selections)
		r.number[s.text] = id
		r.selections = append(r.selections, s)
	}
	return id
}

// terms returns the constraints of a pod: hard ones first, each once. The error
// joins a *faultError for everything that is wrong with them, and then there are
// none; so it is with the functions below.
func (r *termReader) terms(pod *corev1.Pod) ([]term, error) {
	var out []term
	var faults []error
	constraints, own := r.defaults.Of(pod)
	field := "spec.topologySpreadConstraints"
	if !own {
		field = "Options.DefaultSpread"
	}
	for i := range constraints {
		t, err := r.spread(pod, &constraints[i], fmt.Sprintf("%s[%d]", field, i))
		out, faults = append(out, t), appendFault(faults, err)
	}
	if a := pod.Spec.Affinity; a != nil {
		affinity, err := r.affinity(pod, a)
		out, faults = append(out, affinity...), appendFault(faults, err)
	}
	if len(faults) > 0 {
		return nil, errors.Join(faults...)
	}
	if !r.soft {
		out = slices.DeleteFunc(out, func(t term) bool { return t.weight > 0 })
	}
	slices.SortFunc(out, compareTerms)
	return slices.Compact(out), nil
}

func appendFault(faults []error, err error) []error {
	if err == nil {
		return faults
	}
	return append(faults, err)
}

// claimSelection returns the number of the selection of the pods that use a claim.
func (r *termReader) claimSelection(claim string) int {
	s := selection{claim: claim, text: "claim " + claim}
	id, ok := r.number[s.text]
	if !ok {
		id = len(r.selections)
		r.number[s.text] = id
		r.selections = append(r.selections, s)
	}
	return id
}

func compareTerms(a, b term) int {
	return cmp.Or(
		cmp.Compare(a.weight, b.weight), cmp.Compare(a.kind, b.kind), cmp.Compare(a.key, b.key), cmp.Compare(a.pods, b.pods),
		cmp.Compare(a.skew, b.skew), cmp.Compare(a.minDomains, b.minDomains),
		compareBools(a.honorAffinity, b.honorAffinity), compareBools(a.honorTaint, b.honorTaint),
	)
}

func compareBools(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// spread reads a topology spread constraint.
func (r *termReader) spread(pod *corev1.Pod, c *corev1.TopologySpreadConstraint, field string) (term, error) {
	t := term{kind: topology.Spread, key: c.TopologyKey, skew: int(c.MaxSkew), honorAffinity: true}
	faults := spreadFaults(c, field)
	if c.WhenUnsatisfiable == corev1.ScheduleAnyway {
		t.weight = 100
	}
	if c.MinDomains != nil {
		t.minDomains = int(*c.MinDomains)
	}
	if c.NodeAffinityPolicy != nil && *c.NodeAffinityPolicy == corev1.NodeInclusionPolicyIgnore {
		t.honorAffinity = false
	}
	if c.NodeTaintsPolicy != nil && *c.NodeTaintsPolicy == corev1.NodeInclusionPolicyHonor {
		t.honorTaint = true
	}
	counted, err := podterm.Spread(pod, c)
	if faults = append(faults, below(field, err)...); len(faults) > 0 {
		return t, errors.Join(faults...)
	}
	t.pods = r.selection(counted)
	return t, nil
}

// spreadFaults says what is wrong with the numbers and words of a constraint.
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

// below are the faults that package podterm finds as what is wrong with a field of a
// pod.
func below(field string, err error) (faults []error) {
	for _, f := range podterm.Faults(err) {
		faults = append(faults, badPod(field+"."+f.Field, "%s", f.Message))
	}
	return faults
}

// affinity reads pod affinity and anti-affinity. kube-scheduler looks for pods
// that match all required affinity terms at once, so these share one
// selection.
func (r *termReader) affinity(pod *corev1.Pod, a *corev1.Affinity) ([]term, error) {
	var out []term
	var faults []error
	add := func(terms []term, err error) { out, faults = append(out, terms...), appendFault(faults, err) }
	if p := a.PodAffinity; p != nil {
		add(r.together(pod, p))
		add(r.preferred(pod, p.PreferredDuringSchedulingIgnoredDuringExecution, topology.Together, "spec.affinity.podAffinity"))
	}
	if p := a.PodAntiAffinity; p != nil {
		add(r.apart(pod, p, r.namespaces.Incoming)) // they include those of other kube-schedulers
		add(r.preferred(pod, p.PreferredDuringSchedulingIgnoredDuringExecution, topology.Apart, "spec.affinity.podAntiAffinity"))
	}
	if len(faults) > 0 {
		return nil, errors.Join(faults...)
	}
	return out, nil
}

// reading says which pods a term of a pod is about.
type reading func(*corev1.Pod, *corev1.PodAffinityTerm) (podterm.Pods, error)

// together reads the required affinity of a pod. Where kube-schedulers differ on the
// namespaces, a pod is wanted for each of them.
func (r *termReader) together(pod *corev1.Pod, p *corev1.PodAffinity) ([]term, error) {
	const field = "spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution"
	var all, incoming []podterm.Pods
	var faults []error
	for i := range p.RequiredDuringSchedulingIgnoredDuringExecution {
		t := &p.RequiredDuringSchedulingIgnoredDuringExecution[i]
		c, err := conjunct(pod, t, fmt.Sprintf("%s[%d]", field, i), r.namespaces.Affinity)
		all, faults = append(all, c), appendFault(faults, err)
		c, _ = r.namespaces.Incoming(pod, t) // the fault is known
		incoming = append(incoming, c)
	}
	if len(faults) > 0 {
		return nil, errors.Join(faults...)
	}
	var out []term
	for i := range p.RequiredDuringSchedulingIgnoredDuringExecution {
		key := p.RequiredDuringSchedulingIgnoredDuringExecution[i].TopologyKey
		out = append(out,
			term{kind: topology.Together, key: key, pods: r.selection(all...)},
			term{kind: topology.Together, key: key, pods: r.selection(incoming...)}, // mostly the same one
		)
	}
	return out, nil
}

// apart reads the required anti-affinity of a pod.
func (r *termReader) apart(pod *corev1.Pod, p *corev1.PodAntiAffinity, read reading) ([]term, error) {
	const field = "spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution"
	var out []term
	var faults []error
	for i := range p.RequiredDuringSchedulingIgnoredDuringExecution {
		t := &p.RequiredDuringSchedulingIgnoredDuringExecution[i]
		c, err := conjunct(pod, t, fmt.Sprintf("%s[%d]", field, i), read)
		if err != nil {
			faults = append(faults, err)
			continue
		}
		out = append(out, term{kind: topology.Apart, key: t.TopologyKey, pods: r.selection(c)})
	}
	if len(faults) > 0 {
		return nil, errors.Join(faults...)
	}
	return out, nil
}

func (r *termReader) preferred(pod *corev1.Pod, terms []corev1.WeightedPodAffinityTerm, kind topology.Kind, parent string) ([]term, error) {
	var out []term
	var faults []error
	for i := range terms {
		field := fmt.Sprintf("%s.preferredDuringSchedulingIgnoredDuringExecution[%d]", parent, i)
		t := &terms[i]
		if t.Weight < 1 || t.Weight > 100 {
			faults = append(faults, badPod(field+".weight", "is %d; it must be from 1 to 100", t.Weight))
		}
		c, err := conjunct(pod, &t.PodAffinityTerm, field+".podAffinityTerm", r.namespaces.Affinity)
		if err != nil {
			faults = append(faults, err)
			continue
		}
		out = append(out, term{kind: kind, key: t.PodAffinityTerm.TopologyKey, pods: r.selection(c), weight: int(t.Weight)})
	}
	if len(faults) > 0 {
		return nil, errors.Join(faults...)
	}
	return out, nil
}

// conjunct reads the pods that an affinity term is about.
func conjunct(pod *corev1.Pod, t *corev1.PodAffinityTerm, field string, read reading) (podterm.Pods, error) {
	out, err := read(pod, t)
	return out, errors.Join(below(field, err)...)
}

// constrained says whether a pod may have constraints towards other pods.
func (r *termReader) constrained(pod *corev1.Pod) bool {
	return len(pod.Spec.TopologySpreadConstraints) > 0 || r.defaults != nil ||
		pod.Spec.Affinity != nil && (pod.Spec.Affinity.PodAffinity != nil || pod.Spec.Affinity.PodAntiAffinity != nil)
}
