package awstest

import (
	"fmt"
	"maps"
	"slices"
	"time"
)

// clusterARN returns the ARN of the cluster.
func (c *Cloud) clusterARN() string {
	return fmt.Sprintf("arn:aws:eks:%s:%s:cluster/%s", c.opts.Region, c.opts.Account, c.opts.Cluster.Name)
}

func (c *Cloud) describeCluster(q *request) (any, *fault) {
	k := c.opts.Cluster
	if q.path != k.Name {
		return nil, failure("ResourceNotFoundException", "No cluster found for name: %s.", q.path)
	}
	network := map[string]any{"serviceIpv4Cidr": k.ServiceCIDR, "ipFamily": "ipv4"}
	if k.ServiceIPv6CIDR != "" {
		network = map[string]any{"serviceIpv6Cidr": k.ServiceIPv6CIDR, "ipFamily": "ipv6"}
	}
	return map[string]any{"cluster": map[string]any{
		"name": k.Name, "arn": c.clusterARN(), "version": k.Version, "endpoint": k.Endpoint, "status": "ACTIVE",
		"certificateAuthority":    map[string]any{"data": k.CertificateAuthority},
		"kubernetesNetworkConfig": network, "createdAt": float64(c.opts.Clock.Unix()),
		"zonalShiftConfig":   map[string]any{"enabled": true},
		"resourcesVpcConfig": map[string]any{"vpcId": VPC},
	}}, nil
}

// Shift begins a zonal shift of the cluster away from a zone, by its ID, until an instant. A zero
// instant ends the shift.
func (c *Cloud) Shift(zoneID string, until time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if until.IsZero() {
		delete(c.shifts, zoneID)
		return
	}
	c.shifts[zoneID] = until
}

func (c *Cloud) getManagedResource(q *request) (any, *fault) {
	if q.path != c.clusterARN() {
		return nil, failure("ResourceNotFoundException", "The resource %s was not found", q.path)
	}
	zones := map[string]float64{}
	for _, z := range c.opts.Zones {
		zones[z.ID] = 1
	}
	shifts := []map[string]any{}
	for _, id := range slices.Sorted(maps.Keys(c.shifts)) {
		if !c.now.Before(c.shifts[id]) {
			continue
		}
		zones[id] = 0
		shifts = append(shifts, map[string]any{
			"appliedStatus": "APPLIED", "awayFrom": id, "comment": "shifted", "expiryTime": float64(c.shifts[id].Unix()),
			"resourceIdentifier": q.path, "startTime": float64(c.opts.Clock.Unix()), "zonalShiftId": fmt.Sprintf("%016x", hash(id)),
		})
	}
	return map[string]any{
		"arn": q.path, "name": c.opts.Cluster.Name, "appliedWeights": zones, "autoshifts": []any{}, "zonalShifts": shifts,
		"zonalAutoshiftStatus": "DISABLED",
	}, nil
}
