package aws_test

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/stretchr/testify/require"

	karpv1 "github.com/dovetail-sdk/dovetail/api/v1"
	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
	"github.com/dovetail-sdk/dovetail/aws/awstest"
	"github.com/dovetail-sdk/dovetail/aws/internal/api"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

// everything returns a scene in which the provider has done all that it can do.
func everything(t *testing.T) *scene {
	s := newScene(t, func(s *scene) {
		s.world.PlacementGroups = []ec2types.PlacementGroup{{GroupId: new("pg-0123456789abcdef0"), GroupName: new("racks"), Strategy: ec2types.PlacementStrategyCluster}}
		s.world.Reservations = []ec2types.CapacityReservation{{CapacityReservationId: new("cr-0123456789abcdef0"), InstanceType: new("m5.large"),
			AvailabilityZone: new("us-east-1a"), Tags: []ec2types.Tag{{Key: new("team"), Value: new("a")}}}}
		s.opts.InterruptionQueue = "demo"
		s.class.Spec.PlacementGroupSelector = &awsv1.PlacementGroupSelector{Name: new("racks")}
		s.class.Spec.CapacityReservationSelectorTerms = []awsv1.CapacityReservationSelectorTerm{{Tags: map[string]string{"team": "a"}}}
	})
	ctx := t.Context()
	i, bought := s.create("one", large), s.create("two", spot)
	claim := &karpv1.NodeClaim{}
	claim.Name, claim.Labels = "general-one", map[string]string{karpv1.NodePoolLabelKey: "general"}
	claim.Spec.NodeClassRef = nodePool().Spec.Template.Spec.NodeClassRef
	claim.Status.ProviderID, claim.Status.NodeName = i.ID, "node-1"
	_, err := s.p.TagInstance(ctx, claim)
	require.NoError(t, err)
	_, err = s.cloud.Interrupt(ec2ID(bought.ID))
	require.NoError(t, err)
	require.NoError(t, cloudprovider.Acknowledge(ctx, s.p, s.notices()...))
	require.NoError(t, s.p.Delete(ctx, bought.ID))
	_, err = s.p.List(ctx)
	require.NoError(t, err)
	s.class.Spec.Role = "" // the profile of the role has no use any more
	s.class.Spec.InstanceProfile = new("foreign")
	s.cloud.Advance(25 * time.Hour)
	_, err = s.p.CollectInstanceProfiles(ctx, nil, nil)
	require.NoError(t, err)
	_, err = s.p.CollectLaunchTemplates(ctx)
	require.NoError(t, err)
	require.NoError(t, s.p.ReleaseNodeClass(ctx, s.class))
	return s
}

// What the provider calls is what its interfaces have, and takes the rights that the
// documents of aws/iam grant: no more and no less.
func TestPoliciesGrantWhatCallsTake(t *testing.T) {
	s := everything(t)
	var callable []string
	for service, client := range map[string]reflect.Type{
		"arczonalshift": reflect.TypeFor[api.ZonalShift](), "ec2": reflect.TypeFor[api.EC2](), "eks": reflect.TypeFor[api.EKS](),
		"iam": reflect.TypeFor[api.IAM](), "pricing": reflect.TypeFor[api.Pricing](), "sqs": reflect.TypeFor[api.SQS](), "ssm": reflect.TypeFor[api.SSM](),
	} {
		for m := range client.Methods() {
			callable = append(callable, service+"."+m.Name)
		}
	}
	slices.Sort(callable)
	require.Equal(t, callable, s.cloud.Actions())

	taken, granted := map[string]bool{}, map[string]bool{}
	for _, c := range s.cloud.Calls() {
		for _, permission := range permissions(c) {
			taken[permission] = true
		}
		if c.Action == "RunInstances" {
			require.True(t, c.DryRun, "instances are launched by fleets")
		}
	}
	for _, s := range statements(t, demoNames) {
		for _, action := range s.Action {
			granted[action] = true
		}
	}
	require.Equal(t, slices.Sorted(maps.Keys(taken)), slices.Sorted(maps.Keys(granted)))
}

