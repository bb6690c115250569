package catalog

import "fmt"

// NetworkInterfaces is what of an instance type decides how many pods have an address.
type NetworkInterfaces struct {
	// Count is the number of interfaces, of the default network card where there are
	// several cards.
	Count int
	// Addresses is the number of IPv4 addresses that each of them takes.
	Addresses int
}

// AllNetworkInterfaces returns the network interfaces of the instance types of All, by
// their names: the one fact about a type that neither its labels nor its capacity tell.
// The number of pods in that capacity is what they have addresses for. The map is the
// caller's.
func AllNetworkInterfaces() map[string]NetworkInterfaces {
	families, err := ec2.parse()
	if err != nil {
		// The tables of this package are at fault, which a test rules out.
		panic(fmt.Errorf("fake: tables: %w", err))
	}
	out := map[string]NetworkInterfaces{}
	for _, f := range families {
		for i := range f.sizes {
			s := &f.sizes[i]
			nic, _ := f.host.nics.at(s.name, s.vcpus)
			out[f.name+"."+s.name] = NetworkInterfaces{nic.n, nic.each}
		}
	}
	return out
}
