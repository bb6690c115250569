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

// client speaks the API of the cloud. It repeats nothing: that is up to the caller.
type client struct {
	url  string
	http *http.Client
}

// call makes a call and reads the answer into out, unless that is nil. Op and
// object say in an error what it was for.
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

// kinds says what the cloud's codes ask of the caller.
var kinds = map[string]cloudprovider.Kind{
	puddlecloud.CodeNoSuchServer:  cloudprovider.KindNotFound,
	puddlecloud.CodeNoSuchClass:   cloudprovider.KindNotFound,
	puddlecloud.CodeClassNotReady: cloudprovider.KindNotReady,
	puddlecloud.CodeSoldOut:       cloudprovider.KindInsufficientCapacity,
	puddlecloud.CodeInvalid:       cloudprovider.KindDenied,
	puddlecloud.CodeTooMany:       cloudprovider.KindThrottled,
}

// send returns an error that wraps ctx.Err(), if that was the reason.
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
