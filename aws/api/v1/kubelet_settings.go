package v1

import (
	"math"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/dovetail-sdk/dovetail/internal/quantity"
)

// jsonKind is how a value is written in JSON, in the words of an error.
type jsonKind string

const (
	jsonDuration jsonKind = "a string with a duration, such as 1m30s"
	jsonInt32    jsonKind = "a whole number of 32 bits"
	jsonInt64    jsonKind = "a whole number of 64 bits"
	jsonList     jsonKind = "a list"
	jsonNumber   jsonKind = "a number"
	jsonObject   jsonKind = "an object"
	jsonPeriod   jsonKind = "a string with a duration, such as 5s, or a number of nanoseconds"
	jsonQuantity jsonKind = "a quantity, such as 64Mi"
	jsonText     jsonKind = "a string"
	jsonTruth    jsonKind = "true or false"
	jsonUint32   jsonKind = "a whole number from 0 to 4294967295"
)

// kubeletSchema says how settings of the kubelet are written that have no field of
// their own, and what is in them, by path: [] is an item of a list, and * any key of
// an object.
func kubeletSchema() map[string]jsonKind {
	schema := map[string]jsonKind{}
	for _, k := range kubeletPaths() {
		for _, path := range k.paths {
			schema[path] = k.kind
			for i := range path {
				switch path[i] {
				case '.':
					schema[path[:i]] = jsonObject
				case '[':
					schema[path[:i]] = jsonList
				}
			}
		}
	}
	return schema
}

// kindPaths are the paths of values of one kind.
type kindPaths struct {
	kind  jsonKind
	paths []string
}

// kubeletPaths is the table of the kubelet of Kubernetes 1.37, configuration version
// v1beta1: its values that hold no others.
func kubeletPaths() []kindPaths {
	return []kindPaths{
		{jsonDuration, []string{
			"authentication.webhook.cacheTTL", "authorization.webhook.cacheAuthorizedTTL",
			"authorization.webhook.cacheUnauthorizedTTL", "containerLogMonitorInterval", "cpuCFSQuotaPeriod",
			"cpuManagerReconcilePeriod", "crashLoopBackOff.maxContainerRestartPeriod",
			"evictionPressureTransitionPeriod", "fileCheckFrequency", "httpCheckFrequency", "imageMaximumGCAge",
			"imageMinimumGCAge", "nodeStatusReportFrequency", "nodeStatusUpdateFrequency", "runtimeRequestTimeout",
			"shutdownGracePeriod", "shutdownGracePeriodCriticalPods", "streamingConnectionIdleTimeout",
			"syncFrequency", "volumeStatsAggPeriod",
		}},
		{jsonInt32, []string{
			"containerLogMaxFiles", "containerLogMaxWorkers", "eventBurst", "eventRecordQPS", "healthzPort",
			"iptablesDropBit", "iptablesMasqueradeBit", "kubeAPIBurst", "kubeAPIQPS", "maxParallelImagePulls",
			"nodeLeaseDurationSeconds", "nodeStatusMaxImages", "oomScoreAdj", "port", "readOnlyPort",
			"registryBurst", "registryPullQPS", "reservedMemory[].numaNode",
			"shutdownGracePeriodByPodPriority[].priority", "tlsCurvePreferences[]", "tracing.samplingRatePerMillion",
		}},
		{jsonInt64, []string{
			"maxOpenFiles", "podPidsLimit", "shutdownGracePeriodByPodPriority[].shutdownGracePeriodSeconds",
			"userNamespaces.idsPerPod",
		}},
		{jsonNumber, []string{"memoryThrottlingFactor"}},
		{jsonPeriod, []string{"logging.flushFrequency"}},
		{jsonQuantity, []string{
			"logging.options.json.infoBufferSize", "logging.options.text.infoBufferSize", "reservedMemory[].limits.*",
		}},
		{jsonText, []string{
			"address", "allowedUnsafeSysctls[]", "authentication.x509.clientCAFile", "authorization.mode",
			"cgroupDriver", "cgroupRoot", "clusterDomain", "configMapAndSecretChangeDetectionStrategy",
			"containerLogMaxSize", "containerRuntimeEndpoint", "contentType", "cpuManagerPolicy",
			"cpuManagerPolicyOptions.*", "defaultPodSysctls.*", "enforceNodeAllocatable[]",
			"evictionMinimumReclaim.*", "hairpinMode", "healthzBindAddress",
			"imagePullCredentialsVerificationPolicy", "imageServiceEndpoint", "kubeletCgroups", "kubeReservedCgroup",
			"logging.format", "logging.vmodule[].filePattern", "memoryManagerPolicy", "memoryReservationPolicy",
			"memorySwap.swapBehavior", "podCIDR", "podLogsDir", "preloadedImagesVerificationAllowlist[]",
			"providerID", "qosReserved.*", "reservedSystemCPUs", "resolvConf", "showHiddenMetricsForVersion",
			"staticPodPath", "staticPodURL", "staticPodURLHeader.*[]", "systemCgroups", "systemReservedCgroup",
			"tlsCertFile", "tlsCipherSuites[]", "tlsMinVersion", "tlsPrivateKeyFile", "topologyManagerPolicy",
			"topologyManagerPolicyOptions.*", "topologyManagerScope", "tracing.endpoint", "volumePluginDir",
		}},
		{jsonTruth, []string{
			"authentication.anonymous.enabled", "authentication.webhook.enabled", "cgroupsPerQOS",
			"enableContentionProfiling", "enableControllerAttachDetach", "enableDebugFlagsHandler",
			"enableDebuggingHandlers", "enableProfilingHandler", "enableServer", "enableSystemLogHandler",
			"enableSystemLogQuery", "failCgroupV1", "failSwapOn", "featureGates.*", "kernelMemcgNotification",
			"localStorageCapacityIsolation", "logging.options.json.splitStream", "logging.options.text.splitStream",
			"makeIPTablesUtilChains", "mergeDefaultEvictionSettings", "protectKernelDefaults", "registerNode",
			"rotateCertificates", "runOnce", "seccompDefault", "serializeImagePulls", "serverTLSBootstrap",
			"singleProcessOOMKill",
		}},
		{jsonUint32, []string{"logging.verbosity", "logging.vmodule[].verbosity"}},
	}
}

