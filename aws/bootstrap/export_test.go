package bootstrap

import "github.com/dovetail-sdk/dovetail/amiselect"

// KubeletFlags returns the flags of the kubelet one by one, where user data has them in a line.
func KubeletFlags(n Node) ([]string, error) {
	if _, faults := n.validate(); len(faults) > 0 {
		return nil, faults.ToAggregate()
	}
	if n.Family == amiselect.FamilyCustom {
		return nil, nil
	}
	var words []string
	for _, f := range n.flags() {
		words = append(words, f.name+"="+f.value)
	}
	return words, nil
}
