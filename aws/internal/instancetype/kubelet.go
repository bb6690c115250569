package instancetype

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
	"github.com/dovetail-sdk/dovetail/aws/bootstrap"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/cloudprovider/kubelet"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// Cluster has the settings for all nodes of a cluster. The zero value reserves no interface, gives
// pods single addresses, and assumes that no memory is lost; see DefaultCluster.
type Cluster struct {
	// ReservedInterfaces is the number of network interfaces of each node that
	// pods get no addresses from, because the network plugin keeps them for
	// itself, as custom networking and security groups for pods do. Not below
	// zero.
	ReservedInterfaces int64
	// PrefixDelegation says that the network plugin gives network interfaces prefixes instead of
	// single addresses, if the machine supports it. The number of pods is then bounded by the
	// limits that Kubernetes is tested with: 110, and 250 from 30 vCPUs on.
	PrefixDelegation bool
	// MemoryLost is the assumed share of a machine's memory that its node does not report.
	MemoryLost Share
}

// DefaultCluster returns a Cluster that loses DefaultMemoryShare of the memory.
func DefaultCluster() Cluster { return Cluster{MemoryLost: DefaultMemoryShare} }

// Validate returns nil, or an error that lists every field out of its range.
func (c Cluster) Validate() error {
	var faults []error
	if c.ReservedInterfaces < 0 {
		faults = append(faults, fmt.Errorf("reserved network interfaces: %d; use zero or more", c.ReservedInterfaces))
	}
	if c.MemoryLost != c.MemoryLost.bounded() {
		faults = append(faults, fmt.Errorf("memory lost: %d millionths; use 0 to %d", int64(c.MemoryLost), int64(wholeShare-1)))
	}
	return errors.Join(faults...)
}

// Settings are the settings of an EC2NodeClass for the pods and the overhead of its nodes. It is
// immutable. The zero value is a class of no known family.
type Settings struct {
	features    bootstrap.Features
	maxPods     *int64
	podsPerCore int64
	efaOnly     []int64 // network cards of the interfaces without IP traffic
	reserved    resources.List
	system      resources.List
	eviction    map[kubelet.Signal]kubelet.Threshold

	// open are the settings of a class with expressions, until For has evaluated them. Until then
	// settings with an expression count as unset.
	open      *awsv1.KubeletConfiguration
	evaluator awsv1.ExpressionEvaluator
	// evaluated are the settings after For has evaluated their expressions.
	evaluated *awsv1.KubeletConfiguration
}

// NewSettings reads a class: its resolved family, and of its spec kubelet and networkInterfaces. A
// class with expressions needs an evaluator; for any other it may be nil. The error lists every
// setting that cannot be read: a resource in kubeReserved or systemReserved, a threshold in
// evictionHard, a number below zero, an expression without an evaluator. A nil class has the
// settings of family Custom.
func NewSettings(class *awsv1.EC2NodeClass, evaluator awsv1.ExpressionEvaluator) (Settings, error) {
	s := Settings{features: bootstrap.FeaturesOf(class.ResolvedAMIFamily())}
	if class == nil {
		return s, nil
	}
	for _, n := range class.Spec.NetworkInterfaces {
		if n.InterfaceType == awsv1.InterfaceTypeEFAOnly {
			s.efaOnly = append(s.efaOnly, int64(n.NetworkCardIndex))
		}
	}
	k := class.Spec.Kubelet
	if expressions := k.Expressions(); len(expressions) > 0 && evaluator != nil {
		s.open, s.evaluator = k.DeepCopy(), evaluator
		k = withoutExpressions(k, expressions)
	}
	if err := s.read(k); err != nil {
		return Settings{}, fmt.Errorf("EC2NodeClass %s: spec.kubelet: %w", class.Name, err)
	}
	return s, nil
}

// withoutExpressions returns the settings without those that are expressions.
func withoutExpressions(k *awsv1.KubeletConfiguration, expressions []awsv1.KubeletExpression) *awsv1.KubeletConfiguration {
	out := k.DeepCopy()
	if out.MaxPods != nil && out.MaxPods.Type == intstr.String {
		out.MaxPods = nil
	}
	isExpression := func(_, amount string) bool {
		return slices.ContainsFunc(expressions, func(x awsv1.KubeletExpression) bool { return x.Text == amount })
	}
	maps.DeleteFunc(out.KubeReserved, isExpression)
	maps.DeleteFunc(out.SystemReserved, isExpression)
	return out
}

