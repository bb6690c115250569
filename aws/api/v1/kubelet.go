package v1

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/dovetail-sdk/dovetail/internal/quantity"
)

// KubeletConfiguration has the settings of the kubelet that a class can set. Names and meanings are
// those of the kubelet. EC2NodeClass.Validate says which settings a family of images supports.
//
// +k8s:deepcopy-gen=false
type KubeletConfiguration struct {
	// ClusterDNS are the IP addresses of the cluster's DNS service. Families other than AL2023 and
	// Custom support one. Any text is passed on; the kubelet warns of a malformed address and
	// ignores it.
	ClusterDNS []string `json:"clusterDNS,omitzero"`
	// MaxPods is the largest number of pods on a node, zero or more, or a string with an expression
	// that gives one. Nil derives it from the addresses of the instance type.
	MaxPods *intstr.IntOrString `json:"maxPods,omitempty"`
	// PodsPerCore limits the number of pods per vCPU. Zero, like nil, sets no limit.
	PodsPerCore *int32 `json:"podsPerCore,omitempty"`
	// SystemReserved has the amounts that are reserved for the operating system, by resource: cpu,
	// memory, ephemeral-storage or pid, each a quantity that is not negative, or an expression: see
	// EvaluateExpressions.
	SystemReserved map[string]string `json:"systemReserved,omitzero"`
	// KubeReserved has the amounts that are reserved for Kubernetes itself, as SystemReserved. A
	// missing resource has a default that grows with the instance.
	KubeReserved map[string]string `json:"kubeReserved,omitzero"`
	// EvictionHard has thresholds by signal, each a quantity or a percentage. Below a threshold
	// pods are evicted at once. Signals are memory.available, nodefs.available, nodefs.inodesFree,
	// imagefs.available, imagefs.inodesFree and pid.available.
	EvictionHard map[string]string `json:"evictionHard,omitzero"`
	// EvictionSoft is EvictionHard with a grace period. Each signal needs an entry in
	// EvictionSoftGracePeriod, and the reverse.
	EvictionSoft map[string]string `json:"evictionSoft,omitzero"`
	// EvictionSoftGracePeriod is the grace period by signal, not negative.
	EvictionSoftGracePeriod map[string]metav1.Duration `json:"evictionSoftGracePeriod,omitzero"`
	// EvictionMaxPodGracePeriod bounds, in seconds, how long a pod that is
	// evicted by EvictionSoft may take to end. Zero or more.
	EvictionMaxPodGracePeriod *int32 `json:"evictionMaxPodGracePeriod,omitempty"`
	// ImageGCHighThresholdPercent is how full the disk must be, 0 to 100, for
	// images to be removed.
	ImageGCHighThresholdPercent *int32 `json:"imageGCHighThresholdPercent,omitempty"`
	// ImageGCLowThresholdPercent is how full the disk may be when removal ends. It must be below
	// the high threshold.
	ImageGCLowThresholdPercent *int32 `json:"imageGCLowThresholdPercent,omitempty"`
	// CPUCFSQuota enforces CPU limits. Nil leaves it to the kubelet, whose default is true.
	CPUCFSQuota *bool `json:"cpuCFSQuota,omitempty"`
	// Extra are further settings by their names in the kubelet's configuration, on the wire next to
	// the fields above, with values as encoding/json decodes them. They are passed on to the
	// kubelet if the family supports any setting, as AL2023 does. Karpenter has them from 1.15 on.
	Extra map[string]any `json:"-"`
	// AsRead has, by name, the text of settings whose fields do not keep it: a duration of 60s,
	// which could be 1m0s too, a null in a list, a value of the wrong type. It is needed because
	// the drift hash covers the text that the API server keeps. UnmarshalJSON fills it. An entry is
	// used only until its setting changes, so there is no need to clear it, and writing to it has
	// no use.
	AsRead map[string]KubeletText `json:"-"`
}

