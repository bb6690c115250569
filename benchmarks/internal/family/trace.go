package family

import (
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
	"github.com/dovetail-sdk/dovetail/benchmarks/scenario"
)

// Trace is a list of pods that ran in a cluster, and a choice among them.
type Trace struct {
	// Name is the name of the scenario.
	Name string
	// Pods is the list: CSV with a line of column names. Required columns are cpu_milli and
	// memory_mib, the requests of a pod in thousandths of a CPU and in MiB. Optional columns are
	// name; num_gpu, the number of whole GPUs; gpu_spec, the acceptable models, separated by |;
	// creation_time and deletion_time, in seconds from any instant. Other columns are ignored, as
	// are models in gpu_spec that no instance type has. The pod lists of
	// github.com/alibaba/clusterdata (cluster-trace-gpu-v2023/csv) have this form.
	Pods io.Reader
	// At, if set, keeps only the pods that exist at that second: created by then, and deleted
	// later. Nil keeps all.
	At *int64

	timed bool // creation and deletion times are required
}

// Task is one pod of a trace.
type Task struct {
	Name string
	Spec corev1.PodSpec
	// Created and Deleted are the times of creation and deletion, in seconds from an instant that
	// all pods of a trace share. Deleted is zero for a pod that was not deleted.
	Created, Deleted int64
}

// Tasks reads all pods of a trace, in the order of creation. See Trace.Pods for the form; both
// times are required.
func Tasks(pods io.Reader) ([]Task, error) {
	rows, err := readTrace(Trace{Pods: pods, timed: true})
	if err != nil {
		return nil, err
	}
	var all []Task
	for _, r := range rows {
		all = append(all, Task{r.name, r.podSpec(), r.created, r.deleted})
	}
	slices.SortStableFunc(all, func(a, b Task) int { return cmp.Compare(a.Created, b.Created) })
	return all, nil
}

// The columns of a trace.
const (
	columnName    = "name"
	columnCPU     = "cpu_milli"
	columnMemory  = "memory_mib"
	columnGPUs    = "num_gpu"
	columnModels  = "gpu_spec"
	columnCreated = "creation_time"
	columnDeleted = "deletion_time"
)

// gpuModels maps the GPU models of traces to the names that instance types use.
var gpuModels = map[string]string{"A10": "a10g", "A100": "a100", "H100": "h100", "K80": "k80", "L4": "l4", "M60": "m60", "T4": "t4", "V100": "v100", "V100M16": "v100", "V100M32": "v100"}

// FromTrace makes a scenario of pods that ran elsewhere: all of them are pending, and one pool
// accepts every type. A pod that requests 0 of everything is included. The error lists every line
// that cannot be read.
func FromTrace(t Trace) (*scenario.Scenario, error) {
	rows, err := readTrace(t)
	if err != nil {
		return nil, err
	}
	m, err := newMaker(t.Name, Spec{Family: "trace", Types: awsTypes}, rand.NewPCG(1, 1))
	if err != nil {
		return nil, err
	}
	m.openPool()
	for _, r := range rows {
		m.out.Pods = append(m.out.Pods, m.traced(r))
	}
	return m.out, nil
}

// tracePod is one line of a trace.
type tracePod struct {
	name            string
	cpu, mebi, gpus int64
	models          []string // names as in instance types

	created, deleted int64 // seconds
}

func (m *maker) traced(r tracePod) *corev1.Pod {
	return m.pending(metav1.ObjectMeta{Namespace: mixNamespace, Name: r.name}, r.podSpec(), time.Minute)
}

