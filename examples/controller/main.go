// Command controller is a node autoscaler for a cluster with the API of Karpenter:
// Dovetail decides, and this reads, writes and waits. See README.md.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	crmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/aws"
	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
	"github.com/dovetail-sdk/dovetail/aws/nodecost"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/cloudprovider/batcher"
)

// settings are the flags.
type settings struct {
	kubeconfig              string
	health, metrics         string
	elect                   bool
	electIn                 string
	qps                     float64
	debug                   bool
	idle, most              time.Duration
	proposeEvery, confirmIn time.Duration
	catalog, soldOut        string
	provider                string
	region, cluster, queue  string
	bill                    bool
}

func parse(args []string) (s settings, err error) {
	f := flag.NewFlagSet("controller", flag.ContinueOnError)
	f.StringVar(&s.kubeconfig, "kubeconfig", os.Getenv("KUBECONFIG"), "the cluster; without it the one that the pod runs in")
	f.StringVar(&s.health, "health-address", ":8081", "where /healthz and /readyz are served; 0 for nowhere")
	f.StringVar(&s.metrics, "metrics-address", "0", "where /metrics is served; 0 for nowhere")
	f.BoolVar(&s.elect, "leader-elect", true, "let one replica work at a time")
	f.StringVar(&s.electIn, "leader-elect-namespace", "", "where the Lease of the leader is; without it the namespace that the pod runs in")
	f.Float64Var(&s.qps, "qps", 200, "requests to the API server in a second, twice as many at once")
	f.BoolVar(&s.debug, "debug", false, "log details")
	f.DurationVar(&s.idle, "batch-idle", time.Second, "plan once no pod has come for so long")
	f.DurationVar(&s.most, "batch-max", 10*time.Second, "and at the latest so long after the first")
	f.DurationVar(&s.proposeEvery, "propose-every", 10*time.Second, "ask which nodes to remove so often while the cluster changes")
	f.DurationVar(&s.confirmIn, "confirm-after", 15*time.Second, "look again so long after a decision to remove nodes, and act then")
	f.StringVar(&s.provider, "provider", "kwok", "the cloud: kwok, whose nodes nothing stands behind, or aws")
	f.StringVar(&s.catalog, "catalog", "kubernetes.io/arch = amd64, karpenter.k8s.aws/instance-category in (c, m, r)", "which instance types the cloud of kwok nodes has")
	f.StringVar(&s.soldOut, "sold-out", "", "which of its offerings it refuses to sell, such as topology.kubernetes.io/zone = us-east-1a")
	f.StringVar(&s.region, "aws-region", "", "the region of the cluster; without it that of the AWS configuration")
	f.StringVar(&s.cluster, "aws-cluster", "", "the name of the EKS cluster")
	f.StringVar(&s.queue, "aws-interruption-queue", "", "the name of the SQS queue with the notices of EC2; without it there are none")
	f.BoolVar(&s.bill, "aws-bill", false, "plan for the bill: count volumes and public addresses of nodes, at list prices of us-east-1")
	if err := f.Parse(args); err != nil {
		return s, err
	}
	switch {
	case f.NArg() > 0:
		return s, fmt.Errorf("unexpected argument %q: there are flags only", f.Arg(0))
	case s.provider != "kwok" && s.provider != "aws":
		return s, fmt.Errorf("-provider is %q; it is kwok or aws", s.provider)
	case s.provider == "aws" && s.cluster == "":
		return s, errors.New("-provider aws needs -aws-cluster, the name of the EKS cluster")
	}
	return s, nil
}

func main() {
	s, err := parse(os.Args[1:])
	if errors.Is(err, flag.ErrHelp) {
		return
	}
	level := slog.LevelInfo
	if s.debug {
		level = slog.LevelDebug
	}
	log := slog.New(slog.NewJSONHandler(os.Stdout, &slog.HandlerOptions{Level: level}))
	libraries := logr.FromSlogHandler(slog.NewJSONHandler(os.Stdout, &slog.HandlerOptions{Level: slog.LevelWarn}))
	ctrl.SetLogger(libraries)
	klog.SetLogger(libraries)
	if err == nil {
		err = run(ctrl.SetupSignalHandler(), s, log)
	}
	if err != nil {
		log.Error("ended", "error", err)
		os.Exit(1)
	}
	log.Info("stopped")
}