// KubeletText is the text of a setting of the kubelet.
//
// +k8s:deepcopy-gen=false
type KubeletText struct {
	// JSON is the value as the API server keeps it.
	JSON string
	// Setting is the text that MarshalJSON would write for the value that was read; empty if the
	// setting was left out.
	Setting string
}

// DeepCopyInto copies k into out. Nothing is shared. It is written by hand because
// Extra may hold any value of JSON.
func (k *KubeletConfiguration) DeepCopyInto(out *KubeletConfiguration) {
	*out = *k
	out.ClusterDNS = slices.Clone(k.ClusterDNS)
	out.MaxPods = clonePointer(k.MaxPods)
	out.PodsPerCore = clonePointer(k.PodsPerCore)
	out.SystemReserved = maps.Clone(k.SystemReserved)
	out.KubeReserved = maps.Clone(k.KubeReserved)
	out.EvictionHard = maps.Clone(k.EvictionHard)
	out.EvictionSoft = maps.Clone(k.EvictionSoft)
	out.EvictionSoftGracePeriod = maps.Clone(k.EvictionSoftGracePeriod)
	out.EvictionMaxPodGracePeriod = clonePointer(k.EvictionMaxPodGracePeriod)
	out.ImageGCHighThresholdPercent = clonePointer(k.ImageGCHighThresholdPercent)
	out.ImageGCLowThresholdPercent = clonePointer(k.ImageGCLowThresholdPercent)
	out.CPUCFSQuota = clonePointer(k.CPUCFSQuota)
	out.Extra = copyObject(k.Extra)
	out.AsRead = maps.Clone(k.AsRead)
}

// DeepCopy returns a copy that shares nothing with k, or nil for nil.
func (k *KubeletConfiguration) DeepCopy() *KubeletConfiguration {
	if k == nil {
		return nil
	}
	out := new(KubeletConfiguration)
	k.DeepCopyInto(out)
	return out
}

func clonePointer[T any](p *T) *T {
	if p == nil {
		return nil
	}
	v := *p
	return &v
}

// jsonKind is a type of values in JSON, worded for an error.
type jsonKind string

const (
	jsonDuration jsonKind = "a string with a duration, such as 1m30s"
	jsonInt32    jsonKind = "a whole number of 32 bits"
	jsonInt64    jsonKind = "a whole number of 64 bits"
	jsonList     jsonKind = "a list"
	jsonNumber   jsonKind = "a number"
	jsonObject   jsonKind = "an object"
	jsonPeriod   jsonKind = "a string with a duration, such as 5s, or a number of nanoseconds"
	jsonQuantity jsonKind = "a quantity, such as 64Mi"
	jsonText     jsonKind = "a string"
	jsonTruth    jsonKind = "true or false"
	jsonUint32   jsonKind = "a whole number from 0 to 4294967295"
)

// kubeletSchema has the type of settings of the kubelet without a field, and of the values in them,
// by path: [] is an item of a list, and * any key of an object. It is read once and not modified.
var kubeletSchema = sync.OnceValue(func() map[string]jsonKind {
	kinds := map[string]jsonKind{
		"duration": jsonDuration, "int32": jsonInt32, "int64": jsonInt64, "number": jsonNumber, "period": jsonPeriod,
		"quantity": jsonQuantity, "text": jsonText, "truth": jsonTruth, "uint32": jsonUint32,
	}
	schema := map[string]jsonKind{}
	for line := range strings.Lines(kubeletTable) {
		kind, path, _ := strings.Cut(strings.TrimSpace(line), " ")
		path = strings.TrimSpace(path)
		schema[path] = kinds[kind]
		for i := range path {
			switch path[i] {
			case '.':
				schema[path[:i]] = jsonObject
			case '[':
				schema[path[:i]] = jsonList
			}
		}
	}
	return schema
})

// kubeletTable has the scalar settings of the kubelet of Kubernetes 1.37, configuration version
// v1beta1, one on each line, by type.
//
//go:embed tables/kubelet.txt
var kubeletTable string

