package interruption_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/aws/internal/interruption"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

var (
	at   = time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC)
	none = time.Time{}
)

const instance = "i-0b662ef9931388ba0"

// TestParseSamples reads events in the form that AWS documents.
func TestParseSamples(t *testing.T) {
	type want struct {
		kind      interruption.Kind
		deadline  time.Time
		instances string
		detail    string
	}
	wants := map[string]want{
		"spot":                 {interruption.KindSpotInterrupted, at.Add(2 * time.Minute), instance, "spot interruption, action terminate"},
		"spot-hibernate":       {interruption.KindSpotInterrupted, none, instance, "spot interruption, action hibernate"},
		"rebalance":            {interruption.KindRebalanceRecommendation, none, instance, "rebalance recommendation"},
		"state-stopping":       {interruption.KindInstanceStopped, none, instance, "instance is stopping"},
		"state-terminated":     {interruption.KindInstanceTerminated, none, instance, "instance is Terminated"},
		"state-running":        {interruption.KindNoOp, none, "", "instance is running"},
		"reservation":          {interruption.KindReservationInterrupted, at.Add(150 * time.Second), instance, "capacity reservation interruption, action terminate"},
		"reservation-block":    {interruption.KindNoOp, none, "", `events "Capacity Block Expiration Warning" of "aws.ec2", version "0", need no action`},
		"health":               {interruption.KindScheduledChange, time.Date(2026, 3, 15, 4, 30, 0, 0, time.UTC), "i-0a000000000000001 " + instance, "AWS_EC2_INSTANCE_RETIREMENT_SCHEDULED"},
		"health-closed":        {interruption.KindNoOp, none, "", "AWS_EC2_INSTANCE_REBOOT_MAINTENANCE_SCHEDULED is closed"},
		"health-issue":         {interruption.KindNoOp, none, "", `health events of service "EC2" and category "issue" need no action`},
		"health-other-service": {interruption.KindNoOp, none, "", `health events of service "RDS" and category "scheduledChange" need no action`},
		"health-volumes":       {interruption.KindNoOp, none, "", "AWS_EC2_X affects no instance"},
		"other-version":        {interruption.KindNoOp, none, "", `events "EC2 Spot Instance Interruption Warning" of "aws.ec2", version "1", need no action`},
		"other-source":         {interruption.KindNoOp, none, "", `events "EC2 Spot Instance Interruption Warning" of "example.com", version "0", need no action`},
		"autoscaling":          {interruption.KindNoOp, none, "", `events "EC2 Instance Launch Successful" of "aws.autoscaling", version "0", need no action`},
	}
	files := samples(t)
	require.Len(t, files, len(wants))
	for name, body := range files {
		w, ok := wants[name]
		require.True(t, ok, name)
		m, err := interruption.Parse(body)
		require.NoError(t, err, name)
		require.Equal(t, interruption.Message{
			Kind: w.kind,
			At:   at, Deadline: w.deadline, InstanceIDs: split(w.instances), Detail: w.detail,
		}, m, name)
		require.Len(t, m.Interruptions(), len(split(w.instances)), name)
	}
}

func split(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Fields(text)
}

func samples(t testing.TB) map[string][]byte {
	t.Helper()
	names, err := filepath.Glob(filepath.Join("testdata", "*.json"))
	require.NoError(t, err)
	out := map[string][]byte{}
	for _, name := range names {
		data, err := os.ReadFile(name)
		require.NoError(t, err)
		out[strings.TrimSuffix(filepath.Base(name), ".json")] = data
	}
	return out
}

func TestParseOfNothing(t *testing.T) {
	for _, body := range []string{"", " \n\t"} {
		m, err := interruption.Parse([]byte(body))
		require.NoError(t, err)
		require.Equal(t, interruption.Message{Kind: interruption.KindNoOp, Detail: "the body is empty"}, m)
	}
	m, err := interruption.Parse([]byte("{}"))
	require.NoError(t, err)
	require.Equal(t, interruption.KindNoOp, m.Kind, "an event of no kind that we know")
	require.Empty(t, m.Interruptions())
}

// frame wraps a detail in the frame of an event.
func frame(source, detailType, detail string) []byte {
	return fmt.Appendf(nil, `{"version": "0", "source": %q, "detail-type": %q, "detail": %s}`, source, detailType, detail)
}

