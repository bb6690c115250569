package interruption_test

import (
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/dovetail-sdk/dovetail/aws/internal/interruption"
)

func ExampleParse() {
	m, err := interruption.Parse([]byte(`{
		"version": "0",
		"id": "7bf73129-1428-4cd3-a780-95db273d1602",
		"source": "aws.ec2",
		"detail-type": "EC2 Spot Instance Interruption Warning",
		"time": "2026-03-01T08:00:00Z",
		"detail": {"instance-id": "i-0b662ef9931388ba0", "instance-action": "terminate"}
	}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(m.Kind, m.InstanceIDs, m.Deadline.Format(time.TimeOnly))
	for _, n := range m.Interruptions() {
		fmt.Println(n.Kind, n.InstanceID)
	}
	// Output:
	// spot_interrupted [i-0b662ef9931388ba0] 08:02:00
	// SpotInterrupted i-0b662ef9931388ba0
}

func ExamplePoisonError() {
	_, err := interruption.Parse([]byte("hello"))
	var poison *interruption.PoisonError
	fmt.Println(errors.As(err, &poison))
	fmt.Println(err)
	// Output:
	// true
	// not an event of EventBridge, delete the message: invalid character 'h' looking for beginning of value
}

func ExampleLedger() {
	now := time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC)
	m := interruption.Message{Kind: interruption.KindScheduledChange, InstanceIDs: []string{"i-1", "i-2"}}
	var ledger interruption.Ledger
	for _, n := range ledger.Deliver(now, "message-1", "receipt-a", m) {
		fmt.Println(n.ID)
	}
	fmt.Println("delete:", ledger.Acknowledge("message-1/i-1"))
	fmt.Println("delete:", ledger.Acknowledge("message-1/i-2"))
	// Output:
	// message-1/i-1
	// message-1/i-2
	// delete: []
	// delete: [receipt-a]
}

func ExampleFromStatuses() {
	now := time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC)
	for _, m := range interruption.FromStatuses(now, []ec2types.InstanceStatus{{
		InstanceId: aws.String("i-1"),
		SystemStatus: &ec2types.InstanceStatusSummary{Details: []ec2types.InstanceStatusDetails{
			{Name: "reachability", Status: ec2types.StatusTypeFailed, ImpairedSince: aws.Time(now.Add(-5 * time.Minute))},
		}},
		Events: []ec2types.InstanceStatusEvent{{Code: "system-reboot", NotBefore: aws.Time(now.Add(24 * time.Hour))}},
	}}) {
		fmt.Println(m.Kind, m.Detail)
	}
	// Output:
	// event_status scheduled: system-reboot
	// system_status failed checks of the host: reachability
}

func ExampleKind_Interruption() {
	kind, ok := interruption.KindInstanceStopped.Interruption()
	fmt.Println(kind, ok)
	// Output: Stopping true
}