// read reads settings of the kubelet.
func (s *Settings) read(k *awsv1.KubeletConfiguration) error {
	if k == nil {
		return nil
	}
	var faults [5]error
	s.reserved, faults[0] = kubelet.ParseReserved("kubeReserved", k.KubeReserved)
	s.system, faults[1] = kubelet.ParseReserved("systemReserved", k.SystemReserved)
	if faults[2] = bounded("evictionHard", k.EvictionHard); faults[2] == nil {
		s.eviction, faults[2] = kubelet.ParseThresholds(k.EvictionHard)
	}
	if k.MaxPods != nil && k.MaxPods.Type == intstr.Int {
		n := int64(k.MaxPods.IntVal)
		s.maxPods, faults[3] = &n, notNegative("maxPods", n)
	} else if k.MaxPods != nil {
		faults[3] = fmt.Errorf("maxPods: %q is not a number; write one, or set an evaluator for expressions", k.MaxPods.StrVal)
	}
	if k.PodsPerCore != nil && s.features.PodsPerCore {
		s.podsPerCore = int64(*k.PodsPerCore)
		faults[4] = notNegative("podsPerCore", s.podsPerCore)
	}
	return errors.Join(faults[:]...)
}

// For returns the settings with expressions replaced by their values for one machine. Settings
// without expressions are returned as they are. The error lists the expressions that have no value
// for the machine.
func (s Settings) For(m Machine, c Cluster) (Settings, error) {
	if s.open == nil {
		return s, nil
	}
	pods := func(maxPods *int32) int64 {
		own := s
		if own.maxPods = nil; maxPods != nil {
			own.maxPods = new(int64(*maxPods))
		}
		return own.Pods(m, c)
	}
	k, err := s.open.EvaluateExpressions(s.evaluator, awsv1.ExpressionVariables{
		InstanceType: m.Name, VCPUs: m.VCPUs, MemoryMiB: m.MemoryMiB, DefaultENIs: m.Interfaces, IPsPerENI: m.Addresses,
	}, pods)
	if err != nil {
		return Settings{}, err
	}
	out := Settings{features: s.features, efaOnly: s.efaOnly, evaluated: k}
	if err := out.read(k); err != nil {
		return Settings{}, fmt.Errorf("spec.kubelet: %w", err)
	}
	return out, nil
}

// Evaluated returns the settings of the kubelet in which For has replaced expressions
// by their values, and nil if there were none. It is read-only.
func (s Settings) Evaluated() *awsv1.KubeletConfiguration { return s.evaluated }

// bounded refuses quantities with an exponent of more than three digits, which would take forever
// to compute. The class may not have been validated.
func bounded(name string, amounts map[string]string) error {
	var faults []error
	for _, key := range slices.Sorted(maps.Keys(amounts)) {
		if i := strings.LastIndexAny(amounts[key], "eE"); i >= 0 && len(amounts[key])-i > len("e-123") {
			faults = append(faults, fmt.Errorf("%s: %s: %q: write the amount out", name, key, amounts[key]))
		}
	}
	return errors.Join(faults...)
}

func notNegative(name string, n int64) error {
	if n < 0 {
		return fmt.Errorf("%s: %d; use zero or more", name, n)
	}
	return nil
}

// Pods returns how many pods a node of the machine runs:
//
//  1. maxPods of the class, if it is set;
//  2. else the number of pods for which the interfaces of the default card have addresses, if the
//     family counts pods so. Interfaces that the cluster reserves, and efa-only interfaces of the
//     class on that card, have none;
//  3. else 110, on Windows;
//  4. in each case at most podsPerCore for each vCPU, if it is set and the family supports it.
//
// It may be zero; then no pod fits.
func (s Settings) Pods(m Machine, c Cluster) int64 {
	pods := int64(windowsPods)
	used := max(c.ReservedInterfaces, 0) + s.efaOnlyOn(m.Card)
	switch {
	case s.maxPods != nil:
		pods = *s.maxPods
	case s.features.ENILimitedPodDensity && c.PrefixDelegation && m.Prefixes:
		pods = m.prefixPods(used)
	case s.features.ENILimitedPodDensity:
		pods = m.AddressPods(used)
	}
	return kubelet.PodsPerCore(pods, s.podsPerCore, min(max(m.VCPUs, 0), 1<<40)*1000)
}

func (s Settings) efaOnlyOn(card int64) int64 {
	var n int64
	for _, c := range s.efaOnly {
		if c == card {
			n++
		}
	}
	return n
}

// Overhead returns the part of a node's capacity that pods cannot use: the reserves and thresholds
// of kubelet.EKS, each replaced by that of the class with the same resource or signal.
//
// Memory is reserved for each pod. On Amazon Linux, and on unknown images, the number of pods is
// the one for which the interfaces have single addresses, regardless of maxPods and of the
// interfaces that the cluster reserves, because the script in the image counts so. On other images
// it is the number of pods in the capacity.
func (s Settings) Overhead(m Machine, capacity resources.List) cloudprovider.Overhead {
	rules := kubelet.EKS()
	config := &kubelet.Config{KubeReserved: s.reserved, SystemReserved: s.system, EvictionHard: s.eviction}
	if s.features.ENILimitedMemoryOverhead {
		pods := m.AddressPods(s.efaOnlyOn(m.Card))
		memory := resources.New(map[corev1.ResourceName]int64{corev1.ResourceMemory: rules.Memory.Of(0, pods)})
		config.KubeReserved = memory.Merge(s.reserved)
	}
	return rules.Overhead(capacity, config)
}
