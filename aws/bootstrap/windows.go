package bootstrap

import (
	"errors"
	"fmt"
	"strings"
)

// windows makes user data of a version of Windows Server: one script, the user's
// commands first, because EC2Launch runs one only.
func (n *Node) windows(w network, custom string) UserData {
	own := n.powerShell(w)
	var u UserData
	lines := []string{"<powershell>"}
	if custom != "" {
		lines = append(lines, custom)
		u.Parts = append(u.Parts, Part{partCustom, len(custom)})
	}
	u.Text = strings.Join(append(lines, own, "</powershell>"), "\n") + "\n"
	u.Parts = append(u.Parts, Part{"bootstrap script", len(own)}, Part{partFraming, len(u.Text) - len(own) - len(custom)})
	if n.InstanceStore != "" {
		u.Warnings = append(u.Warnings, fmt.Sprintf("instanceStore: Windows nodes ignore %s: format the disks in the custom user data", n.InstanceStore))
	}
	return u
}

// parsePowerShell reads the custom user data of Windows. It refuses the tags by which EC2Launch
// finds scripts, because they would end ours.
func parsePowerShell(text string) (string, error) {
	custom := strings.TrimRight(text, "\r\n")
	lower := strings.ToLower(custom)
	for _, mark := range []string{"<powershell>", "</powershell>", "<script>", "</script>"} {
		if i := strings.Index(lower, mark); i >= 0 {
			return "", fmt.Errorf("line %d: has %s: write the PowerShell commands alone, they are put between these marks", 1+strings.Count(lower[:i], "\n"), mark)
		}
	}
	if looksLikeMIME(custom) {
		return "", errors.New("is a MIME archive, which Windows nodes do not read: write PowerShell commands")
	}
	if strings.TrimSpace(custom) == "" {
		return "", nil
	}
	return custom, nil
}

func (n *Node) powerShell(w network) string {
	words := []string{"& $EKSBootstrapScriptFile -EKSClusterName " + powerShellWord(n.ClusterName),
		"-APIServerEndpoint " + powerShellWord(n.Endpoint)}
	add := func(option, value string) {
		if value != "" {
			words = append(words, option+" "+powerShellWord(value))
		}
	}
	add("-Base64ClusterCA", n.CABundle)
	add("-KubeletExtraArgs", n.flagLine())
	if len(w.dns) > 0 {
		add("-DNSClusterIP", w.dns[0])
	}
	// Otherwise the script guesses the range from the address of the instance, which is wrong if
	// the cluster has a custom range.
	add("-ServiceCIDR", w.cidr)
	return `[string]$EKSBootstrapScriptFile = "$env:ProgramFiles\Amazon\EKS\Start-EKSBootstrap.ps1"` + "\n" +
		strings.Join(words, " ")
}