// Every call is allowed by the policies, with the tags that it has.
func TestCallsAreAllowed(t *testing.T) {
	s := everything(t)
	all := statements(t, demoNames)
	made := map[string]map[string]string{} // the tags of what the provider makes, by kind
	checked := 0
	for _, c := range s.cloud.Calls() {
		for _, permission := range permissions(c) {
			for _, r := range requestsOf(c, permission, made) {
				checked++
				require.True(t, r.allowed(all), "%v is not allowed", r)
			}
		}
		for kind, tags := range c.Tags {
			if c.Action != "CreateTags" {
				made[kind] = tags
			}
		}
	}
	require.Greater(t, checked, 40)
}

// with returns a context of key and value in turn.
func with(pairs ...string) map[string][]string {
	context := map[string][]string{}
	for i := 0; i < len(pairs); i += 2 {
		context[pairs[i]] = append(context[pairs[i]], pairs[i+1])
	}
	return context
}

func TestWhatIsAllowed(t *testing.T) {
	const (
		instance = "arn:aws:ec2:eu-west-1:123456789012:instance/i-1"
		template = "arn:aws:ec2:eu-west-1:123456789012:launch-template/lt-1"
		profile  = "arn:aws:iam::123456789012:instance-profile/karpenter/eu-west-1/demo/u/demo_1"
		role     = "arn:aws:iam::123456789012:role/KarpenterNodeRole-demo"
		cluster  = "kubernetes.io/cluster/demo"
		eks      = "eks:eks-cluster-name"
	)
	own := with("aws:ResourceTag/"+cluster, "owned", "aws:ResourceTag/karpenter.sh/nodepool", "general")
	tags := with("aws:RequestTag/"+cluster, "owned", "aws:RequestTag/"+eks, "demo", "aws:RequestTag/karpenter.sh/nodepool", "")
	foreign := with("aws:ResourceTag/kubernetes.io/cluster/other", "owned", "aws:ResourceTag/karpenter.sh/nodepool", "general")
	ownProfile := with("aws:ResourceTag/"+cluster, "owned", "aws:ResourceTag/topology.kubernetes.io/region", "eu-west-1",
		"aws:ResourceTag/karpenter.k8s.aws/ec2nodeclass", "default")
	join := func(contexts ...map[string][]string) map[string][]string {
		out := map[string][]string{}
		for _, c := range contexts {
			maps.Copy(out, c)
		}
		return out
	}
	tests := []struct {
		name string
		r    request
		want bool
	}{
		{"terminate a node", request{"ec2:TerminateInstances", instance, own}, true},
		{"terminate a node of another cluster", request{"ec2:TerminateInstances", instance, foreign}, false},
		{"terminate somebody's instance", request{"ec2:TerminateInstances", instance, nil}, false},
		{"terminate in another region", request{"ec2:TerminateInstances", strings.Replace(instance, "eu-west-1", "eu-west-2", 1), own}, false},
		{"terminate in another account", request{"ec2:TerminateInstances", strings.Replace(instance, "123456789012", "210987654321", 1), own}, false},
		{"delete a launch template", request{"ec2:DeleteLaunchTemplate", template, own}, true},
		{"delete somebody's launch template", request{"ec2:DeleteLaunchTemplate", template, nil}, false},
		{"launch with tags", request{"ec2:CreateFleet", "arn:aws:ec2:eu-west-1:123456789012:fleet/f-1", tags}, true},
		{"launch without tags", request{"ec2:CreateFleet", "arn:aws:ec2:eu-west-1:123456789012:fleet/f-1", nil}, false},
		{"launch with the tag of another cluster", request{"ec2:RunInstances", instance, join(tags, with("aws:RequestTag/"+eks, "other"))}, false},
		{"launch from an image", request{"ec2:RunInstances", "arn:aws:ec2:eu-west-1::image/ami-1", nil}, true},
		{"launch into a shared subnet", request{"ec2:RunInstances", "arn:aws:ec2:eu-west-1:210987654321:subnet/subnet-1", nil}, true},
		{"launch into another region", request{"ec2:RunInstances", "arn:aws:ec2:us-east-1:210987654321:subnet/subnet-1", nil}, false},
		{"launch with own template", request{"ec2:CreateFleet", template, own}, true},
		{"launch with somebody's template", request{"ec2:CreateFleet", template, nil}, false},
		{"tag while launching", request{"ec2:CreateTags", instance, join(tags, with("ec2:CreateAction", "RunInstances"))}, true},
		{"tag while doing something else", request{"ec2:CreateTags", instance, join(tags, with("ec2:CreateAction", "CreateVolume"))}, false},
		{"name an instance after its node", request{"ec2:CreateTags", instance, join(own, with("aws:TagKeys", "Name", "aws:TagKeys", "karpenter.sh/nodeclaim", "aws:TagKeys", eks, "aws:RequestTag/"+eks, "demo"))}, true},
		{"take an instance over", request{"ec2:CreateTags", instance, join(own, with("aws:TagKeys", cluster))}, false},
		{"give an instance away", request{"ec2:CreateTags", instance, join(own, with("aws:TagKeys", eks, "aws:RequestTag/"+eks, "other"))}, false},
		{"pass the node role to EC2", request{"iam:PassRole", role, with("iam:PassedToService", "ec2.amazonaws.com")}, true},
		{"pass the node role to Lambda", request{"iam:PassRole", role, with("iam:PassedToService", "lambda.amazonaws.com")}, false},
		{"pass another role", request{"iam:PassRole", "arn:aws:iam::123456789012:role/admin", with("iam:PassedToService", "ec2.amazonaws.com")}, false},
		{"create a profile", request{"iam:CreateInstanceProfile", profile, with("aws:RequestTag/"+cluster, "owned", "aws:RequestTag/"+eks, "demo",
			"aws:RequestTag/topology.kubernetes.io/region", "eu-west-1", "aws:RequestTag/karpenter.k8s.aws/ec2nodeclass", "default")}, true},
		{"create a profile without tags", request{"iam:CreateInstanceProfile", profile, nil}, false},
		{"delete a profile", request{"iam:DeleteInstanceProfile", profile, ownProfile}, true},
		{"delete a profile of the other region", request{"iam:DeleteInstanceProfile", profile, join(ownProfile, with("aws:ResourceTag/topology.kubernetes.io/region", "eu-west-2"))}, false},
		{"give somebody's profile a role", request{"iam:AddRoleToInstanceProfile", profile, nil}, false},
		{"read the cluster", request{"eks:DescribeCluster", "arn:aws:eks:eu-west-1:123456789012:cluster/demo", nil}, true},
		{"read another cluster", request{"eks:DescribeCluster", "arn:aws:eks:eu-west-1:123456789012:cluster/demo2", nil}, false},
		{"read the queue", request{"sqs:ReceiveMessage", "arn:aws:sqs:eu-west-1:123456789012:demo", nil}, true},
		{"write to the queue", request{"sqs:SendMessage", "arn:aws:sqs:eu-west-1:123456789012:demo", nil}, false},
		{"read a public parameter", request{"ssm:GetParameter", "arn:aws:ssm:eu-west-1::parameter/aws/service/eks/x", nil}, true},
		{"read a secret", request{"ssm:GetParameter", "arn:aws:ssm:eu-west-1:123456789012:parameter/secret", nil}, false},
		{"look at the region", request{"ec2:DescribeInstances", "*", with("aws:RequestedRegion", "eu-west-1")}, true},
		{"look at another region", request{"ec2:DescribeInstances", "*", with("aws:RequestedRegion", "us-east-1")}, false},
	}
	names := demoNames
	names.region, names.queue = "eu-west-1", "demo"
	all := statements(t, names)
	for _, tt := range tests {
		require.Equal(t, tt.want, tt.r.allowed(all), tt.name)
	}
}

