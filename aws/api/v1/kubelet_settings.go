package v1

import "slices"

// jsonKind is how a setting is written in JSON, in the words of an error.
type jsonKind string

const (
	jsonList   jsonKind = "a list"
	jsonNumber jsonKind = "a number"
	jsonObject jsonKind = "an object"
	jsonText   jsonKind = "a string"
	jsonTruth  jsonKind = "true or false"
)

// kubeletSetting returns how a setting of the kubelet is written that has no
// field of its own, and "" for what is no such setting. The table is that of the
// kubelet of Kubernetes 1.37, configuration version v1beta1; durations are
// written as strings.
func kubeletSetting(name string) jsonKind {
	for _, k := range []struct {
		kind  jsonKind
		names []string
	}{
		{jsonList, []string{
			"allowedUnsafeSysctls", "enforceNodeAllocatable", "preloadedImagesVerificationAllowlist",
			"reservedMemory", "shutdownGracePeriodByPodPriority", "tlsCipherSuites", "tlsCurvePreferences",
		}},
		{jsonNumber, []string{
			"containerLogMaxFiles", "containerLogMaxWorkers", "eventBurst", "eventRecordQPS", "healthzPort",
			"iptablesDropBit", "iptablesMasqueradeBit", "kubeAPIBurst", "kubeAPIQPS", "maxOpenFiles",
			"maxParallelImagePulls", "memoryThrottlingFactor", "nodeLeaseDurationSeconds", "nodeStatusMaxImages",
			"oomScoreAdj", "podPidsLimit", "port", "readOnlyPort", "registryBurst", "registryPullQPS",
		}},
		{jsonObject, []string{
			"authentication", "authorization", "cpuManagerPolicyOptions", "crashLoopBackOff", "defaultPodSysctls",
			"evictionMinimumReclaim", "featureGates", "logging", "memorySwap", "qosReserved", "staticPodURLHeader",
			"topologyManagerPolicyOptions", "tracing", "userNamespaces",
		}},
		{jsonText, []string{
			"address", "cgroupDriver", "cgroupRoot", "clusterDomain", "configMapAndSecretChangeDetectionStrategy",
			"containerLogMaxSize", "containerLogMonitorInterval", "containerRuntimeEndpoint", "contentType",
			"cpuCFSQuotaPeriod", "cpuManagerPolicy", "cpuManagerReconcilePeriod", "evictionPressureTransitionPeriod",
			"fileCheckFrequency", "hairpinMode", "healthzBindAddress", "httpCheckFrequency", "imageMaximumGCAge",
			"imageMinimumGCAge", "imagePullCredentialsVerificationPolicy", "imageServiceEndpoint",
			"kubeReservedCgroup", "kubeletCgroups", "memoryManagerPolicy", "memoryReservationPolicy",
			"nodeStatusReportFrequency", "nodeStatusUpdateFrequency", "podCIDR", "podLogsDir", "providerID",
			"reservedSystemCPUs", "resolvConf", "runtimeRequestTimeout", "showHiddenMetricsForVersion",
			"shutdownGracePeriod", "shutdownGracePeriodCriticalPods", "staticPodPath", "staticPodURL",
			"streamingConnectionIdleTimeout", "syncFrequency", "systemCgroups", "systemReservedCgroup", "tlsCertFile",
			"tlsMinVersion", "tlsPrivateKeyFile", "topologyManagerPolicy", "topologyManagerScope", "volumePluginDir",
			"volumeStatsAggPeriod",
		}},
		{jsonTruth, []string{
			"cgroupsPerQOS", "enableContentionProfiling", "enableControllerAttachDetach", "enableDebugFlagsHandler",
			"enableDebuggingHandlers", "enableProfilingHandler", "enableServer", "enableSystemLogHandler",
			"enableSystemLogQuery", "failCgroupV1", "failSwapOn", "kernelMemcgNotification",
			"localStorageCapacityIsolation", "makeIPTablesUtilChains", "mergeDefaultEvictionSettings",
			"protectKernelDefaults", "registerNode", "rotateCertificates", "runOnce", "seccompDefault",
			"serializeImagePulls", "serverTLSBootstrap", "singleProcessOOMKill",
		}},
	} {
		if slices.Contains(k.names, name) {
			return k.kind
		}
	}
	return ""
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

// jsonKindOf returns the kind of a value as encoding/json decodes it, and "" for
// other values.
func jsonKindOf(value any) jsonKind {
	switch value.(type) {
	case []any:
		return jsonList
	case float64, int64:
		return jsonNumber
	case map[string]any:
		return jsonObject
	case string:
		return jsonText
	case bool:
		return jsonTruth
	}
	return ""
}
