package main

import (
	"bytes"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/examples/internal/command"
	"github.com/dovetail-sdk/dovetail/examples/internal/output"
	"github.com/dovetail-sdk/dovetail/examples/internal/puddlecloud"
	"github.com/dovetail-sdk/dovetail/internal/golden"
)

func TestRun(t *testing.T) {
	var stdout, stderr bytes.Buffer
	require.Equal(t, command.OK, run(nil, &stdout, &stderr), stderr.String())
	require.Empty(t, stderr.String())
	golden.Equal(t, stdout.String(), "golden", "day.txt")
	output.Fits(t, stdout.String())
}

// TestTokens checks that nodes of two plans, which have the same names, get machines of their
// own.
func TestTokens(t *testing.T) {
	api := puddlecloud.New()
	server := httptest.NewServer(api.Handler())
	defer server.Close()
	d, err := newDay(api, server.URL, &bytes.Buffer{})
	require.NoError(t, err)
	machines := map[string]bool{}
	for range 2 {
		plan, err := planFor(t.Context(), d)
		require.NoError(t, err)
		i, err := d.Provider.Create(t.Context(), d.Request(&plan.Create[0]))
		require.NoError(t, err)
		machines[i.ID] = true
	}
	require.Len(t, machines, 2)
}

func TestArguments(t *testing.T) {
	for _, c := range []struct {
		args           []string
		code           int
		stdout, stderr string
	}{
		{[]string{"-h"}, command.OK, "usage: ", ""},
		{[]string{"now"}, command.BadInput, "", "newprovider: unexpected argument \"now\"\n\nnewprovider -h lists the flags.\n"},
	} {
		var stdout, stderr bytes.Buffer
		require.Equal(t, c.code, run(c.args, &stdout, &stderr))
		require.Contains(t, stdout.String(), c.stdout)
		require.Equal(t, c.stderr, stderr.String())
	}
}

// TestWrongDay checks that the day does not go on as if nothing were wrong
// when the cloud does something else than expected.
func TestWrongDay(t *testing.T) {
	spend := func(url string) error {
		d, err := newDay(puddlecloud.New(), url, &bytes.Buffer{})
		require.NoError(t, err)
		return spend(t.Context(), d)
	}
	require.Error(t, spend("http://127.0.0.1:0"), "nobody listens there")
	api := httptest.NewServer(puddlecloud.New().Handler())
	defer api.Close()
	require.ErrorContains(t, spend(api.URL), "want a shortage", "it is not the cloud of the provider")
}
