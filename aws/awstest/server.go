package awstest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
)

// Server is a Cloud that listens on a port of 127.0.0.1. Start makes it; the zero value
// must not be used.
type Server struct {
	*Cloud
	// URL is its address, which is the endpoint of every service.
	URL string

	http   *http.Server
	client *http.Client
	done   chan struct{}
}

// Start makes a Cloud and listens. Close the server at the end. opts may be nil; the error joins
// every fault of the options, or says why it cannot listen.
func Start(opts *Options) (*Server, error) {
	cloud, err := New(opts)
	if err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("awstest: listening on the loopback interface: %w", err)
	}
	s := &Server{
		Cloud: cloud, URL: "http://" + listener.Addr().String(), done: make(chan struct{}),
		http:   &http.Server{Handler: cloud, ReadHeaderTimeout: time.Minute},
		client: &http.Client{Transport: wholeBody{&http.Transport{MaxIdleConnsPerHost: 64}}},
	}
	go func() {
		defer close(s.done)
		_ = s.http.Serve(listener) // always an error, after Close
	}()
	return s, nil
}

// Close cuts all connections and stops listening.
func (s *Server) Close() {
	s.Release()
	_ = s.http.Close()
	<-s.done
	s.client.CloseIdleConnections()
}

// wholeBody passes on requests with a body in memory. The SDK closes the body of a request as soon
// as the answer arrives; if net/http looks for more of the body only then, it takes that for a
// failure and cuts the connection while the answer is being read. This happens only with a server
// as fast as this one.
type wholeBody struct{ next *http.Transport }

// RoundTrip sends the request.
func (t wholeBody) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body == nil || r.Body == http.NoBody {
		return t.next.RoundTrip(r)
	}
	data, err := io.ReadAll(r.Body)
	if err = errors.Join(err, r.Body.Close()); err != nil {
		return nil, err
	}
	r = r.Clone(r.Context())
	r.Body = io.NopCloser(bytes.NewReader(data))
	return t.next.RoundTrip(r)
}

// CloseIdleConnections closes them.
func (t wholeBody) CloseIdleConnections() { t.next.CloseIdleConnections() }

// AccessKeyID is the access key that calls have to be signed with. It is the example key of AWS's
// documentation. Any secret is accepted.
const AccessKeyID = "AKIAIOSFODNN7EXAMPLE"

const secretKey = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"

// Config returns what a client of the AWS SDK needs to talk to the server: region, endpoint and
// credentials. Clients retry as often as by default, but without pauses and without a retry quota,
// so that tests do not wait; set Retryer to change that. The HTTP client belongs to the server.
func (s *Server) Config() awssdk.Config {
	return awssdk.Config{
		Region:       s.opts.Region,
		BaseEndpoint: &s.URL,
		HTTPClient:   s.client,
		Credentials: awssdk.CredentialsProviderFunc(func(context.Context) (awssdk.Credentials, error) {
			return awssdk.Credentials{AccessKeyID: AccessKeyID, SecretAccessKey: secretKey, Source: "awstest"}, nil
		}),
		Retryer: func() awssdk.Retryer {
			return retry.NewStandard(func(o *retry.StandardOptions) {
				o.RateLimiter = noLimit{}
				o.Backoff = retry.BackoffDelayerFunc(func(int, error) (time.Duration, error) { return 0, nil })
			})
		},
	}
}

// noLimit lets a client retry as often as its attempts allow.
type noLimit struct{}

// GetToken always has one.
func (noLimit) GetToken(context.Context, uint) (func() error, error) {
	return func() error { return nil }, nil
}

// AddTokens needs none.
func (noLimit) AddTokens(uint) error { return nil }
