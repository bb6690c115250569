// Package apitest has a small AWS in memory for tests of code that uses the clients of package api:
// the describing calls of EC2 with their filters and pages, parameters, products, the cluster and
// zonal shifts. Calls are counted, and can be made to fail or to wait.
//
// It has no calls that change AWS, such as a launch.
package apitest
