package v1_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/dovetail-sdk/dovetail/amiselect"
	v1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
)

func TestKubeletExtraIsReadAndWritten(t *testing.T) {
	const text = `{"clusterDNS":["10.0.0.10"],"featureGates":{"A":true},"maxPods":5,"podPidsLimit":1024}`
	var k v1.KubeletConfiguration
	require.NoError(t, json.Unmarshal([]byte(text), &k))
	require.Equal(t, v1.KubeletConfiguration{
		ClusterDNS: []string{"10.0.0.10"},
		MaxPods:    new(intstr.FromInt32(5)),
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

	k = v1.KubeletConfiguration{MaxPods: new(intstr.FromInt32(5)), Extra: map[string]any{"maxPods": 7.0, "podsPerCore": 1.0, "seccompDefault": true}}
	written, err = json.Marshal(k)
	require.NoError(t, err)
	require.Equal(t, `{"maxPods":5,"seccompDefault":true}`, string(written), "a field goes before an entry by its name")
	require.Len(t, k.Extra, 3, "inputs are not changed")

	for _, bad := range []string{`[]`, `5`, `{"podPidsLimit": 1e400}`} {
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
		`spec.kubelet.podPidsLimit: Invalid value: "1024": want a whole number of 64 bits`,
		`spec.kubelet.registerWithTaints: Forbidden: taints come from the NodePool; write them there`,
		`spec.kubelet.seccompDefault: Invalid value: "true": want true or false`,
		`spec.kubelet.syncFrequency: Invalid value: "60": want a string with a duration, such as 1m30s`,
		`spec.kubelet.tlsCurvePreferences: Invalid value: "[a]": want a list`,
		`spec.kubelet.turbo: Forbidden: the kubelet has no such setting; remove it`,
	}, messages(c.Validate()))
}

// TestKubeletExtraIsValidatedToItsDepth: what the kubelet would not start with is
// told before.
func TestKubeletExtraIsValidatedToItsDepth(t *testing.T) {
	for text, want := range map[string][]string{
		`{"featureGates":{"A":true,"B":"true","C":null}}`:                                {`featureGates[B]: Invalid value: "true": want true or false`},
		`{"authentication":{"anonymous":{"enabled":false},"webhook":{"cacheTTL":"2m"}}}`: nil,
		`{"authentication":{"anonymous":{"enable":false},"x509":[]}}`: {
			"authentication.anonymous.enable: Forbidden: the kubelet has no such setting; remove it",
			`authentication.x509: Invalid value: "[]": want an object`},
		`{"reservedMemory":[{"numaNode":0,"limits":{"memory":"1Gi","hugepages-2Mi":"lots"}},{"numaNode":0.5},7]}`: {
			`reservedMemory[0].limits[hugepages-2Mi]: Invalid value: "lots": want a quantity, such as 64Mi`,
			`reservedMemory[1].numaNode: Invalid value: "0.5": want a whole number of 32 bits`,
			`reservedMemory[2]: Invalid value: "7": want an object`},
		`{"staticPodURLHeader":{"a.b[0]":["c"],"d":"e"}}`: {"staticPodURLHeader[d]: Invalid value: want a list"},
		`{"logging":{"verbosity":-1,"flushFrequency":5000000000,"vmodule":[{"filePattern":"a","verbosity":4294967295}],"options":{"json":{"infoBufferSize":"64Mi"}}}}`: {
			`logging.verbosity: Invalid value: "-1": want a whole number from 0 to 4294967295`},
		`{"logging":{"flushFrequency":"5s","options":{"json":{"infoBufferSize":"1e-99999999"},"yaml":{}}}}`: {
			`logging.options.json.infoBufferSize: Invalid value: "1e-99999999": want a quantity, such as 64Mi`,
			"logging.options.yaml: Forbidden: the kubelet has no such setting; remove it"},
		`{"registryPullQPS":1.5,"eventBurst":2147483648,"podPidsLimit":1e19,"memoryThrottlingFactor":0.9}`: {
			`eventBurst: Invalid value: "2.147483648e+09": want a whole number of 32 bits`,
			`podPidsLimit: Invalid value: "1e+19": want a whole number of 64 bits`,
			`registryPullQPS: Invalid value: "1.5": want a whole number of 32 bits`},
		`{"allowedUnsafeSysctls":["net.a",1,null],"syncFrequency":"soon","defaultPodSysctls":{"net.ipv4.tcp_syncookies":"1"}}`: {
			`allowedUnsafeSysctls[1]: Invalid value: "1": want a string`,
			`syncFrequency: Invalid value: "soon": want a string with a duration, such as 1m30s`},
		`{"featureGates.*":true,"tlsCipherSuites[]":"a","memorySwap":{"*":1,"swapBehavior.x":2}}`: {
			"featureGates.*: Forbidden: the kubelet has no such setting; remove it",
			"memorySwap.*: Forbidden: the kubelet has no such setting; remove it",
			"memorySwap.swapBehavior.x: Forbidden: the kubelet has no such setting; remove it",
			"tlsCipherSuites[]: Forbidden: the kubelet has no such setting; remove it"},
	} {
		c := class()
		c.Spec.Kubelet = &v1.KubeletConfiguration{}
		require.NoError(t, json.Unmarshal([]byte(text), c.Spec.Kubelet))
		var got []string
		for _, message := range messages(c.Validate()) {
			got = append(got, strings.TrimPrefix(message, "spec.kubelet."))
		}
		require.Equal(t, want, got, text)
	}
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
	plain := c.Hash("")
	c.Spec.Kubelet = &v1.KubeletConfiguration{}
	require.Equal(t, plain, c.Hash(""))
	c.Spec.Kubelet.Extra = map[string]any{}
	require.Equal(t, plain, c.Hash(""))
	c.Spec.Kubelet.Extra["seccompDefault"] = true
	first := c.Hash("")
	c.Spec.Kubelet.Extra["seccompDefault"] = false
	second := c.Hash("")
	c.Spec.Kubelet.Extra["seccompDefault"] = func() {}
	require.Len(t, map[string]bool{plain: true, first: true, second: true, c.Hash(""): true}, 4)
}

// TestKubeletStandsAsItWasRead: a setting that is not changed is written and
// hashed as it was read, and one that is changed as it is now.
func TestKubeletStandsAsItWasRead(t *testing.T) {
	const text = `{"clusterDNS":{},"evictionSoft":{"memory.available":"1Gi"},"evictionSoftGracePeriod":{"memory.available":"60s"},` +
		`"podPidsLimit":9007199254740993,"podsPerCore":"2"}`
	var k v1.KubeletConfiguration
	require.NoError(t, json.Unmarshal([]byte(" "+text+" "), &k))
	require.Equal(t, v1.KubeletConfiguration{
		EvictionSoft:            map[string]string{"memory.available": "1Gi"},
		EvictionSoftGracePeriod: map[string]metav1.Duration{"memory.available": {Duration: time.Minute}},
		Extra:                   map[string]any{"podPidsLimit": 9007199254740992.0},
		AsRead: map[string]v1.KubeletText{
			"clusterDNS":              {JSON: "{}"},
			"evictionSoftGracePeriod": {JSON: `{"memory.available":"60s"}`, Setting: `{"memory.available":"1m0s"}`},
			"podPidsLimit":            {JSON: "9007199254740993", Setting: "9007199254740992"},
			"podsPerCore":             {JSON: `"2"`},
		},
	}, k)
	written := func() string {
		out, err := json.Marshal(&k)
		require.NoError(t, err)
		return string(out)
	}
	require.Equal(t, text, written())

	k.ClusterDNS = []string{"10.0.0.10"}
	k.EvictionSoft, k.EvictionSoftGracePeriod = nil, nil
	k.PodsPerCore = new(int32(3))
	k.Extra["podPidsLimit"] = 7
	require.Equal(t, `{"clusterDNS":["10.0.0.10"],"podPidsLimit":7,"podsPerCore":3}`, written())
	k.AsRead = map[string]v1.KubeletText{"maxPods": {}}
	require.Equal(t, `{"clusterDNS":["10.0.0.10"],"podPidsLimit":7,"podsPerCore":3}`, written(), "an entry without text says nothing")
	k.AsRead["maxPods"] = v1.KubeletText{JSON: "{"}
	_, err := json.Marshal(k)
	require.Error(t, err)
}

// TestKubeletOfAnyKindIsRead: an API server stores any object. What Karpenter
// refuses is a fault here, has the hash that it has there, and does no harm to
// whoever reads a list of classes.
func TestKubeletOfAnyKindIsRead(t *testing.T) {
	const at = "spec.kubelet."
	for _, test := range []struct {
		text, hash string
		faults     []string
	}{
		{`{"maxPods":[1]}`, "11903581048546464485", []string{at + `maxPods: Invalid value: "[1]": want a whole number, or a string with an expression`}},
		{`{"maxPods":5.5}`, "7267866304571096240", []string{at + `maxPods: Invalid value: "5.5": want a whole number, or a string with an expression`}},
		{`{"maxPods":4294967296}`, "1466823127023507992", []string{at + `maxPods: Invalid value: "4294967296": want a whole number, or a string with an expression`}},
		{`{"maxPods":true,"podsPerCore":"2","cpuCFSQuota":1}`, "5629905120187500257", []string{
			at + `cpuCFSQuota: Invalid value: "1": want true or false`,
			at + `maxPods: Invalid value: "true": want a whole number, or a string with an expression`,
			at + `podsPerCore: Invalid value: "\"2\"": want a whole number`,
		}},
		{`{"kubeReserved":{"cpu":1,"memory":"1Gi"}}`, "15668263886137217156", []string{
			at + `kubeReserved: Invalid value: "{\"cpu\":1,\"memory\":\"1Gi\"}": want an object with strings`,
		}},
		{`{"kubeReserved":{"cpu":null},"systemReserved":[]}`, "3608005507137112149", []string{
			at + `kubeReserved[cpu]: Invalid value: "": want a quantity that is not negative, such as 100m or 256Mi, or an expression`,
			at + `systemReserved: Invalid value: "[]": want an object with strings`,
		}},
		{`{"clusterDNS":"10.0.0.10"}`, "11834015819910738367", []string{at + `clusterDNS: Invalid value: "\"10.0.0.10\"": want a list of strings`}},
		{`{"clusterDNS":[null,"10.0.0.10"]}`, "313473234098347898", []string{at + `clusterDNS: Invalid value: "[null,\"10.0.0.10\"]": want a list of strings`}},
		{`{"evictionSoftGracePeriod":{"memory.available":"soon"}}`, "16545536172916726063", []string{
			at + `evictionSoftGracePeriod: Invalid value: "{\"memory.available\":\"soon\"}": want an object with durations, such as 1m30s`,
		}},
		{`{"turbo":{"b":1.0,"a":[-0.0,1e3]},"MaxPods":7}`, "13930894305490801912", []string{
			at + `MaxPods: Forbidden: the kubelet has no such setting; remove it`,
			at + `turbo: Forbidden: the kubelet has no such setting; remove it`,
		}},
		{`{"registerWithTaints":null,"turbo":null,"seccompDefault":null,"maxPods":null}`, "6878625172482653329", nil}, // the API server drops nulls
	} {
		var spec v1.EC2NodeClassSpec
		require.NoError(t, json.Unmarshal([]byte(`{"kubelet":`+test.text+`}`), &spec), test.text)
		c := class()
		c.Spec.Kubelet = spec.Kubelet
		require.Equal(t, test.faults, messages(c.Validate()), test.text)
		if test.hash != "" {
			require.Equal(t, test.hash, (&v1.EC2NodeClass{Spec: spec}).Hash(""), test.text)
		}
		written, err := json.Marshal(c)
		require.NoError(t, err)
		_, err = v1.DecodeEC2NodeClass(written)
		if test.faults == nil {
			require.NoError(t, err)
		}
		require.Equal(t, c, c.DeepCopy())
	}

	c := class()
	family := amiselect.FamilyBottlerocket
	c.Spec.AMIFamily, c.Spec.AMISelectorTerms = &family, []v1.AMISelectorTerm{{ID: "ami-1"}}
	c.Spec.Kubelet = &v1.KubeletConfiguration{AsRead: map[string]v1.KubeletText{"seccompDefault": {JSON: `"yes"`}}}
	require.Equal(t, []string{at + "seccompDefault: Forbidden: the family Bottlerocket does not take it here; write it into userData, or use AL2023"},
		messages(c.Validate()))
	c.Spec.Kubelet.Extra = map[string]any{"seccompDefault": true}
	require.Len(t, c.Validate(), 1, "what was read stands no more")
}

// Headers can hold credentials, and faults end up in conditions and logs.
func TestHeadersAreNotQuoted(t *testing.T) {
	for _, header := range []any{"s3cr3t", []any{"s3cr3t"}, map[string]any{"Authorization": "s3cr3t"}, map[string]any{"Authorization": []any{map[string]any{"a": "s3cr3t"}}}} {
		c := &v1.EC2NodeClass{}
		c.Spec.Kubelet = &v1.KubeletConfiguration{Extra: map[string]any{"staticPodURLHeader": header}}
		faults := c.Validate()
		require.Contains(t, faults.ToAggregate().Error(), "staticPodURLHeader")
		require.NotContains(t, faults.ToAggregate().Error(), "s3cr3t")
	}
}

// The deep copy of KubeletConfiguration is written by hand: a field that it forgets is shared.
// The others are the generator's.
func TestKubeletDeepCopySharesNothing(t *testing.T) {
	full := func() *v1.KubeletConfiguration {
		text := map[string]string{"memory": "100Mi"}
		return &v1.KubeletConfiguration{
			ClusterDNS: []string{"10.0.0.10"}, MaxPods: new(intstr.FromInt32(5)), PodsPerCore: new(int32(2)),
			SystemReserved: text, KubeReserved: text, EvictionHard: text, EvictionSoft: text,
			EvictionSoftGracePeriod:   map[string]metav1.Duration{"memory.available": {Duration: time.Minute}},
			EvictionMaxPodGracePeriod: new(int32(30)), ImageGCHighThresholdPercent: new(int32(85)), ImageGCLowThresholdPercent: new(int32(80)),
			CPUCFSQuota: new(true), Extra: map[string]any{"list": []any{map[string]any{"a": 1.0}}},
			AsRead: map[string]v1.KubeletText{"evictionSoftGracePeriod": {JSON: "{}", Setting: "{}"}},
		}
	}
	original := full()
	c := original.DeepCopy()
	require.Equal(t, original, c)
	from, to := reflect.ValueOf(original).Elem(), reflect.ValueOf(c).Elem()
	for i := range from.NumField() {
		name := from.Type().Field(i).Name
		require.False(t, from.Field(i).IsZero(), "the test leaves out %s", name)
		require.NotEqual(t, from.Field(i).Pointer(), to.Field(i).Pointer(), "%s is shared", name)
	}
	c.Extra["list"].([]any)[0].(map[string]any)["a"] = 2.0
	require.Equal(t, full(), original)

	for _, k := range []*v1.KubeletConfiguration{nil, {}, {ClusterDNS: []string{}, Extra: map[string]any{}}} {
		require.Equal(t, k, k.DeepCopy(), "nil stays nil, and empty stays empty")
	}
}

func TestTermsShareNothing(t *testing.T) {
	c := class()
	c.Spec.AMISelectorTerms = []v1.AMISelectorTerm{{Tags: map[string]string{"a": "b"}, Owner: "self"}}
	before := c.DeepCopy()
	terms := c.AMITerms()
	require.Len(t, terms, 1)
	require.Equal(t, c.Spec.AMISelectorTerms[0], v1.AMISelectorTerm(terms[0]))
	terms[0].Tags["a"] = "x"
	require.Equal(t, before, c)
	require.Nil(t, (&v1.EC2NodeClass{}).AMITerms())
}
