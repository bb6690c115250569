package verify

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/internal/minors"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
	"github.com/dovetail-sdk/dovetail/provisioning/verify/internal/nodefit"
	"github.com/dovetail-sdk/dovetail/provisioning/verify/internal/podselect"
	"github.com/dovetail-sdk/dovetail/provisioning/verify/internal/storage"
)

// referee has one plan, its input in a form for look-ups, and the violations found so far.
type referee struct {
	in         provisioning.Input
	plan       *provisioning.Plan
	policy     provisioning.MinValuesPolicy
	vocabulary *requirements.Vocabulary

	pools      map[string]*poolInfo
	sites      []*site // existing nodes, then the new nodes of the plan
	nodes      []*site // those of existing nodes
	nodesNamed map[string]*site
	pods       map[objectKey]*podInfo
	daemons    []*podInfo
	selections nodefit.Parser
	options    map[cloudprovider.LaunchOption]*optionInfo
	lists      map[listID]optionList
	asks       []corev1.ResourceName // resources that pods of the input request, sorted

	kubernetes    minors.Range // versions in which places must be valid
	schedulers    []string     // schedulers whose pods are placed; empty means all
	nodeFee       float64
	reserved      provisioning.ReservedPolicy
	defaultSpread []corev1.TopologySpreadConstraint
	// pending says that the referee looks for places of unplaced pods. These checks ignore the pods of
	// buffers.
	pending bool

	topologies map[string]*topology // by label: the topology of all nodes
	counters   counterIndex
	reader     *podselect.Reader // nil until it is needed

	storage    storageUse
	launchable map[string]map[string]string // cache of launchableDomains

	fresh []*newNode // new nodes in the order of Plan.Create; nil if the pool is unknown
	found []Violation
}

// objectKey names a pod, claim or other object of a namespace.
type objectKey = storage.Key

func keyOf(pod *corev1.Pod) objectKey { return objectKey{Namespace: pod.Namespace, Name: pod.Name} }

// podInfo is a pod with what the referee needs more than once.
type podInfo struct {
	*corev1.Pod
	key         objectKey
	virtual     bool // it is a pod of a buffer
	unplaced    bool // the plan has no place for it
	selection   *nodefit.Selection
	tolerations nodefit.Tolerations
	requests    resources.List
	requestsErr error

	// Constraints on other pods, once they are read. For running pods only the anti-affinity is
	// read.
	spreads        []podSpread
	follows        []*counter
	avoids         []*counter
	constraintsErr error
	needs          *string
}

func (r *referee) newPod(pod *corev1.Pod) *podInfo {
	p := &podInfo{Pod: pod, key: keyOf(pod), selection: r.selections.Of(pod), tolerations: pod.Spec.Tolerations}
	p.requests, p.requestsErr = resources.PodRequestsFor(pod, r.kubernetes.Text())
	return p
}

// known returns the input's object for a pod of the plan, which may be a changed copy. It returns
// nil for a pod that is not among the pods to place.
func (r *referee) known(pod *corev1.Pod) *podInfo {
	if pod == nil {
		return nil
	}
	return r.pods[keyOf(pod)]
}

// knownPods returns the pods of a list that are to be placed. checkCompleteness reports others, and
// nil.
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

// oneLine renders a joined error on one line, because a Message has one line.
func (*referee) oneLine(text string) string {
	return strings.Join(slices.DeleteFunc(strings.Split(text, "\n"), func(s string) bool { return s == "" }), "; ")
}

// sumRequests returns the total requests of pods. It reports and leaves out pods whose requests
// cannot be read.
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
