package plane

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// ErrNotBuilt says that the binary of the control plane is not in the cache.
var ErrNotBuilt = errors.New("no control plane has been built: run make e2e, which takes ten minutes or more the first time")

// Cached returns the path of the binary for Start in the user's cache. source is the folder of the
// module controlplane. The path depends on the content of that folder.
func Cached(source string) (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	for _, name := range []string{"go.mod", "go.sum", "main.go"} {
		text, err := os.ReadFile(filepath.Join(source, name))
		if err != nil {
			return "", err
		}
		sum.Write(text)
	}
	path := filepath.Join(cache, "dovetail-e2e", hex.EncodeToString(sum.Sum(nil)[:8]), "controlplane")
	if _, err := os.Stat(path); err != nil {
		return path, ErrNotBuilt
	}
	return path, nil
}

// Build is Cached, and builds the binary if it does not exist. It needs the Go command, and a
// network to fetch modules.
func Build(ctx context.Context, source string) (string, error) {
	path, err := Cached(source)
	if !errors.Is(err, ErrNotBuilt) {
		return path, err
	}
	mod, err := os.ReadFile(filepath.Join(source, "go.mod"))
	if err != nil {
		return "", err
	}
	version := regexp.MustCompile(`k8s\.io/kubernetes v1\.(\d+)\.\d+`).FindStringSubmatch(string(mod))
	if version == nil {
		return "", fmt.Errorf("%s asks for no version of k8s.io/kubernetes", source)
	}
	_, release, _ := strings.Cut(version[0], " ")
	const pkg = "k8s.io/component-base/version" // components judge each other by what it says
	flags := fmt.Sprintf("-s -w -X %s.gitVersion=%s -X %s.gitMajor=1 -X %s.gitMinor=%s", pkg, release, pkg, pkg, version[1])
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return "", err
	}
	part := fmt.Sprintf("%s.%d", path, os.Getpid())
	cmd := exec.CommandContext(ctx, "go", "build", "-buildvcs=false", "-ldflags", flags, "-o", part, ".")
	cmd.Dir, cmd.Env = source, append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off", "GOFLAGS=")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build of %s: %w\n%s", source, err, out)
	}
	return path, os.Rename(part, path)
}
