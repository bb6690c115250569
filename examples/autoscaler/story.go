package main

import (
	"context"
	"time"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/fake"
)

// event is something that happens so long after the start.
type event struct {
	after  time.Duration
	name   string // for plots
	text   string
	happen func(*simulation) error
}

// sampleEvents are what happens in the two days, in the order of time.
func sampleEvents() []event {
	spot := cloudprovider.Scope{CapacityType: "spot"}
	return []event{
		{2 * time.Hour, "report", "the nightly report: 30 pods of 35 minutes, on spot capacity only", nothing},
		{8 * time.Hour, "lost answer", "the answers of the cloud to the next three launches get lost", func(s *simulation) error {
			return s.cluster.Cloud.Script(fake.Fault{Op: fake.OpCreate, Times: 3, Err: fake.ErrLost})
		}},
		{11 * time.Hour, "interruption", "the cloud takes three spot machines back, with a warning of two minutes", func(s *simulation) error {
			return s.cluster.Cloud.Do(fake.Interrupt(fake.Target{Scope: spot, Count: 3}, 2*time.Minute))
		}},
		{15 * time.Hour, "deploy", "a deploy: checkout wants 2560Mi of memory from now on", func(s *simulation) error {
			s.cluster.Find("checkout").Deploy("cpu=750m, memory=2560Mi")
			return nil
		}},
		{25 * time.Hour, "drought", "spot capacity runs dry everywhere", func(s *simulation) error {
			return s.cluster.Cloud.Do(fake.SetStock(spot, 0))
		}},
		{26 * time.Hour, "report", "the nightly report: 30 pods of 35 minutes, on spot capacity if there is any", nothing},
		{27 * time.Hour, "", "there is spot capacity again", func(s *simulation) error {
			return s.cluster.Cloud.Do(fake.SetStock(spot, fake.Unlimited))
		}},
		{32 * time.Hour, "panic", "for an hour the provider panics when it is to launch something", nothing},
		{34 * time.Hour, "image", "image-2 is released: every node has drifted", func(s *simulation) error {
			return s.cluster.Cloud.Do(fake.PublishImage(fake.Image{ID: "image-2", Architecture: "x86_64"}))
		}},
		{35 * time.Hour, "restart", "the autoscaler is restarted, and remembers nothing but what is in the cluster", (*simulation).restart},
	}
}

func nothing(*simulation) error { return nil }

// moody is a cloud with a fault in it.
type moody struct {
	*fake.Cloud
}

func (m moody) Create(ctx context.Context, req cloudprovider.LaunchRequest) (*cloudprovider.Instance, error) {
	if since := m.Now().Sub(start); since >= 32*time.Hour && since < 33*time.Hour {
		_ = req.Options[len(req.Options)] // what such faults are like
	}
	return m.Cloud.Create(ctx, req)
}
