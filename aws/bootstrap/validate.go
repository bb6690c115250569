package bootstrap

import (
	"encoding/base64"
	"fmt"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/dovetail-sdk/dovetail/amiselect"
	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
)

// validate checks all fields except the custom user data, and resolves addresses.
//
// It is as strict as the kubelet and the API server: a value that they refuse would prevent the
// node from joining, which would show only after minutes.
func (n *Node) validate() (network, field.ErrorList) {
	var faults field.ErrorList
	if !slices.Contains(amiselect.Families(), n.Family) {
		return network{}, append(faults, field.NotSupported(field.NewPath("family"), n.Family, amiselect.Families()))
	}
	if n.Family == amiselect.FamilyCustom {
		return network{}, nil
	}
	faults = append(faults, n.validateCluster()...)
	w, more := n.network()
	faults = append(faults, more...)
	if n.Family.Windows() && w.family == IPv6 {
		faults = append(faults, field.Forbidden(field.NewPath("ipFamily"), "Windows nodes cannot join a cluster of IPv6: choose a Linux family"))
	}
	faults = append(faults, validateLabels(n.Labels)...)
	faults = append(faults, n.validateTaints()...)
	faults = append(faults, n.validateKubelet()...)
	if n.MaxPods != nil && *n.MaxPods < 0 {
		faults = append(faults, field.Invalid(field.NewPath("maxPods"), *n.MaxPods, "must not be negative"))
	}
	if n.InstanceStore != "" && n.InstanceStore != awsv1.InstanceStorePolicyRAID0 {
		faults = append(faults, field.NotSupported(field.NewPath("instanceStore"), n.InstanceStore, []awsv1.InstanceStorePolicy{awsv1.InstanceStorePolicyRAID0}))
	}
	if n.Family == amiselect.FamilyBottlerocket && n.InstanceStore == awsv1.InstanceStorePolicyRAID0 {
		if v, ok := parseVersion(n.BottlerocketVersion); ok && v.before(1, 22) {
			faults = append(faults, field.Invalid(field.NewPath("bottlerocketVersion"), n.BottlerocketVersion,
				"has no command for instance stores: take an image of 1.22.0 or later, or drop the instance store policy"))
		}
	}
	return w, faults
}

func (n *Node) validateCluster() (faults field.ErrorList) {
	if at := field.NewPath("clusterName"); n.ClusterName == "" {
		faults = append(faults, field.Required(at, "give the name of the EKS cluster"))
	} else if !clusterNameForm.MatchString(n.ClusterName) {
		faults = append(faults, field.Invalid(at, n.ClusterName, "is no name of an EKS cluster: at most 100 letters, digits, - and _, beginning with a letter or digit"))
	}
	if at := field.NewPath("endpoint"); n.Endpoint == "" {
		faults = append(faults, field.Required(at, "give the URL of the API server"))
	} else if !endpointForm.MatchString(n.Endpoint) {
		faults = append(faults, field.Invalid(at, n.Endpoint, "is no URL of an API server: write it as https://host or https://host:port"))
	}
	at := field.NewPath("caBundle")
	if _, err := base64.StdEncoding.Strict().DecodeString(n.CABundle); err != nil || strings.ContainsAny(n.CABundle, "\r\n") {
		faults = append(faults, field.Invalid(at, n.CABundle, "is not standard base64 on one line: encode the PEM certificates"))
	}
	if n.Family == amiselect.FamilyAL2023 {
		if n.CABundle == "" {
			faults = append(faults, field.Required(at, "nodeadm does not look it up: give the certificate authority of the cluster in base64"))
		}
		if n.ClusterCIDR == "" {
			faults = append(faults, field.Required(field.NewPath("clusterCIDR"), "nodeadm does not look it up: give the service CIDR of the cluster"))
		}
	}
	return faults
}

var (
	clusterNameForm = regexp.MustCompile(`^[0-9A-Za-z][0-9A-Za-z_-]{0,99}$`)
	endpointForm    = regexp.MustCompile(`^https://[0-9A-Za-z.:[\]/_~%-]+$`)
)

// validateLabels checks labels. A label that the API server refuses would prevent the node from
// registering, and a label with a comma would become two.
func validateLabels(labels map[string]string) (faults field.ErrorList) {
	for _, key := range sortedKeys(labels) {
		at := field.NewPath("labels").Key(key)
		if fault := validation.IsQualifiedName(key); len(fault) > 0 {
			faults = append(faults, field.Invalid(at, key, "is no key of a label: "+strings.Join(fault, "; ")))
		}
		if fault := validation.IsValidLabelValue(labels[key]); len(fault) > 0 {
			faults = append(faults, field.Invalid(at, labels[key], "is no value of a label: "+strings.Join(fault, "; ")))
		}
	}
	return faults
}

// validateTaints checks taints. Kubernetes allows one taint for each key and effect.
func (n *Node) validateTaints() (faults field.ErrorList) {
	type id struct {
		key    string
		effect corev1.TaintEffect
	}
	type place struct {
		value string
		at    *field.Path
	}
	seen := map[id]place{}
	check := func(list string, taints []corev1.Taint) {
		for i, t := range taints {
			at := field.NewPath(list).Index(i)
			faults = append(faults, validateTaint(at, t)...)
			key := id{t.Key, t.Effect}
			first, found := seen[key]
			if !found {
				seen[key] = place{t.Value, at}
			} else if first.value != t.Value {
				faults = append(faults, field.Invalid(at, t.Value, fmt.Sprintf("differs from the value %q of %s, which has the same key and effect: a node cannot have both, remove one", first.value, first.at)))
			}
		}
	}
	check("taints", n.Taints)
	check("startupTaints", n.StartupTaints)
	return faults
}

func validateTaint(at *field.Path, t corev1.Taint) (faults field.ErrorList) {
	if fault := validation.IsQualifiedName(t.Key); len(fault) > 0 {
		faults = append(faults, field.Invalid(at.Child("key"), t.Key, "is no key of a taint: "+strings.Join(fault, "; ")))
	}
	if fault := validation.IsValidLabelValue(t.Value); len(fault) > 0 {
		faults = append(faults, field.Invalid(at.Child("value"), t.Value, "is no value of a taint: "+strings.Join(fault, "; ")))
	}
	switch t.Effect {
	case corev1.TaintEffectNoSchedule, corev1.TaintEffectPreferNoSchedule, corev1.TaintEffectNoExecute:
	default:
		faults = append(faults, field.NotSupported(at.Child("effect"), t.Effect, []corev1.TaintEffect{
			corev1.TaintEffectNoExecute, corev1.TaintEffectNoSchedule, corev1.TaintEffectPreferNoSchedule}))
	}
	return faults
}
