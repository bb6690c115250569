// Package nodelimit reads how many nodes a NodePool may have.
package nodelimit

import (
	"errors"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// Of returns the number of nodes that limits allow, and false if they do not limit nodes. A
// fraction is rounded up. The error says what is wrong with the number.
func Of(limits v1.Limits) (int64, bool, error) {
	limit, limited := limits[v1.ResourceNodes]
	if !limited {
		return 0, false, nil
	}
	list, err := resources.FromResourceList(corev1.ResourceList{v1.ResourceNodes: limit})
	if err != nil {
		return 0, true, err
	}
	nodes := list.Get(v1.ResourceNodes)
	if nodes < 0 {
		return 0, true, errors.New("it is negative; a limit is zero or more")
	}
	return nodes, true, nil
}