// kubeletSetting returns the type of a setting of the kubelet without a field, and "" for other
// names.
func kubeletSetting(name string) jsonKind {
	if strings.ContainsAny(name, ".[") {
		return ""
	}
	return kubeletSchema()[name]
}

// kubeletFieldKind returns the type of a setting that has a field, worded for an error, and "" for
// others.
func kubeletFieldKind(name string) string {
	switch name {
	case "clusterDNS":
		return "a list of strings"
	case "systemReserved", "kubeReserved", "evictionHard", "evictionSoft":
		return "an object with strings"
	case "evictionSoftGracePeriod":
		return "an object with durations, such as 1m30s"
	case "cpuCFSQuota":
		return string(jsonTruth)
	case "maxPods":
		return "a whole number, or a string with an expression"
	case "podsPerCore", "evictionMaxPodGracePeriod", "imageGCHighThresholdPercent", "imageGCLowThresholdPercent":
		return "a whole number"
	}
	return ""
}

// fits reports whether a value, as encoding/json decodes it, has the type.
func (k jsonKind) fits(value any) bool {
	switch value := value.(type) {
	case []any:
		return k == jsonList
	case map[string]any:
		return k == jsonObject
	case bool:
		return k == jsonTruth
	case string:
		switch k {
		case jsonText:
			return true
		case jsonDuration, jsonPeriod:
			_, err := time.ParseDuration(value)
			return err == nil
		case jsonQuantity:
			return isQuantity(strings.TrimSpace(value)) // the kubelet trims it too
		}
	case int64:
		return k.holds(float64(value))
	case float64:
		return k.holds(value)
	}
	return false
}

// holds reports whether a number is in the range of the type.
func (k jsonKind) holds(n float64) bool {
	whole := n == math.Trunc(n)
	switch k {
	case jsonInt32:
		return whole && n >= math.MinInt32 && n <= math.MaxInt32
	case jsonInt64, jsonPeriod:
		return whole && n >= math.MinInt64 && n < math.MaxInt64
	case jsonUint32:
		return whole && n >= 0 && n <= math.MaxUint32
	}
	return slices.Contains([]jsonKind{jsonNumber, jsonQuantity}, k)
}

// isQuantity refuses exponents that would take forever to compute.
func isQuantity(text string) bool {
	if quantity.Endless(text) {
		return false
	}
	_, err := resource.ParseQuantity(text)
	return err == nil
}

// kubeletFields has the fields of KubeletConfiguration and no methods.
type kubeletFields KubeletConfiguration

// nothing is the text of a setting without a value.
const nothing = "null"

// MarshalJSON writes the fields and the settings in Extra, sorted by name. If a setting has not
// changed since it was read, the text in AsRead is written, so that an unchanged object is written
// back literally. An entry of Extra with the name of a field is left out; validation refuses it.
func (k KubeletConfiguration) MarshalJSON() ([]byte, error) {
	members, err := k.members()
	if err != nil {
		return nil, err
	}
	for name := range k.AsRead {
		if text, ok := k.asRead(name, members); ok {
			members[name] = json.RawMessage(text)
		}
	}
	return json.Marshal(members)
}

