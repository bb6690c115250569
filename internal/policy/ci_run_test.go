package policy_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A step of .ci/run that cannot do its work is named in the last line, or fails where what it
// lacks could have been installed.
func TestStepsSkipAloud(t *testing.T) {
	const (
		unreachable = "echo 'fetching vulnerabilities: dial tcp: lookup vuln.go.dev: no such host'; exit 1"
		vulnerable  = "echo 'Vulnerability #1: GO-2026-0001'; exit 3"
	)
	for name, row := range map[string]struct {
		step  string
		tools map[string]string // scripts in PATH
		ci    bool
		want  string // in the last line; a failure if empty
	}{
		"no browser":                {step: "browser", want: "skipped: tests in a browser (no browser runs here)"},
		"a browser that fails":      {step: "browser", tools: map[string]string{"chromium": "exit 1"}, want: "skipped: tests in a browser (no browser runs here)"},
		"a browser":                 {step: "browser", tools: map[string]string{"chrome": "exit 0", "apt-get": "exit 1"}, ci: true, want: "all passed"},
		"no browser for CI":         {step: "browser", tools: map[string]string{"apt-get": "exit 1"}, ci: true},
		"nothing to install from":   {step: "browser", ci: true, want: "skipped: tests in a browser (no browser runs here)"},
		"no vulnerability database": {step: "vuln", tools: map[string]string{"go": unreachable}, ci: true, want: "skipped: vuln (the vulnerability database cannot be reached)"},
		"no server of the database": {step: "vuln", tools: map[string]string{"curl": "exit 6", "go": vulnerable}, ci: true, want: "skipped: vuln (the vulnerability database cannot be reached)"},
		"vulnerable":                {step: "vuln", tools: map[string]string{"go": vulnerable}},
		"no control plane": {step: "e2e", ci: true,
			want: "skipped: e2e (no control plane in the cache: make e2e builds one, which takes ten minutes or more)"},
	} {
		t.Run(name, func(t *testing.T) {
			path := t.TempDir()
			for _, tool := range []string{"bash", "dirname", "id", "mktemp", "rm", "timeout", "sh", "tail", "grep", "cat", "awk"} {
				file, err := exec.LookPath(tool)
				require.NoError(t, err)
				require.NoError(t, os.Symlink(file, filepath.Join(path, tool)))
			}
			for tool, script := range row.tools {
				require.NoError(t, os.WriteFile(filepath.Join(path, tool), []byte("#!/bin/sh\n"+script+"\n"), 0o700))
			}
			cmd := exec.CommandContext(t.Context(), filepath.Join(path, "bash"), filepath.Join("..", "..", ".ci", "run"), row.step)
			cmd.Env = []string{"PATH=" + path, "HOME=" + path}
			if row.ci {
				cmd.Env = append(cmd.Env, "CI=true")
			}
			out, err := cmd.Output()
			if row.want == "" {
				require.Error(t, err, string(out))
				return
			}
			require.NoError(t, err, string(out))
			lines := strings.Split(strings.TrimSpace(string(out)), "\n")
			require.Contains(t, lines[len(lines)-1], row.want)
		})
	}
}
