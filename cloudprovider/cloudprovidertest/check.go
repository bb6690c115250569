package cloudprovidertest

import "slices"

// Check enforces one sentence of the contract.
type Check struct {
	// Name is the name of the check and of its subtest, as in "create/token".
	Name string
	// Rule is the sentence.
	Rule string
	// Needs are the fields of Harness and the interfaces of package
	// cloudprovider without which the check is skipped. May be empty.
	Needs []string

	run func(*probe)
}

// Checks returns all checks in the order in which Run runs them. The slice is
// the caller's, the Needs of a Check are read-only.
func Checks() []Check {
	return slices.Concat(catalogChecks(), classChecks(), createChecks(), tokenChecks(), stockChecks(),
		instanceChecks(), listChecks(), callChecks(), healthChecks(), noticeChecks())
}
