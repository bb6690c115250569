package family

import (
	"fmt"
	"math"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
)

// workload is a Deployment: replicas of one pod.
type workload struct {
	namespace, name string
	replicas        int
	waited          time.Duration // time since the replicas were created
	labels          map[string]string
	owner           metav1.OwnerReference
	spec            corev1.PodSpec

	homes    []string // pools that it can run in
	overZone bool     // replicas spread over zones, strictly
	alone    bool     // no two replicas share a node
}

func workloadNamespaces() []string {
	return []string{"web", "orders", "payments", "catalog", "search", "reports", "pipelines", "platform"}
}

// selects returns the labels by which the workload's constraints select its own replicas.
func (w *workload) selects() map[string]string { return map[string]string{appLabel: w.name} }

// numberOfWorkloads returns 200 for up to 1,000 replicas and grows to 1,000 at 20,000 replicas.
func numberOfWorkloads(replicas int) int {
	const fewest, most, growsFrom, growsTo = 200, 1000, 1000, 20000
	n := fewest + (replicas-growsFrom)*(most-fewest)/(growsTo-growsFrom)
	return min(replicas, max(fewest, min(most, n)))
}

// zipf divides a total among n so that the share of rank r is proportional to 1/r^0.9. Each gets at
// least one. The sum is exact.
func zipf(total, n int) []int {
	const exponent = -0.9
	weight := make([]float64, n)
	sum := 0.0
	for i := range weight {
		weight[i] = math.Pow(float64(i+1), exponent)
		sum += weight[i]
	}
	shares := make([]int, n)
	given, reached := 0, 0.0
	for i := range shares {
		// Rounding the running total instead of each share keeps the sum.
		reached += weight[i] / sum * float64(total-n)
		shares[i] = 1 + int(math.Round(reached)) - given
		given += shares[i] - 1
	}
	return shares
}

// workloads returns random Deployments with the given number of replicas in total.
func (m *maker) workloads(replicas int) []*workload {
	n := numberOfWorkloads(replicas)
	all := make([]*workload, n)
	for i, share := range shuffled(m.dice, zipf(replicas, n)) {
		all[i] = m.workload(fmt.Sprintf("app-%04d", i), share)
	}
	m.dealHomes(all)
	m.dealConstraints(all)
	return all
}

func (m *maker) workload(name string, replicas int) *workload {
	hash := m.tail(9)
	return &workload{
		namespace: oneOf(m.dice, workloadNamespaces()...),
		name:      name,
		replicas:  replicas,
		waited:    time.Duration(3+m.IntN(40)) * time.Second,
		labels: map[string]string{
			appLabel:                    name,
			"app.kubernetes.io/part-of": fmt.Sprintf("team-%02d", m.IntN(24)),
			"pod-template-hash":         hash,
		},
		owner: m.controller("ReplicaSet", name+"-"+hash),
		spec:  m.template(),
		homes: []string{poolGeneral},
	}
}

// trait is a property that a share of the workloads has.
type trait struct {
	percent int
	most    int // largest number of replicas of a workload with the trait; 0 for any number
	give    func(*workload)
}

// deal gives each trait to its share, rounded up, of n workloads. The workloads are chosen at
// random, and none gets two traits. It returns those without a trait.
func (m *maker) deal(n int, among []*workload, traits ...trait) []*workload {
	deck := shuffled(m.dice, among)
	for _, t := range traits {
		left := (n*t.percent + 99) / 100
		var rest []*workload
		for _, w := range deck {
			if left == 0 || t.most > 0 && w.replicas > t.most {
				rest = append(rest, w)
				continue
			}
			t.give(w)
			left--
		}
		deck = rest
	}
	return deck
}

// dealHomes chooses the workloads that run in other pools than the general one.
func (m *maker) dealHomes(all []*workload) {
	m.deal(len(all), all,
		trait{percent: 5, most: 8, give: m.needGPU},
		trait{percent: 5, give: func(w *workload) {
			w.homes = []string{poolArm}
			w.spec.NodeSelector = map[string]string{corev1.LabelArchStable: v1.ArchitectureArm64}
			tolerate(&w.spec, armTaint)
		}},
		trait{percent: 10, give: func(w *workload) {
			w.homes = []string{poolArm, poolGeneral}
			w.nodeAffinity().RequiredDuringSchedulingIgnoredDuringExecution = &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{
				labelIn(corev1.LabelArchStable, v1.ArchitectureAmd64, v1.ArchitectureArm64),
			}}
			tolerate(&w.spec, armTaint)
		}},
		trait{percent: 10, give: func(w *workload) {
			w.homes = []string{poolSpot}
			w.spec.NodeSelector = map[string]string{v1.CapacityTypeLabelKey: v1.CapacityTypeSpot}
			tolerate(&w.spec, spotTaint)
		}},
	)
}

