package bootstrap

import (
	"strconv"
	"strings"
)

// version is a release of Bottlerocket. The patch level never matters here.
type version struct{ major, minor int }

func (v version) before(major, minor int) bool {
	return v.major < major || v.major == major && v.minor < minor
}

// parseVersion reads a version such as 1.46.0 or v1.46.0. It is not ok for
// anything else.
func parseVersion(text string) (v version, ok bool) {
	major, rest, found := strings.Cut(strings.TrimLeft(text, "v"), ".")
	if !found {
		return v, false
	}
	minor, _, _ := strings.Cut(rest, ".")
	var errMajor, errMinor error
	v.major, errMajor = strconv.Atoi(major)
	v.minor, errMinor = strconv.Atoi(minor)
	return v, errMajor == nil && errMinor == nil && v.major >= 0 && v.minor >= 0
}

// BottlerocketVersion finds the version in the name of an image, such as
// bottlerocket-aws-k8s-1.31-x86_64-v1.46.0-431fe75a: the first of the pieces
// between dashes that begins with "v" and has a dot. It is empty if there is none.
func BottlerocketVersion(imageName string) string {
	for piece := range strings.SplitSeq(imageName, "-") {
		if strings.HasPrefix(piece, "v") && strings.Contains(piece, ".") {
			return piece
		}
	}
	return ""
}
