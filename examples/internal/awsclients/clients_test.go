package awsclients_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/aws"
	"github.com/dovetail-sdk/dovetail/examples/internal/awsclients"
)

// Whatever can change anything in AWS is kept back: no client stands behind those that are
// watched here, so a call that is passed on would panic.
func TestWatchChangesNothing(t *testing.T) {
	watched := awsclients.Watch(aws.Clients{})
	pretended := []string{"CreateInstanceProfile", "AddRoleToInstanceProfile"} // a class with a role is ready with a profile only
	for _, client := range []reflect.Value{reflect.ValueOf(&watched.EC2).Elem(), reflect.ValueOf(&watched.IAM).Elem()} {
		writes := 0
		for i := range client.NumMethod() {
			name := client.Type().Method(i).Name
			if strings.HasPrefix(name, "Describe") || strings.HasPrefix(name, "Get") || strings.HasPrefix(name, "List") {
				continue
			}
			writes++
			input := reflect.New(client.Method(i).Type().In(1).Elem())
			out := client.Method(i).Call([]reflect.Value{reflect.ValueOf(t.Context()), input})
			if name == pretended[0] || name == pretended[1] {
				require.Nil(t, out[1].Interface(), name)
				continue
			}
			require.EqualError(t, out[1].Interface().(error), "nothing is changed without -launch", name)
		}
		require.NotZero(t, writes)
	}
}
