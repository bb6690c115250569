package bootstrap

// knownKubernetesSettings are the names below settings.kubernetes that
// Bottlerocket is known to have.
func knownKubernetesSettings() []string {
	return []string{
		"allowed-unsafe-sysctls", "api-server", "authentication-mode", "bootstrap-token", "cloud-provider",
		"cluster-certificate", "cluster-dns-ip", "cluster-domain", "cluster-name", "container-log-max-files",
		"container-log-max-size", "container-log-max-workers", "container-log-monitor-interval",
		"cpu-cfs-quota-enforced", "cpu-manager-policy", "cpu-manager-policy-options",
		"cpu-manager-reconcile-period", "credential-providers", "device-ownership-from-security-context",
		"event-burst", "event-qps", "eviction-hard", "eviction-max-pod-grace-period", "eviction-soft",
		"eviction-soft-grace-period", "hostname-override", "hostname-override-source", "ids-per-pod",
		"image-gc-high-threshold-percent", "image-gc-low-threshold-percent", "kube-api-burst", "kube-api-qps",
		"kube-reserved", "log-level", "max-pods", "memory-manager-policy", "memory-manager-reserved-memory",
		"node-labels", "node-taints", "pod-pids-limit", "registry-burst", "registry-qps", "seccomp-default",
		"server-tls-bootstrap", "shutdown-grace-period", "shutdown-grace-period-for-critical-pods",
		"single-process-oom-kill", "standalone-mode", "static-pods", "system-reserved",
		"topology-manager-policy", "topology-manager-policy-options", "topology-manager-scope",
	}
}
