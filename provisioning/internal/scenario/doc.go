// Package scenario reads provisioning problems from text, so that the cases of a test are easy to
// read.
//
// It only makes objects from text; the test decides what to do with them and how to show the
// result. It is for tests only and strict: an unknown word is an error with a line number.
//
// # Files
//
// A file begins with a paragraph that describes it. Declarations follow, one for each object: a
// line with the kind and the name, and below it, indented, lines with the properties of the object.
// The expected result follows a line of four dashes.
//
//	Pods go to the cheapest type that holds them.
//
//	type small cpu=2, memory=4Gi
//	  offer a on-demand 0.10
//	pool general
//	pod web x3
//	  request cpu=500m, memory=1Gi
//	----
//	(what the test shows)
//
// Several cases may share declarations: those before the first line of the form "case TITLE" hold
// in every case. A case may declare an object again, which replaces the earlier declaration. A line
// that begins with # is a comment.
//
// # Declarations
//
// Lists are separated by commas. AMOUNTS are a list in the text form of package
// resources (cpu=2, memory=4Gi); CLAUSES are a set in the text form of package
// requirements (zone in (a, b), cpu > 4, !gpu); LABELS are key=value; TAINTS are
// key:Effect or key=value:Effect. A SELECTOR is CLAUSES without bounds on
// numbers, or all, or nothing (no selector at all).
//
// Keys of node labels have short names: arch, capacity-type, hostname,
// instance-type, nodepool, os, region, zone.
//
//	type NAME AMOUNTS        an instance type; pods=110 unless given
//	  offer ZONES CAPACITY-TYPE PRICE [unavailable]
//	        [reservation=ID:COUNT] [capacity(AMOUNTS)] [overhead(AMOUNTS)]
//	        [labels(CLAUSES)]
//	  keeps AMOUNTS          overhead
//	  labels CLAUSES         in place of arch=amd64, os=linux, region=r and so on
//	  attaches DRIVER=N, ... volumes that a node can attach, by CSI driver
//	  device DRIVER [xCOUNT] [ATTRIBUTE=VALUE, ...]
//	                         devices of a node, with attributes of example.com
//
//	pool NAME                a NodePool of all types
//	  types NAMES            of these types only; "types none" has no catalog
//	  require CLAUSES, labels LABELS, taints TAINTS, startup-taints TAINTS,
//	  limits AMOUNTS, weight N, static REPLICAS, ready STATUS REASON, deleting
//
//	pod NAME [xCOUNT]        a pending pod, or NAME-1 to NAME-COUNT
//	daemon NAME              the pod that stands for a DaemonSet
//	buffer NAME [xREPLICAS]  spare room for that many pods
//	  (below any of the three, the lines of a pod; see Pods)
//
//	node NAME                a Node without a NodePool
//	  of POOL                with a NodeClaim of a NodePool
//	  stage STAGE            launched (no Node yet; without allocatable there is
//	                         no machine either), joined, registered or
//	                         initialized, which is the default
//	  require CLAUSES        requirements of the NodeClaim
//	  allocatable AMOUNTS    capacity is the same unless given
//	  runs NAME [xCOUNT] AMOUNTS [of DAEMON] [finished]
//	       [repels LABELS within KEY] [; LINE]...
//	                         a bound pod; each LINE is one that a pod has below it
//	  attaches DRIVER=N, ... its CSINode; a DRIVER without =N sets no limit
//	  device ...             a ResourceSlice of it, with device-1 and so on
//	  capacity AMOUNTS, labels LABELS, taints TAINTS, claim-taints TAINTS,
//	  startup-taints TAINTS, cordoned, deleting, terminating, rebooting
//
//	namespace NAME           with "labels LABELS"; only for namespaceSelectors
//	class NAME               a StorageClass that waits for the first consumer
//	  driver NAME, immediate, default
//	  topology CLAUSES       one ORed term of allowedTopologies
//	volume NAME              a PersistentVolume, bound unless "free"
//	  term CLAUSES           one ORed term of its node affinity
//	  local                  no CSI driver, but a disk of a node
//	  driver NAME, class NAME, labels LABELS, deleting
//	claim NAME [xCOUNT]      a PersistentVolumeClaim, bound if it names a volume
//	  volume NAME            where * is the number of the claim
//	  mode MODE              ReadWriteOnce unless given
//	  size QUANTITY          what it asks for; nothing unless given
//	  selected NODE          the node that kube-scheduler has chosen for it
//	  class NAME, namespace NAME, unannotated, lost, deleting
//	csi-driver NAME          a CSIDriver
//	  publishes-capacity, prevents-if-missing
//	storage-capacity NAME    a CSIStorageCapacity
//	  class NAME, left QUANTITY, largest QUANTITY, nodes SELECTOR
//	attachment NAME          a VolumeAttachment
//	  driver NAME, volume NAME, node NODE
//	overlay NAME             a NodeOverlay
//	  require CLAUSES, price PRICE, adjust ADJUSTMENT, capacity AMOUNTS, weight N
//	service NAME             with "select LABELS", "namespace NAME"
//	controller NAME SELECTOR owner of the pods that are "owned NAME"
//	device-class NAME        a DeviceClass, which may serve an extended resource
//	  driver DRIVER, where ATTRIBUTE=VALUE, serves RESOURCE
//	device-claim NAME [xCOUNT]
//	                         a ResourceClaim
//	  want CLASS [xCOUNT|all] [where ATTRIBUTE=VALUE, ...]
//	  holds NODE DRIVER DEVICES
//	                         allocated, of the first slice of the node
//	device-template NAME     a ResourceClaimTemplate, with lines "want"
//
//	options NAME=VALUE       as the fields of Options; SchedulerNames=a|b,
//	                         CapacityMix=BASE+PERCENT%
//	default-spread KEY ...   Options.DefaultSpread; as spread of a pod
//	well-known KEYS          labels added to the vocabulary
//	alias OLD=NEW            label names added to the vocabulary
//	show WORDS               what the test shows in addition to the usual
//
// # Pods
//
//	request AMOUNTS          of its main container
//	beside AMOUNTS           of one more container
//	init AMOUNTS             of an init container
//	sidecar AMOUNTS          of an init container that keeps running
//	pod-request AMOUNTS      of the pod as a whole
//	overhead AMOUNTS         of its runtime class
//	port [IP:]PORT[/PROTOCOL]       a host port of the main container
//	init-port [IP:]PORT[/PROTOCOL]  of the init container or sidecar above
//
//	select LABELS            nodeSelector
//	term CLAUSES             one ORed term of required node affinity;
//	                         metadata.name is matched as a field
//	prefer WEIGHT CLAUSES    a preferred term
//	tolerate LIST            of key, key:Effect, key=value, key=value:Effect or
//	                         * for all
//	spread KEY [skew N] [soft] [min-domains N] [select SELECTOR]
//	       [affinity POLICY] [taints POLICY] [match-keys KEYS]
//	                         a topology spread constraint: skew 1 unless given,
//	                         the pod's own labels unless it selects others; soft
//	                         is ScheduleAnyway; a POLICY is honor or ignore
//	with KEY [SELECTOR] [soft WEIGHT] [namespaces NAMES]
//	     [namespaces-with SELECTOR] [match-keys KEYS] [mismatch-keys KEYS]
//	                         pod affinity, to the pod's own labels unless it
//	                         selects others; required unless soft
//	anti KEY ...             pod anti-affinity, in the same words
//
//	claim NAMES              volumes of claims; * is the number of the pod
//	ephemeral NAME CLASS     a generic ephemeral volume
//	disk NAME [read-only]    a GCE persistent disk, without a claim; * is the
//	                         number of the pod
//	device-claim NAMES       resource claims; * is the number of the pod
//	device-template NAMES    resource claims made from templates
//	labels LABELS, namespace NAME, priority N, preemption POLICY, gated,
//	scheduler NAME, owned CONTROLLER, nominated NODE, deleting,
//	uses FEATURES (see Features)
package scenario
