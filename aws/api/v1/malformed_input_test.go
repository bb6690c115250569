package v1_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	v1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
)

// FuzzDecode feeds any text to the decoder. What it accepts survives all other
// functions, is not changed by them, and means the same when it is written and
// read again.
func FuzzDecode(f *testing.F) {
	for _, name := range manifests(f) {
		f.Add(readFile(f, "manifests", name))
	}
	for _, text := range []string{
		`{"apiVersion":"karpenter.k8s.aws/v1","kind":"EC2NodeClass","spec":{"amiSelectorTerms":[{"alias":"al2023@a@b"}]}}`,
		`{"apiVersion":"karpenter.k8s.aws/v1","kind":"EC2NodeClass","spec":{"blockDeviceMappings":[{"ebs":{"volumeSize":"Ti"}},{"ebs":{"volumeSize":"1e400"}}]}}`,
		`{"apiVersion":"karpenter.k8s.aws/v1","kind":"EC2NodeClass","spec":{"kubelet":{"evictionSoftGracePeriod":{"memory.available":"1h"},"clusterDNS":["::ffff:1.2.3.4%eth0"]}}}`,
		`{"apiVersion":"karpenter.k8s.aws/v1","kind":"EC2NodeClass","spec":{"kubelet":{"podPidsLimit":1e400,"MaxPods":1,"featureGates":{"":null},"logging":[[]]}}}`,
		`{"apiVersion":"karpenter.k8s.aws/v1","kind":"EC2NodeClass","spec":{"kubelet":{"podPidsLimit":-0.0,"maxPods":null,"clusterDNS":[null],"evictionSoftGracePeriod":{"a":"60s"}}}}`,
		`{"apiVersion":"karpenter.k8s.aws/v1","kind":"EC2NodeClass","spec":{"tags":{"":""},"networkInterfaces":[{}],"placementGroupSelector":{"id":""}}}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := v1.DecodeEC2NodeClass(data)
		if err != nil {
			require.Nil(t, c)
			return
		}
		untouched := c.DeepCopy()
		found := messages(c.Validate())
		hash := c.Hash("ca")
		require.NotEmpty(t, hash)
		c.AMITerms()
		c.ResolvedAMIFamily()
		require.Equal(t, untouched, c)

		text, err := json.Marshal(c)
		require.NoError(t, err)
		back, err := v1.DecodeEC2NodeClass(text)
		require.NoErrorf(t, err, "%s", text)
		require.Equal(t, hash, back.Hash("ca"))
		require.Equal(t, found, messages(back.Validate()))
		again, err := json.Marshal(back)
		require.NoError(t, err)
		require.Equal(t, string(text), string(again))

		c.Default()
		require.Equal(t, found, messages(c.Validate()), "defaults are assumed anyway")
		once := c.DeepCopy()
		c.Default()
		require.Equal(t, once, c, "defaults are set once")
	})
}

// FuzzKubelet reads any JSON as settings of the kubelet. What it accepts is
// written back in one form, which reads and hashes the same.
func FuzzKubelet(f *testing.F) {
	for _, text := range []string{
		`{"maxPods":"5","podsPerCore":-0.0,"cpuCFSQuota":null}`, `{"kubeReserved":{"cpu":1},"clusterDNS":[null],"a":{"b":[1e3,{}]}}`,
		`{"evictionSoftGracePeriod":{"memory.available":"60s"},"maxPods":1,"maxPods":2,"a":9007199254740993}`, `null`, `[]`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var k v1.KubeletConfiguration
		if json.Unmarshal(data, &k) != nil {
			require.Zero(t, k)
			return
		}
		c := &v1.EC2NodeClass{Spec: v1.EC2NodeClassSpec{Kubelet: &k}}
		untouched := c.DeepCopy()
		hash, found := c.Hash(""), messages(c.Validate())
		text, err := json.Marshal(k)
		require.NoError(t, err)
		require.Equal(t, untouched, c)
		var back v1.KubeletConfiguration
		require.NoError(t, json.Unmarshal(text, &back))
		require.Equal(t, k, back)
		c.Spec.Kubelet = &back
		require.Equal(t, hash, c.Hash(""))
		require.Equal(t, found, messages(c.Validate()))
	})
}

// FuzzAlias feeds any alias: a family is found without panic whatever it is.
func FuzzAlias(f *testing.F) {
	for _, alias := range []string{"al2023@latest", "@", "al2@@", "windows2019", "\x00", "Custom@1"} {
		f.Add(alias)
	}
	f.Fuzz(func(t *testing.T, alias string) {
		c := class()
		c.Spec.AMISelectorTerms = []v1.AMISelectorTerm{{Alias: alias}}
		require.NotEmpty(t, c.ResolvedAMIFamily())
		require.NotEmpty(t, c.Hash(""))
		c.Validate()
	})
}
