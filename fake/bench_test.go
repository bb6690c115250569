package fake_test

import (
	"fmt"
	"testing"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/cloudprovider/launch"
	"github.com/dovetail-sdk/dovetail/fake"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

func BenchmarkCreate(b *testing.B) {
	cloud, err := fake.New(nil)
	if err != nil {
		b.Fatal(err)
	}
	types, err := cloud.InstanceTypes(b.Context(), nil)
	if err != nil {
		b.Fatal(err)
	}
	req := cloudprovider.LaunchRequest{
		NodeClassRef: v1.NodeClassReference{Group: "karpenter.k8s.aws", Kind: "EC2NodeClass", Name: "default"},
		Options:      launch.Compatible(types, requirements.MustParse(awsv1.LabelInstanceFamily+" = m5")),
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		req.Token = fmt.Sprint(i)
		if _, err := cloud.Create(b.Context(), req); err != nil {
			b.Fatal(err)
		}
	}
}
