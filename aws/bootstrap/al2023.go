package bootstrap

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
)

// nodeConfig is the configuration that nodeadm reads.
type nodeConfig struct {
	APIVersion string         `json:"apiVersion"`
	Kind       string         `json:"kind"`
	Spec       nodeConfigSpec `json:"spec"`
}

type nodeConfigSpec struct {
	Cluster  nodeConfigCluster   `json:"cluster"`
	Instance *nodeConfigInstance `json:"instance,omitempty"`
	Kubelet  nodeConfigKubelet   `json:"kubelet"`
}

type nodeConfigCluster struct {
	Name                 string `json:"name"`
	APIServerEndpoint    string `json:"apiServerEndpoint"`
	CertificateAuthority string `json:"certificateAuthority"`
	CIDR                 string `json:"cidr"`
}

type nodeConfigInstance struct {
	LocalStorage nodeConfigStorage `json:"localStorage"`
}

type nodeConfigStorage struct {
	Strategy string `json:"strategy"`
}

type nodeConfigKubelet struct {
	Config map[string]any `json:"config,omitempty"`
	Flags  []string       `json:"flags,omitempty"`
}

// al2023 makes user data of Amazon Linux 2023. nodeadm merges all NodeConfigs in
// it in order, the generated one last.
func (n *Node) al2023(w network, custom []mimePart) (UserData, error) {
	own := n.nodeConfig(w)
	warnings := yieldTo(custom, own.Spec.Kubelet.Config, w.asked)
	text, err := yaml.Marshal(own)
	if err != nil {
		// The validation has marshalled extra fields, and all others are plain.
		return UserData{}, errors.New("the generated NodeConfig cannot be written: check the settings of the kubelet")
	}
	u := mimeData(custom, "NodeConfig", mimePart{
		header: []string{"Content-Type: " + typeNodeConfig},
		body:   "# Generated. It comes last, and so wins.\n" + string(text),
	})
	u.Warnings = warnings
	return u, nil
}

func (n *Node) nodeConfig(w network) nodeConfig {
	config := nodeConfig{
		APIVersion: "node.eks.aws/v1alpha1",
		Kind:       "NodeConfig",
		Spec: nodeConfigSpec{
			Cluster: nodeConfigCluster{n.ClusterName, n.Endpoint, n.CABundle, n.ClusterCIDR},
			Kubelet: nodeConfigKubelet{
				Config: n.kubeletConfig(w),
				// No quotes around the value: nodeadm writes flags to a file that
				// systemd reads, and whether quotes survive that has changed.
				Flags: []string{"--node-labels=" + joinMap(n.RegistrationLabels(), "=")},
			},
		},
	}
	if n.InstanceStore == awsv1.InstanceStorePolicyRAID0 {
		config.Spec.Instance = &nodeConfigInstance{nodeConfigStorage{"RAID0"}}
	}
	return config
}

// kubeletConfig returns the configuration of the kubelet, by field name.
func (n *Node) kubeletConfig(w network) map[string]any {
	k := &n.Kubelet
	config := map[string]any{}
	for key, value := range k.Extra {
		config[key] = value
	}
	if len(w.dns) > 0 {
		config["clusterDNS"] = w.dns
	}
	numbers := map[string]*int32{
		"maxPods":                     n.maxPods(),
		"podsPerCore":                 k.PodsPerCore,
		"evictionMaxPodGracePeriod":   k.EvictionMaxPodGracePeriod,
		"imageGCHighThresholdPercent": k.ImageGCHighThresholdPercent,
		"imageGCLowThresholdPercent":  k.ImageGCLowThresholdPercent,
	}
	for name, value := range numbers {
		if value != nil {
			config[name] = *value
		}
	}
	texts := map[string]map[string]string{
		"systemReserved":          k.SystemReserved,
		"kubeReserved":            k.KubeReserved,
		"evictionHard":            k.EvictionHard,
		"evictionSoft":            k.EvictionSoft,
		"evictionSoftGracePeriod": durations(k.EvictionSoftGracePeriod),
	}
	for name, value := range texts {
		if len(value) > 0 {
			config[name] = value
		}
	}
	if k.CPUCFSQuota != nil {
		config["cpuCFSQuota"] = *k.CPUCFSQuota
	}
	var taints []map[string]string
	for _, t := range n.RegistrationTaints() {
		taint := map[string]string{"key": t.Key, "effect": string(t.Effect)}
		if t.Value != "" {
			taint["value"] = t.Value
		}
		taints = append(taints, taint)
	}
	config["registerWithTaints"] = taints
	return config
}

// taintsFlag is the flag that makes the kubelet ignore registerWithTaints.
const taintsFlag = "--register-with-taints"

// yieldTo removes derived name servers from our configuration if the user's NodeConfigs have some.
// It warns of each user's field that ours overrides, and of a flag that drops the taints of the
// node. If asked is set, our name servers are those of spec.kubelet, and are kept.
func yieldTo(custom []mimePart, config map[string]any, asked bool) (warnings []string) {
	for i, part := range custom {
		object, err := part.nodeConfig()
		if err != nil {
			continue // refused before
		}
		theirs := lookup(object, "spec", "kubelet", "config")
		for _, key := range sortedKeys(theirs) {
			ours, found := config[key]
			switch {
			case !found:
			case key == "clusterDNS" && !asked:
				delete(config, key)
			case key == "registerWithTaints":
				warnings = append(warnings, fmt.Sprintf("customUserData: part %d sets spec.kubelet.config.%s, which the generated NodeConfig overrides: set spec.template.spec.taints of the NodePool", i+1, key))
			case !sameJSON(ours, theirs[key]):
				warnings = append(warnings, fmt.Sprintf("customUserData: part %d sets spec.kubelet.config.%s, which the generated NodeConfig overrides: set it in spec.kubelet", i+1, key))
			}
		}
		flags, _ := lookup(object, "spec", "kubelet")["flags"].([]any)
		if slices.ContainsFunc(flags, func(flag any) bool { return strings.HasPrefix(fmt.Sprint(flag), taintsFlag) }) {
			warnings = append(warnings, fmt.Sprintf("customUserData: part %d has the flag %s of the kubelet, so that nodes join without the taints of their NodePool, which come when they register: remove the flag, and set spec.template.spec.taints of the NodePool", i+1, taintsFlag))
		}
	}
	return warnings
}

// lookup descends into nested maps. It returns nil if one is missing.
func lookup(object map[string]any, path ...string) map[string]any {
	for _, name := range path {
		object, _ = object[name].(map[string]any)
	}
	return object
}

// sameJSON reports whether two values are written in the same way.
func sameJSON(a, b any) bool {
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	if errX != nil || errY != nil {
		return false
	}
	var left, right any
	return json.Unmarshal(x, &left) == nil && json.Unmarshal(y, &right) == nil && reflect.DeepEqual(left, right)
}