// What IAM asks of a document holds, with the longest names there are.
func TestPoliciesAreInOrder(t *testing.T) {
	long := names{
		partition: "aws-us-gov", region: "us-gov-west-1", account: "123456789012", cluster: strings.Repeat("c", 100),
		role: strings.Repeat("p/", 256) + strings.Repeat("r", 64), queue: strings.Repeat("q", 80),
	}
	for _, names := range []names{demoNames, long} {
		together, sids := 0, map[string]bool{}
		for file, text := range documents(t, names) {
			size := len(strings.Join(strings.Fields(text), ""))
			require.LessOrEqual(t, size, 6144, "%s is larger than a managed policy", file)
			together += size
			require.NotContains(t, text, "$", file)
			require.Contains(t, text, `"Version": "2012-10-17"`, file)
		}
		require.LessOrEqual(t, together, 10240, "the documents are larger than the inline policies of a role")
		for _, s := range statements(t, names) {
			require.False(t, sids[s.Sid], s.Sid)
			sids[s.Sid] = true
			require.Empty(t, strings.Trim(s.Sid, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"), s.Sid)
			require.Equal(t, "Allow", s.Effect)
			require.NotEmpty(t, s.Resource, s.Sid)
		}
	}
}

// names are what the documents of aws/iam leave open.
type names struct{ partition, region, account, cluster, role, queue string }

var demoNames = names{"aws", "us-east-1", "123456789012", "demo", "KarpenterNodeRole-demo", "demo"}

// documents returns the policies by file, with names filled in.
func documents(t *testing.T, n names) map[string]string {
	t.Helper()
	files, err := filepath.Glob("iam/*.json")
	require.NoError(t, err)
	require.Len(t, files, 6)
	out := map[string]string{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		out[file] = os.Expand(string(text), func(name string) string {
			value := map[string]string{
				"AWS_PARTITION": n.partition, "AWS_REGION": n.region, "AWS_ACCOUNT_ID": n.account,
				"CLUSTER_NAME": n.cluster, "NODE_ROLE": n.role, "QUEUE_NAME": n.queue,
			}[name]
			require.NotEmpty(t, value, "%s in %s", name, file)
			return value
		})
	}
	return out
}

// statement is one of a policy document.
type statement struct {
	Sid, Effect      string
	Action, Resource []string
	Condition        map[string]map[string][]string
}

// statements are those of all documents.
func statements(t *testing.T, n names) (all []statement) {
	t.Helper()
	for file, text := range documents(t, n) {
		var doc struct {
			Version   string
			Statement []statement
		}
		d := json.NewDecoder(strings.NewReader(text))
		d.DisallowUnknownFields()
		require.NoError(t, d.Decode(&doc), file)
		all = append(all, doc.Statement...)
	}
	return all
}

// permissions returns the rights that a call takes: most take one of the same name.
func permissions(c awstest.Call) []string {
	prefix := c.Service
	if prefix == "arczonalshift" {
		prefix = "arc-zonal-shift"
	}
	return append([]string{prefix + ":" + c.Action}, map[string][]string{
		"CreateFleet":              {"ec2:CreateTags", "ec2:RunInstances", "iam:PassRole"},
		"CreateLaunchTemplate":     {"ec2:CreateTags"},
		"RunInstances":             {"ec2:CreateTags", "iam:PassRole"},
		"AddRoleToInstanceProfile": {"iam:PassRole"},
		"CreateInstanceProfile":    {"iam:TagInstanceProfile"},
	}[c.Action]...)
}

// request is what IAM judges: an action on a resource in a context.
type request struct {
	action, resource string
	context          map[string][]string
}

// requestsOf returns the resources that a call takes a permission on. What it names was
// made by the provider before, with the tags of made.
func requestsOf(c awstest.Call, permission string, made map[string]map[string]string) (requests []request) {
	context := func(request, resource map[string]string) map[string][]string {
		out := with("aws:RequestedRegion", "us-east-1", "iam:PassedToService", "ec2.amazonaws.com")
		for key, value := range request {
			out["aws:RequestTag/"+key] = []string{value}
			out["aws:TagKeys"] = append(out["aws:TagKeys"], key)
		}
		for key, value := range resource {
			out["aws:ResourceTag/"+key] = []string{value}
		}
		return out
	}
	ec2 := func(kind string) string { return "arn:aws:ec2:us-east-1:123456789012:" + kind + "/x" }
	one := func(resource string) []request { return []request{{permission, resource, context(nil, nil)}} }
	switch {
	case permission == "iam:PassRole":
		return one("arn:aws:iam::123456789012:role/KarpenterNodeRole-demo")
	case strings.Contains(permission, "InstanceProfile") && permission != "iam:ListInstanceProfiles":
		has := made["instance-profile"]
		if given := c.Tags["instance-profile"]; given != nil {
			has = given
		}
		return []request{{permission, "arn:aws:iam::123456789012:instance-profile/x", context(c.Tags["instance-profile"], has)}}
	case permission == "eks:DescribeCluster" || permission == "arc-zonal-shift:GetManagedResource":
		return one("arn:aws:eks:us-east-1:123456789012:cluster/demo")
	case strings.HasPrefix(permission, "sqs:"):
		return one("arn:aws:sqs:us-east-1:123456789012:demo")
	case strings.HasPrefix(permission, "ssm:"):
		return one("arn:aws:ssm:us-east-1::parameter/aws/service/x")
	case permission == "ec2:TerminateInstances", permission == "ec2:CreateTags" && c.Action == "CreateTags":
		return []request{{permission, ec2("instance"), context(c.Tags["instance"], made["instance"])}}
	case permission == "ec2:DeleteLaunchTemplate":
		return []request{{permission, ec2("launch-template"), context(nil, made["launch-template"])}}
	case c.Tags == nil:
		return one("*")
	}
	for kind, tags := range c.Tags {
		r := request{permission, ec2(kind), context(tags, nil)}
		r.context["ec2:CreateAction"] = []string{c.Action}
		requests = append(requests, r)
	}
	if permission == "ec2:CreateFleet" || permission == "ec2:RunInstances" {
		for _, kind := range []string{"launch-template", "subnet", "security-group", "placement-group", "capacity-reservation"} {
			requests = append(requests, request{permission, ec2(kind), context(nil, made["launch-template"])})
		}
	}
	return requests
}

// allowed judges a request as IAM does, for the operators that the documents use.
func (r request) allowed(all []statement) bool {
	return slices.ContainsFunc(all, func(s statement) bool {
		fits := func(pattern string) bool { return wildcard(pattern, r.resource) }
		if !slices.Contains(s.Action, r.action) || !slices.ContainsFunc(s.Resource, fits) {
			return false
		}
		for operator, keys := range s.Condition {
			for key, wanted := range keys {
				if !holds(operator, wanted, r.context[key]) {
					return false
				}
			}
		}
		return true
	})
}

// holds reports whether all values that a context has for a key are wanted ones.
func holds(operator string, wanted, have []string) bool {
	fits := func(pattern, value string) bool { return pattern == value }
	switch operator {
	case "StringEqualsIfExists", "ForAllValues:StringEquals":
	case "StringEquals", "StringLike":
		if len(have) == 0 {
			return false
		}
		if operator == "StringLike" {
			fits = wildcard
		}
	default:
		panic("unknown operator " + operator)
	}
	return !slices.ContainsFunc(have, func(value string) bool {
		return !slices.ContainsFunc(wanted, func(pattern string) bool { return fits(pattern, value) })
	})
}

// wildcard reports whether a text is that of a pattern, in which * is any text.
func wildcard(pattern, text string) bool {
	first, rest, more := strings.Cut(pattern, "*")
	text, ok := strings.CutPrefix(text, first)
	if !ok || !more {
		return ok && text == ""
	}
	for i := range len(text) + 1 {
		if wildcard(rest, text[i:]) {
			return true
		}
	}
	return false
}
