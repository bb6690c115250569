package amiselect

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// ErrUnsupportedAlias is wrapped by the error for an alias of a family that AWS
// does not publish for the Kubernetes version: AL2 from 1.33 on, and Windows
// Server 2025 before 1.35. Only another alias or another version helps.
var ErrUnsupportedAlias = errors.New("alias not supported on this Kubernetes version")

// parseKubernetes reads a version such as 1.31. A "+" at the end, which some
// API servers report, is dropped. It returns the version as it stands in the
// names of images, and its minor part.
func parseKubernetes(text string) (version string, minor int, err error) {
	version = strings.TrimSuffix(text, "+")
	digits, ok := strings.CutPrefix(version, "1.")
	minor, bad := strconv.Atoi(digits)
	if !ok || bad != nil || digits != strconv.Itoa(minor) || minor < 0 {
		return "", 0, fmt.Errorf("version %q: is not a Kubernetes version; give major and minor of the control plane, such as 1.31", shorten(text))
	}
	return version, minor, nil
}

// checkSupported says whether AWS publishes images of the family for
// Kubernetes 1.minor.
func checkSupported(f Family, minor int) error {
	switch {
	case f == FamilyAL2 && minor >= 33:
		return fmt.Errorf("%w: there is no Amazon Linux 2 for Kubernetes 1.%d, the last was for 1.32; move to al2023 or bottlerocket",
			ErrUnsupportedAlias, minor)
	case f == FamilyWindows2025 && minor < 35:
		return fmt.Errorf("%w: Windows Server 2025 begins with Kubernetes 1.35, the control plane is at 1.%d; use windows2022",
			ErrUnsupportedAlias, minor)
	}
	return nil
}
