package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/examples/internal/manifest"
)

// input is what the manifests say.
type input struct {
	cluster *manifest.Cluster
	classes map[string]*awsv1.EC2NodeClass
}

// read reads the manifests. The error has every fault of all of them.
func read(s settings, stdin io.Reader) (*input, error) {
	sources, err := manifest.Sources(s.files, stdin, sample)
	errs := []error{err}
	in := &input{classes: map[string]*awsv1.EC2NodeClass{}}
	in.cluster, err = manifest.Read(awsv1.NodePoolRules(), sources...)
	errs = append(errs, err)
	for _, source := range sources {
		classes, err := awsv1.DecodeEC2NodeClasses(source.Data)
		if err != nil && readable(source) {
			errs = append(errs, fmt.Errorf("%s: %w", source.Name, err))
		}
		for _, c := range classes {
			c.Default()
			for _, fault := range c.Validate() {
				errs = append(errs, fmt.Errorf("%s: EC2NodeClass %s: %w", source.Name, c.Name, fault))
			}
			if in.classes[c.Name] != nil {
				errs = append(errs, fmt.Errorf("%s: EC2NodeClass %s: there are two of this name; rename or remove one", source.Name, c.Name))
			}
			in.classes[c.Name] = c
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	if len(in.cluster.NodePools) == 0 {
		return nil, errors.New("the manifests have no NodePool; add one, and its EC2NodeClass")
	}
	for _, p := range in.cluster.NodePools {
		if ref := p.Spec.Template.Spec.NodeClassRef; ref != nil && in.classes[ref.Name] == nil {
			errs = append(errs, fmt.Errorf("NodePool %s: there is no EC2NodeClass %q in the manifests; add it", p.Name, ref.Name))
		}
	}
	return in, errors.Join(errs...)
}

// readable says whether the objects of a source that are no EC2NodeClass could be
// read. What is wrong with a source as a whole is said once.
func readable(source manifest.Source) bool {
	_, err := manifest.Read(awsv1.NodePoolRules(), source)
	return err == nil
}

// class is what a controller has of an informer.
func (in *input) class(_ context.Context, name string) (*awsv1.EC2NodeClass, error) {
	if c := in.classes[name]; c != nil {
		return c, nil
	}
	return nil, fmt.Errorf("EC2NodeClass %s: %w", name, cloudprovider.ErrNotFound)
}

// roles are the IAM roles that the classes name.
func (in *input) roles() (roles []string) {
	for _, c := range in.classes {
		if c.Spec.Role != "" {
			roles = append(roles, c.Spec.Role)
		}
	}
	return roles
}
