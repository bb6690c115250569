package bootstrap

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/pelletier/go-toml/v2"

	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
)

// instanceStoreCommand is the name of the command that mounts disks. Commands run in the order of
// their names, and this one must be first.
const instanceStoreCommand = "000-mount-instance-storage"

// bottlerocket makes user data of Bottlerocket: the settings of the user, with
// ours laid over them.
func (n *Node) bottlerocket(w network, custom map[string]any) (UserData, error) {
	theirs := lookup(custom, "settings", "kubernetes")
	kubernetes := n.kubernetesSettings(w)
	if _, found := theirs["cluster-dns-ip"]; found && !w.asked {
		delete(kubernetes, "cluster-dns-ip")
	}
	settings := map[string]any{"kubernetes": kubernetes}
	if n.InstanceStore == awsv1.InstanceStorePolicyRAID0 {
		settings["bootstrap-commands"] = map[string]any{instanceStoreCommand: n.mountCommand()}
	}
	own := map[string]any{"settings": settings}
	warnings := settingsWarnings(theirs, kubernetes)
	text, err := toml.Marshal(mergeSettings(custom, own))
	if err != nil {
		// The error is dropped because it may quote the text.
		return UserData{}, errors.New("cannot be written as TOML again, together with the generated settings: write it more simply")
	}
	u := UserData{Text: string(text), Warnings: warnings}
	rest := len(text)
	if len(custom) > 0 {
		// Ours alone is never longer than ours with theirs.
		alone, err := toml.Marshal(own)
		if err != nil {
			return UserData{}, errors.New("the generated settings cannot be written as TOML: check the settings of the kubelet")
		}
		u.Parts, rest = []Part{{partCustom, rest - len(alone)}}, len(alone)
	}
	u.Parts = append(u.Parts, Part{"settings", rest})
	return u, nil
}

// kubernetesSettings returns the generated settings of Kubernetes.
func (n *Node) kubernetesSettings(w network) map[string]any {
	k := &n.Kubelet
	s := map[string]any{
		"cluster-name": n.ClusterName,
		"api-server":   n.Endpoint,
		"node-labels":  table(n.RegistrationLabels()),
		"node-taints":  n.taintSettings(),
	}
	if n.CABundle != "" {
		s["cluster-certificate"] = n.CABundle
	}
	if len(w.dns) > 0 {
		s["cluster-dns-ip"] = w.dns[0]
	}
	if most := n.maxPods(); most != nil {
		s["max-pods"] = int64(*most)
	}
	for name, value := range map[string]map[string]string{
		"system-reserved":            k.SystemReserved,
		"kube-reserved":              k.KubeReserved,
		"eviction-hard":              k.EvictionHard,
		"eviction-soft":              k.EvictionSoft,
		"eviction-soft-grace-period": durations(k.EvictionSoftGracePeriod),
	} {
		if len(value) > 0 {
			s[name] = table(value)
		}
	}
	if k.EvictionMaxPodGracePeriod != nil {
		s["eviction-max-pod-grace-period"] = int64(*k.EvictionMaxPodGracePeriod)
	}
	// Bottlerocket has these two as text.
	if k.ImageGCHighThresholdPercent != nil {
		s["image-gc-high-threshold-percent"] = strconv.Itoa(int(*k.ImageGCHighThresholdPercent))
	}
	if k.ImageGCLowThresholdPercent != nil {
		s["image-gc-low-threshold-percent"] = strconv.Itoa(int(*k.ImageGCLowThresholdPercent))
	}
	if k.CPUCFSQuota != nil {
		s["cpu-cfs-quota-enforced"] = *k.CPUCFSQuota
	}
	return s
}

// taintSettings maps keys to values and effects.
func (n *Node) taintSettings() map[string]any {
	lists := map[string][]any{}
	for _, t := range n.RegistrationTaints() {
		lists[t.Key] = append(lists[t.Key], t.Value+":"+string(t.Effect))
	}
	settings := make(map[string]any, len(lists))
	for key, list := range lists {
		settings[key] = list
	}
	return settings
}

