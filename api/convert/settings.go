package convert

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// settingsName is the ConfigMap that held Karpenter's settings up to 0.32.
const settingsName = "karpenter-global-settings"

// settings are those of the ConfigMap that classes have to name now.
type settings struct {
	instanceProfile string
	tags            map[string]string
}

// isSettings tells whether an object is that ConfigMap.
func (c *converter) isSettings(o *object) bool {
	return o.apiVersion == "v1" && o.kind == "ConfigMap" && o.name == settingsName
}

// readSettings reads the ConfigMap, of which there should be one, and says where
// its settings are now.
func (c *converter) readSettings() {
	for _, o := range c.objects {
		if !c.isSettings(o) {
			continue
		}
		for _, p := range pairs(at(o.root, "data")) {
			c.setting(o, p)
		}
		c.remark(o, Warning, "", o.root, "left as it is: nothing reads it since Karpenter 0.33; settings are environment variables, or settings.* in the values of the Helm chart")
	}
}

// setting reads one setting.
func (c *converter) setting(o *object, p pair) {
	key, value := p.key.Value, o.text(p.value)
	where := join("data", key)
	switch key {
	case "aws.defaultInstanceProfile":
		if value != "" {
			c.settings.instanceProfile = value
			c.remark(o, Info, where, p.key, "is instanceProfile of each EC2NodeClass that named none")
		}
	case "aws.tags":
		if value == "" {
			return
		}
		var tags map[string]string
		if err := json.Unmarshal([]byte(value), &tags); err != nil {
			c.remark(o, Action, where, p.key, "is no JSON object of texts; write the tags into spec.tags of each EC2NodeClass")
			return
		}
		if c.settings.tags == nil {
			c.settings.tags = map[string]string{}
		}
		maps.Copy(c.settings.tags, tags)
		c.remark(o, Info, where, p.key, "is in spec.tags of each EC2NodeClass that is made of an AWSNodeTemplate")
	case "aws.enablePodENI", "aws.enableENILimitedPodDensity", "aws.nodeNameConvention":
		c.remark(o, Info, where, p.key, "is no setting any more")
	case "aws.assumeRoleARN", "aws.assumeRoleDuration":
		c.remark(o, Warning, where, p.key, "is no setting any more since 1.0; give the controller's own role the permissions")
	case "featureGates.driftEnabled":
		severity := Info
		if value == "false" {
			severity = Warning
		}
		c.remark(o, severity, where, p.key, "is no setting any more: drift is always on; a budget of nodes 0 for reason Drifted holds it back")
	default:
		if name, ok := environment(key); ok {
			c.remark(o, Info, where, p.key, "is the environment variable %s now", name)
		} else {
			c.remark(o, Warning, where, p.key, "is not known")
		}
	}
}

// environment is the variable of a setting that kept its name.
func environment(key string) (string, bool) {
	name := strings.TrimPrefix(key, "aws.")
	switch {
	case key == "aws.interruptionQueueName":
		return "INTERRUPTION_QUEUE", true
	case !slices.Contains([]string{
		"batchMaxDuration", "batchIdleDuration", "aws.clusterCABundle", "aws.clusterName", "aws.clusterEndpoint",
		"aws.isolatedVPC", "aws.vmMemoryOverheadPercent", "aws.reservedENIs",
	}, key):
		return "", false
	}
	name = strings.NewReplacer("CABundle", "CaBundle", "VPC", "Vpc", "ENIs", "Enis").Replace(name)
	var b strings.Builder
	for i, r := range name {
		if i > 0 && r >= 'A' && r <= 'Z' {
			b.WriteByte('_')
		}
		b.WriteRune(r)
	}
	return strings.ToUpper(b.String()), true
}
