package resources

import (
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	resourcehelper "k8s.io/component-helpers/resource"

	"github.com/dovetail-sdk/dovetail/internal/minors"
)

// ErrNegative is wrapped by the error of PodRequests for a request below zero.
var ErrNegative = errors.New("negative request")

// PodRequests returns the amounts that a pod uses of a node, as kube-scheduler of Kubernetes 1.37
// and later computes them, and "pods=1". It does not change the pod. For pods that are not being
// resized other versions agree; see PodRequestsFor. In order:
//
//  1. The sum of the requests of containers and restartable init containers (sidecars), raised by
//     name to the peak of initialisation: each ordinary init container runs together with the
//     sidecars that started before it.
//  2. The same sum of what the status of each container reports as allocated, and of what it
//     reports as in use. If the amount in use is missing, the allocated amount replaces it; if both
//     are missing, the request replaces them.
//  3. The greatest of the three by name, so that a pod that is being resized in place holds the
//     larger amount. After a resize that the kubelet called infeasible no request counts, neither
//     in the first sum nor as a replacement.
//  4. Pod-level requests replace the result for cpu, memory and hugepages-*.
//     They too count the resources in use while a resize is under way.
//  5. Plus the overhead of the pod's runtime class, as found in spec.overhead.
//  6. Rounded up to the unit of each name; see FromResourceList.
//
// Limits are not consulted: for a pod read from the API server they have already been copied to
// missing requests. For a pod made from a template see Admitted of package provisioning.
//
// Requests below zero, or outside int64, are errors. Each names the container
// and the resource, and all are reported at once; they wrap ErrNegative and
// ErrOverflow.
func PodRequests(pod *corev1.Pod) (List, error) { return requestsOf(pod, heldRequests) }

// PodRequestsFor is PodRequests as kube-scheduler of a minor version of Kubernetes computes it,
// such as "1.36". The empty text stands for all minor versions that provisioning.Options.Kubernetes
// accepts; then the greatest amount of each resource counts. An unknown version is an error.
//
// Versions differ on pods that are being resized in place. Up to 1.36 each container and sidecar
// counts with the greatest of three amounts: its request, and, if the status reports any use, the
// amounts that the status reports as allocated and as in use. After an infeasible resize its
// request does not count. Init containers count with their requests. Pod-level requests are those
// of the spec up to 1.35.
func PodRequestsFor(pod *corev1.Pod, kubernetes string) (List, error) {
	versions, err := minors.Parse(kubernetes)
	if err != nil {
		return List{}, fmt.Errorf("the version of Kubernetes: %w", err)
	}
	if pod == nil || !reportsResources(pod) {
		return PodRequests(pod)
	}
	return requestsOf(pod, func(pod *corev1.Pod) corev1.ResourceList {
		held := corev1.ResourceList{}
		if versions.After(minors.ContainerResizes) {
			raise(held, heldRequests(pod))
		}
		if versions.Before(minors.ContainerResizes) && versions.After(minors.PodResizes) {
			raise(held, heldByContainer(pod, true))
		}
		if versions.Before(minors.PodResizes) {
			raise(held, heldByContainer(pod, false))
		}
		return held
	})
}

// reportsResources reports whether the status of a pod counts for its requests.
func reportsResources(pod *corev1.Pod) bool {
	return pod.Status.Resources != nil || pod.Status.AllocatedResources != nil || resourcehelper.IsPodResizeInfeasible(pod) ||
		slices.ContainsFunc(slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses),
			func(s corev1.ContainerStatus) bool { return s.AllocatedResources != nil || s.Resources != nil })
}

// heldByContainer is heldRequests for Kubernetes up to 1.36. It calls the helper of the Kubernetes
// version that this module is built with. podLevel says whether the status counts for pod-level
// requests.
func heldByContainer(pod *corev1.Pod, podLevel bool) corev1.ResourceList {
	return resourcehelper.PodRequests(pod, resourcehelper.PodResourcesOptions{
		UseStatusResources: true, InPlacePodLevelResourcesVerticalScalingEnabled: podLevel, ExcludeOverhead: true,
	})
}

// requestsOf returns the requests of a pod: the amounts that held returns, plus the overhead of its
// runtime class.
func requestsOf(pod *corev1.Pod, held func(*corev1.Pod) corev1.ResourceList) (List, error) {
	if pod == nil {
		return List{}, errors.New("pod is nil; pass the pod whose requests are wanted")
	}
	if err := checkRequests(pod); err != nil {
		return List{}, podFault(pod, err)
	}
	// Adding overhead in held could write through a pointer shared with the
	// pod's own pod-level requests, so it is added below, to copies.
	requests := held(pod)
	for name, overhead := range pod.Spec.Overhead {
		sum := requests[name].DeepCopy()
		sum.Add(overhead)
		requests[name] = sum
	}
	list, err := FromResourceList(requests)
	if err != nil {
		return List{}, podFault(pod, err)
	}
	return list.With(corev1.ResourcePods, 1), nil
}

