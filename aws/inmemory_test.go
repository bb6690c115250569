package aws_test

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"

	"github.com/dovetail-sdk/dovetail/aws/awstest"
)

// bubble runs a test beside others and by a clock of its own, on which pauses take no time:
// it moves on when everything waits for it. Nothing in it may wait for a network.
func bubble(t *testing.T, test func(*testing.T)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, test)
}

// inBubble is t.Run with a bubble.
func inBubble(t *testing.T, name string, test func(*testing.T)) {
	t.Helper()
	t.Run(name, func(t *testing.T) { bubble(t, test) })
}

// inMemory calls a cloud as a function, without a network between.
type inMemory struct{ *awstest.Cloud }

// config is what clients need that call it so, and else what those of a server do.
func (m inMemory) config() awssdk.Config {
	cfg := (&awstest.Server{Cloud: m.Cloud, URL: "http://aws.test"}).Config()
	cfg.HTTPClient = &http.Client{Transport: m}
	return cfg
}

// RoundTrip answers a request. A connection that would be cut is one whose answer ends
// before it begins.
func (m inMemory) RoundTrip(r *http.Request) (answer *http.Response, err error) {
	defer func() {
		switch v := recover(); v {
		case nil:
		case http.ErrAbortHandler:
			answer, err = nil, cmp.Or(context.Cause(r.Context()), io.ErrUnexpectedEOF)
		default:
			panic(v)
		}
	}()
	in := r.Clone(r.Context())
	in.Host = cmp.Or(r.Host, r.URL.Host)
	if in.Body == nil {
		in.Body = http.NoBody
	}
	w := httptest.NewRecorder()
	m.ServeHTTP(w, in)
	if err := errors.Join(in.Body.Close(), r.Context().Err()); err != nil {
		return nil, err
	}
	return w.Result(), nil
}