// podSpec returns a spec with the requests of the pod.
func (r tracePod) podSpec() corev1.PodSpec {
	requests := amounts(r.cpu, r.mebi)
	var spec corev1.PodSpec
	if r.gpus > 0 {
		requests[awsv1.ResourceNVIDIAGPU] = *resource.NewQuantity(r.gpus, resource.DecimalSI)
		if len(r.models) > 0 {
			spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
				NodeSelectorTerms: []corev1.NodeSelectorTerm{labelIn("karpenter.k8s.aws/instance-gpu-name", r.models...)}}}}
		}
	}
	// GPUs cannot be overcommitted: limits equal requests.
	spec.Containers = []corev1.Container{{Name: "main", Image: mixImage, Resources: corev1.ResourceRequirements{Requests: requests}}}
	if r.gpus > 0 {
		spec.Containers[0].Resources.Limits = corev1.ResourceList{awsv1.ResourceNVIDIAGPU: requests[awsv1.ResourceNVIDIAGPU]}
	}
	return spec
}

// readTrace reads the pods that t.At selects.
func readTrace(t Trace) ([]tracePod, error) {
	in := csv.NewReader(t.Pods)
	header, err := in.Read()
	if err != nil {
		return nil, fmt.Errorf("trace: the line of column names: %w", err)
	}
	at := map[string]int{}
	for i, name := range header {
		at[strings.TrimSpace(strings.TrimPrefix(name, "\ufeff"))] = i
	}
	var faults []error
	for _, name := range neededColumns(t) {
		if _, found := at[name]; !found {
			faults = append(faults, fmt.Errorf("trace: there is no column %s; the columns are %q", name, header))
		}
	}
	if len(faults) > 0 {
		return nil, errors.Join(faults...)
	}
	var pods []tracePod
	named := map[string]int{}
	for {
		record, err := in.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, errors.Join(append(faults, fmt.Errorf("trace: %w", err))...)
		}
		line, _ := in.FieldPos(0)
		r := row{record: record, at: at, line: line}
		pod, there := r.pod(t.At)
		if first := named[pod.name]; first > 0 {
			r.fault(columnName, "%q is that of line %d already", pod.name, first)
		}
		named[pod.name] = line
		if faults = append(faults, r.faults...); there && len(r.faults) == 0 {
			pods = append(pods, pod)
		}
	}
	if err := errors.Join(faults...); err != nil {
		return nil, err
	}
	if len(pods) == 0 {
		return nil, errors.New("trace: no pod is there; at another second there may be some")
	}
	return pods, nil
}

func neededColumns(t Trace) []string {
	if t.At == nil && !t.timed {
		return []string{columnCPU, columnMemory}
	}
	return []string{columnCPU, columnMemory, columnCreated, columnDeleted}
}

// row is a line while it is being read.
type row struct {
	record []string
	at     map[string]int
	line   int
	faults []error
}

func (r *row) fault(column, format string, args ...any) {
	r.faults = append(r.faults, fmt.Errorf("trace: line %d: %s: "+format, append([]any{r.line, column}, args...)...))
}

func (r *row) text(column string) string {
	if i, found := r.at[column]; found {
		return strings.TrimSpace(r.record[i])
	}
	return ""
}

// number reads a column, which may be missing; then it returns 0.
func (r *row) number(column string) int64 {
	text := r.text(column)
	if text == "" || text == "nan" {
		return 0
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || !(n >= 0 && n <= 1<<40) {
		r.fault(column, "%q is no amount; write a number from 0 on", text)
		return 0
	}
	return int64(n)
}

// pod reads a pod, and reports whether it exists at the second at.
func (r *row) pod(at *int64) (tracePod, bool) {
	p := tracePod{name: r.text(columnName), cpu: r.number(columnCPU), mebi: r.number(columnMemory), gpus: r.number(columnGPUs)}
	if p.name == "" {
		p.name = fmt.Sprintf("pod-%05d", r.line)
	}
	for model := range strings.SplitSeq(r.text(columnModels), "|") {
		if name, sold := gpuModels[model]; sold && !slices.Contains(p.models, name) {
			p.models = append(p.models, name)
		}
	}
	p.created, p.deleted = r.number(columnCreated), r.number(columnDeleted)
	return p, at == nil || p.created <= *at && (*at < p.deleted || p.deleted == 0)
}