// kubeletSetting returns how a setting of the kubelet is written that has no field
// of its own, and "" for what is no such setting.
func kubeletSetting(name string) jsonKind {
	if strings.ContainsAny(name, ".[") {
		return ""
	}
	return kubeletSchema()[name]
}

// kubeletFieldKind returns how a setting is written that has a field, in the
// words of an error, and "" for others.
func kubeletFieldKind(name string) string {
	switch name {
	case "clusterDNS":
		return "a list of strings"
	case "systemReserved", "kubeReserved", "evictionHard", "evictionSoft":
		return "an object with strings"
	case "evictionSoftGracePeriod":
		return "an object with durations, such as 1m30s"
	case "cpuCFSQuota":
		return string(jsonTruth)
	case "maxPods":
		return "a whole number, or a string with an expression"
	case "podsPerCore", "evictionMaxPodGracePeriod", "imageGCHighThresholdPercent", "imageGCLowThresholdPercent":
		return "a whole number"
	}
	return ""
}

// fits reports whether a value is written so, as encoding/json decodes it.
func (k jsonKind) fits(value any) bool {
	switch value := value.(type) {
	case []any:
		return k == jsonList
	case map[string]any:
		return k == jsonObject
	case bool:
		return k == jsonTruth
	case string:
		switch k {
		case jsonText:
			return true
		case jsonDuration, jsonPeriod:
			_, err := time.ParseDuration(value)
			return err == nil
		case jsonQuantity:
			return isQuantity(value)
		}
	case int64:
		return k.holds(float64(value))
	case float64:
		return k.holds(value)
	}
	return false
}

// holds reports whether a number is one of the kind.
func (k jsonKind) holds(n float64) bool {
	whole := n == math.Trunc(n)
	switch k {
	case jsonInt32:
		return whole && n >= math.MinInt32 && n <= math.MaxInt32
	case jsonInt64, jsonPeriod:
		return whole && n >= math.MinInt64 && n < math.MaxInt64
	case jsonUint32:
		return whole && n >= 0 && n <= math.MaxUint32
	}
	return slices.Contains([]jsonKind{jsonNumber, jsonQuantity}, k)
}

// isQuantity refuses exponents that would take for ever to work out.
func isQuantity(text string) bool {
	if quantity.Endless(text) {
		return false
	}
	_, err := resource.ParseQuantity(text)
	return err == nil
}
