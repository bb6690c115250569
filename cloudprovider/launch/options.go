package launch

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// Options tune Select. The zero value, and nil, mean the defaults.
type Options struct {
	// Limit is how many instance types one call of the cloud takes. Zero and below means 60.
	Limit int

	// OneCapacityType says that one call of the cloud takes one capacity type.
	// The first of Prefer that has an option is used. Default: they are mixed.
	OneCapacityType bool

	// Prefer lists capacity types from the best on, for OneCapacityType. Other capacity types come
	// after these, by name. Empty means reserved, spot, on-demand.
	Prefer []string

	// KeepDearSpot keeps spot capacity that costs more than the cheapest on-demand capacity. By
	// default it is left out, because it can be taken back and saves nothing.
	KeepDearSpot bool

	// Exotic says which machines are exotic. Nil means DefaultExotic; an empty list that is not nil
	// means none.
	Exotic []Exotic

	// DropExotic leaves out exotic machines that the request does not ask for, if there are others.
	// It is for clouds that ignore the order of the list. By default such machines go last.
	DropExotic bool
}

const defaultLimit = 60

// Exotic describes machines that should be launched only if the request asks for them: they have
// hidden costs, boot slowly, or are scarce. A machine is exotic if it has the resource or the
// labels.
type Exotic struct {
	// Name is their name in texts.
	Name string
	// Resource is an extended resource of the machine. A request for the resource asks for the
	// machine. May be empty.
	Resource corev1.ResourceName
	// Labels are labels that the machine can have, all of them. A requirement that lists one of
	// their values asks for the machine, and so does an Exists requirement if the label here is
	// Exists too. May be empty.
	Labels requirements.Set
}

// DefaultExotic returns the machines with well-known resources for accelerators. Each cloud has its
// own labels for bare metal; append them. The caller owns the slice.
func DefaultExotic() []Exotic {
	var all []Exotic
	for _, name := range []corev1.ResourceName{
		"amd.com/gpu", "aws.amazon.com/neuron", "aws.amazon.com/neuroncore", "google.com/tpu",
		"gpu.intel.com/i915", "gpu.intel.com/xe", "habana.ai/gaudi", "nvidia.com/gpu",
	} {
		all = append(all, Exotic{Name: string(name), Resource: name})
	}
	return all
}

// settings are Options with the defaults filled in, for one request.
type settings struct {
	Options
	exotic []Exotic // Options.Exotic without the machines that the request asks for
}

func (o *Options) settings(req *cloudprovider.LaunchRequest) settings {
	var s settings
	if o != nil {
		s.Options = *o
	}
	if s.Limit < 1 {
		s.Limit = defaultLimit
	}
	if len(s.Prefer) == 0 {
		s.Prefer = []string{v1.CapacityTypeReserved, v1.CapacityTypeSpot, v1.CapacityTypeOnDemand}
	}
	exotic := s.Exotic
	if exotic == nil {
		exotic = DefaultExotic()
	}
	for _, e := range exotic {
		if !e.asked(req.Requests, req.Requirements) {
			s.exotic = append(s.exotic, e)
		}
	}
	return s
}

// asked reports whether a request asks for such machines.
func (e *Exotic) asked(requests resources.List, reqs requirements.Set) bool {
	if e.Resource != "" && requests.Get(e.Resource) > 0 {
		return true
	}
	for label := range e.Labels.All() {
		r, found := reqs.Get(label.Key())
		if !found {
			continue
		}
		if label.Equal(requirements.Exists(label.Key())) && !r.AllowsAbsent() {
			return true
		}
		if values, finite := r.Values(); finite && slices.ContainsFunc(values, label.Has) {
			return true
		}
	}
	return false
}

// exoticName returns the name of the first Exotic that describes a machine, or "".
func (s *settings) exoticName(t *cloudprovider.InstanceType) string {
	for _, e := range s.exotic {
		if e.Resource != "" && t.Capacity.Get(e.Resource) > 0 {
			return e.Name
		}
		has := e.Labels.Len() > 0
		for label := range e.Labels.All() {
			r, found := t.Requirements.Get(label.Key())
			has = has && found && r.Overlaps(label)
		}
		if has {
			return e.Name
		}
	}
	return ""
}

// preference returns the rank of a capacity type; a lower rank is better.
func (s *settings) preference(capacityType string) int {
	if i := slices.Index(s.Prefer, capacityType); i >= 0 {
		return i
	}
	return len(s.Prefer)
}