// dealConstraints chooses the workloads whose replicas are kept apart, and those with preferences.
// Workloads with GPUs get neither.
func (m *maker) dealConstraints(all []*workload) {
	var others []*workload
	for _, w := range all {
		if w.homes[0] != poolGPU {
			others = append(others, w)
		}
	}
	m.deal(len(all), others,
		// Only small workloads use a host port or one node per replica.
		trait{percent: 1, most: 4, give: func(w *workload) {
			w.alone = true
			w.spec.Containers[0].Ports = []corev1.ContainerPort{hostPort("direct", int32(7000+m.IntN(2000)))}
		}},
		trait{percent: 10, most: 20, give: func(w *workload) {
			w.alone = true
			w.antiAffinity().RequiredDuringSchedulingIgnoredDuringExecution = []corev1.PodAffinityTerm{near(corev1.LabelHostname, w.selects())}
		}},
		trait{percent: 30, give: func(w *workload) {
			w.overZone = true
			w.spread(corev1.DoNotSchedule)
		}},
		trait{percent: 5, give: func(w *workload) { w.spread(corev1.ScheduleAnyway) }},
		trait{percent: 5, give: func(w *workload) {
			w.antiAffinity().PreferredDuringSchedulingIgnoredDuringExecution = []corev1.WeightedPodAffinityTerm{
				{Weight: 100, PodAffinityTerm: near(corev1.LabelHostname, w.selects())},
			}
		}},
	)
	m.deal(len(all), others, trait{percent: 5, give: func(w *workload) {
		w.nodeAffinity().PreferredDuringSchedulingIgnoredDuringExecution = []corev1.PreferredSchedulingTerm{
			{Weight: 50, Preference: labelIn(awsv1.LabelInstanceCategory, oneOf(m.dice, "c", "m", "r"))},
		}
	}})
}

// needGPU makes a workload request GPUs, with 2 CPUs and 8 GiB for each.
func (m *maker) needGPU(w *workload) {
	gpus := weighted(m.dice, []odds[int64]{{14, 1}, {3, 2}, {3, 4}})
	w.homes = []string{poolGPU}
	r := &w.spec.Containers[0].Resources
	r.Requests = amounts(2000*gpus, 8192*gpus)
	r.Requests[awsv1.ResourceNVIDIAGPU] = *resource.NewQuantity(gpus, resource.DecimalSI)
	r.Limits = corev1.ResourceList{
		corev1.ResourceMemory:   r.Requests[corev1.ResourceMemory],
		awsv1.ResourceNVIDIAGPU: r.Requests[awsv1.ResourceNVIDIAGPU],
	}
	tolerate(&w.spec, gpuTaint)
}

func (w *workload) spread(otherwise corev1.UnsatisfiableConstraintAction) {
	w.spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{spread(corev1.LabelTopologyZone, otherwise, w.selects())}
}

func (w *workload) affinity() *corev1.Affinity {
	if w.spec.Affinity == nil {
		w.spec.Affinity = &corev1.Affinity{}
	}
	return w.spec.Affinity
}

func (w *workload) nodeAffinity() *corev1.NodeAffinity {
	a := w.affinity()
	if a.NodeAffinity == nil {
		a.NodeAffinity = &corev1.NodeAffinity{}
	}
	return a.NodeAffinity
}

func (w *workload) antiAffinity() *corev1.PodAntiAffinity {
	a := w.affinity()
	if a.PodAntiAffinity == nil {
		a.PodAntiAffinity = &corev1.PodAntiAffinity{}
	}
	return a.PodAntiAffinity
}

// replica returns the metadata of one more pod of a workload. A name that is taken is drawn again,
// as the API server does.
func (m *maker) replica(w *workload) metav1.ObjectMeta {
	name := w.owner.Name + "-" + m.tail(5)
	for m.named[w.namespace+"/"+name] {
		name = w.owner.Name + "-" + m.tail(5)
	}
	return metav1.ObjectMeta{
		Namespace:       w.namespace,
		Name:            name,
		Labels:          w.labels,
		OwnerReferences: []metav1.OwnerReference{w.owner},
	}
}

