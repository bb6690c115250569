package bootstrap_test

import (
	"bytes"
	"os/exec"
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"github.com/dovetail-sdk/dovetail/amiselect"
	"github.com/dovetail-sdk/dovetail/aws/bootstrap"
)

// shellWords splits a command as a POSIX shell does, for what our scripts use:
// single quotes, backslashes and continued lines.
func shellWords(t *testing.T, text string) (words []string) {
	t.Helper()
	var word strings.Builder
	inWord, quoted := false, false
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case quoted && c == '\'':
			quoted = false
		case quoted:
			word.WriteByte(c)
		case c == '\'':
			inWord, quoted = true, true
		case c == '\\' && i+1 < len(text) && text[i+1] == '\n':
			i++
		case c == '\\':
			require.Less(t, i+1, len(text), "a backslash ends the command")
			i++
			inWord = true
			word.WriteByte(text[i])
		case c == ' ' || c == '\n':
			if inWord {
				words = append(words, word.String())
				word.Reset()
				inWord = false
			}
		default:
			require.NotContains(t, "\"$`;&|<>()*?[]#~!{}", string(c), "special outside quotes in %q", text)
			inWord = true
			word.WriteByte(c)
		}
	}
	require.False(t, quoted, "a quote is open at the end of %q", text)
	if inWord {
		words = append(words, word.String())
	}
	return words
}

// unquoted splits a line as systemd and Windows do, for what flags use: blanks
// between words, and double quotes anywhere.
func unquoted(t *testing.T, line string) (words []string) {
	t.Helper()
	require.NotContains(t, line, `\`)
	require.NotContains(t, line, "'")
	for i, part := range strings.Split(line, `"`) {
		if i%2 == 1 { // within quotes
			words[len(words)-1] += part
			continue
		}
		for j, word := range strings.Split(part, " ") {
			switch {
			case j > 0 || i == 0:
				words = append(words, word)
			default:
				words[len(words)-1] += word
			}
		}
	}
	return words
}

// al2Command returns the command of the generated script.
func al2Command(t *testing.T, text string) string {
	t.Helper()
	_, command, found := strings.Cut(text, "2>&1\n")
	require.True(t, found)
	command, _, found = strings.Cut(command, "\n\n--//")
	require.True(t, found)
	return command
}

// TestShellParsesBack: what the shell makes of the script is what went in.
func TestShellParsesBack(t *testing.T) {
	n := full(amiselect.FamilyAL2)
	flags, err := bootstrap.KubeletFlags(n)
	require.NoError(t, err)
	command := al2Command(t, render(t, n).Text)
	words := shellWords(t, command)
	extra := words[len(words)-3]
	require.Equal(t, []string{"/etc/eks/bootstrap.sh", "test-cluster", "--apiserver-endpoint", "https://test.example.com",
		"--b64-cluster-ca", "Y2EtYnVuZGxlCg==", "--dns-cluster-ip", "169.254.20.10", "--use-max-pods", "false",
		"--kubelet-extra-args", extra, "--local-disks", "raid0"}, words)
	require.Equal(t, flags, unquoted(t, extra))

	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash to ask")
	}
	var out, complaints bytes.Buffer
	c := exec.Command(bash, "-c", "function /etc/eks/bootstrap.sh { printf '%s\\0' \"$@\"; }\n"+command)
	c.Stdout, c.Stderr = &out, &complaints
	require.NoError(t, c.Run(), complaints.String())
	require.Equal(t, words[1:], strings.Split(strings.TrimSuffix(out.String(), "\x00"), "\x00"))
}

