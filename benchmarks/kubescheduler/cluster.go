package main

import (
	"fmt"

	"k8s.io/component-helpers/node/topology"
	fwk "k8s.io/kube-scheduler/framework"
	internalcache "k8s.io/kubernetes/pkg/scheduler/backend/cache"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// cluster is the snapshot of nodes and bound pods that plugins read. Adding a pod takes constant
// time, where the scheduler's own snapshot would be rebuilt. It embeds an empty scheduler snapshot
// to implement the methods for pod groups, which this program does not use.
type cluster struct {
	*internalcache.Snapshot
	nodes                  []fwk.NodeInfo
	byName                 map[string]fwk.NodeInfo
	affinity, antiAffinity []fwk.NodeInfo
	claimUses              map[string]int
	order                  []int // result of turns
}

var _ fwk.SharedLister = &cluster{}

func newCluster() *cluster {
	return &cluster{
		Snapshot:  internalcache.NewEmptySnapshot(),
		byName:    map[string]fwk.NodeInfo{},
		claimUses: map[string]int{},
	}
}

// reset replaces the nodes of the cluster.
func (c *cluster) reset(nodes []Node) error {
	c.nodes, c.affinity, c.antiAffinity = nil, nil, nil
	clear(c.byName)
	clear(c.claimUses)
	return c.join(nodes)
}

// join adds nodes, with their pods, to the cluster.
func (c *cluster) join(nodes []Node) error {
	for _, n := range nodes {
		if n.Node == nil {
			return fmt.Errorf("nodes[%d]: there is no node", len(c.nodes))
		}
		if c.byName[n.Node.Name] != nil {
			return fmt.Errorf("node %s is listed twice", n.Node.Name)
		}
		info := framework.NewNodeInfo()
		info.SetNode(n.Node)
		c.nodes, c.byName[n.Node.Name] = append(c.nodes, info), info
		for _, pod := range n.Pods {
			bound, err := framework.NewPodInfo(pod)
			if err != nil {
				return fmt.Errorf("pod %s/%s: %w", pod.Namespace, pod.Name, err)
			}
			c.bind(bound, info)
		}
	}
	c.order = c.turns()
	return nil
}

// bind adds a pod to a node of the cluster.
func (c *cluster) bind(pod fwk.PodInfo, node fwk.NodeInfo) {
	affinity, antiAffinity := len(node.GetPodsWithAffinity()), len(node.GetPodsWithRequiredAntiAffinity())
	node.AddPodInfo(pod)
	if affinity == 0 && len(node.GetPodsWithAffinity()) > 0 {
		c.affinity = append(c.affinity, node)
	}
	if antiAffinity == 0 && len(node.GetPodsWithRequiredAntiAffinity()) > 0 {
		c.antiAffinity = append(c.antiAffinity, node)
	}
	for _, volume := range pod.GetPod().Spec.Volumes {
		if claim := volume.PersistentVolumeClaim; claim != nil {
			c.claimUses[pod.GetPod().Namespace+"/"+claim.ClaimName]++
		}
	}
}

func (c *cluster) NodeInfos() fwk.NodeInfoLister       { return c }
func (c *cluster) StorageInfos() fwk.StorageInfoLister { return c }

func (c *cluster) List() ([]fwk.NodeInfo, error)                     { return c.nodes, nil }
func (c *cluster) HavePodsWithAffinityList() ([]fwk.NodeInfo, error) { return c.affinity, nil }
func (c *cluster) HavePodsWithRequiredAntiAffinityList() ([]fwk.NodeInfo, error) {
	return c.antiAffinity, nil
}
func (c *cluster) IsPVCUsedByPods(key string) bool { return c.claimUses[key] > 0 }

func (c *cluster) Get(name string) (fwk.NodeInfo, error) {
	if info := c.byName[name]; info != nil {
		return info, nil
	}
	return nil, fmt.Errorf("there is no node %q", name)
}

// turns returns the indexes of all nodes in the order in which kube-scheduler looks at them: one of
// each zone in turn.
func (c *cluster) turns() []int {
	var zones []string
	byZone := map[string][]int{}
	for i, node := range c.nodes {
		zone := topology.GetZoneKey(node.Node())
		if byZone[zone] == nil {
			zones = append(zones, zone)
		}
		byZone[zone] = append(byZone[zone], i)
	}
	order := make([]int, 0, len(c.nodes))
	for turn := 0; len(order) < len(c.nodes); turn++ {
		for _, zone := range zones {
			if turn < len(byZone[zone]) {
				order = append(order, byZone[zone][turn])
			}
		}
	}
	return order
}
