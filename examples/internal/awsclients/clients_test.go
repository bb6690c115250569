package awsclients_test

import (
	"errors"
	"net/http"
	"reflect"
	"strings"
	"testing"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/aws"
	"github.com/dovetail-sdk/dovetail/examples/internal/awsclients"
)

// unreachable stands for AWS: whatever is passed on fails with its error.
type unreachable struct{}

func (unreachable) Do(*http.Request) (*http.Response, error) { return nil, errors.New("passed on") }

// Whatever can change anything in EC2 and IAM is kept back, whatever its input, and reads are passed on.
func TestWatchChangesNothing(t *testing.T) {
	cfg := awssdk.Config{Region: "us-east-1", HTTPClient: unreachable{}, Retryer: func() awssdk.Retryer { return awssdk.NopRetryer{} }}
	watched := aws.Connect(awsclients.Watch(cfg))
	pretended := []string{"CreateInstanceProfile", "AddRoleToInstanceProfile"} // a class with a role is ready with a profile only
	for _, client := range []reflect.Value{reflect.ValueOf(&watched.EC2).Elem(), reflect.ValueOf(&watched.IAM).Elem()} {
		writes := 0
		for i := range client.NumMethod() {
			name := client.Type().Method(i).Name
			input := reflect.New(client.Method(i).Type().In(1).Elem())
			out := client.Method(i).Call([]reflect.Value{reflect.ValueOf(t.Context()), input})
			err, _ := out[1].Interface().(error)
			switch {
			case strings.HasPrefix(name, "Describe") || strings.HasPrefix(name, "Get") || strings.HasPrefix(name, "List"):
				require.Error(t, err, name)
				require.NotContains(t, err.Error(), "-launch", name)
				continue
			case name == pretended[0] || name == pretended[1]:
				require.NoError(t, err, name)
			default:
				require.ErrorContains(t, err, "nothing is changed without -launch", name)
			}
			writes++
		}
		require.NotZero(t, writes)
	}
}
