package awstest_test

import (
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/aws/awstest"
)

// Whatever a client sends, it gets an answer of HTTP and nothing panics.
func FuzzServeHTTP(f *testing.F) {
	f.Add("", "/", "Action=DescribeInstances&Version=2016-11-15&Filter.1.Name=tag:a&Filter.1.Value.1=*&MaxResults=5")
	f.Add("", "/", "Action=CreateFleet&Version=2016-11-15&Type=instant&TargetCapacitySpecification.TotalTargetCapacity=2&LaunchTemplateConfigs.1.LaunchTemplateSpecification.LaunchTemplateName=web&LaunchTemplateConfigs.1.Overrides.1.InstanceType=m5.large")
	f.Add("", "/", "Action=CreateLaunchTemplate&Version=2016-11-15&LaunchTemplateName=web&LaunchTemplateData.ImageId=ami-1&LaunchTemplateData.UserData=QQ==")
	f.Add("", "/", "Action=RunInstances&Version=2016-11-15&DryRun=true&LaunchTemplate.LaunchTemplateName=web")
	f.Add("", "/", "Action=CreateInstanceProfile&Version=2010-05-08&InstanceProfileName=p&Tags.member.1.Key=a")
	f.Add("", "/", "Action=ListInstanceProfiles&Version=2010-05-08&MaxItems=0&Marker=YWZ0ZXI6")
	f.Add("AmazonSQS.ReceiveMessage", "/", `{"QueueUrl":"http://example.com/123456789012/demo","MaxNumberOfMessages":3}`)
	f.Add("AWSPriceListService.GetProducts", "/", `{"ServiceCode":"AmazonEC2","Filters":[{"Field":"tenancy","Value":"Shared"}],"MaxResults":-1}`)
	f.Add("AmazonSSM.GetParameter", "/", `{"Name":"arn:aws:ssm:us-east-1::parameter/x"}`)
	f.Add("", "/managedresources/arn:aws:eks", "")
	f.Fuzz(func(t *testing.T, target, path, body string) {
		cloud, err := awstest.New(nil)
		require.NoError(t, err)
		method := "POST"
		if body == "" {
			method = "GET"
		}
		r := httptest.NewRequest(method, "http://example.com/", strings.NewReader(body))
		r.URL.Path = path
		r.Header.Set("X-Amz-Target", target)
		r.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential="+awstest.AccessKeyID+"/x")
		r.Header.Set("X-Amz-Date", time.Now().UTC().Format("20060102T150405Z"))
		w := httptest.NewRecorder()
		cloud.ServeHTTP(w, r)
		require.GreaterOrEqual(t, w.Code, 200)
		require.NotEmpty(t, w.Body.String())
		require.NotContains(t, w.Body.String(), "<Code>InternalError", "everything can be encoded")
	})
}