// members returns the text of the settings in the fields and in Extra.
func (k *KubeletConfiguration) members() (map[string]json.RawMessage, error) {
	fields, err := json.Marshal((*kubeletFields)(k))
	if err != nil {
		return nil, err
	}
	out := map[string]json.RawMessage{}
	if err := json.Unmarshal(fields, &out); err != nil {
		return nil, err
	}
	for name, value := range k.Extra {
		if slices.Contains(kubeletFieldNames(), name) {
			continue
		}
		if out[name], err = json.Marshal(value); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// asRead returns the text of a setting in AsRead, if the setting in members is still the one that
// was read.
func (k *KubeletConfiguration) asRead(name string, members map[string]json.RawMessage) (string, bool) {
	text, ok := k.AsRead[name]
	return text.JSON, ok && text.JSON != "" && text.Setting == string(members[name])
}

// text returns the settings as the API server keeps them, and null if there are none. Hash covers
// this text.
func (k *KubeletConfiguration) text() string {
	if k == nil {
		return nothing
	}
	// Settings that JSON cannot write cannot reach a node either.
	text, _ := json.Marshal(k)
	if string(text) == "{}" {
		return nothing
	}
	return string(text)
}

// UnmarshalJSON reads the fields, and everything else into Extra. Names are case-sensitive. A null
// setting is left out, because the API server drops it; a null within a setting is kept. Any object
// is accepted, as by the API server: a setting with a value of the wrong type is left out, but
// AsRead keeps it and EC2NodeClass.Validate reports it. DecodeEC2NodeClass refuses such a value.
func (k *KubeletConfiguration) UnmarshalJSON(data []byte) error {
	read, err := canonical(data)
	if err != nil {
		return err
	}
	maps.DeleteFunc(read, func(_ string, text json.RawMessage) bool { return string(text) == nothing })
	var out KubeletConfiguration
	for _, name := range slices.Sorted(maps.Keys(read)) {
		if err := out.read(name, read[name]); err != nil {
			return err
		}
	}
	members, err := out.members()
	if err != nil {
		return err
	}
	for name, text := range read {
		if string(members[name]) == string(text) {
			continue
		}
		if out.AsRead == nil {
			out.AsRead = map[string]KubeletText{}
		}
		out.AsRead[name] = KubeletText{JSON: string(text), Setting: string(members[name])}
	}
	*k = out
	return nil
}

// canonical returns the members of an object in the form in which the API server returns them: keys
// sorted, no whitespace, whole numbers without a fraction.
func canonical(data []byte) (map[string]json.RawMessage, error) {
	var out map[string]json.RawMessage
	// The server parses the text when it stores it, and again when it returns it; only then does
	// -0.0 become 0.
	for range 2 {
		var members map[string]any
		if err := utiljson.Unmarshal(data, &members); err != nil {
			return nil, fmt.Errorf("want an object with settings of the kubelet: %w", err)
		}
		var err error
		if data, err = json.Marshal(members); err != nil {
			return nil, err
		}
	}
	return out, json.Unmarshal(data, &out)
}

// read reads one setting, if it has the right type.
func (k *KubeletConfiguration) read(name string, text json.RawMessage) error {
	if slices.Contains(kubeletFieldNames(), name) {
		member, err := json.Marshal(map[string]json.RawMessage{name: text})
		if err != nil {
			return err
		}
		// Into a copy, because a setting may have been read in part before the fault.
		fields := kubeletFields(*k)
		if json.Unmarshal(member, &fields) == nil {
			*k = KubeletConfiguration(fields)
		}
		return nil
	}
	if k.Extra == nil {
		k.Extra = map[string]any{}
	}
	var value any
	if err := json.Unmarshal(text, &value); err != nil {
		return err
	}
	k.Extra[name] = value
	return nil
}

// kubeletFieldNames returns the names on the wire in the order of the struct.
func kubeletFieldNames() []string {
	return []string{
		"clusterDNS", "maxPods", "podsPerCore", "systemReserved", "kubeReserved", "evictionHard", "evictionSoft",
		"evictionSoftGracePeriod", "evictionMaxPodGracePeriod", "imageGCHighThresholdPercent", "imageGCLowThresholdPercent",
		"cpuCFSQuota",
	}
}

// copyJSON copies a value as encoding/json decodes it. Values of other types are shared, which is
// safe for immutable ones.
func copyJSON(value any) any {
	switch value := value.(type) {
	case map[string]any:
		return copyObject(value)
	case []any:
		if value == nil {
			return value
		}
		out := make([]any, len(value))
		for i := range value {
			out[i] = copyJSON(value[i])
		}
		return out
	}
	return value
}

func copyObject(m map[string]any) map[string]any {
	if m == nil {
		return nil
	}
	out := make(map[string]any, len(m))
	for key, value := range m {
		out[key] = copyJSON(value)
	}
	return out
}
