package verify

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// referee holds one plan, its input in a form that is easy to look things up
// in, and the violations found so far.
type referee struct {
	in         provisioning.Input
	plan       *provisioning.Plan
	policy     provisioning.MinValuesPolicy
	vocabulary *requirements.Vocabulary

	pools      map[string]*poolInfo
	nodes      []*nodeInfo
	nodesNamed map[string][]*nodeInfo
	pods       map[objectKey]*podInfo
	sharing    map[objectKey]int // how many pods name a claim, once asked for
	daemons    []*podInfo
	selections map[string]*nodeSelection // by signature
	parsed     int                       // number of selections so far
	options    map[cloudprovider.LaunchOption]*optionInfo
	same       map[listID]listID // of equal lists, the first
	looks      map[listDigest][][]cloudprovider.LaunchOption
	lists      map[listID]optionList
	asks       []corev1.ResourceName // what pods of the input ask for, sorted
	scratch    []int32               // of located

	schedulers    []string // whose pods are placed; none means all
	nodeFee       float64
	reserved      provisioning.ReservedPolicy
	defaultSpread []corev1.TopologySpreadConstraint
	// cautious says that a pod is not to be put where it takes a closer look to
	// see that it may go.
	cautious bool
	// pending says that it is asked about pods without a place, to which those that
	// stand for buffers do not exist.
	pending bool

	sites      []*targetNode
	siteOf     map[*nodeInfo]*targetNode
	families   map[string]*nodeGroup
	lenses     map[string]*labelFilter
	glances    map[string]*keyView // at one key of all nodes
	counters   counterIndex
	antiTerms  map[string]*antiTerm
	companies  map[string]*affinityGroup
	spreadsOf  map[string]*spreadCounter
	spreadList []*spreadCounter      // those of spreadsOf, in the order of their making
	spaces     map[string]labels.Set // of namespaces; nil until somebody asks

	storage storageIndex

	// fresh are the new nodes as judged, in the order of Plan.Create. Entries
	// whose pool is unknown are nil.
	fresh []*newNode

	found []Violation
}

type objectKey struct{ namespace, name string }

func (k objectKey) String() string { return k.namespace + "/" + k.name }

func (k objectKey) compare(l objectKey) int {
	return cmp.Or(cmp.Compare(k.namespace, l.namespace), cmp.Compare(k.name, l.name))
}

func keyOf(pod *corev1.Pod) objectKey { return objectKey{pod.Namespace, pod.Name} }

// podInfo is a pod with what the referee asks about it more than once.
type podInfo struct {
	*corev1.Pod
	key         objectKey
	copies      int  // how often the input lists it: once, if it is sound
	virtual     bool // it stands for a buffer
	selection   *nodeSelection
	tolerations tolerationList
	requests    resources.List
	requestsErr error

	// What it wants of the pods around it. Of pods that run it is only the
	// anti-affinity.
	wants     []podConstraint
	companies []*affinityGroup
	apart     []*antiTerm
	wantsErr  error
	learnt    bool
}

func (r *referee) newPod(pod *corev1.Pod) *podInfo {
	p := &podInfo{Pod: pod, key: keyOf(pod), copies: 1, selection: r.selectionOf(pod), tolerations: pod.Spec.Tolerations}
	p.requests, p.requestsErr = resources.PodRequests(pod)
	return p
}

// selectionOf parses a node selection once for all pods that share it.
func (r *referee) selectionOf(pod *corev1.Pod) *nodeSelection {
	terms := r.requiredTerms(pod)
	// Most pods select nothing. A selection of strings always marshals; were it
	// ever not to, the pod would get a selection of its own below.
	var signature []byte
	var err error
	if len(pod.Spec.NodeSelector) > 0 || terms != nil {
		signature, err = json.Marshal(struct {
			Selector map[string]string
			Terms    []corev1.NodeSelectorTerm
			Required bool
		}{pod.Spec.NodeSelector, terms, terms != nil})
	}
	if known := r.selections[string(signature)]; err == nil && known != nil {
		return known
	}
	r.parsed++
	s := &nodeSelection{
		number:   r.parsed,
		affinity: nodeaffinity.GetRequiredNodeAffinity(pod),
		mentions: map[string][]string{},
	}
	for key, value := range pod.Spec.NodeSelector {
		s.mentions[key] = append(s.mentions[key], value)
	}
	for _, term := range terms {
		for _, expression := range term.MatchExpressions {
			s.mentions[expression.Key] = append(s.mentions[expression.Key], expression.Values...)
		}
	}
	if err == nil {
		r.selections[string(signature)] = s
	}
	return s
}

// requiredTerms are the ORed terms of the required node affinity; nil if there
// is none, empty but not nil if there is one that nothing can match.
func (*referee) requiredTerms(pod *corev1.Pod) []corev1.NodeSelectorTerm {
	affinity := pod.Spec.Affinity
	if affinity == nil || affinity.NodeAffinity == nil {
		return nil
	}
	required := affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	if required == nil {
		return nil
	}
	if required.NodeSelectorTerms == nil {
		return []corev1.NodeSelectorTerm{}
	}
	return required.NodeSelectorTerms
}

// accepts says whether the pod's node selection lets it run on a node.
func (s *nodeSelection) accepts(node *corev1.Node) bool {
	ok, err := s.affinity.Match(node)
	return ok && err == nil
}

// known returns the input's own object for a pod of the plan, as a plan could
// carry an altered copy. It is nil for a pod that was not asked for.
func (r *referee) known(pod *corev1.Pod) *podInfo {
	if pod == nil {
		return nil
	}
	return r.pods[keyOf(pod)]
}

// knownPods returns the pods of a list that were asked for. The others, and
// nil, are for checkCompleteness to report.
func (r *referee) knownPods(pods []*corev1.Pod) []*podInfo {
	var known []*podInfo
	for _, pod := range pods {
		if p := r.known(pod); p != nil {
			known = append(known, p)
		}
	}
	return known
}

func (r *referee) report(rule Rule, node, pod, format string, args ...any) {
	r.found = append(r.found, Violation{rule, node, pod, r.oneLine(fmt.Sprintf(format, args...))})
}

// oneLine keeps a joined error on the single line that a Message is.
func (*referee) oneLine(text string) string {
	return strings.Join(slices.DeleteFunc(strings.Split(text, "\n"), func(s string) bool { return s == "" }), "; ")
}

// sumRequests adds up what pods ask for. The pods whose requests cannot be read
// are reported and left out.
func (r *referee) sumRequests(node string, pods []*podInfo) (resources.List, bool) {
	var sum resources.List
	ok := true
	for _, p := range pods {
		if p.requestsErr != nil {
			r.report(RuleResources, node, p.key.String(), "its requests cannot be read: %v", p.requestsErr)
			ok = false
			continue
		}
		next, err := sum.Add(p.requests)
		if err != nil {
			r.report(RuleResources, node, "", "the requests of its pods cannot be added up: %v", err)
			return sum, false
		}
		sum = next
	}
	return sum, ok
}