// TestPowerShellParsesBack does the same for Windows.
func TestPowerShellParsesBack(t *testing.T) {
	n := full(amiselect.FamilyWindows2022)
	flags, err := bootstrap.KubeletFlags(n)
	require.NoError(t, err)
	_, command, found := strings.Cut(render(t, n).Text, "\n& ")
	require.True(t, found)
	command, _, _ = strings.Cut(command, "\n")
	var words []string
	for i, part := range strings.Split(command, "'") {
		require.NotContains(t, part, "\u2019")
		if i%2 == 1 {
			words = append(words, part)
		} else {
			words = append(words, strings.Fields(part)...)
		}
	}
	require.Len(t, words, 13)
	require.Equal(t, []string{"$EKSBootstrapScriptFile", "-EKSClusterName", "test-cluster", "-APIServerEndpoint", "https://test.example.com",
		"-Base64ClusterCA", "Y2EtYnVuZGxlCg==", "-KubeletExtraArgs", words[8], "-DNSClusterIP", "169.254.20.10",
		"-ServiceCIDR", "10.100.0.0/16"}, words)
	require.Equal(t, flags, unquoted(t, words[8]))
}

// TestYAMLParsesBack: strings in extra fields cannot leave their place, whatever
// is in them.
func TestYAMLParsesBack(t *testing.T) {
	hostile := []any{"a: b", "'", `"`, "- x", "\n--//--\n", "#", "{{", "!!binary x", "yes", "1e3", "&a *a", "%", "| \n x", "\u2028", "\t", "\\", "`$(rm)`", "", "~", "\x00"}
	n := plain(amiselect.FamilyAL2023)
	extra := map[string]any{"list": hostile}
	for _, text := range hostile {
		extra["key-"+text.(string)] = text
	}
	n.Kubelet.Extra = extra
	u := render(t, n)
	_, part, found := strings.Cut(u.Text, "Content-Type: application/node.eks.aws\n\n")
	require.True(t, found)
	part, _, found = strings.Cut(part, "\n--")
	require.True(t, found)
	var config struct {
		Spec struct {
			Kubelet struct {
				Config map[string]any
				Flags  []string
			}
		}
	}
	require.NoError(t, yaml.UnmarshalStrict([]byte(part), &map[string]any{}))
	require.NoError(t, yaml.Unmarshal([]byte(part), &config))
	for key, value := range extra {
		require.Equal(t, value, config.Spec.Kubelet.Config[key], "%q", key)
	}
	require.Equal(t, []string{"--node-labels=karpenter.sh/capacity-type=spot,karpenter.sh/do-not-sync-taints=true,karpenter.sh/nodepool=default"}, config.Spec.Kubelet.Flags)
}

// TestTOMLParsesBack: settings of the user survive the merge, whatever is in them.
func TestTOMLParsesBack(t *testing.T) {
	for _, text := range []string{"'", `"`, "\n[settings.kubernetes]\n", "]", "\x00", "\u2028", "\\", "'''", `"""`, "#", "=", ""} {
		theirs := map[string]any{"settings": map[string]any{"motd": text, "x": map[string]any{text: []any{text}}}}
		custom, err := toml.Marshal(theirs)
		require.NoError(t, err)
		n := plain(amiselect.FamilyBottlerocket)
		n.CustomUserData = string(custom)
		var got map[string]any
		require.NoError(t, toml.Unmarshal([]byte(render(t, n).Text), &got))
		settings := got["settings"].(map[string]any)
		require.Equal(t, theirs["settings"].(map[string]any)["motd"], settings["motd"])
		require.Equal(t, theirs["settings"].(map[string]any)["x"], settings["x"])
		require.Equal(t, "test-cluster", settings["kubernetes"].(map[string]any)["cluster-name"])
	}
}

// TestHostileLabels: a label that could be two, or end its quotes, is refused by
// all families, and its text is nowhere.
func TestHostileLabels(t *testing.T) {
	for _, value := range []string{"a,b=c", "a b", `"`, "'", "$(reboot)", "`reboot`", "a\nb", "\\", "\u2019", "a;b", "%", "é", "</powershell>", strings.Repeat("x", 64)} {
		for _, family := range managed() {
			n := plain(family)
			n.Labels = map[string]string{"example.com/x": value}
			u, err := bootstrap.Render(n)
			require.ErrorContains(t, err, "labels[example.com/x]: Invalid value", "%s %q", family, value)
			require.Empty(t, u)
			n.Labels = map[string]string{"example.com/" + value: ""}
			_, err = bootstrap.Render(n)
			require.ErrorContains(t, err, "is no key of a label")
		}
	}
}
