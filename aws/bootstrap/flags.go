package bootstrap

import (
	"fmt"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// flag is one flag of the kubelet.
type flag struct {
	name, value string
	quoted      bool // whether flagLine quotes the value
}

func (n *Node) flags() []flag {
	k := &n.Kubelet
	var flags []flag
	text := func(name, value string) {
		if value != "" {
			flags = append(flags, flag{name, value, true})
		}
	}
	number := func(name string, value *int32) {
		if value != nil {
			flags = append(flags, flag{name, strconv.Itoa(int(*value)), false})
		}
	}
	text("--node-labels", joinMap(n.RegistrationLabels(), "="))
	text("--register-with-taints", joinTaints(n.RegistrationTaints()))
	number("--max-pods", n.maxPods())
	number("--pods-per-core", k.PodsPerCore)
	text("--system-reserved", joinMap(k.SystemReserved, "="))
	text("--kube-reserved", joinMap(k.KubeReserved, "="))
	text("--eviction-hard", joinMap(k.EvictionHard, "<"))
	text("--eviction-soft", joinMap(k.EvictionSoft, "<"))
	text("--eviction-soft-grace-period", joinMap(durations(k.EvictionSoftGracePeriod), "="))
	number("--eviction-max-pod-grace-period", k.EvictionMaxPodGracePeriod)
	number("--image-gc-high-threshold", k.ImageGCHighThresholdPercent)
	number("--image-gc-low-threshold", k.ImageGCLowThresholdPercent)
	if k.CPUCFSQuota != nil {
		flags = append(flags, flag{"--cpu-cfs-quota", strconv.FormatBool(*k.CPUCFSQuota), false})
	}
	return flags
}

// flagLine renders the flags as one text, which systemd and Windows split into
// words again: both know double quotes. No value has one, see Node.validate.
func (n *Node) flagLine() string {
	var words []string
	for _, f := range n.flags() {
		value := f.value
		if f.quoted {
			value = `"` + value + `"`
		}
		words = append(words, f.name+"="+value)
	}
	return strings.Join(words, " ")
}

// joinMap renders entries in the format of kubelet flags. Values must not contain a comma, because
// it cannot be escaped.
func joinMap(m map[string]string, separator string) string {
	var entries []string
	for _, key := range sortedKeys(m) {
		entries = append(entries, key+separator+m[key])
	}
	return strings.Join(entries, ",")
}

func joinTaints(taints []corev1.Taint) string {
	var entries []string
	for _, t := range taints {
		if t.Value == "" {
			entries = append(entries, fmt.Sprintf("%s:%s", t.Key, t.Effect))
			continue
		}
		entries = append(entries, fmt.Sprintf("%s=%s:%s", t.Key, t.Value, t.Effect))
	}
	return strings.Join(entries, ",")
}
