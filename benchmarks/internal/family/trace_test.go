package family_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/benchmarks/internal/family"
)

const pods = `name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time
web-1,4000,15258,1,220,nan,BE,Running,100,300,100
train-1,16000,32768,2,1000,V100M16|V100M32,LS,Running,200,400,205
batch-1,500,1024,0,0,,LS,Running,250,,251
odd-1,500,1024,1,1000,G3,LS,Running,250,260,251
`

func second(n int64) *int64 { return &n }

func TestFromTrace(t *testing.T) {
	all, err := family.FromTrace(family.Trace{Name: "t", Pods: strings.NewReader(pods)})
	require.NoError(t, err)
	require.NoError(t, all.Validate())
	require.Len(t, all.Pods, 4)
	web, train, batch, odd := all.Pods[0], all.Pods[1], all.Pods[2], all.Pods[3]
	requests := func(p *corev1.Pod, name corev1.ResourceName) int64 {
		q := p.Spec.Containers[0].Resources.Requests[name]
		return q.Value()
	}
	require.Equal(t, "web-1", web.Name)
	require.EqualValues(t, 4, requests(web, "cpu"))
	require.EqualValues(t, 15258<<20, requests(web, "memory"))
	require.EqualValues(t, 1, requests(web, "nvidia.com/gpu"))
	require.Nil(t, web.Spec.Affinity)
	term := train.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms[0].MatchExpressions[0]
	require.Equal(t, []string{"v100"}, term.Values, "two models of one name")
	require.Zero(t, requests(batch, "nvidia.com/gpu"))
	require.Nil(t, odd.Spec.Affinity, "nobody sells that model")

	for at, want := range map[int64][]string{100: {"web-1"}, 255: {"web-1", "train-1", "batch-1", "odd-1"}, 300: {"train-1", "batch-1"}, 500: {"batch-1"}} {
		s, err := family.FromTrace(family.Trace{Pods: strings.NewReader(pods), At: second(at)})
		require.NoError(t, err)
		var names []string
		for _, p := range s.Pods {
			names = append(names, p.Name)
		}
		require.Equal(t, want, names, at)
	}
}

func TestFromTraceFaults(t *testing.T) {
	for text, want := range map[string]string{
		"":                             "trace: the line of column names: EOF",
		"a,b\n1,2\n":                   "trace: there is no column cpu_milli; the columns are [\"a\" \"b\"]\ntrace: there is no column memory_mib; the columns are [\"a\" \"b\"]",
		"cpu_milli,memory_mib\n":       "trace: no pod is there; at another second there may be some",
		"cpu_milli,memory_mib\n1\n":    "trace: record on line 2: wrong number of fields",
		"cpu_milli,memory_mib\nx,-1\n": "trace: line 2: cpu_milli: \"x\" is no amount; write a number from 0 on\ntrace: line 2: memory_mib: \"-1\" is no amount; write a number from 0 on",
		"name,cpu_milli,memory_mib\na,1,1\na,1,1\n": "trace: line 3: name: \"a\" is that of line 2 already",
	} {
		_, err := family.FromTrace(family.Trace{Pods: strings.NewReader(text)})
		require.EqualError(t, err, want)
	}
	_, err := family.FromTrace(family.Trace{Pods: strings.NewReader("cpu_milli,memory_mib\n1,1\n"), At: second(1)})
	require.ErrorContains(t, err, "there is no column creation_time")
}

func FuzzFromTrace(f *testing.F) {
	f.Add(pods, int64(255))
	f.Add("cpu_milli,memory_mib\nnan,1e3\n", int64(0))
	f.Fuzz(func(t *testing.T, text string, at int64) {
		s, err := family.FromTrace(family.Trace{Pods: strings.NewReader(text), At: &at})
		if err == nil {
			require.NotEmpty(t, s.Pods)
		}
	})
}

// TestTasks reads the times of pods, and needs them.
func TestTasks(t *testing.T) {
	all, err := family.Tasks(strings.NewReader(pods))
	require.NoError(t, err)
	require.Len(t, all, 4)
	require.Equal(t, "web-1", all[0].Name)
	require.EqualValues(t, 100, all[0].Created)
	require.EqualValues(t, 300, all[0].Deleted)
	require.Equal(t, "batch-1", all[2].Name)
	require.Zero(t, all[2].Deleted)
	require.EqualValues(t, 500, all[2].Spec.Containers[0].Resources.Requests.Cpu().MilliValue())
	_, err = family.Tasks(strings.NewReader("name,cpu_milli,memory_mib\na,1,1\n"))
	require.ErrorContains(t, err, "creation_time")
}
