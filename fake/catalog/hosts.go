package catalog

import _ "embed"

// hostTable describes the hosts that instances run on: what families of one
// generation have in common, whatever their memory and price. A host bears the
// name of the family it was first known by.
//
//	cpu      intel and amd are amd64, graviton is arm64 and made by aws
//	MHz      sustained clock speed
//	hv       hypervisor; metal sizes have none
//	tls      whether traffic between instances is encrypted on its way
//	enclave  least vCPUs that a size needs to have for a Nitro enclave
//	nic      ladder of network interfaces and their addresses
//	branch   ladder of branch interfaces
//	network  ladder of network bandwidth, or Mbps
//	ebs      ladder of EBS bandwidth, or Mbps
//	efa      Elastic Fabric Adapters, a ladder written out with commas
//
//go:embed tables/hosts.txt
var hostTable string
