package kubescheduler_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/dovetail-sdk/dovetail/internal/kubescheduler"
	"github.com/dovetail-sdk/dovetail/provisioning"
)

// kube-scheduler gets an object of each list of the input that the referee reads: what is not
// passed on would be judged by the referee alone.
func TestStateHasEachListOfTheInput(t *testing.T) {
	var in provisioning.Input
	var names []string
	fill := func(objects reflect.Value) {
		for i := range objects.NumField() {
			list := objects.Field(i)
			if list.Kind() != reflect.Slice {
				continue // the matcher of devices
			}
			o := reflect.New(list.Type().Elem().Elem())
			name := strings.ToLower(objects.Type().Field(i).Name) + "-of-" + strings.ToLower(objects.Type().Name())
			o.Interface().(metav1.Object).SetName(name)
			list.Set(reflect.Append(list, o))
			if name != "templates-of-devices" { // claims are made of them
				names = append(names, name)
			}
		}
	}
	fill(reflect.ValueOf(&in.Volumes).Elem())
	fill(reflect.ValueOf(&in.Devices).Elem())
	text, err := json.Marshal(kubescheduler.StateOf(in))
	require.NoError(t, err)
	require.Len(t, names, 10)
	for _, name := range names {
		require.Contains(t, string(text), `"`+name+`"`)
	}
}