// heldRequests takes steps 1 to 4 of PodRequests. The sums are those of the helper of
// Kubernetes. What the status reports is read here: the helper of 1.36 takes the greatest
// amount of each container, and kube-scheduler 1.37 the greatest of the sums.
func heldRequests(pod *corev1.Pod) corev1.ResourceList {
	infeasible := resourcehelper.IsPodResizeInfeasible(pod)
	held := corev1.ResourceList{}
	if !infeasible {
		held = resourcehelper.PodRequests(pod, resourcehelper.PodResourcesOptions{SkipPodLevelResources: true, ExcludeOverhead: true})
	}
	status := pod.Status.Resources
	switch {
	case pod.Status.AllocatedResources != nil && status != nil && status.Requests != nil: // sums already
		raise(held, pod.Status.AllocatedResources)
		raise(held, status.Requests)
	case infeasible || slices.ContainsFunc(slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses),
		func(s corev1.ContainerStatus) bool { return s.AllocatedResources != nil || s.Resources != nil }):
		allocated := func(c *corev1.Container, s *corev1.ContainerStatus) corev1.ResourceList {
			if s != nil && s.AllocatedResources != nil {
				return s.AllocatedResources
			}
			if infeasible {
				return nil
			}
			return c.Resources.Requests
		}
		raise(held, sumOf(pod, allocated))
		raise(held, sumOf(pod, func(c *corev1.Container, s *corev1.ContainerStatus) corev1.ResourceList {
			if s != nil && s.Resources != nil && s.Resources.Requests != nil {
				return s.Resources.Requests
			}
			return allocated(c, s)
		}))
	}
	if !resourcehelper.IsPodLevelRequestsSet(pod) {
		return held
	}
	level := corev1.ResourceList{}
	if !infeasible || status == nil {
		raise(level, pod.Spec.Resources.Requests)
	}
	if status != nil {
		raise(level, status.Requests)
		raise(level, pod.Status.AllocatedResources)
	}
	for name, q := range level {
		if resourcehelper.IsSupportedPodLevelResource(name) {
			held[name] = q
		}
	}
	return held
}

// sumOf returns the sum of step 1 of PodRequests over the amounts that of returns for each
// container and its status, if it has one.
func sumOf(pod *corev1.Pod, of func(*corev1.Container, *corev1.ContainerStatus) corev1.ResourceList) corev1.ResourceList {
	replaced := func(containers []corev1.Container, statuses []corev1.ContainerStatus) []corev1.Container {
		out := make([]corev1.Container, len(containers))
		for i := range containers {
			c := &containers[i]
			var status *corev1.ContainerStatus
			if at := slices.IndexFunc(statuses, func(s corev1.ContainerStatus) bool { return s.Name == c.Name }); at >= 0 {
				status = &statuses[at]
			}
			out[i] = corev1.Container{Name: c.Name, RestartPolicy: c.RestartPolicy, Resources: corev1.ResourceRequirements{Requests: of(c, status)}}
		}
		return out
	}
	return resourcehelper.PodRequests(&corev1.Pod{Spec: corev1.PodSpec{
		InitContainers: replaced(pod.Spec.InitContainers, pod.Status.InitContainerStatuses),
		Containers:     replaced(pod.Spec.Containers, pod.Status.ContainerStatuses),
	}}, resourcehelper.PodResourcesOptions{})
}

// raise raises the amounts of a list to those of another.
func raise(list, other corev1.ResourceList) {
	for name, q := range other {
		if has, ok := list[name]; !ok || q.Cmp(has) > 0 {
			list[name] = q
		}
	}
}

func podFault(pod *corev1.Pod, err error) error {
	return fmt.Errorf("pod %s/%s: %w", pod.Namespace, pod.Name, err)
}

// checkRequests refuses the quantities that PodRequests cannot add up: those
// below zero, and those so large that a sum with them would be meaningless.
func checkRequests(pod *corev1.Pod) error {
	var faults []error
	for i := range pod.Spec.InitContainers {
		c := &pod.Spec.InitContainers[i]
		faults = appendFaults(faults, "init container "+c.Name, c.Resources.Requests)
	}
	for i := range pod.Spec.Containers {
		c := &pod.Spec.Containers[i]
		faults = appendFaults(faults, "container "+c.Name, c.Resources.Requests)
	}
	if pod.Spec.Resources != nil {
		faults = appendFaults(faults, "pod-level resources", pod.Spec.Resources.Requests)
	}
	faults = appendFaults(faults, "overhead", pod.Spec.Overhead)
	for _, statuses := range [][]corev1.ContainerStatus{pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses} {
		for i := range statuses {
			s := &statuses[i]
			faults = appendFaults(faults, "status of container "+s.Name, s.AllocatedResources)
			if s.Resources != nil {
				faults = appendFaults(faults, "status of container "+s.Name, s.Resources.Requests)
			}
		}
	}
	if pod.Status.Resources != nil {
		faults = appendFaults(faults, "pod-level status", pod.Status.Resources.Requests)
	}
	faults = appendFaults(faults, "pod-level status", pod.Status.AllocatedResources)
	return errors.Join(faults...)
}

// appendFaults appends the faults of one list of requests, sorted by name.
func appendFaults(faults []error, where string, rl corev1.ResourceList) []error {
	var faulty []corev1.ResourceName
	for name, q := range rl {
		if _, ok := amountOf(name, q); !ok || q.Sign() < 0 || !validName(string(name)) {
			faulty = append(faulty, name)
		}
	}
	slices.Sort(faulty)
	for _, name := range faulty {
		faults = append(faults, fmt.Errorf("%s: %w", where, requestFault(name, rl[name])))
	}
	return faults
}

func requestFault(name corev1.ResourceName, q resource.Quantity) error {
	if q.Sign() < 0 && validName(string(name)) {
		return fmt.Errorf("resource %s: %s: %w; use zero or more", name, q.String(), ErrNegative)
	}
	return quantityFault(name, q)
}
