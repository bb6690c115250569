package v1

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/dovetail-sdk/dovetail/amiselect"
	"github.com/dovetail-sdk/dovetail/internal/quantity"
)

// reservable returns the keys of systemReserved and kubeReserved, sorted.
func reservable() []string {
	return []string{"cpu", "ephemeral-storage", "memory", "pid"}
}

// evictionSignals returns the keys of the eviction maps, sorted.
func evictionSignals() []string {
	return []string{
		"imagefs.available", "imagefs.inodesFree", "memory.available",
		"nodefs.available", "nodefs.inodesFree", "pid.available",
	}
}

// Validate returns what is wrong with the settings for nodes of a family, by the rules of
// EC2NodeClass.Validate, in the order of the fields. path is that of the settings. A nil
// receiver has no faults.
func (k *KubeletConfiguration) Validate(path *field.Path, family amiselect.Family) field.ErrorList {
	v := &validator{}
	v.kubelet(path, k, family)
	return v.faults
}

func (v *validator) kubelet(path *field.Path, k *KubeletConfiguration, family amiselect.Family) {
	if k == nil {
		return
	}
	if len(k.ClusterDNS) > 1 && family != amiselect.FamilyAL2023 && family != amiselect.FamilyCustom {
		v.add(field.Invalid(path.Child("clusterDNS"), strings.Join(k.ClusterDNS, ", "), "the family "+string(family)+" takes one address; keep one"))
	}
	v.maxPods(path.Child("maxPods"), k.MaxPods)
	atLeast(v, path.Child("podsPerCore"), k.PodsPerCore, 0)
	if k.PodsPerCore != nil && family == amiselect.FamilyBottlerocket {
		v.add(field.Forbidden(path.Child("podsPerCore"), "Bottlerocket has no such setting; use maxPods"))
	}
	v.reserved(path.Child("systemReserved"), k.SystemReserved)
	v.reserved(path.Child("kubeReserved"), k.KubeReserved)
	v.thresholds(path.Child("evictionHard"), k.EvictionHard)
	v.thresholds(path.Child("evictionSoft"), k.EvictionSoft)
	v.gracePeriods(path, k)
	atLeast(v, path.Child("evictionMaxPodGracePeriod"), k.EvictionMaxPodGracePeriod, 0)
	high, low := k.ImageGCHighThresholdPercent, k.ImageGCLowThresholdPercent
	within(v, path.Child("imageGCHighThresholdPercent"), high, 0, 100)
	within(v, path.Child("imageGCLowThresholdPercent"), low, 0, 100)
	if high != nil && low != nil && *high <= *low {
		v.add(field.Invalid(path.Child("imageGCHighThresholdPercent"), *high, "must be above imageGCLowThresholdPercent"))
	}
	v.extra(path, k.Extra, family)
	v.asRead(path, k, family)
}

// asRead checks the settings that were read and say nothing to a field: null, and
// values of another type. Null is as good as nothing where the setting is taken.
func (v *validator) asRead(path *field.Path, k *KubeletConfiguration, family amiselect.Family) {
	if len(k.AsRead) == 0 {
		return
	}
	members, err := k.members()
	if err != nil {
		return // a value of Extra, and so a fault already
	}
	for _, name := range slices.Sorted(maps.Keys(k.AsRead)) {
		text, ok := k.asRead(name, members)
		// In a list of strings only null is read as what it is not.
		if !ok || members[name] != nil && name != "clusterDNS" {
			continue
		}
		at := path.Child(name)
		switch want := kubeletFieldKind(name); {
		case want == "":
			v.setting(at, name, family)
		case text != nothing:
			v.add(field.TypeInvalid(at, text, "want "+want))
		}
	}
}

// setting checks whether nodes of a family can have a setting for which there is
// no field, and reports whether they can.
func (v *validator) setting(path *field.Path, name string, family amiselect.Family) bool {
	switch {
	case name == "registerWithTaints":
		v.add(field.Forbidden(path, "taints come from the NodePool; write them there"))
	case slices.Contains(kubeletFieldNames(), name):
		v.add(field.Forbidden(path, "there is a field of this name; set that"))
	case kubeletSetting(name) == "":
		v.add(field.Forbidden(path, "the kubelet has no such setting; remove it"))
	case family != amiselect.FamilyAL2023 && family != amiselect.FamilyCustom:
		v.add(field.Forbidden(path, "the family "+string(family)+" does not take it here; write it into userData, or use AL2023"))
	default:
		return true
	}
	return false
}

// extra checks the settings that have no field. They stand beside the fields on
// the wire, and so do their paths.
func (v *validator) extra(path *field.Path, extra map[string]any, family amiselect.Family) {
	if len(extra) == 0 {
		return
	}
	schema := kubeletSchema()
	for _, name := range slices.Sorted(maps.Keys(extra)) {
		at, value := path.Child(name), extra[name]
		if !v.setting(at, name, family) {
			continue
		}
		v.value(at, schema, name, value)
		if signals, ok := value.(map[string]any); ok && name == "evictionMinimumReclaim" {
			v.minimumReclaim(at, signals)
		}
	}
}

