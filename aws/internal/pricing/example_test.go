package pricing_test

import (
	"errors"
	"fmt"
	"os"
	"time"

	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/dovetail-sdk/dovetail/aws/internal/pricing"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

func ExampleProductQueries() {
	for _, q := range pricing.ProductQueries("eu-west-1") {
		fmt.Println(q.Endpoint, q.Filters[6:])
	}
	fmt.Println(pricing.ProductQueries("us-gov-west-1"))
	// Output:
	// eu-central-1 [{tenancy Shared} {productFamily Compute Instance}]
	// eu-central-1 [{tenancy Dedicated} {productFamily Compute Instance (bare metal)}]
	// []
}

func ExampleParseProducts() {
	text, err := os.ReadFile("testdata/m5.large.json")
	if err != nil {
		fmt.Println(err)
		return
	}
	products, skipped := pricing.ParseProducts("us-east-1", []string{string(text), "{}"})
	fmt.Println(products)
	fmt.Println(skipped)
	// Output:
	// [{m5.large 0.096 false}]
	// [[1]: regionCode is "", want "us-east-1"]
}

func ExampleParseSpot() {
	found, _ := pricing.ParseSpot([]ec2types.SpotPrice{{
		InstanceType: "m5.large", AvailabilityZone: new("us-east-1a"), SpotPrice: new("0.035200"),
		ProductDescription: ec2types.RIProductDescriptionLinuxUnixAmazonVpc,
	}})
	fmt.Println(found)
	// Output: [{m5.large us-east-1a 0.0352}]
}

func ExampleParseFile() {
	file, err := pricing.ParseFile([]byte(`
version: 1
region: us-east-1
at: "2026-08-01T12:00:00Z"
onDemand:
  m5.large: 0.096
`))
	fmt.Println(file.OnDemand, err)
	_, err = pricing.ParseFile([]byte("version: 1\nregion: us-east-1\nat: 2026-08-01T12:00:00Z\nonDemand: {m5.large: free}\n"))
	fmt.Println(err != nil)
	// Output:
	// map[m5.large:0.096] <nil>
	// true
}

func ExampleFile_YAML() {
	file := &pricing.File{
		Region: "us-east-1", At: time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC),
		OnDemand: map[string]float64{"m5.large": 0.096},
		Spot:     map[string]map[string]float64{"m5.large": {"us-east-1a": 0.0352}},
	}
	text, err := file.YAML()
	fmt.Print(string(text))
	fmt.Println(err)
	// Output:
	// version: 1
	// region: "us-east-1"
	// currency: USD
	// at: "2026-08-01T12:00:00Z"
	// onDemand:
	//   "m5.large": 0.096
	// spot:
	//   "m5.large":
	//     "us-east-1a": 0.0352
	// <nil>
}

// A source that fails takes nothing away: its prices grow old.
func ExamplePrices() {
	now := time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)
	p, err := pricing.New("us-east-1")
	if err != nil {
		fmt.Println(err)
		return
	}
	spot := cloudprovider.OfferingKey{InstanceType: "m5.large", Zone: "us-east-1a", CapacityType: "spot"}
	fmt.Println(p.Book().Quote(now, spot))

	p, err = p.WithSpot(now, []ec2types.SpotPrice{{
		InstanceType: "m5.large", AvailabilityZone: new("us-east-1a"), SpotPrice: new("0.0352"), ProductDescription: "Linux/UNIX",
	}})
	fmt.Println(p.Book().Quote(now, spot), err)

	now = now.Add(25 * time.Hour)
	p = p.WithFailure(pricing.SourceSpot, errors.New("request limit exceeded"))
	fmt.Println(p.Book().Quote(now, spot))
	s := p.Status(now)[0]
	fmt.Println(s.Source, s.Prices, s.Stale, s.Failures, s.Err)
	// Output:
	// m5.large/us-east-1a/spot: 0.096 USD/h (assumed 0.096 of 2026-07-20T00:00:00Z), stale
	// m5.large/us-east-1a/spot: 0.0352 USD/h (spot price history 0.0352 of 2026-08-01T12:00:00Z) <nil>
	// m5.large/us-east-1a/spot: 0.0352 USD/h (spot price history 0.0352 of 2026-08-01T12:00:00Z), stale
	// spot price history 1 1 1 request limit exceeded
}