func TestParsePoison(t *testing.T) {
	const spot = "EC2 Spot Instance Interruption Warning"
	for body, want := range map[string]string{
		"hello":                  "invalid character 'h' looking for beginning of value",
		"null":                   "want a JSON object",
		"[]":                     "want a JSON object",
		`"{}"`:                   "want a JSON object",
		"{":                      "unexpected end of JSON input",
		`{"source": 5}`:          "json: cannot unmarshal number into Go struct field event.source of type string",
		`{"time": "yesterday"}`:  `time "yesterday": want RFC 3339, such as 2026-03-01T08:00:00Z`,
		`{"time": "2026-03-01"}`: `time "2026-03-01": want RFC 3339, such as 2026-03-01T08:00:00Z`,
		`{"version": "0", "source": "aws.ec2", "detail-type": "EC2 Instance Rebalance Recommendation"}`: "EC2 Instance Rebalance Recommendation: detail: missing",
		string(frame("aws.ec2", spot, `{"instance-id": "i-\n0"}`)):                                      spot + `: detail: instance-id "i- 0": want the id of an instance, such as i-0123456789abcdef0`,
		string(frame("aws.ec2", spot, `null`)):                                                          spot + ": detail: want a JSON object",
		string(frame("aws.ec2", spot, `{}`)):                                                            spot + `: detail: instance-id "": want the id of an instance, such as i-0123456789abcdef0`,
		string(frame("aws.ec2", "EC2 Instance State-change Notification", `{"state": "stopped", "instance-id": "vol-1"}`)): `EC2 Instance State-change Notification: detail: instance-id "vol-1": ` +
			`want the id of an instance, such as i-0123456789abcdef0`,
		string(frame("aws.health", "AWS Health Event", `{"service": "EC2", "affectedEntities": {}}`)): "AWS Health Event: detail: json: cannot unmarshal object into Go struct field " +
			"healthDetail.affectedEntities of type []struct { Value string \"json:\\\"entityValue\\\"\"; Status string \"json:\\\"status\\\"\" }",
	} {
		m, err := interruption.Parse([]byte(body))
		require.Zero(t, m, body)
		require.EqualError(t, err, "not an event of EventBridge, delete the message: "+want, body)
		var poison *interruption.PoisonError
		require.ErrorAs(t, err, &poison)
		require.ErrorIs(t, err, poison.Err)
	}
}

func TestParseKeepsANoticeWhoseTimesCannotBeRead(t *testing.T) {
	m, err := interruption.Parse(frame("aws.ec2", "EC2 Capacity Reservation Instance Interruption Warning",
		`{"instance-id": "i-1", "instance-termination-time": "soon"}`))
	require.NoError(t, err)
	require.Equal(t, []string{"i-1"}, m.InstanceIDs)
	require.True(t, m.At.IsZero())
	require.True(t, m.Deadline.IsZero())

	m, err = interruption.Parse(frame("aws.health", "AWS Health Event",
		`{"service": "EC2", "eventTypeCategory": "scheduledChange", "affectedEntities": [{"entityValue": "i-1"}], "startTime": "soon"}`))
	require.NoError(t, err)
	require.Equal(t, []string{"i-1"}, m.InstanceIDs)
	require.True(t, m.Deadline.IsZero())
	require.Equal(t, "scheduled change", m.Detail, "a notice has a word for what it is about")

	m, err = interruption.Parse(frame("aws.ec2", "EC2 Spot Instance Interruption Warning", `{"instance-id": "i-1"}`))
	require.NoError(t, err)
	require.True(t, m.Deadline.IsZero(), "two minutes after nothing is not known")
}

func TestTimesAreTheSameEverywhere(t *testing.T) {
	m, err := interruption.Parse([]byte(`{"time": "2026-03-01T09:00:00+01:00"}`))
	require.NoError(t, err)
	require.Equal(t, at, m.At)
}

// kinds returns all kinds, and what package cloudprovider has for them.
func kinds() map[interruption.Kind]cloudprovider.InterruptionKind {
	return map[interruption.Kind]cloudprovider.InterruptionKind{
		"spot_interrupted":                 cloudprovider.InterruptionSpot,
		"rebalance_recommendation":         cloudprovider.InterruptionRebalance,
		"scheduled_change":                 cloudprovider.InterruptionMaintenance,
		"event_status":                     cloudprovider.InterruptionMaintenance,
		"instance_stopped":                 cloudprovider.InterruptionStopping,
		"instance_terminated":              cloudprovider.InterruptionStopping,
		"capacity_reservation_interrupted": cloudprovider.InterruptionReservation,
		"instance_status":                  cloudprovider.InterruptionUnhealthy,
		"system_status":                    cloudprovider.InterruptionUnhealthy,
		"no_op":                            "",
	}
}

func TestKinds(t *testing.T) {
	for kind, want := range kinds() {
		got, ok := kind.Interruption()
		require.Equal(t, want, got, kind)
		require.Equal(t, kind != interruption.KindNoOp, ok)
	}
	_, ok := interruption.Kind("other").Interruption()
	require.False(t, ok)
}

// FuzzParse feeds any body. What it gives is either a poison error or a message
// that keeps the promises of its type, and the same each time.
func FuzzParse(f *testing.F) {
	for _, body := range samples(f) {
		f.Add(body)
	}
	for _, body := range []string{"", "null", "{", `{"detail-type": 5}`, `{"time": "x"}`, "\xff"} {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		m, err := interruption.Parse(body)
		again, errAgain := interruption.Parse(body)
		require.Equal(t, m, again)
		if err != nil {
			require.EqualError(t, errAgain, err.Error())
			var poison *interruption.PoisonError
			require.True(t, errors.As(err, &poison))
			require.Zero(t, m)
			return
		}
		require.Contains(t, kinds(), m.Kind)
		require.Equal(t, m.Kind == interruption.KindNoOp, len(m.InstanceIDs) == 0)
		require.IsIncreasing(t, append([]string{""}, m.InstanceIDs...))
		require.Len(t, m.Interruptions(), len(m.InstanceIDs))
		require.NotContains(t, m.Detail, "\n")
		require.NotEmpty(t, m.Detail)
		var l interruption.Ledger
		var ids []string
		for _, n := range l.Deliver(at, "m", "r", m) {
			ids = append(ids, n.ID)
		}
		require.Equal(t, len(ids) > 0, len(l.Acknowledge(ids...)) == 1)
	})
}
