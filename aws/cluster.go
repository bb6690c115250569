package aws

import (
	"encoding/base64"
	"net/netip"
	"strings"

	"github.com/dovetail-sdk/dovetail/amiselect"
)

// check calls fault for each malformed field of a cluster. Empty fields are read from EKS later.
// Without this check, the only sign of a wrong address would be nodes that do not join.
func (c *Cluster) check(fault func(format string, args ...any)) {
	if c.Name == "" {
		fault("cluster.name: empty; name the EKS cluster")
	}
	if host, https := strings.CutPrefix(c.Endpoint, "https://"); c.Endpoint != "" && (!https || host == "") {
		fault("cluster.endpoint: %q; give the URL of the API server, such as https://0123456789abcdef.gr7.eu-central-1.eks.amazonaws.com", c.Endpoint)
	}
	if _, err := base64.StdEncoding.Strict().DecodeString(c.CABundle); err != nil {
		fault("cluster.caBundle: not base64; encode the PEM certificates, on one line")
	}
	if _, err := netip.ParsePrefix(c.ServiceCIDR); c.ServiceCIDR != "" && err != nil {
		fault("cluster.serviceCIDR: %q; give a range of addresses, such as 10.100.0.0/16", c.ServiceCIDR)
	}
	if _, err := netip.ParseAddr(c.DNSIP); c.DNSIP != "" && err != nil {
		fault("cluster.dnsIP: %q; give an IP address, such as 10.100.0.10", c.DNSIP)
	}
	if c.Version != "" && !kubernetesVersion(c.Version) {
		fault("cluster.version: %q; give major and minor of the control plane, such as 1.34", c.Version)
	}
	if c.Account != "" && (len(c.Account) != 12 || strings.Trim(c.Account, "0123456789") != "") {
		fault("cluster.account: %q; give the twelve digits of the AWS account", c.Account)
	}
}

// kubernetesVersion reports whether text is a Kubernetes version for which an image alias can be
// resolved.
func kubernetesVersion(text string) bool {
	alias := amiselect.Alias{Family: amiselect.FamilyAL2023}
	_, err := amiselect.Queries([]amiselect.Term{{Alias: alias.String()}}, amiselect.Environment{KubernetesVersion: text})
	return err == nil
}
