package compile

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/dovetail-sdk/dovetail/internal/engine/catalog"
	"github.com/dovetail-sdk/dovetail/internal/engine/model"
	"github.com/dovetail-sdk/dovetail/internal/engine/workload"
	"github.com/dovetail-sdk/dovetail/internal/podlife"
)

// inherit reuses what is unchanged from another problem because its input has the same objects: the
// catalog, storage, devices and daemons. It returns the rooms of that problem if they can be reused
// for unchanged nodes: the daemons are unchanged, and not too many kinds of pod are gone.
func (p *Problem) inherit(like *Problem) *model.Rooms {
	if like == nil || p.In.Vocabulary != like.In.Vocabulary && !reflect.DeepEqual(p.In.Vocabulary, like.In.Vocabulary) {
		return nil
	}
	p.Vocabulary, p.indexes, p.requests = like.Vocabulary, like.indexes, like.requests
	if p.In.SameOffers(&like.In) {
		p.Catalog = like.Catalog
	}
	if !model.SameList(p.In.DaemonSetPods, like.In.DaemonSetPods) {
		return nil
	}
	p.Daemons = workload.AgainDaemons(like.Daemons)
	if like.boundKinds.Full() {
		return nil
	}
	p.boundKinds = like.boundKinds
	return like.rooms
}

// listRooms reuses the room of each unchanged node from the previous problem, or starts to read it.
// The estimate of a claim that has not been launched depends on the catalog.
func (p *Problem) listRooms(nodes []model.Node, sameOffers bool, before *model.Rooms, f *model.Faults) {
	stale := func(r *model.Room) bool { return !sameOffers && !r.Launched() }
	p.rooms = model.NewRooms(nodes, before, stale, f)
	for _, i := range p.rooms.Read {
		p.rooms.Of[i] = model.NewRoom(p.rooms.Nodes[i])
	}
	p.boundKinds = p.boundKinds.Read(p.rooms)
	p.rooms.Mark(before)
}

// checkShared reports NodeClaims and machines that two nodes have.
func (p *Problem) checkShared(f *model.Faults) {
	if p.rooms.MayShare() {
		model.ReportShared(p.rooms.Nodes, false, f.Add)
	}
}

// reading is the state of reading the nodes.
type reading struct {
	before *model.Rooms  // rooms of the previous problem, nil if there is none
	failed map[int]error // by node: why its room could not be read
}

// readRooms reads the rooms that are not reused. Daemons and pools must be known.
func (p *Problem) readRooms(before *model.Rooms, f *model.Faults) *reading {
	failed := map[int]error{}
	for _, i := range p.rooms.Read {
		model.CheckBound(p.rooms.Of[i].Node, f)
		model.CheckPair(p.rooms.Of[i].Node, f.Add)
		if err := p.readRoom(p.rooms.Of[i]); err != nil {
			failed[i] = err
		}
	}
	p.rooms.SumUp(before)
	return &reading{before, failed}
}

// freeOfResources returns what is left on each node as vectors, if resources are the only
// dimensions. Vectors of the previous problem are copied where possible.
func (p *Problem) freeOfResources(before *model.Rooms) []int64 {
	dims := len(p.Resources)
	out := make([]int64, dims*len(p.rooms.Of))
	row := func(i int) []int64 { return out[i*dims : (i+1)*dims] }
	if before != nil && before.Free != nil && slices.Equal(before.Resources, p.Resources) {
		model.CarryOver(p.rooms, out, before.Free, dims)
		for _, i := range p.rooms.Changed {
			p.layOut(row(i), p.rooms.Of[i].Left)
		}
	} else {
		for i, room := range p.rooms.Of {
			p.layOut(row(i), room.Left)
		}
	}
	p.rooms.Free, p.rooms.Resources = out, p.Resources
	return out
}

// readRoom reads what a node has, its pods, and the daemons expected there.
func (p *Problem) readRoom(r *model.Room) error {
	err := p.readSize(r)
	if err != nil {
		return err
	}
	for _, pod := range r.Pods {
		if pod == nil || podlife.Finished(pod) {
			continue
		}
		used, err := p.requests.Of(pod)
		if err != nil {
			return err
		}
		if r.Taken, err = r.Taken.Add(used); err != nil {
			return fmt.Errorf("bound pods in sum: %w", err)
		}
	}
	ready := map[string]string{}
	for i := range p.Daemons {
		d := &p.Daemons[i]
		if !d.RunsOn(r.Standing.Name, r.Standing.Labels, r.Standing.Taints) &&
			!d.RunsOn(r.Standing.Name, r.ReadyLabels(ready), r.Standing.Taints) {
			continue
		}
		missing, here, err := d.Missing(r.Pods, p.requests)
		if err != nil {
			return err
		}
		if !here {
			r.Daemons = append(r.Daemons, i)
		}
		if r.Taken, err = r.Taken.Add(missing); err != nil {
			return fmt.Errorf("bound pods and DaemonSets in sum: %w", err)
		}
	}
	r.Left, err = r.Allocatable.Sub(r.Taken)
	return err
}

// readSize reads the allocatable of a node without pods, and the capacity that counts against
// limits. A claim that has not been launched gets its estimate.
func (p *Problem) readSize(r *model.Room) error {
	if r.Launched() {
		var err error
		r.Capacity, r.CapacityFault = r.Node.Capacity()
		if r.Allocatable, err = r.Node.Allocatable(); err != nil {
			return fmt.Errorf("status.allocatable: %w", err)
		}
		return nil
	}
	at := slices.IndexFunc(p.Pools, func(pool catalog.Pool) bool { return pool.Object.Name == r.PoolName() })
	if at < 0 {
		return nil
	}
	claimEstimate, err := p.Pools[at].Estimated(r.Node, p.Vocabulary)
	r.Capacity, r.CapacityFault = claimEstimate.Capacity, err
	if len(claimEstimate.Allocatable.Negative()) == 0 { // nothing fits on an instance type that reserves more than it has
		r.Allocatable = claimEstimate.Allocatable
	}
	return err
}
