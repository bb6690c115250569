package v1

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	utiljson "k8s.io/apimachinery/pkg/util/json"
)

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
