package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/cloudprovider/devicecel"
	"github.com/dovetail-sdk/dovetail/disruption"
	"github.com/dovetail-sdk/dovetail/examples/internal/command"
	"github.com/dovetail-sdk/dovetail/examples/internal/manifest"
	"github.com/dovetail-sdk/dovetail/fake"
	"github.com/dovetail-sdk/dovetail/provisioning"
)

// readAll reads the manifests and the instance types. Faults in either do not
// keep the other from being looked at.
func readAll(s settings, stdin io.Reader) (*manifest.Cluster, []*cloudprovider.InstanceType, error) {
	var errs []error
	sources, err := manifest.Sources(s.files, stdin, sample)
	if err != nil {
		errs = append(errs, err)
	}
	rules := &v1.Rules{WellKnownLabels: fake.WellKnownLabels(), RestrictedDomains: []string{fake.LabelDomain}}
	cluster, err := manifest.Read(rules, sources...)
	if err != nil {
		errs = append(errs, err)
	}
	types, err := readTypes(s, stdin)
	if err != nil {
		errs = append(errs, err)
	}
	return cluster, types, errors.Join(errs...)
}

// readTypes reads the file of instance types, or takes those of the fake cloud.
func readTypes(s settings, stdin io.Reader) ([]*cloudprovider.InstanceType, error) {
	if s.instanceTypes == "" {
		return fake.Catalog(), nil
	}
	data, err := command.ReadFile(s.instanceTypes, stdin)
	if err != nil {
		return nil, err
	}
	types, err := fake.ReadCatalog(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.instanceTypes, err)
	}
	return types, nil
}

// inputFrom makes the engine's input. Every pool may launch every type.
func inputFrom(c *manifest.Cluster, types []*cloudprovider.InstanceType) disruption.Input {
	in := disruption.Input{
		Input: provisioning.Input{
			NodePools:     c.NodePools,
			InstanceTypes: make(map[string][]*cloudprovider.InstanceType, len(c.NodePools)),
			Nodes:         c.Nodes,
			Pods:          c.Pods,
			DaemonSetPods: c.DaemonSetPods,
			Namespaces:    c.Namespaces,
			Volumes:       c.Volumes,
			Devices:       c.Devices,
			Overlays:      c.Overlays,
			Buffers:       c.Buffers,
			Services:      c.Services,
			Controllers:   c.Controllers,
			Vocabulary:    fake.Vocabulary(),
		},
		PodDisruptionBudgets: c.PodDisruptionBudgets,
		Drift:                map[string]cloudprovider.Drift{},
	}
	in.Devices.Matcher = devicecel.New()
	for _, pool := range c.NodePools {
		in.InstanceTypes[pool.Name] = types
	}
	// What only the cloud can see, such as another image, a controller wrote
	// down in the condition. What the engine sees by itself it judges anew.
	own := []string{disruption.NodePoolDrifted, disruption.RequirementsDrifted, disruption.InstanceTypeNotFound}
	for _, n := range c.Nodes {
		if n.NodeClaim == nil {
			continue
		}
		for _, cond := range n.NodeClaim.Status.Conditions {
			if cond.Type == v1.ConditionTypeDrifted && cond.Status == metav1.ConditionTrue && !slices.Contains(own, cond.Reason) {
				in.Drift[n.NodeClaim.Name] = cloudprovider.Drift{Reason: cond.Reason, Detail: strings.TrimSuffix(cond.Message, ".")}
			}
		}
	}
	return in
}

// remarks says what of the input had no say in the answer.
func remarks(c *manifest.Cluster) []string {
	var lines []string
	if len(c.Ignored) > 0 {
		var kinds []string
		for _, k := range c.Ignored {
			kinds = append(kinds, fmt.Sprintf("%d %s", k.Count, k.Kind))
		}
		lines = append(lines, "ignored "+strings.Join(kinds, ", "))
	}
	return append(lines, c.Notes...)
}
