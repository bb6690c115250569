package aws_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
)

// User data can hold a secret, and conditions are for many to read.
func TestUserDataIsNotQuoted(t *testing.T) {
	s := newScene(t)
	s.class.Spec.AMISelectorTerms = []awsv1.AMISelectorTerm{{Alias: "bottlerocket@latest"}}
	s.class.Spec.UserData = new("token = s3cr3t\n[settings.kubernetes]\n")
	err := s.p.NodeClassReady(t.Context(), *nodePool().Spec.Template.Spec.NodeClassRef)
	require.ErrorContains(t, err, "line 1, column")
	require.NotContains(t, err.Error(), "s3cr3t")
	class := s.read()
	said := false
	for _, c := range class.Status.Conditions {
		require.NotContains(t, c.Message, "s3cr3t")
		said = said || c.Type == awsv1.ConditionTypeValidationSucceeded && c.Message != ""
	}
	require.True(t, said)
}
