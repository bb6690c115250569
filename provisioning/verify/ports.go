package verify

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// hostResource is something of a node that pods compete for: a host port, or a
// disk that a pod names without a claim.
type hostResource struct {
	rule  Rule
	name  string
	ip    string // of a port; "" means every address
	share bool   // pods that all would share it may
	pod   *podInfo
}

// things are what a pod takes of its node.
func (*referee) things(p *podInfo) (things []hostResource) {
	take := func(c *corev1.Container) {
		for _, port := range c.Ports {
			if port.HostPort <= 0 {
				continue
			}
			protocol := port.Protocol
			if protocol == "" {
				protocol = corev1.ProtocolTCP
			}
			ip := port.HostIP
			if ip == "0.0.0.0" {
				ip = ""
			}
			things = append(things, hostResource{rule: RuleHostPorts, name: fmt.Sprintf("port %d/%s", port.HostPort, protocol), ip: ip, pod: p})
		}
	}
	for i := range p.Spec.InitContainers {
		// Those that end leave their ports to others.
		if c := &p.Spec.InitContainers[i]; c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways {
			take(c)
		}
	}
	for i := range p.Spec.Containers {
		take(&p.Spec.Containers[i])
	}
	for i := range p.Spec.Volumes {
		disk := func(share bool, format string, args ...any) {
			things = append(things, hostResource{rule: RuleVolumes, name: fmt.Sprintf(format, args...), share: share, pod: p})
		}
		switch v := &p.Spec.Volumes[i]; {
		case v.GCEPersistentDisk != nil:
			disk(v.GCEPersistentDisk.ReadOnly, "disk %s", v.GCEPersistentDisk.PDName)
		case v.AWSElasticBlockStore != nil:
			disk(false, "volume %s", v.AWSElasticBlockStore.VolumeID)
		case v.ISCSI != nil:
			disk(v.ISCSI.ReadOnly, "target %s", v.ISCSI.IQN)
		case v.RBD != nil:
			for _, monitor := range v.RBD.CephMonitors {
				disk(v.RBD.ReadOnly, "image %s of pool %s at %s", v.RBD.RBDImage, v.RBD.RBDPool, monitor)
			}
		}
	}
	return things
}

func (t *hostResource) clashes(u hostResource) bool {
	return t.pod != u.pod && t.rule == u.rule && t.name == u.name && !(t.share && u.share) &&
		(t.ip == "" || u.ip == "" || t.ip == u.ip)
}

// thingsOf are what some pods take of their node.
func (r *referee) thingsOf(pods []*podInfo) (things []hostResource) {
	for _, p := range pods {
		things = append(things, r.things(p)...)
	}
	return things
}

// checkThings looks for pods that take of a node what others have.
func (r *referee) checkThings() {
	for _, s := range r.sites {
		wanted := r.thingsOf(s.placed)
		if len(wanted) == 0 {
			continue
		}
		had := map[string][]hostResource{}
		for _, t := range r.thingsOf(r.present(s)) {
			had[t.name] = append(had[t.name], t)
		}
		for i := range wanted {
			t := &wanted[i]
			if at := slices.IndexFunc(had[t.name], t.clashes); at >= 0 {
				r.report(t.rule, s.name, t.pod.key.String(), "it asks for %s, which %s has there", t.name, had[t.name][at].pod.key)
			}
			had[t.name] = append(had[t.name], *t)
		}
	}
}
