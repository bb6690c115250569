package api

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/smithy-go"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

// Code returns the error code of AWS, such as RequestLimitExceeded, and "" if err is nil or not an
// answer of AWS.
func Code(err error) string {
	var answer smithy.APIError
	if !errors.As(err, &answer) {
		return ""
	}
	return answer.ErrorCode()
}

// The known codes, by meaning.
var (
	throttling = []string{"RequestLimitExceeded", "Throttling", "ThrottlingException", "ThrottledException", "RequestThrottled",
		"RequestThrottledException", "TooManyRequestsException", "TooManyRequests", "EC2ThrottledException", "PriorRequestNotComplete",
		"ProvisionedThroughputExceededException", "TransactionInProgressException", "BandwidthLimitExceeded", "SlowDown"}
	missing = []string{"NoSuchEntity", "NoSuchEntityException", "ParameterNotFound", "ParameterVersionNotFound", "QueueDoesNotExist",
		"AWS.SimpleQueueService.NonExistentQueue", "ResourceNotFoundException", "ResourceNotFound", "InvalidPlacementGroup.Unknown",
		"InvalidLaunchTemplateName.NotFoundException"}
	forbidden = []string{"UnauthorizedOperation", "AccessDenied", "AccessDeniedException", "AuthFailure", "AuthorizationError",
		"NotAuthorized", "OptInRequired", "KMSAccessDeniedException"}
	credentials = []string{"ExpiredToken", "ExpiredTokenException", "InvalidClientTokenId", "UnrecognizedClientException",
		"MissingAuthenticationToken", "MissingAuthenticationTokenException", "InvalidAccessKeyId"}
	clock   = []string{"RequestExpired", "RequestTimeTooSkewed", "InvalidSignatureException", "SignatureDoesNotMatch"}
	soldOut = []string{"InsufficientInstanceCapacity", "InsufficientCapacity", "InsufficientHostCapacity", "InsufficientReservedInstanceCapacity",
		"InsufficientFreeAddressesInSubnet", "InstanceLimitExceeded", "MaxFleetCountExceeded", "MaxSpotInstanceCountExceeded",
		"ReservationCapacityExceeded", "UnfulfillableCapacity", "Unsupported", "VcpuLimitExceeded"}
)

// Kind returns the kind of a failure, by its code:
//
//	throttling                          KindThrottled
//	what was named does not exist       KindNotFound
//	no stock or quota left              KindInsufficientCapacity
//	forbidden, malformed                KindDenied
//	credentials, wrong clock            KindUnknown, because these can be corrected
//	all else, also without a code       that of the error itself, as KindOf says
func Kind(err error) cloudprovider.Kind {
	code := Code(err)
	switch {
	case code == "" || slices.Contains(credentials, code) || slices.Contains(clock, code):
		return cloudprovider.KindOf(err)
	case slices.Contains(throttling, code):
		return cloudprovider.KindThrottled
	case notFoundCode(code):
		return cloudprovider.KindNotFound
	case slices.Contains(soldOut, code):
		return cloudprovider.KindInsufficientCapacity
	case slices.Contains(forbidden, code) || malformed(code):
		return cloudprovider.KindDenied
	}
	return cloudprovider.KindOf(err)
}

// NotFound reports whether AWS answered that what was named does not exist. It is false for any
// other failure, such as a broken connection.
func NotFound(err error) bool { return notFoundCode(Code(err)) }

func notFoundCode(code string) bool {
	return slices.Contains(missing, code) || strings.HasSuffix(code, ".NotFound") || strings.HasSuffix(code, "NotFoundException")
}

// malformed reports whether a code means a malformed request.
func malformed(code string) bool {
	for _, prefix := range []string{"Invalid", "Malformed", "Missing", "Unknown", "Validation", "Unsupported"} {
		if strings.HasPrefix(code, prefix) {
			return true
		}
	}
	return false
}

// Wrap returns err as an *cloudprovider.Error: op is what was done, object what it was done with,
// Kind that of Kind, Reason the code. The text has AWS's message and a remedy, but no request id,
// so that one cause always gives the same text. The cause stays in the tree. Wrap returns nil for
// nil, and an *cloudprovider.Error unchanged.
func Wrap(op, object string, err error) error {
	var done *cloudprovider.Error
	if err == nil || errors.As(err, &done) && done != nil {
		return err
	}
	return &cloudprovider.Error{Op: op, Object: object, Kind: Kind(err), Reason: Code(err), Err: &cause{cmp.Or(explain(plain(err), err), "AWS gave no message"), err}}
}

// Message returns one line that says what went wrong, and a remedy where one is known. It has no
// request id.
func Message(err error) string {
	if err == nil {
		return ""
	}
	return explain(cmp.Or(plain(err), Code(err)), err)
}

// explain appends the remedy to a text.
func explain(text string, err error) string {
	text = strings.ReplaceAll(strings.TrimSpace(text), "\n", "; ")
	remedy := Remedy(err)
	if text != "" && remedy != "" {
		text += "; "
	}
	return text + remedy
}

// plain returns the message of AWS, or only its code if there is none, or else the text of the
// error.
func plain(err error) string {
	var answer smithy.APIError
	if errors.As(err, &answer) {
		return answer.ErrorMessage()
	}
	var operation *smithy.OperationError
	if errors.As(err, &operation) && operation.Err != nil {
		return fmt.Sprintf("%s: %v", operation.Operation(), operation.Err)
	}
	return err.Error()
}

// Remedy returns the remedy that Message appends, or "".
func Remedy(err error) string {
	code := Code(err)
	switch {
	case errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded):
		return ""
	case slices.Contains(throttling, code):
		return "ask less often, or have the quota of the API raised"
	case slices.Contains(forbidden, code) && PolicyRemedy(plain(err)) != "":
		return PolicyRemedy(plain(err))
	case slices.Contains(forbidden, code):
		if operation := operationOf(err); operation != "" {
			return "allow the controller " + operation + ", as the policies in aws/iam do"
		}
		return "allow the controller the call, as the policies in aws/iam do"
	case slices.Contains(credentials, code):
		return "renew the credentials of the controller"
	case slices.Contains(clock, code):
		return "check the clock of the machine and the credentials of the controller"
	}
	return ""
}

// PolicyRemedy returns the remedy for a refusal by a policy that is not of the controller's role,
// and "" for others.
func PolicyRemedy(message string) string {
	switch {
	case strings.Contains(message, "service control policy"):
		return "have the service control policy of the organization allow it"
	case strings.Contains(message, "permissions boundary"):
		return "widen the permissions boundary of the controller's role"
	}
	return ""
}

// operationOf returns the permission that a call needs, such as ec2:DescribeSubnets.
func operationOf(err error) string {
	var operation *smithy.OperationError
	if !errors.As(err, &operation) {
		return ""
	}
	service := strings.ToLower(strings.ReplaceAll(operation.Service(), " ", "-"))
	return service + ":" + operation.Operation()
}

// Explained returns an error with a text of its own, which unwraps to err.
func Explained(text string, err error) error { return &cause{text, err} }

type cause struct {
	text string
	err  error
}

func (c *cause) Error() string { return c.text }
func (c *cause) Unwrap() error { return c.err }
