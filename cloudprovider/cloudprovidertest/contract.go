package cloudprovidertest

import "slices"

// Check enforces one sentence of the contract.
type Check struct {
	// Name is the name of the check and of its subtest, as in "create/token".
	Name string
	// Rule is the sentence.
	Rule string
	// Needs are the fields of Harness and the interfaces of package
	// cloudprovider without which the check is skipped. May be empty.
	Needs []string

	run func(*probe)
}

// Checks returns all checks in the order in which Run runs them. The slice is the
// caller's, the Needs of a Check are read-only.
func Checks() []Check { return slices.Clone(contract) }

// contract has the sentences of the contract, each with the probe that checks it.
var contract = []Check{
	{Name: "catalog/sound", run: catalogSound,
		Rule: "InstanceTypes returns instance types that InstanceType.Validate accepts, with prices in USD per hour, at least one of which can be launched."},
	{Name: "catalog/sorted", run: catalogSorted,
		Rule: "InstanceTypes is sorted by name and has each name once; the offerings of a type are in the order of OfferingKey."},
	{Name: "catalog/labels", run: catalogLabels,
		Rule: "An instance type names every well-known label of the provider's vocabulary, with DoesNotExist for those that do not apply: one that it leaves open counts as if it could have any value."},
	{Name: "catalog/offerings", run: catalogOfferings,
		Rule: "The zones and capacity types of an instance type are the union over its offerings, and its label of the instance type is its name."},
	{Name: "catalog/capacity", run: catalogCapacity,
		Rule: "Capacity is above overhead: cpu, memory and pods are listed, and some of each is left for pods by every offering."},
	{Name: "catalog/reservations", run: catalogReservations,
		Rule: "Offerings that draw on one reservation agree on how many more instances it holds."},
	{Name: "catalog/stable", run: catalogStable,
		Rule: "The order and content of the catalog depend on nothing but the state of the cloud."},
	{Name: "catalog/prices", run: catalogPrices,
		Rule: "Prices are in USD per hour: of Harness.Prices, or, without it, between a tenth of a cent and a dollar for a CPU of the median offering."},
	{Name: "catalog/unfiltered", run: catalogUnfiltered,
		Rule: "The requirements of the pool do not filter the catalog: that is the caller's part, and drift and pricing look up types that the pool does not admit."},

	{Name: "class/ready", run: classReady,
		Rule: "NodeClassReady returns nil for a node class from which nodes can be launched, and its group and kind are supported."},
	{Name: "class/none", run: classNone,
		Rule: "For a pool that names no node class InstanceTypes says KindDenied, and it does not panic if there is no pool."},
	{Name: "class/missing", run: classMissing,
		Rule: "For a node class that does not exist InstanceTypes, Create and NodeClassReady say KindNotFound."},
	{Name: "class/foreign", run: classForeign, Needs: []string{"cloudprovider.NodeClassSupporter"},
		Rule: "A node class whose group or kind belongs to another provider is not supported, and InstanceTypes says KindUnsupported."},
	{Name: "class/unready", run: classUnready, Needs: []string{"Harness.Unready"},
		Rule: "For a node class that is not ready InstanceTypes, Create and NodeClassReady say KindNotReady."},

	{Name: "class/launched", run: classLaunched, Needs: []string{"Harness.Unready"},
		Rule: "When the node class is no longer ready Create with a token that has a machine still returns that machine: who is told KindNotReady loses it."},

	{Name: "create/option", run: createOption,
		Rule: "Create launches by one of the options of the request and never by anything else, and the instance says by which."},
	{Name: "create/identity", run: createIdentity,
		Rule: "The instance that Create returns has an ID, a time of creation, and the name and the pool of the request."},
	{Name: "create/labels", run: createLabels,
		Rule: "The labels of an instance are at least LaunchOption.NodeLabels of the option it was launched by."},
	{Name: "create/capacity", run: createCapacity,
		Rule: "The instance that Create and Get return has the capacity and the allocatable that the provider expects of the node, and its price in USD per hour if the offering has one."},
	{Name: "create/invalid", run: createInvalid,
		Rule: "A request that LaunchRequest.Validate does not accept is KindDenied, and launches nothing."},
	{Name: "create/unknown", run: createUnknown,
		Rule: "An option that the cloud does not have is an error; nothing else is launched in its place."},
	{Name: "create/failed", run: createFailed, Needs: []string{"Harness.Fail"},
		Rule: "A Create that failed in the cloud, as with status 500, is KindUnknown: KindDenied and KindNotFound give the NodeClaim up, and KindInsufficientCapacity takes offerings out of use that are in stock."},
	{Name: "create/read-only", run: createReadOnly,
		Rule: "The launch request is read-only: a provider that wants its options in another order sorts a copy."},

	{Name: "token/repeated", run: tokenRepeated,
		Rule: "A repeated Create with the same token returns the instance of the first, even if other fields differ, and launches no second."},
	{Name: "token/concurrent", run: tokenConcurrent,
		Rule: "Of concurrent calls of Create with the same token one launches a machine, and all of them return it."},
	{Name: "token/options", run: tokenOptions,
		Rule: "Concurrent calls of Create with the same token and different options launch one machine, and all of them return it."},
	{Name: "token/restart", run: tokenRestart, Needs: []string{"Harness.Restart"},
		Rule: "After a restart of the provider a repeated Create with the same token returns the instance of the first: the token is kept with the machine, not in memory."},
	{Name: "token/lost", run: tokenLost, Needs: []string{"Harness.Lose"},
		Rule: "When the answer of a launch is lost, once or twice in a row, a machine may exist; Create with the same token returns it and launches no second."},
	{Name: "token/distinct", run: tokenDistinct,
		Rule: "Requests with different tokens, of up to 64 characters, launch different machines, whatever else they have in common, and no ID is used for two."},
	{Name: "token/deleted", run: tokenDeleted,
		Rule: "Once the instance of a token is gone, a repeated Create says KindNotFound or launches afresh; it never returns the instance that is gone."},

	{Name: "stock/all", run: stockAll, Needs: []string{"Harness.RunDry"},
		Rule: "When every option is out of stock Create says KindInsufficientCapacity and names in Error.Offerings or Error.Scopes all that were tried and refused, not the first only, and nothing that was not asked for."},
	{Name: "stock/some", run: stockSome, Needs: []string{"Harness.RunDry"},
		Rule: "When some options are out of stock Create launches by another one, or refuses and names none but those that are out of stock."},
	{Name: "stock/listed", run: stockListed, Needs: []string{"Harness.RunDry"},
		Rule: "An offering that is out of stock stays in the catalog, with Available false once the provider knows: a running node whose offering is missing has drifted, and is replaced by a dearer one."},
	{Name: "stock/restored", run: stockRestored, Needs: []string{"Harness.RunDry", "Harness.Restock", "Harness.Advance"},
		Rule: "An offering that is in stock again is Available and launched within an hour."},

	{Name: "get/created", run: getCreated,
		Rule: "An instance just returned by Create is found by Get, with the name, pool, offering and time of creation that Create returned."},
	{Name: "get/unknown", run: getUnknown,
		Rule: "For an ID that never existed Get says KindNotFound, whatever the ID looks like."},
	{Name: "delete/unknown", run: deleteUnknown,
		Rule: "For an ID that never existed Delete says KindNotFound, whatever the ID looks like."},
	{Name: "delete/complete", run: deleteComplete,
		Rule: "Delete returns nil once the cloud has accepted, and while the instance goes down, with Deleting set; once it is gone Delete and Get say KindNotFound."},
	{Name: "delete/others", run: deleteOthers,
		Rule: "Delete terminates the instance with the ID and no other."},
	{Name: "get/terminated", run: getTerminated, Needs: []string{"Harness.Terminate"},
		Rule: "Get returns the instance as the cloud sees it now: Deleting when somebody else takes it away, and then KindNotFound."},
	{Name: "get/failed", run: getFailed, Needs: []string{"Harness.Fail"},
		Rule: "A call that failed for another reason never says KindNotFound: the caller takes the machine for gone and makes another."},

	{Name: "list/complete", run: listComplete,
		Rule: "List returns every instance of ours, with the name, pool and offering that Create returned, and with its time of creation, which does not change."},
	{Name: "list/sorted", run: listSorted,
		Rule: "List is sorted by ID and has each instance once."},
	{Name: "list/restart", run: listRestart, Needs: []string{"Harness.Restart"},
		Rule: "Ours is what was created for this cluster by any process at any time: List, Get and Delete know it after a restart of the provider, its labels included."},
	{Name: "list/ours", run: listOurs, Needs: []string{"Harness.Neighbor"},
		Rule: "Instances of other clusters are not ours: List leaves them out, and Get and Delete say KindNotFound."},
	{Name: "list/deleting", run: listDeleting,
		Rule: "List includes instances that are going down, with Deleting set."},
	{Name: "list/gone", run: listGone,
		Rule: "List excludes instances that are gone."},
	{Name: "list/failed", run: listFailed, Needs: []string{"Harness.Fail"},
		Rule: "A list that cannot be completed is an error, never a short list: the caller deletes the NodeClaims of instances that are missing."},

	{Name: "call/cancelled", run: callCancelled,
		Rule: "A method whose context is done returns an error that wraps ctx.Err(), also where it has the answer at hand."},
	{Name: "call/hanging", run: callHanging, Needs: []string{"Harness.Hang"},
		Rule: "A method returns soon after its context is done, with an error that wraps ctx.Err(), though the cloud does not answer."},
	{Name: "call/behind", run: callBehind, Needs: []string{"Harness.Hang"},
		Rule: "A method returns soon after its own context is done, also while another call waits for the cloud: no lock is held over a call of the cloud."},
	{Name: "call/throttled", run: callThrottled, Needs: []string{"Harness.Fail"},
		Rule: "A call that the cloud throttled is KindThrottled: a Create that says KindInsufficientCapacity instead takes offerings out of use that are in stock."},
	{Name: "call/concurrent", run: callConcurrent,
		Rule: "Any number of calls may run at once, and each gets its own answer."},
	{Name: "call/kept", run: callKept,
		Rule: "What a method has returned does not change afterwards: callers share it between goroutines."},
	{Name: "call/constant", run: callConstant,
		Rule: "The name, the supported node classes and the repair policies of a provider are constant, and the name is not empty."},

	{Name: "drift/none", run: driftNone, Needs: []string{"cloudprovider.DriftDetector"},
		Rule: "A machine that was just launched has not drifted, also after a restart of the provider, and to ask does not change the NodeClaim."},
	{Name: "drift/seen", run: driftSeen, Needs: []string{"cloudprovider.DriftDetector", "Harness.Drift"},
		Rule: "A machine that differs from what its node class asks for now has drifted, with a reason of one word and a detail of one line, the same each time; also after a restart."},
	{Name: "drift/gone", run: driftGone, Needs: []string{"cloudprovider.DriftDetector"},
		Rule: "Of a machine that is gone IsDrifted says KindNotFound."},
	{Name: "repair/valid", run: repairValid, Needs: []string{"cloudprovider.Repairer"},
		Rule: "The repair policies are a set that ValidateRepairPolicies accepts."},
	{Name: "repair/reboot", run: repairReboot, Needs: []string{"cloudprovider.Repairer"},
		Rule: "Only a provider that can restart machines has repair policies that ask for it."},
	{Name: "reboot/once", run: rebootOnce, Needs: []string{"cloudprovider.Rebooter", "Harness.Reboots"},
		Rule: "All calls of Reboot with one operation restart the machine at most once, another operation restarts it again, and it stays the same instance."},
	{Name: "reboot/gone", run: rebootGone, Needs: []string{"cloudprovider.Rebooter"},
		Rule: "Of a machine that is gone Reboot says KindNotFound."},

	{Name: "notice/delivered", run: noticeDelivered, Needs: []string{"cloudprovider.InterruptionSource", "Harness.Interrupt"},
		Rule: "Interruptions returns each notice of the cloud on a machine of ours at least once, with the ID of the instance as Create returned it, one of the kinds, and when it was issued."},
	{Name: "notice/ours", run: noticeOurs, Needs: []string{"cloudprovider.InterruptionSource", "Harness.Interrupt", "Harness.Neighbor"},
		Rule: "Interruptions leaves out notices on instances of other clusters: who acknowledges one takes it away from those whom it is for."},
	{Name: "notice/kept", run: noticeKept, Needs: []string{"cloudprovider.InterruptionSource", "Harness.Interrupt", "cloudprovider.InterruptionAcknowledger", "Harness.Restart"},
		Rule: "A notice that was not acknowledged is returned again after a restart of the provider: that it was read does not say that anybody acted on it."},
	{Name: "notice/sorted", run: noticeSorted, Needs: []string{"cloudprovider.InterruptionSource", "Harness.Interrupt"},
		Rule: "Interruptions is sorted by At, then InstanceID, Kind and ID."},
	{Name: "notice/acknowledged", run: noticeAcknowledged, Needs: []string{"cloudprovider.InterruptionSource", "Harness.Interrupt", "cloudprovider.InterruptionAcknowledger"},
		Rule: "A notice that was acknowledged is not returned again; IDs that are unknown or already acknowledged are ignored."},
}
