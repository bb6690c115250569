package awstest

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/aws/smithy-go"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
	script "github.com/dovetail-sdk/dovetail/internal/fault"
)

// Fault makes some calls fail: see Cloud.Script. It has the fields
//
//	Op, Pool, Zone             string
//	From, Until                time.Duration
//	Nth, Times, Every, Percent int
//	Err                        error
//
// as in
//
//	{Op: "CreateFleet", Nth: 2, Err: awstest.ErrThrottled}
//	{Op: "DescribeInstances", Times: 3, Err: awstest.ErrCut}
//
// A call matches if it meets every field from Op to Until that is set. Op is an action of the
// package comment, in upper or lower case. Pool must equal the whole value of a parameter, such as
// a tag. Zone must be named by a parameter, or be the zone of a named subnet. The age of the cloud
// by its own clock must be at least From and less than Until.
//
// Each fault counts its matching calls from 1. Nth, Times, Every and Percent choose among them, all
// that are set together; with none of them every matching call fails. Nth alone is that call; Times
// is that many calls from Nth, or from the first; Every is each call whose number is a multiple;
// Percent is a share of the calls, at random by Options.Seed.
//
// Err, which is required, says how the call fails: an error of this package, a Delay, Drip or
// Refusal, or a smithy.APIError, such as a smithy.GenericAPIError, whose code and message are the
// answer; the call is not carried out then. The HTTP status is that of AWS for the code.
type Fault = script.Fault

// The values of Fault.Err in addition to errors of an API.
var (
	// ErrThrottled throttles the call, with the code of the service.
	ErrThrottled = errors.New("throttled")
	// ErrBroken answers the call with the internal error of the service.
	ErrBroken = errors.New("internal error")
	// ErrDenied refuses the call for lack of permission, with the code of the service.
	ErrDenied = errors.New("denied")
	// ErrExpired refuses the call because its credentials have expired.
	ErrExpired = errors.New("credentials expired")
	// ErrLost carries out the call, and cuts the connection before the answer.
	ErrLost = script.ErrLost
	// ErrHalf carries out the call, and cuts the connection in the middle of the answer.
	ErrHalf = script.ErrHalf
	// ErrCut cuts the connection without carrying out the call.
	ErrCut = script.ErrCut
	// ErrHang neither carries out nor answers the call: the connection stays open until the client
	// gives up, or until Release cuts it.
	ErrHang = script.ErrHang
)

// Delay is a Fault.Err, a time.Duration, by which the clock moves on before the call is carried
// out. Nothing sleeps. Delays of several faults add up.
type Delay = script.Delay

// Drip is a Fault.Err, a number: the answer is sent in pieces of this many bytes, as over a slow
// connection.
type Drip = script.Drip

// Refusal is a Fault.Err that makes CreateFleet refuse the offerings in its field Scope, a
// cloudprovider.Scope, with the code in its field Code, by default InsufficientInstanceCapacity.
// Other offerings are not affected.
type Refusal = script.Refusal

// orders is the combined effect of the faults on one call.
type orders struct {
	fail            error // the first that a service answers with; nil for none
	lose, cut, half bool
	hang            bool
	drip            int
	delay           time.Duration
	refuse          map[cloudprovider.Scope]refusal
}

// Script adds faults. Each call is matched against all of them, in the order in which they were
// added, so that every fault counts its calls; if several make a call fail, the first decides. The
// error joins everything that is wrong with the faults, and none of them is added then.
func (c *Cloud) Script(faults ...Fault) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.script.Add(faults, c.opts.Seed, checkFault); err != nil {
		return fmt.Errorf("awstest: %w", err)
	}
	return nil
}

func checkFault(f Fault) (errs []error) {
	if f.Op != "" && !isAction(f.Op) {
		errs = append(errs, script.Wrong("Op", "there is no action %q; use one of the package comment", f.Op))
	}
	if f.Err != nil && !(&orders{}).take(f.Err) {
		errs = append(errs, script.Wrong("Err", "no service answers with %q; use an error of this package, or one with a code such as a smithy.GenericAPIError", f.Err))
	}
	return errs
}

// ClearScript removes all faults.
func (c *Cloud) ClearScript() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.script.Clear()
}

// obey matches a call against the faults.
func (c *Cloud) obey(q *request) *orders {
	o := &orders{}
	for _, err := range c.script.Meet(script.Call{
		Op: q.action, At: c.now.Sub(c.opts.Clock), Pool: q.mentions,
		Zone: func(zone string) bool { return c.inZone(q, zone) },
	}) {
		o.take(err)
	}
	return o
}

// take adds the effect of an error of Fault.Err, and reports false if it does not know the error.
func (o *orders) take(err error) bool {
	switch err := err.(type) {
	case Delay:
		o.delay += time.Duration(err)
		return true
	case Drip:
		o.drip = int(err)
		return true
	case Refusal:
		if err.Code == "" {
			err.Code = "InsufficientInstanceCapacity"
		}
		if o.refuse == nil {
			o.refuse = map[cloudprovider.Scope]refusal{}
		}
		o.refuse[err.Scope] = refusal{err.Code, messageOf(err.Code)}
		return true
	}
	switch err {
	case ErrLost:
		o.lose = true
	case ErrHalf:
		o.half = true
	case ErrCut:
		o.cut = true
	case ErrHang:
		o.hang, o.cut = true, true
	default:
		if o.fail == nil {
			o.fail = err
		}
		return answerTo(err, ec2Service) != nil
	}
	return true
}

