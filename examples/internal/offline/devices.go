package offline

import (
	"cmp"
	"time"

	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
	"github.com/dovetail-sdk/dovetail/aws/classtypes"
	"github.com/dovetail-sdk/dovetail/aws/kubeletcel"
	"github.com/dovetail-sdk/dovetail/aws/nodecost"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

// publish gives the instance types of pools without a class the devices that drivers of dynamic
// resource allocation publish: those that the EC2 provider reports for a class without settings.
// Devices matter only if the manifests have a DeviceClass, which the driver installs.
func (w *World) publish() error {
	if err := w.openMarket(); err != nil {
		return err
	}
	class := &awsv1.EC2NodeClass{}
	class.Name = "default"
	class.Spec.AMISelectorTerms = []awsv1.AMISelectorTerm{{Alias: "al2023@latest"}}
	w.everywhere(class)
	made, err := w.market.facts.Build(time.Time{}, w.launching(class))
	if err != nil {
		return err
	}
	devices := map[string][]cloudprovider.InstanceDevice{}
	for _, it := range made.Types {
		devices[it.Name] = it.Devices
	}
	for i, it := range w.types {
		changed := *it
		changed.Devices = devices[it.Name]
		w.types[i] = &changed
	}
	return nil
}

// everywhere gives a class a subnet in every zone of the market.
func (w *World) everywhere(class *awsv1.EC2NodeClass) {
	class.Status.Subnets = nil
	for _, z := range w.market.zones {
		class.Status.Subnets = append(class.Status.Subnets, awsv1.Subnet{Zone: z.Name, ZoneID: z.ID})
	}
}

// openMarket reads the offer of the fake cloud, once.
func (w *World) openMarket() (err error) {
	if w.market == nil {
		w.market, err = newMarket(w.types)
	}
	return err
}

// launching returns the input from which the instance types of a class are made.
func (w *World) launching(class *awsv1.EC2NodeClass) classtypes.Input {
	return classtypes.Input{
		Region: w.region, Class: class, Zones: w.market.zones, Prices: w.market.prices, KubeletExpressions: kubeletcel.New(),
		NodeRates: cmp.Or(w.rates, new(nodecost.Rates)), NVIDIADevices: w.devices, EFADevices: w.devices,
	}
}