// pendAll makes all replicas pending, in random order, as after simultaneous rollouts.
func (m *maker) pendAll(workloads []*workload) {
	var turns []*workload
	for _, w := range workloads {
		for range w.replicas {
			turns = append(turns, w)
		}
	}
	names := map[string]bool{}
	for _, w := range shuffled(m.dice, turns) {
		meta := m.replica(w)
		for names[meta.Name] {
			meta = m.replica(w)
		}
		names[meta.Name] = true
		m.out.Pods = append(m.out.Pods, m.pending(meta, w.spec, w.waited))
	}
}

// template returns the pod of a workload: one container of common size, at times with a sidecar, an
// init container, an emptyDir volume or a priority, and with the fields that admission adds to
// every pod.
func (m *maker) template() corev1.PodSpec {
	spec := corev1.PodSpec{
		RestartPolicy:      corev1.RestartPolicyAlways,
		DNSPolicy:          corev1.DNSClusterFirst,
		SchedulerName:      corev1.DefaultSchedulerName,
		ServiceAccountName: "default",
		Containers:         []corev1.Container{m.container()},
		Volumes:            []corev1.Volume{tokenVolume()},
	}
	grace := int64(corev1.DefaultTerminationGracePeriodSeconds)
	spec.TerminationGracePeriodSeconds = &grace
	for _, taint := range []string{corev1.TaintNodeNotReady, corev1.TaintNodeUnreachable} {
		seconds := int64(300)
		spec.Tolerations = append(spec.Tolerations, corev1.Toleration{
			Key: taint, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: &seconds,
		})
	}
	if m.chance(25) {
		spec.Containers = append(spec.Containers, helper("mesh", 100, 128))
	}
	if m.chance(10) {
		spec.InitContainers = []corev1.Container{helper("migrate", 100, 256)}
	}
	if m.chance(5) {
		high := int32(1000)
		spec.PriorityClassName, spec.Priority = "important", &high
	}
	return spec
}

// container draws requests with the distribution of real clusters: many small ones, few large ones,
// and memory mostly between 1 and 8 GiB for each CPU.
func (m *maker) container() corev1.Container {
	milli := weighted(m.dice, []odds[int64]{
		{8, 20}, {10, 50}, {18, 100}, {11, 200}, {12, 250}, {15, 500}, {12, 1000}, {8, 2000}, {4, 4000}, {2, 8000},
	})
	gibPerCPU := weighted(m.dice, []odds[float64]{{10, 0.5}, {15, 1}, {25, 2}, {30, 4}, {20, 8}})
	// As if the owner of the workload had measured its use, and set memory a little lower or higher.
	gibPerCPU *= oneOf(m.dice, 0.8, 1, 1, 1.2)
	const step = 32 // MiB
	mebi := step * max(1, int64(math.Round(float64(milli)/1000*gibPerCPU*1024/step)))
	requests := amounts(milli, mebi)
	limits := corev1.ResourceList{corev1.ResourceMemory: requests[corev1.ResourceMemory]}
	if m.chance(10) {
		requests[corev1.ResourceEphemeralStorage] = *resource.NewQuantity(int64(1+m.IntN(4))<<29, resource.BinarySI)
	}
	return corev1.Container{
		Name:            "app",
		Image:           mixImage,
		ImagePullPolicy: corev1.PullIfNotPresent,
		Resources:       corev1.ResourceRequirements{Requests: requests, Limits: limits},
		Ports:           []corev1.ContainerPort{{Name: "http", ContainerPort: 8080, Protocol: corev1.ProtocolTCP}},
		VolumeMounts: []corev1.VolumeMount{
			{Name: tokenVolume().Name, ReadOnly: true, MountPath: "/var/run/secrets/kubernetes.io/serviceaccount"},
		},
	}
}

func helper(name string, milli, mebi int64) corev1.Container {
	return corev1.Container{Name: name, Image: mixImage, Resources: corev1.ResourceRequirements{Requests: amounts(milli, mebi)}}
}

// tokenVolume returns the volume with the token of the pod's service account.
func tokenVolume() corev1.Volume {
	return corev1.Volume{Name: "token", VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{
		Sources: []corev1.VolumeProjection{
			{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{Path: "token"}},
			{ConfigMap: &corev1.ConfigMapProjection{LocalObjectReference: corev1.LocalObjectReference{Name: "kube-root-ca.crt"}}},
		},
	}}}
}
