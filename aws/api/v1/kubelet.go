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

// KubeletConfiguration is what can be set of the kubelet's configuration. Names
// and meanings are those of the kubelet. Which settings a family of images takes
// is said at EC2NodeClass.Validate.
//
// +k8s:deepcopy-gen=false
type KubeletConfiguration struct {
	// ClusterDNS are the IP addresses of the cluster's DNS service. Families
	// other than AL2023 and Custom take one. Any text is passed on; the kubelet
	// warns of what is no address, and goes without.
	ClusterDNS []string `json:"clusterDNS,omitzero"`
	// MaxPods is the largest number of pods on a node, zero or more, or a string
	// with an expression that gives one. Nil counts them by the addresses that
	// the instance type has.
	MaxPods *intstr.IntOrString `json:"maxPods,omitempty"`
	// PodsPerCore lowers the number of pods to so many per vCPU. Zero, like nil,
	// does not.
	PodsPerCore *int32 `json:"podsPerCore,omitempty"`
	// SystemReserved is what the operating system is given, by resource: cpu,
	// memory, ephemeral-storage or pid, to a quantity that is not negative or an
	// expression: see EvaluateExpressions.
	SystemReserved map[string]string `json:"systemReserved,omitzero"`
	// KubeReserved is what Kubernetes itself is given, as SystemReserved. A
	// resource that is not named has a default that grows with the instance.
	KubeReserved map[string]string `json:"kubeReserved,omitzero"`
	// EvictionHard says by signal below what amount, a quantity or a percentage,
	// pods are evicted at once. Signals are memory.available, nodefs.available,
	// nodefs.inodesFree, imagefs.available, imagefs.inodesFree and
	// pid.available.
	EvictionHard map[string]string `json:"evictionHard,omitzero"`
	// EvictionSoft is EvictionHard with time to recover. Each signal needs an
	// entry in EvictionSoftGracePeriod, and the reverse.
	EvictionSoft map[string]string `json:"evictionSoft,omitzero"`
	// EvictionSoftGracePeriod is the time to recover by signal, not negative.
	EvictionSoftGracePeriod map[string]metav1.Duration `json:"evictionSoftGracePeriod,omitzero"`
	// EvictionMaxPodGracePeriod bounds, in seconds, how long a pod that is
	// evicted by EvictionSoft may take to end. Zero or more.
	EvictionMaxPodGracePeriod *int32 `json:"evictionMaxPodGracePeriod,omitempty"`
	// ImageGCHighThresholdPercent is how full the disk must be, 0 to 100, for
	// images to be removed.
	ImageGCHighThresholdPercent *int32 `json:"imageGCHighThresholdPercent,omitempty"`
	// ImageGCLowThresholdPercent is down to where they are removed, below the
	// high threshold.
	ImageGCLowThresholdPercent *int32 `json:"imageGCLowThresholdPercent,omitempty"`
	// CPUCFSQuota enforces CPU limits. Nil leaves it to the kubelet, which does.
	CPUCFSQuota *bool `json:"cpuCFSQuota,omitempty"`
	// Extra are further settings by their names in the kubelet's configuration,
	// beside the fields above on the wire, with values as encoding/json decodes
	// them. Nothing here depends on them; they are passed on to the kubelet of
	// families that take any, which AL2023 is. Karpenter has them from 1.15 on.
	Extra map[string]any `json:"-"`
	// AsRead has, by name, how settings were written whose fields do not say it:
	// a duration of 60s, which is 1m0s too, a null in a list, a value of the wrong type.
	// The drift hash is one of what the API server keeps, to the letter.
	// UnmarshalJSON fills it. An entry stands for as long as its setting is not
	// changed; there is no need to clear it, and nothing to be set by it.
	AsRead map[string]KubeletText `json:"-"`
}

