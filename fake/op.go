package fake

import (
	"fmt"
	"strings"
)

// The names of the calls that a Cloud takes, as faults and rate limits use
// them. Upper and lower case are the same there, so that method names will do.
const (
	OpInstanceTypes  = "instancetypes"
	OpCreate         = "create"
	OpDelete         = "delete"
	OpGet            = "get"
	OpList           = "list"
	OpNodeClassReady = "nodeclassready"
	OpIsDrifted      = "isdrifted"
	OpReboot         = "reboot"
	OpInterruptions  = "interruptions"
	OpAcknowledge    = "acknowledge"
)

// methods has the method behind each call.
var methods = map[string]string{
	OpInstanceTypes: "InstanceTypes", OpCreate: "Create", OpDelete: "Delete", OpGet: "Get", OpList: "List",
	OpNodeClassReady: "NodeClassReady", OpIsDrifted: "IsDrifted", OpReboot: "Reboot",
	OpInterruptions: "Interruptions", OpAcknowledge: "Acknowledge",
}

func knownOp(op string) error {
	if methods[strings.ToLower(op)] == "" {
		return fmt.Errorf("there is no call %q; the calls are %s", op, strings.Join(opNames(), ", "))
	}
	return nil
}

// opNames lists the calls as their constants do.
func opNames() []string {
	return []string{OpInstanceTypes, OpCreate, OpDelete, OpGet, OpList, OpNodeClassReady, OpIsDrifted, OpReboot, OpInterruptions, OpAcknowledge}
}
