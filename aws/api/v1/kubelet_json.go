package v1

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
)

// kubeletFields has the fields of KubeletConfiguration and no methods.
type kubeletFields KubeletConfiguration

// MarshalJSON writes the fields and, beside them, what is in Extra, sorted by
// name if there is any. An entry of Extra by the name of a field is left out; it
// does not pass validation.
func (k KubeletConfiguration) MarshalJSON() ([]byte, error) {
	fields, err := json.Marshal(kubeletFields(k))
	if err != nil || len(k.Extra) == 0 {
		return fields, err
	}
	var members map[string]any
	if err := json.Unmarshal(fields, &members); err != nil {
		return nil, err
	}
	out := maps.Clone(k.Extra)
	for _, name := range kubeletFieldNames() {
		delete(out, name)
	}
	maps.Copy(out, members)
	return json.Marshal(out)
}

// UnmarshalJSON reads the fields, and everything else into Extra. Names are
// case-sensitive, and null leaves a setting out. It does not judge what is in
// Extra; DecodeEC2NodeClass does.
func (k *KubeletConfiguration) UnmarshalJSON(data []byte) error {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(data, &members); err != nil {
		return errors.New("want an object with settings of the kubelet")
	}
	known := map[string]json.RawMessage{}
	for _, name := range kubeletFieldNames() {
		if value, ok := members[name]; ok {
			known[name] = value
			delete(members, name)
		}
	}
	// Only so that the names are matched as they are written.
	own, err := json.Marshal(known)
	if err != nil {
		return err
	}
	var fields kubeletFields
	if err := json.Unmarshal(own, &fields); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		var value any
		if err := json.Unmarshal(members[name], &value); err != nil {
			return err
		}
		if value == nil {
			continue
		}
		if fields.Extra == nil {
			fields.Extra = map[string]any{}
		}
		fields.Extra[name] = value
	}
	*k = KubeletConfiguration(fields)
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
