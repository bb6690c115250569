package traces

import (
	"fmt"
	"io"
	"slices"
	"time"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/benchmarks/internal/family"
	"github.com/dovetail-sdk/dovetail/benchmarks/internal/life"
	"github.com/dovetail-sdk/dovetail/cloudprovider/guard"
	"github.com/dovetail-sdk/dovetail/internal/simcluster"
	"github.com/dovetail-sdk/dovetail/internal/twodays"
)

// gpuFamilies have the GPUs that pods of traces request.
var gpuFamilies = []string{"g4dn", "g5", "g6", "p3"}

// FromPods makes a trace of pods that ran elsewhere, in the form of family.Trace.Pods. It takes the
// pods that existed in the window of that length beginning at second from. Pods that existed before
// are created at the beginning, and run for the rest of their time. A pod that was not deleted runs
// to the end.
func FromPods(pods io.Reader, from int64, length time.Duration, seed uint64) (*life.Trace, error) {
	all, err := family.Tasks(pods)
	if err != nil {
		return nil, err
	}
	w := &simcluster.Workload{Name: "pods"}
	more := []string{"c7i"} // pods of traces may request more than 16 CPUs
	for _, t := range all {
		if t.Created >= from+int64(length.Seconds()) || t.Deleted != 0 && t.Deleted <= max(from, t.Created) {
			continue
		}
		begins := max(from, t.Created)
		task := simcluster.Task{Name: t.Name, At: twodays.Start.Add(seconds(begins - from)), Spec: t.Spec}
		if t.Deleted != 0 {
			task.Runs = seconds(t.Deleted - begins)
		}
		if _, gpu := t.Spec.Containers[0].Resources.Requests["nvidia.com/gpu"]; gpu {
			more = gpuFamilies
		}
		w.Tasks = append(w.Tasks, task)
	}
	if len(w.Tasks) == 0 {
		return nil, fmt.Errorf("trace: no pod is there in %s from second %d on; the first comes at %d", length, from, all[0].Created)
	}
	slices.SortStableFunc(w.Tasks, func(a, b simcluster.Task) int { return a.At.Compare(b.At) })
	cloud, err := market(seed, 0, more...)
	if err != nil {
		return nil, err
	}
	pool, err := generalPool()
	if err != nil {
		return nil, err
	}
	pool.Spec.Template.Spec.Requirements = slices.DeleteFunc(pool.Spec.Template.Spec.Requirements, func(r v1.NodeSelectorRequirementWithMinValues) bool {
		return r.Key == "karpenter.k8s.aws/instance-category"
	})
	return &life.Trace{
		Name: "pods", Length: length, Tick: 10 * time.Second, Sample: 20 * time.Minute, Cloud: cloud, Provider: guard.New(cloud),
		Pools: []*v1.NodePool{pool}, Daemon: twodays.Daemon(), Workloads: []*simcluster.Workload{w},
	}, nil
}

func seconds(n int64) time.Duration { return time.Duration(n) * time.Second }
