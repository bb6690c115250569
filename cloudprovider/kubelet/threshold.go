package kubelet

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/dovetail-sdk/dovetail/internal/quantity"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// Signal is a measure by which a kubelet decides on eviction: a key of evictionHard in its
// configuration.
type Signal string

// The signals of the kubelet.
const (
	// MemoryAvailable is free memory. Its threshold is reserved.
	MemoryAvailable Signal = "memory.available"
	// NodeFSAvailable is free space on the disk of the kubelet. Its threshold is reserved as
	// ephemeral storage.
	NodeFSAvailable Signal = "nodefs.available"
	// NodeFSInodesFree is free inodes on that disk. Pods do not request inodes, so nothing is
	// reserved.
	NodeFSInodesFree Signal = "nodefs.inodesFree"
	// ImageFSAvailable is free space on the disk of images. Nothing is reserved.
	ImageFSAvailable Signal = "imagefs.available"
	// ImageFSInodesFree is free inodes on that disk. Nothing is reserved.
	ImageFSInodesFree Signal = "imagefs.inodesFree"
	// PIDAvailable is free process ids. Nothing is reserved.
	PIDAvailable Signal = "pid.available"
)

// Signals returns the signals, sorted. The slice is the caller's.
func Signals() []Signal {
	return []Signal{ImageFSAvailable, ImageFSInodesFree, MemoryAvailable, NodeFSAvailable, NodeFSInodesFree, PIDAvailable}
}

// percentUnits is one percent, in the units of Threshold, which has six decimals of a percent.
const percentUnits = 1_000_000

// Threshold is how much must stay free: an amount, or a part of the capacity. It is comparable. The
// zero Threshold is an amount of zero.
type Threshold struct {
	value   int64 // bytes or units, or millionths of a percent
	percent bool
}

// Amount returns the threshold of an amount, in the unit of the resource. An
// amount below zero counts as zero.
func Amount(n int64) Threshold { return Threshold{value: max(n, 0)} }

// Percent returns the threshold of n whole percent of the capacity. Values outside 0 to 100 count
// as the nearer of the two.
func Percent(n int64) Threshold {
	return Threshold{value: min(max(n, 0), 100) * percentUnits, percent: true}
}

// ParseThreshold reads a threshold of a kubelet configuration: a percentage from 0% to 100%, in the
// syntax of strconv.ParseFloat and rounded to six decimals, or a quantity that is not negative,
// such as 100Mi, rounded up to a whole unit. A quantity has at most 100 digits and an exponent of
// fewer than five digits. The error says what is wrong with the text and what is wanted.
func ParseThreshold(text string) (Threshold, error) {
	number, percent := strings.CutSuffix(text, "%")
	if !percent {
		if quantity.Endless(text) {
			return Threshold{}, fmt.Errorf("threshold that begins with %.40q: its exponent, or its %d characters, take too long to be worked out; write the amount out, as in 100Mi", text, len(text))
		}
		q, err := resource.ParseQuantity(text)
		if err != nil {
			return Threshold{}, fmt.Errorf("threshold %q: use a percentage such as 10%%, or a quantity such as 100Mi", text)
		}
		if q.Sign() < 0 {
			return Threshold{}, fmt.Errorf("threshold %q: negative; use zero or more", text)
		}
		// FromResourceList rounds up and refuses amounts out of range.
		list, err := resources.FromResourceList(corev1.ResourceList{corev1.ResourceMemory: q})
		if err != nil {
			return Threshold{}, fmt.Errorf("threshold %q: %w", text, err)
		}
		return Threshold{value: list.Get(corev1.ResourceMemory)}, nil
	}
	value, err := strconv.ParseFloat(number, 64)
	if err != nil || !(value >= 0 && value <= 100) {
		return Threshold{}, fmt.Errorf("threshold %.40q: use a percentage from 0%% to 100%%", text)
	}
	units := int64(math.Round(value * percentUnits))
	if value < 100 {
		units = min(units, 100*percentUnits-1) // 100% would switch it off
	}
	return Threshold{value: units, percent: true}, nil
}

// Of returns the amount of a capacity that must stay free. A percentage is rounded up. 100%
// switches the threshold off, as in the kubelet, and returns zero.
func (t Threshold) Of(capacity int64) int64 {
	switch {
	case !t.percent:
		return t.value
	case t.value >= 100*percentUnits:
		return 0
	}
	return share(capacity, t.value, 100*percentUnits, true)
}

// String returns a text from which ParseThreshold reads the same threshold: a percentage without
// needless zeros, or a quantity in binary notation.
func (t Threshold) String() string {
	if !t.percent {
		return resources.Format(corev1.ResourceMemory, t.value)
	}
	text := strconv.FormatInt(t.value/percentUnits, 10)
	if rest := t.value % percentUnits; rest > 0 {
		text += "." + strings.TrimRight(fmt.Sprintf("%06d", rest), "0")
	}
	return text + "%"
}

// ParseThresholds reads an evictionHard map. A signal that is missing is missing in the result. The
// error lists every fault, sorted by signal: an unknown signal, and a value that ParseThreshold
// refuses.
func ParseThresholds(m map[string]string) (map[Signal]Threshold, error) {
	var faults []error
	out := make(map[Signal]Threshold, len(m))
	for _, key := range slices.Sorted(maps.Keys(m)) {
		t, err := ParseThreshold(m[key])
		switch {
		case !slices.Contains(Signals(), Signal(key)):
			faults = append(faults, fmt.Errorf("evictionHard: %q is no signal; use one of %v", key, Signals()))
		case err != nil:
			faults = append(faults, fmt.Errorf("evictionHard: %s: %w", key, err))
		default:
			out[Signal(key)] = t
		}
	}
	if len(faults) > 0 {
		return nil, errors.Join(faults...)
	}
	return out, nil
}
