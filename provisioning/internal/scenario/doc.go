// Package scenario reads provisioning problems that are written as text, so
// that a test reads like a story: who is there, what happens.
//
// It makes objects from text and knows nothing of the engine; what is done with
// them, and how the outcome is shown, is up to the test. It is for tests only
// and errs on the side of strictness: what it does not know is an error with a
// line number.
//
// # Files
//
// A file opens with a paragraph that says what it is about. Declarations
// follow, one object each: a line with the kind and the name, and below it,
// indented, lines with what sets the object apart. The expected outcome stands
// below a line of four dashes.
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
// Several cases may share declarations: those before the first line of the form
// "case TITLE" hold in every case. A case may declare an object anew, which
// replaces the former. A line that begins with # is a comment.
//
// # Declarations
//
// Lists are separated by commas. AMOUNTS are a list in the text form of package
// resources (cpu=2, memory=4Gi); CLAUSES are a set in the text form of package
// requirements (zone in (a, b), cpu > 4, !gpu); LABELS are key=value; TAINTS are
// key:Effect or key=value:Effect.
//
//	type NAME AMOUNTS        an instance type; pods=110 unless given
//	  offer ZONES CAPACITY-TYPE PRICE [unavailable]
//	        [reservation=ID:COUNT] [capacity(AMOUNTS)] [overhead(AMOUNTS)]
//	        [labels(CLAUSES)]
//	  keeps AMOUNTS          overhead
//	  labels CLAUSES         in place of arch=amd64, os=linux, region=r and so on
//
//	pool NAME                a NodePool of all types
//	  types NAMES            of these types only; "types none" has no catalog
//	  require CLAUSES, labels LABELS, taints TAINTS, startup-taints TAINTS,
//	  limits AMOUNTS, weight N, static REPLICAS, ready STATUS REASON, deleting
//
//	pod NAME [xCOUNT]        a pending pod, or NAME-1 to NAME-COUNT
//	daemon NAME              the pod that stands for a DaemonSet
//	  request AMOUNTS        of its one container
//	  init AMOUNTS           of an init container
//	  select LABELS          nodeSelector
//	  term CLAUSES           one ORed term of required node affinity;
//	                         metadata.name is matched as a field
//	  tolerate LIST          of key, key:Effect, key=value, key=value:Effect or
//	                         * for all
//	  labels LABELS, uses FEATURES (see Features)
//
//	node NAME                a Node that nobody manages
//	  of POOL                with a NodeClaim of a NodePool
//	  stage STAGE            launched (no Node yet; without allocatable there is
//	                         no machine either), joined, registered or
//	                         initialized, which is the default
//	  require CLAUSES        requirements of the NodeClaim
//	  allocatable AMOUNTS    capacity is the same unless given
//	  runs NAME AMOUNTS      a bound pod; also with "of DAEMON", "finished",
//	                         "repels LABELS within KEY" behind
//	  capacity AMOUNTS, labels LABELS, taints TAINTS, claim-taints TAINTS,
//	  startup-taints TAINTS, cordoned, deleting, terminating, rebooting
//
//	options NAME=VALUE       MinValues, MaxSteps
//	well-known KEYS          labels added to the vocabulary
//	alias OLD=NEW            label names added to the vocabulary
//	show WORDS               what the test should show beside the usual
package scenario
