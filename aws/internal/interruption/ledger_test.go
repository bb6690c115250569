package interruption_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/aws/internal/interruption"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

func TestLedger(t *testing.T) {
	both := interruption.Message{Kind: interruption.KindScheduledChange, At: at, Detail: "x", InstanceIDs: []string{"i-1", "i-2"}}
	var l interruption.Ledger
	notice := func(instance string) cloudprovider.Interruption {
		return cloudprovider.Interruption{ID: "m/" + instance, InstanceID: instance, Kind: cloudprovider.InterruptionMaintenance, Detail: "x", At: at}
	}
	require.Equal(t, []cloudprovider.Interruption{notice("i-1"), notice("i-2")}, l.Deliver(at, "m", "receipt-1", both))
	require.Empty(t, l.Acknowledge("m/i-2"), "one of two is left")
	require.Equal(t, []cloudprovider.Interruption{notice("i-1")}, l.Deliver(at, "m", "receipt-2", both), "delivered again")
	require.Empty(t, l.Acknowledge("m/i-2", "m/i-3", "n/i-1", "m", ""), "known already, or not at all")
	require.Equal(t, []string{"receipt-2"}, l.Acknowledge("m/i-1", "m/i-1"), "the latest receipt, once")
	require.Empty(t, l.Deliver(at, "m", "receipt-3", both), "deleting failed: nothing is left to do")
	require.Equal(t, []string{"i-1", "i-2"}, both.InstanceIDs, "inputs are not changed")
}

func TestLedgerKeepsNothingOfWhatNothingIsDoneAbout(t *testing.T) {
	var l interruption.Ledger
	require.Empty(t, l.Deliver(at, "m", "r", interruption.Message{Kind: interruption.KindNoOp}))
	require.Zero(t, l.Len())
	require.Empty(t, l.Acknowledge("m/i-1"))
	l.Forget(at)
}

func TestLedgerForgets(t *testing.T) {
	var l interruption.Ledger
	one := interruption.Message{Kind: interruption.KindSpotInterrupted, InstanceIDs: []string{"i-1"}}
	l.Deliver(at, "old", "r1", one)
	l.Deliver(at.Add(time.Minute), "new", "r2", one)
	require.Equal(t, 2, l.Len())
	l.Forget(at.Add(time.Minute))
	require.Equal(t, 1, l.Len())
	require.Equal(t, []string{"r2"}, l.Acknowledge("old/i-1", "new/i-1"))
}

func TestLedgerReturnsReceiptsSorted(t *testing.T) {
	var l interruption.Ledger
	one := interruption.Message{Kind: interruption.KindSpotInterrupted, InstanceIDs: []string{"i-1"}}
	l.Deliver(at, "a", "z", one)
	l.Deliver(at, "b", "y", one)
	require.Equal(t, []string{"y", "z"}, l.Acknowledge("a/i-1", "b/i-1"))
}