// KubeletText is how a setting of the kubelet was written.
//
// +k8s:deepcopy-gen=false
type KubeletText struct {
	// JSON is the value as the API server keeps it.
	JSON string
	// Setting is the value that was read, as it would be written; empty if the
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

// jsonKind is how a value is written in JSON, in the words of an error.
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

// kubeletSchema says how settings of the kubelet are written that have no field of
// their own, and what is in them, by path: [] is an item of a list, and * any key of
// an object. It is read once, and nobody writes to it.
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

// kubeletTable is of the kubelet of Kubernetes 1.37, configuration version v1beta1: its
// values that hold no others, a line each, by how they are written.
//
//go:embed tables/kubelet.txt
var kubeletTable string

// kubeletSetting returns how a setting of the kubelet is written that has no field
// of its own, and "" for what is no such setting.
func kubeletSetting(name string) jsonKind {
	if strings.ContainsAny(name, ".[") {
		return ""
	}
	return kubeletSchema()[name]
}

// kubeletFieldKind returns how a setting is written that has a field, in the
// words of an error, and "" for others.
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

// fits reports whether a value is written so, as encoding/json decodes it.
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
			return isQuantity(strings.TrimSpace(value)) // as it is read
		}
	case int64:
		return k.holds(float64(value))
	case float64:
		return k.holds(value)
	}
	return false
}

// holds reports whether a number is one of the kind.
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

// isQuantity refuses exponents that would take for ever to work out.
func isQuantity(text string) bool {
	if quantity.Endless(text) {
		return false
	}
	_, err := resource.ParseQuantity(text)
	return err == nil
}

// kubeletFields has the fields of KubeletConfiguration and no methods.
type kubeletFields KubeletConfiguration

// nothing is how a setting is written that is there and says nothing.
const nothing = "null"

// MarshalJSON writes the fields and, beside them, what is in Extra, sorted by
// name. What AsRead has of a setting is written in its place for as long as the
// setting is what it was then, so that an object that was read and not changed is
// written back in the same words. An entry of Extra by the name of a field is
// left out; it does not pass validation.
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

// members returns the settings that fields and Extra say, as they are written.
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

// asRead returns how a setting was written, if that still stands: if the setting
// is now, among these, what it was when it was read.
func (k *KubeletConfiguration) asRead(name string, members map[string]json.RawMessage) (string, bool) {
	text, ok := k.AsRead[name]
	return text.JSON, ok && text.JSON != "" && text.Setting == string(members[name])
}

// text returns the settings as the API server keeps them, and null if there are
// none. It is what is hashed of them.
func (k *KubeletConfiguration) text() string {
	if k == nil {
		return nothing
	}
	// What cannot be written as JSON cannot reach a node either.
	text, _ := json.Marshal(k)
	if string(text) == "{}" {
		return nothing
	}
	return string(text)
}

// UnmarshalJSON reads the fields, and everything else into Extra. Names are
// case-sensitive, and null leaves a setting out, which the API server drops; within a
// setting it keeps it. It takes any object, as the API server does: a value of the
// wrong type leaves its setting out as well, stays in AsRead and is a fault to
// EC2NodeClass.Validate. DecodeEC2NodeClass refuses it at once.
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

// canonical returns the members of an object in the form in which the API server
// hands them out: keys sorted, nothing between them, whole numbers as such.
func canonical(data []byte) (map[string]json.RawMessage, error) {
	var out map[string]json.RawMessage
	// The server reads what is written when it stores it, and once more when it
	// hands it out; only then is -0.0 plain 0.
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

// read takes in one setting, if it has the type that it should have.
func (k *KubeletConfiguration) read(name string, text json.RawMessage) error {
	if slices.Contains(kubeletFieldNames(), name) {
		member, err := json.Marshal(map[string]json.RawMessage{name: text})
		if err != nil {
			return err
		}
		// Into a copy, as half a setting may have been read before the fault.
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

// copyJSON copies a value as encoding/json decodes it. Values of other types are
// shared, which does no harm to those that cannot be changed.
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
