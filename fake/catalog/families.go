package catalog

import _ "embed"

// familyTable is the catalog: a line a family.
//
//	host    line of hostTable: processor, network and volumes
//	GiB     memory a vCPU
//	USD     on-demand price of two vCPUs an hour, which is what the size large
//	        costs or would cost; a size costs that much a pair of vCPUs
//	disk    ladder of local NVMe disks, or GB
//	buy     o for on-demand, s for spot
//	zones   the zones that have the family, a for the first of the catalog
//	sizes   its sizes, where x is short for xlarge; a size may carry, in this
//	        order, what it does not owe to the rules:
//	          :9     vCPUs. Otherwise medium has 1 and large 2, xlarge has 4,
//	                 2xlarge 8 and so on; metal-24xl is as 24xlarge and metal as
//	                 the largest size before it
//	          ~9     GiB of memory
//	          *9     accelerators; one otherwise in families of deviceTable. The
//	                 share of one is written 1/8
//	          =9.99  USD an hour
//
// Facts are those of us-east-1. Only which zone has what is made up, as AWS
// deals zone letters to accounts at random.
//
//go:embed tables/families.txt
var familyTable string
