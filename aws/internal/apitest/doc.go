// Package apitest has a small AWS in memory for tests of what asks by the clients of
// package api: the describing calls of EC2 with their filters and pages, parameters,
// products, the cluster and zonal shifts. Calls are counted, and can be made to
// fail or to wait.
//
// What changes anything in AWS, such as a launch, is not there.
package apitest