// run works until ctx is done.
func run(ctx context.Context, s settings, log *slog.Logger) error {
	window, err := batcher.NewWindow(s.idle, s.most)
	if err != nil {
		return err
	}
	mgr, err := newManager(s)
	if err != nil {
		return err
	}
	cloud, kinds, err := newCloud(ctx, s, mgr.GetClient(), log)
	if err != nil {
		return err
	}
	a, err := newAutoscaler(mgr.GetClient(), cloud, mgr.GetEventRecorder("dovetail"), crmetrics.Registry, log)
	if err != nil {
		return err
	}
	a.window, a.proposeEvery, a.confirmAfter = window, s.proposeEvery, s.confirmIn
	one := handler.EnqueueRequestsFromMapFunc(func(context.Context, client.Object) []reconcile.Request {
		a.changes.Add(1)
		return []reconcile.Request{{}}
	})
	b := ctrl.NewControllerManagedBy(mgr).Named("cluster")
	for _, kind := range append(watched(), kinds...) {
		b = b.Watches(kind, one)
	}
	if err := b.Complete(a); err != nil {
		return err
	}
	healthy := func(*http.Request) error { return a.alive(time.Now()) }
	ready := func(r *http.Request) error {
		if !mgr.GetCache().WaitForCacheSync(r.Context()) {
			return errors.New("the caches are not filled yet")
		}
		return nil
	}
	if err := errors.Join(mgr.AddHealthzCheck("pass", healthy), mgr.AddHealthzCheck("ping", healthz.Ping), mgr.AddReadyzCheck("caches", ready)); err != nil {
		return err
	}
	err = mgr.Start(ctx)
	if c, ok := cloud.(interface{ Close(context.Context) error }); ok { // what it has begun to ask
		closing, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		err = errors.Join(err, c.Close(closing))
	}
	return err
}

// newCloud is the cloud that the flags name, with the kinds of objects that are its own.
func newCloud(ctx context.Context, s settings, api client.Client, log *slog.Logger) (cloudprovider.CloudProvider, []client.Object, error) {
	if s.provider == "kwok" {
		cloud, err := newKwok(api, s.catalog, s.soldOut)
		return cloud, nil, err
	}
	clients, region, err := awsClients(ctx, s.region)
	if err != nil {
		return nil, nil, err
	}
	options := aws.Options{Region: region, Cluster: aws.Cluster{Name: s.cluster}, InterruptionQueue: s.queue}
	if s.bill {
		options.NodeRates = nodecost.BuiltIn()
	}
	cloud, err := newEC2(api, clients, options, log)
	return cloud, []client.Object{&awsv1.EC2NodeClass{}}, err
}

// newManager makes caches that show a program its own writes: a pass that planned
// without the NodeClaims of the one before would plan for the same pods again.
func newManager(s settings) (manager.Manager, error) {
	var cfg *rest.Config
	var err error
	if s.kubeconfig != "" {
		cfg, err = clientcmd.BuildConfigFromFlags("", s.kubeconfig)
	} else {
		cfg, err = rest.InClusterConfig()
	}
	if err != nil {
		return nil, err
	}
	cfg.QPS, cfg.Burst, cfg.UserAgent = float32(s.qps), int(2*s.qps), "dovetail-controller"
	scheme := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), v1.AddToScheme(scheme), awsv1.AddToScheme(scheme)); err != nil {
		return nil, err
	}
	yes, stop := true, 10*time.Second
	options := ctrl.Options{
		Scheme: scheme, Metrics: server.Options{BindAddress: s.metrics}, HealthProbeBindAddress: s.health, GracefulShutdownTimeout: &stop,
		LeaderElection: s.elect, LeaderElectionID: "dovetail-controller", LeaderElectionNamespace: s.electIn, LeaderElectionReleaseOnCancel: true,
	}
	options.Client.Cache = &client.CacheOptions{EnableReadYourWritesConsistency: &yes}
	if s.elect && s.electIn == "" && s.kubeconfig != "" {
		options.LeaderElectionNamespace = corev1.NamespaceDefault
	}
	return ctrl.NewManager(cfg, options)
}
