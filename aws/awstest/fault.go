package awstest

import (
	"fmt"
	"net/http"
)

// fault is an error that a service answers with.
type fault struct {
	code, message string
	status        int
}

// Error is the code and the message.
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

// throttled is how a service says that there are too many calls.
func throttled(service string) *fault {
	switch service {
	case ec2Service:
		return failure("RequestLimitExceeded", "Request limit exceeded.")
	case iamService:
		return &fault{"Throttling", "Rate exceeded", http.StatusBadRequest}
	case eksService, shiftService:
		return failure("ThrottlingException", "Rate exceeded")
	}
	return &fault{"ThrottlingException", "Rate exceeded", http.StatusBadRequest}
}

// refusedBy is how a service says that a permission is missing.
func refusedBy(service string) *fault {
	switch service {
	case ec2Service:
		return failure("UnauthorizedOperation", "You are not authorized to perform this operation.")
	case iamService:
		return failure("AccessDenied", "User is not authorized to perform this operation")
	}
	return &fault{"AccessDeniedException", "User is not authorized to perform this operation", http.StatusBadRequest}
}

// expired is how a service says that the credentials have expired.
func expired(service string) *fault {
	if service == ec2Service {
		return failure("RequestExpired", "Request has expired.")
	}
	return &fault{"ExpiredTokenException", "The security token included in the request is expired", http.StatusBadRequest}
}

// broken is how a service says that it has failed.
func broken(service string) *fault {
	code := "InternalError"
	switch service {
	case iamService:
		code = "ServiceFailure"
	case ssmService, sqsService:
		code = "InternalServerError"
	case pricingService:
		code = "InternalErrorException"
	case eksService, shiftService:
		code = "InternalServerException"
	}
	return &fault{code, "An internal error has occurred", http.StatusInternalServerError}
}

func missing(parameter string) *fault {
	return failure("MissingParameter", "The request must contain the parameter %s", parameter)
}

func invalid(format string, args ...any) *fault {
	return failure("InvalidParameterValue", format, args...)
}
