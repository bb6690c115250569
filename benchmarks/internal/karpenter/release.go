package karpenter

import "runtime/debug"

// module is the path of Karpenter's module.
const module = "sigs.k8s.io/karpenter"

// Release returns the version of Karpenter with which the program is built, such as "v1.14.1". It is
// "unknown" if the program was built without modules.
func Release() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, m := range info.Deps {
			if m.Path == module {
				return m.Version
			}
		}
	}
	return "unknown"
}
