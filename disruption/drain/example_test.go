package drain_test

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/dovetail-sdk/dovetail/disruption/drain"
)

// exampleDrain returns a node with two replicas of web, of which one may go at a
// time, a job that must not be disturbed, and DNS.
func exampleDrain() drain.Input {
	web := map[string]string{"app": "web"}
	return drain.Input{
		Nodes: []drain.Node{{
			Name:     "ip-10-0-0-1",
			Deadline: exampleNow.Add(time.Hour),
			Pods: []drain.Pod{
				{Namespace: "shop", Name: "web-1", Labels: web, Ready: corev1.ConditionTrue, Grace: 30 * time.Second},
				{Namespace: "shop", Name: "web-2", Labels: web, Ready: corev1.ConditionTrue, Grace: 30 * time.Second},
				{Namespace: "shop", Name: "job", Grace: 5 * time.Minute, DoNotDisrupt: "true"},
				{Namespace: "kube-system", Name: "dns", PriorityClass: "system-cluster-critical", Grace: 30 * time.Second},
				{Namespace: "kube-system", Name: "proxy", Daemon: true, ToleratesDisruption: true},
			},
		}},
		Budgets: []*policyv1.PodDisruptionBudget{{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"},
			Spec:   policyv1.PodDisruptionBudgetSpec{Selector: &metav1.LabelSelector{MatchLabels: web}},
			Status: policyv1.PodDisruptionBudgetStatus{DisruptionsAllowed: 1}}},
	}
}

func ExamplePlan() {
	plan, err := drain.Plan(exampleNow, exampleDrain(), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	n := plan.Nodes[0]
	fmt.Println(n.State, n.Group)
	for _, list := range [][]drain.PodPlan{n.Evict, n.Blocked, n.Ignored} {
		for _, s := range list {
			fmt.Println(s)
		}
	}
	fmt.Println(plan.Next.Format(time.TimeOnly))
	// Output:
	// evicting workload
	// evict shop/web-1, counted by shop/web
	// shop/job is not to be disrupted, deleted at 2026-03-02T09:55:00Z
	// shop/web-2 may not be evicted: shop/web allows no more disruptions, deleted at 2026-03-02T09:59:30Z
	// kube-system/dns is critical and waits for pods of earlier groups, deleted at 2026-03-02T09:59:30Z
	// kube-system/proxy is not waited for: tolerates
	// 09:55:00
}

func ExampleObservePod() {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web-1"}}
	pod.Spec.Tolerations = []corev1.Toleration{{Operator: corev1.TolerationOpExists}}
	p := drain.ObservePod(pod, []string{"pv-1"})
	fmt.Println(p.Grace, p.ToleratesDisruption, p.Volumes)
	// Output: 30s true [pv-1]
}

func ExamplePodPlan_Eviction() {
	plan, err := drain.Plan(exampleNow, exampleDrain(), nil)
	for _, s := range plan.Nodes[0].Evict {
		fmt.Println(s.Eviction().Namespace, s.Eviction().Name)
	}
	fmt.Println(err)
	// Output:
	// shop web-1
	// <nil>
}

func ExamplePodPlan_DeleteOptions() {
	in := exampleDrain()
	plan, err := drain.Plan(exampleNow.Add(57*time.Minute), in, nil)
	for _, s := range plan.Nodes[0].Delete {
		fmt.Println(s, *s.DeleteOptions().GracePeriodSeconds)
	}
	fmt.Println(err)
	// Output:
	// delete shop/job with 3m0s of grace 180
	// <nil>
}
