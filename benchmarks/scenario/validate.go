package scenario

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
)

// faults collects the faults of a document.
type faults struct {
	document string
	found    []error
}

func (f *faults) add(where, format string, args ...any) {
	f.found = append(f.found, fmt.Errorf("%s: %s: %s", f.document, where, fmt.Sprintf(format, args...)))
}

// unique adds a fault for a name that is empty or was seen before.
func (f *faults) unique(seen map[string]bool, where, name string) {
	switch {
	case name == "":
		f.add(where, "has no name; objects are told apart by it")
	case seen[name]:
		f.add(where, "%q is there twice; give each a name of its own", name)
	}
	seen[name] = true
}

// Validate returns an error that joins all faults: null entries, missing or duplicate names,
// instance types that a pool names but the catalog lacks, negative prices, and unknown options.
// Everything else about the Kubernetes objects is for the contenders to judge.
func (s *Scenario) Validate() error {
	f := &faults{document: "scenario"}
	if s.Name == "" {
		f.add("name", "is empty; results are filed under it")
	}
	s.checkPools(f)
	s.checkTypes(f)
	s.checkPods(f)
	s.checkObjects(f)
	if p := s.Options.PreferencePolicy; p != "" && p != "Respect" && p != "Ignore" {
		f.add("options.preferencePolicy", "is %q; use Respect or Ignore", p)
	}
	if p := s.Options.MinValuesPolicy; p != "" && p != "Strict" && p != "BestEffort" {
		f.add("options.minValuesPolicy", "is %q; use Strict or BestEffort", p)
	}
	return errors.Join(f.found...)
}

func (s *Scenario) checkPools(f *faults) {
	seen := map[string]bool{}
	for i, p := range s.NodePools {
		where := fmt.Sprintf("nodePools[%d]", i)
		if p == nil {
			f.add(where, "is null; leave it out")
			continue
		}
		f.unique(seen, where, p.Name)
	}
	defined := map[string]bool{}
	for i := range s.InstanceTypes {
		defined[s.InstanceTypes[i].Name] = true
	}
	for _, pool := range slices.Sorted(maps.Keys(s.InstanceTypesByPool)) {
		where := fmt.Sprintf("instanceTypesByPool[%s]", pool)
		if !seen[pool] {
			f.add(where, "there is no such node pool; name one of nodePools")
		}
		for _, name := range s.InstanceTypesByPool[pool] {
			if !defined[name] {
				f.add(where, "there is no instance type %q; name one of instanceTypes", name)
			}
		}
	}
}

func (s *Scenario) checkTypes(f *faults) {
	seen := map[string]bool{}
	for i := range s.InstanceTypes {
		t := &s.InstanceTypes[i]
		where := fmt.Sprintf("instanceTypes[%d]", i)
		f.unique(seen, where, t.Name)
		for j, o := range t.Offerings {
			at := fmt.Sprintf("%s (%s).offerings[%d]", where, t.Name, j)
			if o.Price < 0 || math.IsNaN(o.Price) || math.IsInf(o.Price, 0) {
				f.add(at, "price is %v; give USD per hour, 0 or more", o.Price)
			}
			if o.Zone == "" || o.CapacityType == "" {
				f.add(at, "zone or capacityType is empty; give both")
			}
			if o.CapacityType == v1.CapacityTypeReserved && o.ReservationID == "" {
				f.add(at, "is reserved and names no reservationID; name it")
			}
		}
	}
}

func (s *Scenario) checkPods(f *faults) {
	names, uids := map[string]bool{}, map[string]bool{}
	check := func(where string, pod *corev1.Pod) {
		if pod == nil {
			f.add(where, "is null; leave it out")
			return
		}
		if pod.Name == "" {
			f.unique(names, where, "")
		} else {
			f.unique(names, where, PodKey(pod))
		}
		if uid := string(pod.UID); uid == "" || uids[uid] {
			f.add(where, "metadata.uid %q is empty or there twice; give each pod one of its own", uid)
		} else {
			uids[uid] = true
		}
	}
	for i, pod := range s.Pods {
		check(fmt.Sprintf("pods[%d]", i), pod)
	}
	nodes := map[string]bool{}
	for i, n := range s.Nodes {
		where := fmt.Sprintf("nodes[%d]", i)
		f.unique(nodes, where, n.Name())
		for j, pod := range n.Pods {
			check(fmt.Sprintf("%s.pods[%d]", where, j), pod)
		}
	}
	for i, pod := range s.DaemonSetPods {
		if pod == nil {
			f.add(fmt.Sprintf("daemonSetPods[%d]", i), "is null; leave it out")
		}
	}
}

func (s *Scenario) checkObjects(f *faults) {
	noNulls(f, "namespaces", s.Namespaces)
	noNulls(f, "persistentVolumeClaims", s.PersistentVolumeClaims)
	noNulls(f, "persistentVolumes", s.PersistentVolumes)
	noNulls(f, "storageClasses", s.StorageClasses)
	noNulls(f, "csiNodes", s.CSINodes)
	noNulls(f, "podDisruptionBudgets", s.PodDisruptionBudgets)
}

func noNulls[T any](f *faults, field string, objects []*T) {
	for i, o := range objects {
		if o == nil {
			f.add(fmt.Sprintf("%s[%d]", field, i), "is null; leave it out")
		}
	}
}

// Validate returns an error that joins all faults that can be found without the scenario: no
// scenario named, claims without a pool or without instance types, and pods that are placed twice
// or both placed and in Errors.
func (p *Plan) Validate() error {
	f := &faults{document: "plan"}
	if p.Scenario == "" {
		f.add("scenario", "is empty; name the scenario that the plan answers")
	}
	placed := map[string]bool{}
	place := func(where string, pods []string) {
		for _, key := range pods {
			f.unique(placed, where+".pods", key)
		}
	}
	for i, c := range p.NewNodeClaims {
		where := fmt.Sprintf("newNodeClaims[%d]", i)
		if c.NodePool == "" {
			f.add(where, "nodePool is empty; name the pool of the node")
		}
		if len(c.InstanceTypes) == 0 {
			f.add(where, "has no instanceTypes; name those that it may become")
		}
		place(where, c.Pods)
	}
	for i, n := range p.ExistingNodes {
		place(fmt.Sprintf("existingNodes[%d]", i), n.Pods)
	}
	for _, key := range slices.Sorted(maps.Keys(p.Errors)) {
		if placed[key] {
			f.add("errors", "%q is placed too; it can be one or the other", key)
		}
	}
	return errors.Join(f.found...)
}