// value checks a value and what is in it by the schema, in which it stands under a
// name. Null is nothing.
func (v *validator) value(path *field.Path, schema map[string]jsonKind, name string, value any) {
	if value == nil {
		return
	}
	if want := schema[name]; !want.fits(value) {
		var shown any = fmt.Sprint(value)
		if strings.HasPrefix(name, "staticPodURLHeader") { // these can be credentials
			shown = field.OmitValueType{}
		}
		v.add(field.TypeInvalid(path, shown, "want "+string(want)))
		return
	}
	switch value := value.(type) {
	case []any:
		for i := range value {
			v.value(path.Index(i), schema, name+"[]", value[i])
		}
	case map[string]any:
		_, open := schema[name+".*"]
		for _, key := range slices.Sorted(maps.Keys(value)) {
			switch child := name + "." + key; {
			case open:
				v.value(path.Key(key), schema, name+".*", value[key])
			case key == "*" || strings.ContainsAny(key, ".[") || schema[child] == "":
				v.add(field.Forbidden(path.Child(key), "the kubelet has no such setting; remove it"))
			default:
				v.value(path.Child(key), schema, child, value[key])
			}
		}
	}
}

// minimumReclaim checks the amounts that are texts, and null, which is an empty one;
// others are faults already.
func (v *validator) minimumReclaim(path *field.Path, signals map[string]any) {
	texts := map[string]string{}
	for key, value := range signals {
		if text, ok := value.(string); ok || value == nil {
			texts[key] = text
		}
	}
	v.thresholds(path, texts)
}

func (v *validator) maxPods(path *field.Path, n *intstr.IntOrString) {
	switch {
	case n == nil:
	case n.Type == intstr.Int:
		atLeast(v, path, &n.IntVal, 0)
	case n.StrVal == "":
		v.add(field.Invalid(path, "", "want a whole number or an expression"))
	}
}

func (v *validator) reserved(path *field.Path, amounts map[string]string) {
	for _, key := range slices.Sorted(maps.Keys(amounts)) {
		at := path.Key(key)
		if !slices.Contains(reservable(), key) {
			v.add(field.NotSupported(at, key, reservable()))
		}
		if !isAmount(amounts[key]) && !isExpression(amounts[key]) {
			v.add(field.Invalid(at, amounts[key], "want a quantity that is not negative, such as 100m or 256Mi, or an expression"))
		}
	}
}

func (v *validator) thresholds(path *field.Path, signals map[string]string) {
	for _, key := range slices.Sorted(maps.Keys(signals)) {
		at := path.Key(key)
		v.signal(at, key)
		if !isThreshold(signals[key]) {
			v.add(field.Invalid(at, signals[key], "want a quantity that is not negative, such as 500Mi, or a percentage from 0% to 100%, such as 12.5%"))
		}
	}
}

func (v *validator) signal(path *field.Path, key string) {
	if !slices.Contains(evictionSignals(), key) {
		v.add(field.NotSupported(path, key, evictionSignals()))
	}
}

// gracePeriods checks them, and that the soft thresholds have the same keys.
func (v *validator) gracePeriods(path *field.Path, k *KubeletConfiguration) {
	soft, periods := path.Child("evictionSoft"), path.Child("evictionSoftGracePeriod")
	for _, key := range slices.Sorted(maps.Keys(k.EvictionSoft)) {
		if _, ok := k.EvictionSoftGracePeriod[key]; !ok {
			v.add(field.Required(periods.Key(key), "a signal of evictionSoft needs a grace period, such as 1m"))
		}
	}
	for _, key := range slices.Sorted(maps.Keys(k.EvictionSoftGracePeriod)) {
		v.signal(periods.Key(key), key)
		v.period(periods.Key(key), k.EvictionSoftGracePeriod[key])
		if _, ok := k.EvictionSoft[key]; !ok {
			v.add(field.Required(soft.Key(key), "a signal of evictionSoftGracePeriod needs a threshold, or remove it there"))
		}
	}
}

func (v *validator) period(path *field.Path, d metav1.Duration) {
	if d.Duration < 0 {
		v.add(field.Invalid(path, d.Duration.String(), "must not be negative"))
	}
}

// isAmount refuses a minus sign even before zero, as Karpenter does.
func isAmount(text string) bool {
	return isQuantity(text) && !strings.HasPrefix(text, "-")
}

// isThreshold accepts quantities that are not negative, and percentages from 0% to
// 100% as a computer writes numbers: 12.345%, .5% and 1e1% among them.
func isThreshold(text string) bool {
	if number, ok := strings.CutSuffix(text, "%"); ok {
		n, err := strconv.ParseFloat(number, 64)
		return err == nil && n >= 0 && n <= 100
	}
	if quantity.Endless(text) {
		return false
	}
	q, err := resource.ParseQuantity(text)
	return err == nil && q.Sign() >= 0
}
