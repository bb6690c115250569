package planreport

import (
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	overlays "github.com/dovetail-sdk/dovetail/cloudprovider/overlay"
	"github.com/dovetail-sdk/dovetail/provisioning"
)

// staticPool is a NodePool with a fixed number of nodes.
type staticPool struct {
	NodePool          string   `json:"nodePool"`
	Replicas          int64    `json:"replicas"`
	Active            int      `json:"active"`
	PendingDisruption int      `json:"pendingDisruption"`
	Deleting          int      `json:"deleting"`
	Missing           int      `json:"missing"`
	HeldBack          int      `json:"heldBack"`
	Held              string   `json:"held,omitempty"`
	Excess            int      `json:"excess"`
	Remove            []string `json:"remove"`
	OptionCount       int      `json:"optionCount"`
	Options           []option `json:"options"`
}

// buffer is spare room that is kept.
type buffer struct {
	Namespace string  `json:"namespace"`
	Name      string  `json:"name"`
	Existing  int     `json:"existing"`
	New       int     `json:"new"`
	Unplaced  int     `json:"unplaced"`
	Reason    *reason `json:"reason,omitempty"`
}

// overlay is what became of a NodeOverlay.
type overlay struct {
	Name          string            `json:"name"`
	Faults        []string          `json:"faults"`
	InstanceTypes int               `json:"instanceTypes"`
	Offerings     int               `json:"offerings"`
	Priced        int               `json:"priced"`
	Resized       int               `json:"resized"`
	Conflicts     []overlayConflict `json:"conflicts"`
}

// overlayConflict is a price or a resource that overlays of one weight would
// all set. Offering has only an instance type where Resource is set.
type overlayConflict struct {
	NodePool string   `json:"nodePool"`
	Offering string   `json:"offering"`
	Resource string   `json:"resource,omitempty"`
	With     []string `json:"with"`
}

func buildStaticPools(pools []provisioning.StaticPool, maxOptions int) []staticPool {
	out := make([]staticPool, 0, len(pools))
	for i := range pools {
		p := &pools[i]
		s := staticPool{
			NodePool: p.Pool.Name, Active: p.Active, PendingDisruption: p.PendingDisruption, Deleting: p.Deleting,
			Missing: p.Missing, HeldBack: p.HeldBack, Held: p.Held, Excess: p.Excess,
			Remove: append([]string{}, p.Remove...), OptionCount: len(p.Options), Options: buildOptions(p.Options, maxOptions),
		}
		if p.Pool.Spec.Replicas != nil {
			s.Replicas = *p.Pool.Spec.Replicas
		}
		out = append(out, s)
	}
	return out
}

func buildBuffers(buffers []provisioning.BufferStatus) []buffer {
	out := make([]buffer, 0, len(buffers))
	for _, b := range buffers {
		row := buffer{Namespace: b.Namespace, Name: b.Name, Existing: b.Existing, New: b.Fresh, Unplaced: b.Unplaced}
		if b.Reason != nil {
			why := buildReason(b.Reason)
			row.Reason = &why
		}
		out = append(out, row)
	}
	return out
}

func buildOverlays(overlays []overlays.Status) []overlay {
	out := make([]overlay, 0, len(overlays))
	for _, o := range overlays {
		row := overlay{
			Name: o.Name, Faults: []string{}, InstanceTypes: o.InstanceTypes, Offerings: o.Offerings,
			Priced: o.Priced, Resized: o.Resized, Conflicts: []overlayConflict{},
		}
		for _, f := range o.Faults {
			row.Faults = append(row.Faults, f.Error())
		}
		for _, c := range o.Conflicts {
			conflict := overlayConflict{NodePool: c.NodePool, Offering: c.Offering.String(),
				Resource: string(c.Resource), With: append([]string{}, c.With...)}
			if c.Resource != "" {
				conflict.Offering = c.Offering.InstanceType
			}
			row.Conflicts = append(row.Conflicts, conflict)
		}
		out = append(out, row)
	}
	return out
}

// buildOptions writes down the first of the options; maxOptions of zero is all.
func buildOptions(options []cloudprovider.LaunchOption, maxOptions int) []option {
	if maxOptions > 0 && len(options) > maxOptions {
		options = options[:maxOptions]
	}
	out := make([]option, 0, len(options))
	for _, o := range options {
		out = append(out, buildOption(o))
	}
	return out
}
