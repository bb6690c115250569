package awstest

import (
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// The services, by the names of their packages in the AWS SDK for Go.
const (
	ec2Service     = "ec2"
	eksService     = "eks"
	iamService     = "iam"
	pricingService = "pricing"
	shiftService   = "arczonalshift"
	sqsService     = "sqs"
	ssmService     = "ssm"
)

// request is a parsed call.
type request struct {
	service, action string
	form            form           // of EC2 and IAM
	body            map[string]any // of services that speak JSON
	path            string         // the part of the path that names an object
	host            string         // of the URL
	orders          *orders        // of the script for this call
}

// maxBody is the largest body in bytes. It is more than a provider needs: a fleet of all types in
// all zones has some hundred kilobytes.
const maxBody = 16 << 20

// read parses a call. A malformed call is a fault; the request then has the service if it is known.
func read(r *http.Request) (*request, *fault) {
	q := &request{host: r.Host}
	data, err := io.ReadAll(io.LimitReader(r.Body, maxBody))
	if err != nil {
		return q, failure("IncompleteBody", "the body ends early: %v", err)
	}
	switch target := r.Header.Get("X-Amz-Target"); {
	case target != "":
		q.readJSON(target, data)
	case r.Method == http.MethodPost:
		q.readForm(data)
	case r.Method == http.MethodGet:
		q.readPath(r.URL)
	}
	if !slices.Contains(actionsOf(q.service), q.action) {
		return q, failure("InvalidAction", "The action %s is not valid for this web service.", q.action)
	}
	return q, checkSignature(r.Header)
}

func (q *request) readJSON(target string, data []byte) {
	prefix, action, _ := strings.Cut(target, ".")
	q.action = action
	switch prefix {
	case "AmazonSSM":
		q.service = ssmService
	case "AWSPriceListService":
		q.service = pricingService
	case "AmazonSQS":
		q.service = sqsService
	}
	if json.Unmarshal(data, &q.body) != nil {
		q.action = "" // no call without a body
	}
}

func (q *request) readForm(data []byte) {
	values, err := url.ParseQuery(string(data))
	if err != nil {
		return
	}
	q.service = ec2Service
	if values.Get("Version") == iamVersion {
		q.service = iamService
	}
	q.action = values.Get("Action")
	values.Del("Action")
	values.Del("Version")
	q.form = newForm(values)
}

// readPath parses the two operations that use GET.
func (q *request) readPath(u *url.URL) {
	first, rest, _ := strings.Cut(strings.TrimPrefix(u.EscapedPath(), "/"), "/")
	name, err := url.PathUnescape(rest)
	if err != nil || name == "" {
		return
	}
	switch first {
	case "clusters":
		q.service, q.action, q.path = eksService, "DescribeCluster", name
	case "managedresources":
		q.service, q.action, q.path = shiftService, "GetManagedResource", name
	}
}

// checkSignature requires a signature with the key of Config. It does not verify it.
func checkSignature(h http.Header) *fault {
	signature := h.Get("Authorization")
	if signature == "" {
		return failure("MissingAuthenticationToken", "Request is missing Authentication Token")
	}
	if !strings.HasPrefix(signature, "AWS4-HMAC-SHA256 Credential="+AccessKeyID+"/") {
		return failure("AuthFailure", "AWS was not able to validate the provided access credentials")
	}
	return nil
}

// str returns a string of a JSON body, or "".
func (q *request) str(key string) string {
	s, _ := q.body[key].(string)
	return s
}

// num returns a number of a JSON body, or otherwise if the key is missing.
func (q *request) num(key string, otherwise int) int {
	if n, ok := q.body[key].(float64); ok {
		return int(n)
	}
	return otherwise
}

// handler carries out a call with the Cloud locked, and returns what to encode.
type handler func(*Cloud, *request) (any, *fault)

// handlersOf returns the operations of a service.
func handlersOf(service string) map[string]handler {
	switch service {
	case ec2Service:
		return map[string]handler{
			"CreateFleet": (*Cloud).createFleet, "CreateLaunchTemplate": (*Cloud).createLaunchTemplate, "CreateTags": (*Cloud).createTags,
			"DeleteLaunchTemplate":         (*Cloud).deleteLaunchTemplate,
			"DescribeAvailabilityZones":    (*Cloud).describeAvailabilityZones,
			"DescribeCapacityReservations": (*Cloud).describeCapacityReservations, "DescribeImages": (*Cloud).describeImages,
			"DescribeInstanceStatus": (*Cloud).describeInstanceStatus, "DescribeInstanceTypeOfferings": (*Cloud).describeInstanceTypeOfferings,
			"DescribeInstanceTypes": (*Cloud).describeInstanceTypes, "DescribeInstances": (*Cloud).describeInstances,
			"DescribeLaunchTemplates": (*Cloud).describeLaunchTemplates, "DescribePlacementGroups": (*Cloud).describePlacementGroups,
			"DescribeSecurityGroups": (*Cloud).describeSecurityGroups, "DescribeSpotPriceHistory": (*Cloud).describeSpotPriceHistory,
			"DescribeSubnets": (*Cloud).describeSubnets, "RunInstances": (*Cloud).runInstances, "TerminateInstances": (*Cloud).terminateInstances,
		}
	case iamService:
		return map[string]handler{
			"AddRoleToInstanceProfile": (*Cloud).addRole, "CreateInstanceProfile": (*Cloud).createProfile,
			"DeleteInstanceProfile": (*Cloud).deleteProfile, "GetInstanceProfile": (*Cloud).getProfile,
			"ListInstanceProfiles": (*Cloud).listProfiles, "RemoveRoleFromInstanceProfile": (*Cloud).removeRole,
		}
	case sqsService:
		return map[string]handler{
			"DeleteMessage": (*Cloud).deleteMessage, "GetQueueUrl": (*Cloud).getQueueURL, "ReceiveMessage": (*Cloud).receiveMessage,
		}
	case ssmService:
		return map[string]handler{"GetParameter": (*Cloud).getParameter}
	case pricingService:
		return map[string]handler{"GetProducts": (*Cloud).getProducts}
	case eksService:
		return map[string]handler{"DescribeCluster": (*Cloud).describeCluster}
	case shiftService:
		return map[string]handler{"GetManagedResource": (*Cloud).getManagedResource}
	}
	return nil
}

func services() []string {
	return []string{shiftService, ec2Service, eksService, iamService, pricingService, sqsService, ssmService}
}

func actionsOf(service string) (actions []string) {
	for a := range handlersOf(service) {
		actions = append(actions, a)
	}
	slices.Sort(actions)
	return actions
}

// isAction reports whether any service has the action. No two share a name.
func isAction(action string) bool {
	return slices.ContainsFunc(services(), func(s string) bool { return handlersOf(s)[action] != nil })
}
