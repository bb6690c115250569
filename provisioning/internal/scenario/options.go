package scenario

import (
	"fmt"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// Options are the settings with which the engine solves the problem; the fields
// are those of provisioning.Options, zero if not set.
type Options struct {
	MinValues       string                            // see provisioning.Options
	MaxSteps        int                               // see provisioning.Options
	Preferences     string                            // see provisioning.Options
	PreferenceCost  float64                           // see provisioning.Options
	DefaultSpread   []corev1.TopologySpreadConstraint // see provisioning.Options
	SchedulerNames  []string                          // see provisioning.Options
	Reserved        string                            // see provisioning.Options
	NodeFee         float64                           // see provisioning.Options
	CapacityMix     *CapacityMix                      // see provisioning.Options
	SpotFlexibility int                               // see provisioning.Options
	Kubernetes      string                            // see provisioning.Options
}

// CapacityMix has the fields of provisioning.CapacityMix, to which it can be
// converted.
type CapacityMix struct {
	OnDemandBase    int // see provisioning.CapacityMix
	OnDemandPercent int // see provisioning.CapacityMix
}

func optionNames() []string {
	return []string{
		"MinValues", "MaxSteps", "Preferences", "PreferenceCost", "SchedulerNames", "Reserved", "NodeFee", "CapacityMix",
		"SpotFlexibility", "Kubernetes",
	}
}

func (b *builder) setOptions(l line) error {
	for _, option := range list(l.rest) {
		name, value, _ := strings.Cut(option, "=")
		if err := b.world.set(name, value); err != nil {
			return l.fault("%w", err)
		}
	}
	return nil
}

// set changes an option.
func (o *Options) set(name, value string) (err error) {
	switch name {
	case "MinValues":
		o.MinValues = value
	case "Preferences":
		o.Preferences = value
	case "Reserved":
		o.Reserved = value
	case "SchedulerNames":
		o.SchedulerNames = strings.Split(value, "|")
	case "Kubernetes":
		o.Kubernetes = value
	case "MaxSteps":
		o.MaxSteps, err = strconv.Atoi(value)
	case "SpotFlexibility":
		o.SpotFlexibility, err = strconv.Atoi(value)
	case "PreferenceCost":
		o.PreferenceCost, err = strconv.ParseFloat(value, 64)
	case "NodeFee":
		o.NodeFee, err = strconv.ParseFloat(value, 64)
	case "CapacityMix":
		o.CapacityMix, err = parseMix(value)
	default:
		return fmt.Errorf("option %q is not known; use one of %s", name, strings.Join(optionNames(), ", "))
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// parseMix reads BASE+PERCENT%.
func parseMix(text string) (*CapacityMix, error) {
	base, percent, ok := strings.Cut(strings.TrimSuffix(text, "%"), "+")
	if !ok {
		return nil, fmt.Errorf("%q is not BASE+PERCENT%%, as in 2+50%%", text)
	}
	mix := &CapacityMix{}
	var err error
	if mix.OnDemandBase, err = strconv.Atoi(base); err != nil {
		return nil, err
	}
	mix.OnDemandPercent, err = strconv.Atoi(percent)
	return mix, err
}