// mentions reports whether a text is the whole value of a parameter.
func (q *request) mentions(text string) bool {
	if q.path == text || q.form.contains(text) {
		return true
	}
	for _, v := range q.body {
		if s, ok := v.(string); ok && s == text {
			return true
		}
	}
	return false
}

func (f form) contains(text string) bool {
	if f.text == text && text != "" {
		return true
	}
	for _, child := range f.children {
		if child.contains(text) {
			return true
		}
	}
	return false
}

// inZone reports whether a call mentions a zone, or a subnet in it.
func (c *Cloud) inZone(q *request, zone string) bool {
	return q.mentions(zone) || slices.ContainsFunc(c.subnets, func(s *subnet) bool {
		return s.AvailabilityZone != nil && *s.AvailabilityZone == zone && q.mentions(*s.SubnetId)
	})
}

// fault is an error that a service answers with.
type fault struct {
	code, message string
	status        int
}

// Error returns the code and the message.
func (f *fault) Error() string { return f.code + ": " + f.message }

// failure makes a fault with the status that AWS has for the code.
func failure(code, format string, args ...any) *fault {
	return &fault{code, fmt.Sprintf(format, args...), statusOf(code)}
}

func statusOf(code string) int {
	switch code {
	case "RequestLimitExceeded", "ServiceUnavailable", "Unavailable", "InsufficientInstanceCapacity":
		return http.StatusServiceUnavailable
	case "InternalError", "InternalFailure", "InternalServerError", "InternalServerException":
		return http.StatusInternalServerError
	case "UnauthorizedOperation", "AccessDenied", "AccessDeniedException", "AuthFailure", "InvalidClientTokenId", "MissingAuthenticationToken",
		"SignatureDoesNotMatch":
		return http.StatusForbidden
	case "ThrottlingException", "TooManyRequestsException":
		return http.StatusTooManyRequests
	case "NoSuchEntity", "ResourceNotFoundException":
		return http.StatusNotFound
	case "EntityAlreadyExists", "DeleteConflict", "LimitExceeded":
		return http.StatusConflict
	case "DryRunOperation":
		return http.StatusPreconditionFailed
	}
	return http.StatusBadRequest
}

// answers has what a service answers to an error of this package. The first row with the error, and with
// the service or without any, holds.
var answers = []struct {
	err           error
	services      string // empty for all
	code, message string
	status        int
}{
	{ErrThrottled, ec2Service, "RequestLimitExceeded", "Request limit exceeded.", http.StatusServiceUnavailable},
	{ErrThrottled, iamService, "Throttling", "Rate exceeded", http.StatusBadRequest},
	{ErrThrottled, eksService + " " + shiftService, "ThrottlingException", "Rate exceeded", http.StatusTooManyRequests},
	{ErrThrottled, "", "ThrottlingException", "Rate exceeded", http.StatusBadRequest},
	{ErrDenied, ec2Service, "UnauthorizedOperation", "You are not authorized to perform this operation.", http.StatusForbidden},
	{ErrDenied, iamService, "AccessDenied", "User is not authorized to perform this operation", http.StatusForbidden},
	{ErrDenied, "", "AccessDeniedException", "User is not authorized to perform this operation", http.StatusBadRequest},
	{ErrExpired, ec2Service, "RequestExpired", "Request has expired.", http.StatusBadRequest},
	{ErrExpired, "", "ExpiredTokenException", "The security token included in the request is expired", http.StatusBadRequest},
	{ErrBroken, iamService, "ServiceFailure", "An internal error has occurred", http.StatusInternalServerError},
	{ErrBroken, ssmService + " " + sqsService, "InternalServerError", "An internal error has occurred", http.StatusInternalServerError},
	{ErrBroken, pricingService, "InternalErrorException", "An internal error has occurred", http.StatusInternalServerError},
	{ErrBroken, eksService + " " + shiftService, "InternalServerException", "An internal error has occurred", http.StatusInternalServerError},
	{ErrBroken, "", "InternalError", "An internal error has occurred", http.StatusInternalServerError},
}

// answerTo returns the fault with which a service answers for an error of an API or of this package;
// nil for other errors.
func answerTo(err error, service string) *fault {
	if api := smithy.APIError(nil); errors.As(err, &api) && api.ErrorCode() != "" {
		return failure(api.ErrorCode(), "%s", api.ErrorMessage())
	}
	for _, a := range answers {
		if a.err == err && (a.services == "" || slices.Contains(strings.Fields(a.services), service)) {
			return &fault{a.code, a.message, a.status}
		}
	}
	return nil
}

func missing(parameter string) *fault {
	return failure("MissingParameter", "The request must contain the parameter %s", parameter)
}

func invalid(format string, args ...any) *fault {
	return failure("InvalidParameterValue", format, args...)
}
