package amiselect

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Environment has the inputs of a selection that are not in the terms.
type Environment struct {
	// KubernetesVersion is the version of the control plane, such as 1.31. Needed by aliases.
	KubernetesVersion string

	// Account is the AWS account that owner self stands for. Select needs it for a name without
	// owner, and for owner self.
	Account string

	// Parameters are the values of the SSM parameters that Queries asks for, by name. An empty
	// value means that the parameter does not exist.
	//
	// If it is not nil, Select uses it and needs every parameter: a missing one is an error,
	// because it may be a failed call, and treating its image as withdrawn would replace nodes.
	//
	// If it is nil, SSM is not consulted: Select recognises the images of an alias by the names
	// that AWS gives them and their owner, amazon, and treats the newest as the latest. A term with
	// an ssmParameter is an error then.
	Parameters map[string]string

	// History makes Queries also ask for older releases of an alias at latest. It is needed if
	// Parameters is nil, and so that Options.MinAge and Options.Deny can fall back to an older
	// release. For an alias at latest~n older releases are always asked for.
	History bool
}

// alias is an alias of the terms, resolved for the environment.
type resolvedAlias struct {
	Alias
	kubernetes string
	lines      []published
}

// resolve validates terms and environment together. The alias is nil if the
// terms have none.
func resolve(terms []Term, env Environment) (*resolvedAlias, error) {
	var errs []error
	for _, f := range ValidateTerms(nil, terms) {
		errs = append(errs, f)
	}
	if env.Account != "" && !isAccount(env.Account) {
		errs = append(errs, field.Invalid(field.NewPath("environment", "account"), env.Account, "want the twelve digits of an AWS account"))
	}
	version, minor, err := parseKubernetes(env.KubernetesVersion)
	path := field.NewPath("environment", "kubernetesVersion")
	alias := len(terms) > 0 && terms[0].Alias != ""
	switch {
	case env.KubernetesVersion == "" && alias:
		errs = append(errs, field.Required(path, "an alias stands for the images of one Kubernetes version; give that of the control plane, such as 1.31"))
	case env.KubernetesVersion != "" && err != nil:
		errs = append(errs, field.Invalid(path, env.KubernetesVersion, detailOf(err)))
	case alias && len(errs) == 0:
		// The terms are valid, so the alias is.
		a, _ := ParseAlias(terms[0].Alias)
		if err := checkSupported(a.Family, minor); err != nil {
			return nil, fmt.Errorf("amiSelectorTerms[0].alias: %w", err)
		}
		return &resolvedAlias{a, version, publishedFor(a, version)}, nil
	}
	return nil, errors.Join(errs...)
}

// ErrUnsupportedAlias is wrapped by the error for an alias of a family that AWS does not publish
// for the Kubernetes version: AL2 from 1.33 on, and Windows Server 2025 before 1.35. The remedy is
// another alias or another version.
var ErrUnsupportedAlias = errors.New("alias not supported on this Kubernetes version")

// parseKubernetes reads a version such as 1.31. A "+" at the end, which some API servers report, is
// dropped. It returns the version as in the names of images, and its minor part.
func parseKubernetes(text string) (version string, minor int, err error) {
	version = strings.TrimSuffix(text, "+")
	digits, ok := strings.CutPrefix(version, "1.")
	minor, bad := strconv.Atoi(digits)
	if !ok || bad != nil || digits != strconv.Itoa(minor) || minor < 0 {
		return "", 0, fmt.Errorf("version %q: is not a Kubernetes version; give major and minor of the control plane, such as 1.31", shorten(text))
	}
	return version, minor, nil
}

// checkSupported returns an error if AWS publishes no images of the family for Kubernetes 1.minor.
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
