package bootstrap_test

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"errors"
	"io"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/amiselect"
	"github.com/dovetail-sdk/dovetail/aws/bootstrap"
)

// sized returns a node with custom user data that a family takes, and as long as said.
func sized(family amiselect.Family, length int) bootstrap.Node {
	n := plain(family)
	n.CustomUserData = "#" + strings.Repeat("x", length-1)
	return n
}

// TestLimit: EC2 takes 16384 bytes, and not one more.
func TestLimit(t *testing.T) {
	for _, family := range []amiselect.Family{amiselect.FamilyAL2, amiselect.FamilyAL2023, amiselect.FamilyWindows2022, amiselect.FamilyCustom} {
		room := bootstrap.MaxBytes - len(render(t, sized(family, 100)).Text) + 100
		u := render(t, sized(family, room))
		require.Len(t, u.Bytes(), bootstrap.MaxBytes)
		require.True(t, u.NearLimit())
		require.True(t, render(t, sized(family, room-bootstrap.MaxBytes+bootstrap.WarnBytes)).NearLimit())
		require.False(t, render(t, sized(family, room-bootstrap.MaxBytes+bootstrap.WarnBytes-1)).NearLimit())

		_, err := bootstrap.Render(sized(family, room+1))
		var size *bootstrap.SizeError
		require.True(t, errors.As(err, &size))
		require.Equal(t, bootstrap.MaxBytes+1, size.Bytes)
		total := 0
		for _, p := range size.Parts {
			require.ErrorContains(t, err, p.Name+" "+strconv.Itoa(p.Bytes))
			total += p.Bytes
		}
		require.Equal(t, size.Bytes, total)
		require.Equal(t, family == amiselect.FamilyAL2 || family == amiselect.FamilyAL2023, strings.Contains(err.Error(), "or set Compress"))
	}
}

// TestCompress: what is too large is packed where the family unpacks it, and only
// then.
func TestCompress(t *testing.T) {
	for _, family := range managed() {
		n := sized(family, 20_000)
		if family == amiselect.FamilyBottlerocket {
			n.CustomUserData = "[settings]\nmotd = '" + n.CustomUserData + "'"
		}
		n.Compress = true
		u, err := bootstrap.Render(n)
		if family.Windows() {
			require.ErrorAs(t, err, new(*bootstrap.SizeError))
			continue
		}
		require.NoError(t, err)
		require.True(t, u.Compressed())
		require.Less(t, len(u.Bytes()), bootstrap.MaxBytes)
		raw, err := base64.StdEncoding.DecodeString(u.Base64())
		require.NoError(t, err)
		z, err := gzip.NewReader(bytes.NewReader(raw))
		require.NoError(t, err)
		text, err := io.ReadAll(z)
		require.NoError(t, err)
		require.Equal(t, u.Text, string(text))
		again, err := bootstrap.Render(n)
		require.NoError(t, err)
		require.Equal(t, u, again)
		u.Bytes()[0]++
		require.Equal(t, again, u, "the bytes are the caller's")

		n.CustomUserData = ""
		require.False(t, render(t, n).Compressed(), "small text stays text")
	}
	n := plain(amiselect.FamilyAL2)
	n.Compress = true
	var noise strings.Builder
	for i := range 40_000 {
		noise.WriteString(strconv.FormatUint(uint64(i)*2654435761, 36))
	}
	n.CustomUserData = "#" + noise.String()
	_, err := bootstrap.Render(n)
	require.ErrorContains(t, err, "shorten the custom user data, or let it fetch the rest when it runs")
	require.NotContains(t, err.Error(), "Compress")
}
