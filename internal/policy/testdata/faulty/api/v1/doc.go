// Package v1 has faults of imports, comments and variables.
package v1 // want purity: api/v1 may not import k8s.io/client-go/rest by way of others
