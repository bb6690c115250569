package v1_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/amiselect"
	v1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
)

func TestKubeletExtraIsReadAndWritten(t *testing.T) {
	const text = `{"clusterDNS":["10.0.0.10"],"featureGates":{"A":true},"maxPods":5,"podPidsLimit":1024}`
	var k v1.KubeletConfiguration
	require.NoError(t, json.Unmarshal([]byte(text), &k))
	require.Equal(t, v1.KubeletConfiguration{
		ClusterDNS: []string{"10.0.0.10"},
		MaxPods:    new(int32(5)),
		Extra:      map[string]any{"featureGates": map[string]any{"A": true}, "podPidsLimit": 1024.0},
	}, k)
	written, err := json.Marshal(k)
	require.NoError(t, err)
	require.Equal(t, text, string(written))
	written, err = json.Marshal(&v1.EC2NodeClassSpec{Kubelet: &k})
	require.NoError(t, err)
	require.Contains(t, string(written), `"kubelet":`+text)

	require.NoError(t, json.Unmarshal([]byte(`{"MaxPods": 7, "seccompDefault": null}`), &k))
	require.Equal(t, v1.KubeletConfiguration{Extra: map[string]any{"MaxPods": 7.0}}, k, "names are case-sensitive, null is nothing")
	require.NoError(t, json.Unmarshal([]byte(`{}`), &k))
	require.Zero(t, k)

	k = v1.KubeletConfiguration{MaxPods: new(int32(5)), Extra: map[string]any{"maxPods": 7.0, "podsPerCore": 1.0, "seccompDefault": true}}
	written, err = json.Marshal(k)
	require.NoError(t, err)
	require.Equal(t, `{"maxPods":5,"seccompDefault":true}`, string(written), "a field goes before an entry by its name")
	require.Len(t, k.Extra, 3, "inputs are not changed")

	for _, bad := range []string{`[]`, `5`, `{"maxPods": "5"}`} {
		before := k
		require.Error(t, json.Unmarshal([]byte(bad), &k), bad)
		require.Equal(t, before, k)
	}
	_, err = json.Marshal(v1.KubeletConfiguration{Extra: map[string]any{"a": func() {}}})
	require.Error(t, err)
}

func TestKubeletExtraIsValidated(t *testing.T) {
	c := class()
	c.Spec.Kubelet = &v1.KubeletConfiguration{Extra: map[string]any{
		"allowedUnsafeSysctls":   "net.core.somaxconn",
		"evictionMinimumReclaim": map[string]any{"memory.available": "x", "memory.free": "5%", "pid.available": 5.0},
		"featureGates":           []any{},
		"maxPods":                5.0,
		"podPidsLimit":           "1024",
		"registerWithTaints":     []any{},
		"registryPullQPS":        20.0,
		"seccompDefault":         "true",
		"syncFrequency":          60.0,
		"turbo":                  true,
		"tlsCurvePreferences":    []string{"a"},
	}}
	require.Equal(t, []string{
		`spec.kubelet.allowedUnsafeSysctls: Invalid value: "net.core.somaxconn": want a list`,
		`spec.kubelet.evictionMinimumReclaim[pid.available]: Invalid value: "5": want a string`,
		`spec.kubelet.evictionMinimumReclaim[memory.available]: Invalid value: "x": want a quantity that is not negative, such as 500Mi, or a percentage from 0% to 100%, such as 12.5%`,
		`spec.kubelet.evictionMinimumReclaim[memory.free]: Unsupported value: "memory.free": supported values: "imagefs.available", "imagefs.inodesFree", "memory.available", "nodefs.available", "nodefs.inodesFree", "pid.available"`,
		`spec.kubelet.featureGates: Invalid value: "[]": want an object`,
		`spec.kubelet.maxPods: Forbidden: there is a field of this name; set that`,
		`spec.kubelet.podPidsLimit: Invalid value: "1024": want a number`,
		`spec.kubelet.registerWithTaints: Forbidden: taints come from the NodePool; write them there`,
		`spec.kubelet.seccompDefault: Invalid value: "true": want true or false`,
		`spec.kubelet.syncFrequency: Invalid value: "60": want a string`,
		`spec.kubelet.tlsCurvePreferences: Invalid value: "[a]": want a list`,
		`spec.kubelet.turbo: Forbidden: the kubelet has no such setting; remove it`,
	}, messages(c.Validate()))
}

func TestKubeletExtraByFamily(t *testing.T) {
	for _, family := range amiselect.Families() {
		c := class()
		c.Spec.AMIFamily, c.Spec.AMISelectorTerms = &family, []v1.AMISelectorTerm{{ID: "ami-1"}}
		c.Spec.Kubelet = &v1.KubeletConfiguration{Extra: map[string]any{"seccompDefault": true}}
		if family == amiselect.FamilyAL2023 || family == amiselect.FamilyCustom {
			require.Empty(t, c.Validate(), family)
			continue
		}
		require.Equal(t, []string{"spec.kubelet.seccompDefault: Forbidden: the family " + string(family) + " does not take it here; write it into userData, or use AL2023"},
			messages(c.Validate()))
	}
}

func TestKubeletExtraIsHashed(t *testing.T) {
	c := class()
	c.Spec.Kubelet = &v1.KubeletConfiguration{}
	plain := c.Hash("")
	c.Spec.Kubelet.Extra = map[string]any{}
	require.Equal(t, plain, c.Hash(""), "without entries it is that of Karpenter")
	c.Spec.Kubelet.Extra["seccompDefault"] = true
	first := c.Hash("")
	c.Spec.Kubelet.Extra["seccompDefault"] = false
	require.NotEqual(t, plain, first)
	require.NotEqual(t, first, c.Hash(""))
	require.Len(t, map[string]bool{plain: true, first: true, c.Hash(""): true}, 3)
}
