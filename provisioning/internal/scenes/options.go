package scenes

import "github.com/dovetail-sdk/dovetail/provisioning"

// VaryOptions varies the options with the seed; nil are the defaults.
func VaryOptions(seed uint64) *provisioning.Options {
	switch seed % 7 {
	case 0:
		return &provisioning.Options{MinValues: provisioning.BestEffort}
	case 1:
		return &provisioning.Options{MaxSteps: 1 + int(seed/7%5)}
	}
	return nil
}