func table(m map[string]string) map[string]any {
	t := make(map[string]any, len(m))
	for key, value := range m {
		t[key] = value
	}
	return t
}

// mountCommand joins the disks of the machine and moves directories there. Since 1.46 Bottlerocket
// knows the directories itself.
func (n *Node) mountCommand() map[string]any {
	bind := []any{"apiclient", "ephemeral-storage", "bind"}
	version, known := parseVersion(n.BottlerocketVersion)
	if n.BottlerocketVersion != "latest" && (!known || version.before(1, 46)) {
		bind = append(bind, "--dirs", "/var/lib/containerd", "/var/lib/kubelet", "/var/log/pods")
	}
	return map[string]any{
		"commands":  []any{[]any{"apiclient", "ephemeral-storage", "init"}, bind},
		"essential": true,
		"mode":      "always",
	}
}

// settingsWarnings warns of settings of the user that are replaced, and of unknown ones:
// Bottlerocket does not boot with a setting that it does not know.
func settingsWarnings(theirs, ours map[string]any) (warnings []string) {
	for _, key := range sortedKeys(theirs) {
		value, found := ours[key]
		switch {
		case found && key == "node-labels":
			warnings = append(warnings, labelWarnings(theirs, ours)...)
		case found && !sameJSON(value, theirs[key]):
			warnings = append(warnings, fmt.Sprintf("customUserData: settings.kubernetes.%s is replaced by a generated value: set it in the NodePool or in spec.kubelet, if they have it", key))
		case !found && !slices.Contains(knownKubernetesSettings(), key):
			warnings = append(warnings, fmt.Sprintf("customUserData: settings.kubernetes.%s is passed on, but is not known: check its spelling and that the image has it, or the node will not boot", key))
		}
	}
	return warnings
}

func labelWarnings(theirs, ours map[string]any) (warnings []string) {
	left, right := lookup(theirs, "node-labels"), lookup(ours, "node-labels")
	for _, key := range sortedKeys(left) {
		if value, found := right[key]; found && value != left[key] {
			warnings = append(warnings, fmt.Sprintf("customUserData: settings.kubernetes.node-labels has %s, which is replaced by the value of the node: set the label in the NodePool", strconv.Quote(key)))
		}
	}
	return warnings
}

// knownKubernetesSettings returns the names below settings.kubernetes that Bottlerocket is known to
// accept.
func knownKubernetesSettings() []string {
	return []string{
		"allowed-unsafe-sysctls", "api-server", "authentication-mode", "bootstrap-token", "cloud-provider",
		"cluster-certificate", "cluster-dns-ip", "cluster-domain", "cluster-name", "container-log-max-files",
		"container-log-max-size", "container-log-max-workers", "container-log-monitor-interval",
		"cpu-cfs-quota-enforced", "cpu-manager-policy", "cpu-manager-policy-options",
		"cpu-manager-reconcile-period", "credential-providers", "device-ownership-from-security-context",
		"event-burst", "event-qps", "eviction-hard", "eviction-max-pod-grace-period", "eviction-soft",
		"eviction-soft-grace-period", "hostname-override", "hostname-override-source", "ids-per-pod",
		"image-gc-high-threshold-percent", "image-gc-low-threshold-percent", "kube-api-burst", "kube-api-qps",
		"kube-reserved", "log-level", "max-pods", "memory-manager-policy", "memory-manager-reserved-memory",
		"node-labels", "node-taints", "pod-pids-limit", "registry-burst", "registry-qps", "seccomp-default",
		"server-tls-bootstrap", "shutdown-grace-period", "shutdown-grace-period-for-critical-pods",
		"single-process-oom-kill", "standalone-mode", "static-pods", "system-reserved",
		"topology-manager-policy", "topology-manager-policy-options", "topology-manager-scope",
	}
}
