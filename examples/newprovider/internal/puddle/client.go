package puddle

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/examples/internal/puddlecloud"
)

// client calls the API of the cloud. It does not repeat failed calls; the caller does.
type client struct {
	url  string
	http *http.Client
}

// call makes a call and decodes the answer into out, unless out is nil. op and object describe the
// call in errors.
func (c *client) call(ctx context.Context, op, object, method, path string, in, out any) error {
	body, err := json.Marshal(in)
	if err == nil {
		err = c.send(ctx, method, path, body, out)
	}
	if err == nil {
		return nil
	}
	e := &cloudprovider.Error{Op: op, Object: object, Err: err}
	if refusal, ok := errors.AsType[*puddlecloud.Error](err); ok {
		// What is not in the table stays unknown, which is repeated: to guess
		// wrong here loses machines.
		e.Kind, e.Reason, e.RetryAfter = kinds[refusal.Code], refusal.Code, refusal.RetryAfter
		for _, c := range refusal.Choices {
			e.Offerings = append(e.Offerings, cloudprovider.OfferingKey{InstanceType: c.Shape, Zone: c.Zone, CapacityType: c.Market})
		}
	}
	return e
}

// kinds maps the cloud's error codes to kinds of errors.
var kinds = map[string]cloudprovider.Kind{
	puddlecloud.CodeNoSuchServer:  cloudprovider.KindNotFound,
	puddlecloud.CodeNoSuchClass:   cloudprovider.KindNotFound,
	puddlecloud.CodeClassNotReady: cloudprovider.KindNotReady,
	puddlecloud.CodeSoldOut:       cloudprovider.KindInsufficientCapacity,
	puddlecloud.CodeInvalid:       cloudprovider.KindDenied,
	puddlecloud.CodeTooMany:       cloudprovider.KindThrottled,
}

// send sends a request. The error wraps ctx.Err() if the context ended.
func (c *client) send(ctx context.Context, method, path string, body []byte, out any) error {
	request, err := http.NewRequestWithContext(ctx, method, c.url+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	response, err := c.http.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode >= 300 {
		refusal := &puddlecloud.Error{Message: response.Status}
		_ = json.NewDecoder(response.Body).Decode(refusal) // the status has to do then
		seconds, _ := strconv.Atoi(response.Header.Get("Retry-After"))
		refusal.RetryAfter = time.Duration(seconds) * time.Second
		return refusal
	}
	if out == nil {
		return nil
	}
	return json.NewDecoder(response.Body).Decode(out)
}
