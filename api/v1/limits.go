package v1

import corev1 "k8s.io/api/core/v1"

// ResourceNodes is the name under which Limits count nodes.
const ResourceNodes corev1.ResourceName = "nodes"

// Limits bounds the total of a pool's nodes by resource. A resource that is
// not named is unlimited; nil limits nothing. A limit is zero or more.
type Limits corev1.ResourceList
