package bootstrap

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/dovetail-sdk/dovetail/amiselect"
	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
	"github.com/dovetail-sdk/dovetail/internal/quantity"
)

func reservedNames() []string {
	return []string{"cpu", "ephemeral-storage", "memory", "pid"}
}

func evictionSignals() []string {
	return []string{"imagefs.available", "imagefs.inodesFree", "memory.available", "nodefs.available",
		"nodefs.inodesFree", "pid.available"}
}

// validateKubelet checks the kubelet's settings, and whether the family has them.
// Addresses are checked with the network.
func (n *Node) validateKubelet() (faults field.ErrorList) {
	k, at := &n.Kubelet, field.NewPath("kubelet")
	number := func(name string, value *int32, most int32) {
		switch {
		case value == nil:
		case *value < 0:
			faults = append(faults, field.Invalid(at.Child(name), *value, "must not be negative"))
		case most > 0 && *value > most:
			faults = append(faults, field.Invalid(at.Child(name), *value, fmt.Sprintf("must be at most %d", most)))
		}
	}
	number("maxPods", n.ownMaxPods(), 0)
	number("podsPerCore", k.PodsPerCore, 0)
	number("evictionMaxPodGracePeriod", k.EvictionMaxPodGracePeriod, 0)
	number("imageGCHighThresholdPercent", k.ImageGCHighThresholdPercent, 100)
	number("imageGCLowThresholdPercent", k.ImageGCLowThresholdPercent, 100)
	if high, low := k.ImageGCHighThresholdPercent, k.ImageGCLowThresholdPercent; high != nil && low != nil && *high <= *low {
		faults = append(faults, field.Invalid(at.Child("imageGCHighThresholdPercent"), *high,
			fmt.Sprintf("must be higher than imageGCLowThresholdPercent, which is %d", *low)))
	}
	faults = append(faults, quantities(at.Child("systemReserved"), k.SystemReserved, reservedNames(), reservation)...)
	faults = append(faults, quantities(at.Child("kubeReserved"), k.KubeReserved, reservedNames(), reservation)...)
	faults = append(faults, quantities(at.Child("evictionHard"), k.EvictionHard, evictionSignals(), threshold)...)
	faults = append(faults, quantities(at.Child("evictionSoft"), k.EvictionSoft, evictionSignals(), threshold)...)
	faults = append(faults, gracePeriods(k, at)...)
	faults = append(faults, n.validateExtra(at)...)
	return append(faults, n.validateSupport(at)...)
}

// quantities checks a map of names to amounts.
func quantities(at *field.Path, m map[string]string, names []string, fault func(string) string) (faults field.ErrorList) {
	for _, key := range sortedKeys(m) {
		if !slices.Contains(names, key) {
			faults = append(faults, field.NotSupported(at.Key(key), key, names))
		}
		if text := fault(m[key]); text != "" {
			faults = append(faults, field.Invalid(at.Key(key), m[key], text))
		}
	}
	return faults
}

// reservation says what is wrong with an amount that is kept from pods.
func reservation(text string) string {
	if !amount(text) {
		return "must be a quantity of at least 0, such as 100m or 1Gi; expressions have to be resolved before"
	}
	return ""
}

// amount reports whether a text is a quantity that is not negative and that can be
// worked out.
func amount(text string) bool {
	if quantity.Endless(text) {
		return false
	}
	q, err := resource.ParseQuantity(text)
	return err == nil && q.Sign() >= 0
}

// threshold says what is wrong with an amount at which pods are evicted.
func threshold(text string) string {
	if number, found := strings.CutSuffix(text, "%"); found {
		percent, err := strconv.ParseFloat(number, 64)
		if err != nil || !(percent >= 0 && percent <= 100) {
			return "must be a percentage from 0% to 100%"
		}
		return ""
	}
	if !amount(text) {
		return "must be a quantity of at least 0, such as 500Mi, or a percentage, such as 5%"
	}
	return ""
}

// gracePeriods checks that soft evictions have grace periods and nothing
// else has: the kubelet does not start otherwise.
func gracePeriods(k *awsv1.KubeletConfiguration, at *field.Path) (faults field.ErrorList) {
	grace := at.Child("evictionSoftGracePeriod")
	for _, key := range sortedKeys(k.EvictionSoftGracePeriod) {
		if !slices.Contains(evictionSignals(), key) {
			faults = append(faults, field.NotSupported(grace.Key(key), key, evictionSignals()))
		} else if _, found := k.EvictionSoft[key]; !found {
			faults = append(faults, field.Invalid(grace.Key(key), key, "has no counterpart in evictionSoft: add it there or remove it here"))
		}
		if d := k.EvictionSoftGracePeriod[key].Duration; d < 0 {
			faults = append(faults, field.Invalid(grace.Key(key), d.String(), "must not be negative"))
		}
	}
	for _, key := range sortedKeys(k.EvictionSoft) {
		if _, found := k.EvictionSoftGracePeriod[key]; !found {
			faults = append(faults, field.Required(grace.Key(key), "evictionSoft has this signal: say after how long pods are evicted"))
		}
	}
	return faults
}

// validateExtra checks the fields that nothing here knows the meaning of.
func (n *Node) validateExtra(at *field.Path) (faults field.ErrorList) {
	for _, key := range sortedKeys(n.Kubelet.Extra) {
		path := at.Child("extra").Key(key)
		switch {
		case !FeaturesOf(n.Family).ArbitraryKubelet:
			faults = append(faults, field.Forbidden(path, fmt.Sprintf("%s nodes do not have it: write it in the custom user data, or choose AL2023", n.Family)))
		case key == "":
			faults = append(faults, field.Required(path, "give the name of a field"))
		case key == "registerWithTaints":
			faults = append(faults, field.Forbidden(path, "taints come from the NodePool: give them there"))
		case slices.Contains(managedKubeletFields(), key):
			faults = append(faults, field.Forbidden(path, "Kubelet has a field of that name: use it"))
		default:
			if _, err := json.Marshal(n.Kubelet.Extra[key]); err != nil {
				faults = append(faults, field.Invalid(path, fmt.Sprintf("%T", n.Kubelet.Extra[key]), "cannot be written as JSON: use maps, slices, strings, numbers and booleans"))
			}
		}
	}
	return faults
}

// validateSupport refuses fields that the family does not have.
func (n *Node) validateSupport(at *field.Path) (faults field.ErrorList) {
	k := &n.Kubelet
	if k.PodsPerCore != nil && !FeaturesOf(n.Family).PodsPerCore {
		faults = append(faults, field.Forbidden(at.Child("podsPerCore"), fmt.Sprintf("%s does not have it: set maxPods", n.Family)))
	}
	if n.Family != amiselect.FamilyAL2023 && len(k.ClusterDNS) > 1 {
		faults = append(faults, field.TooMany(at.Child("clusterDNS"), len(k.ClusterDNS), 1))
	}
	return faults
}
