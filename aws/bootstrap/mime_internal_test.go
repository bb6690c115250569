package bootstrap

import (
	"io"
	"mime"
	"mime/multipart"
	"net/mail"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// FuzzParseMIME: nothing panics; what is read and written again is read as the
// same; and Go's own reader, which nodeadm uses, sees the same parts.
func FuzzParseMIME(f *testing.F) {
	head := "Content-Type: multipart/mixed; boundary=\"//\"\n\n"
	for _, text := range []string{
		"", "\n\n", "MIME-Version: 1.0\n" + head, head + "--//--", head + "--//\n\n--//--", head + "--//\nA: b\n c\n\nx\n--// \n\ny\n--//--\nz",
		head + "x\n--//\n\n--///\n--//--\t\n", "Content-Type: multipart/mixed; boundary=\"a:b\"\n\n--a:b\n\n--a:b--", head + "--//\nA\n\n--//--",
		"Content-Type: multipart/alternative;\n boundary=x\n\n--x\n\n--x--", "content-type: text/plain\n\n",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		text = strings.ReplaceAll(text, "\r", "")
		parts, err := parseMIME(text)
		if err != nil {
			require.NotEmpty(t, err.Error())
			return
		}
		again, err := parseMIME(writeMIME(parts))
		require.NoError(t, err)
		require.Equal(t, parts, again)
		want, ok := readMultipart(writeMIME(parts))
		if !ok {
			return // a header that Go's reader is stricter about
		}
		require.Len(t, want, len(parts))
		for i := range parts {
			require.Equal(t, want[i], parts[i].body)
		}
	})
}

// readMultipart reads the bodies of an archive with the standard library.
func readMultipart(text string) (bodies []string, ok bool) {
	message, err := mail.ReadMessage(strings.NewReader(text))
	if err != nil {
		return nil, false
	}
	_, params, err := mime.ParseMediaType(message.Header.Get("Content-Type"))
	if err != nil {
		return nil, false
	}
	r := multipart.NewReader(message.Body, params["boundary"])
	for {
		part, err := r.NextRawPart()
		if err == io.EOF {
			return bodies, true
		}
		if err != nil {
			return nil, false
		}
		body, err := io.ReadAll(part)
		if err != nil {
			return nil, false
		}
		bodies = append(bodies, string(body))
	}
}
