package convert_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/api/convert"
)

// A comment that is left out is told with its line, and one that moves to another document
// with its field is not.
func TestCommentsThatAreLeftOut(t *testing.T) {
	class := betaClass("amiFamily: AL2023")
	pool := strings.NewReplacer("v1alpha5", "v1beta1", "Provisioner", "NodePool").Replace(`# about the pool
apiVersion: karpenter.sh/v1alpha5
kind: Provisioner
metadata: {name: a}
spec:
  template:
    spec:
      requirements: [] # any
      nodeClassRef: {name: a}
      # first line
      # second line
      kubelet:
        maxPods: 3 # few
        # last # line
`)
	lost := func(notes []convert.Note) (lines []int, text string) {
		for _, n := range notes {
			if strings.Contains(n.Message, " is left out; ") {
				require.Equal(t, convert.Warning, n.Severity)
				lines, text = append(lines, n.Line), text+n.Message
			}
		}
		return lines, text
	}
	_, notes := convert.Bytes([]byte(pool), nil)
	lines, text := lost(notes)
	require.Equal(t, []int{10, 13}, lines)
	require.Contains(t, text, `the comment "# first line", up to line 11, is left out`)
	out, notes := convert.Bytes([]byte(pool+"---\n"+class), nil)
	lines, _ = lost(notes)
	require.Empty(t, lines, string(out))
}

// User data stays readable, whatever blanks its lines end with.
func TestBlanksAtLineEnds(t *testing.T) {
	text := strings.Replace(betaClass("amiFamily: Custom"), "spec: {role: r, subnetSelectorTerms: [{id: subnet-1}], securityGroupSelectorTerms: [{id: sg-1}], amiFamily: Custom}\n",
		"spec:\n  role: r\n  subnetSelectorTerms: [{id: subnet-1}]\n  userData: |-\n    fence # a  \n       \n    b \n", 1)
	out, _ := convert.Bytes([]byte(text), nil)
	require.Contains(t, string(out), "  userData: |-\n    fence # a  \n       \n    b \n")
}
