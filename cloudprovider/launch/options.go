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
	// Limit is how many instance types one call of the cloud takes. Default,
	// and anything below one: 60.
	Limit int

	// OneCapacityType says that one call of the cloud takes one capacity type.
	// The first of Prefer that has an option is used. Default: they are mixed.
	OneCapacityType bool

	// Prefer lists capacity types from the best on, for OneCapacityType. Those
	// that it leaves out come after it, by name. Default, if empty: reserved,
	// spot, on-demand.
	Prefer []string

	// KeepDearSpot keeps spot capacity that costs more than the cheapest
	// capacity on demand. Default: it is left out, as it can be taken back and
	// saves nothing.
	KeepDearSpot bool

	// Exotic says which machines are out of the ordinary. Default, if nil:
	// DefaultExotic. An empty list that is not nil means that none is.
	Exotic []Exotic

	// DropExotic leaves machines out that are out of the ordinary and were not
	// asked for, if there are any others: some clouds choose from the list by
	// an order of their own. Default: they go last.
	DropExotic bool
}

const defaultLimit = 60

// Exotic describes machines that are not to be launched unless asked for, though
// they would do: they are dear in ways that the price does not show, slow to
// boot, or scarce. A machine is exotic if it has the resource, or the labels.
type Exotic struct {
	// Name says what it is, in texts.
	Name string
	// Resource is an extended resource of which the machine has any. A request
	// for it asks for the machine. May be empty.
	Resource corev1.ResourceName
	// Labels are labels all of which the machine can have. A requirement that
	// lists one of their values asks for the machine, and so does one that
	// wants the label to exist, if nothing but that is said here. May be empty.
	Labels requirements.Set
}

// DefaultExotic returns the machines with accelerators that are known by the
// resource they are requested by. What is bare metal is said by labels of each
// cloud's own; append it. The slice is the caller's.
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
	exotic []Exotic // without those that were asked for
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

// asked reports whether a request wants such machines.
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

// exoticName says by what a machine is out of the ordinary, or "".
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

// preference is the rank of a capacity type, the lower the better.
func (s *settings) preference(capacityType string) int {
	if i := slices.Index(s.Prefer, capacityType); i >= 0 {
		return i
	}
	return len(s.Prefer)
}
