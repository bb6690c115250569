// Command controller is a node autoscaler for a cluster with the API of Karpenter: Dovetail makes
// the decisions, and this program reads and writes the objects. See README.md.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"time"

	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/discovery"
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
	"github.com/dovetail-sdk/dovetail/disruption"
)

type settings struct {
	kubeconfig              string
	health, metrics         string
	elect                   bool
	electIn                 string
	qps                     float64
	debug                   bool
	idle, most              time.Duration
	proposeEvery, confirmIn time.Duration
	score                   float64
	halve                   time.Duration
	catalog, soldOut        string
	provider                string
	region, cluster, queue  string
	bill                    bool
}

// parse reads the flags. The error lists all their faults.
func parse(args []string, help io.Writer) (s settings, err error) {
	f := flag.NewFlagSet("controller", flag.ContinueOnError)
	f.SetOutput(io.Discard)
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
	f.DurationVar(&s.confirmIn, "confirm-after", 15*time.Second, "look again so long after the removal of empty or underutilized nodes was foreseen, and act then")
	f.Float64Var(&s.score, "min-score", disruption.DefaultMinimumScore, "what an action must save to be worth its evictions: the share of the cost that it saves over the share of all pods that it moves; with 0 any saving is enough")
	f.DurationVar(&s.halve, "halve-score-after", 0, "ask half of -min-score of a node that no pod has come to or left for so long, a quarter after twice that time, an eighth after four times; 0 for never")
	f.StringVar(&s.provider, "provider", "kwok", "the cloud: kwok, whose nodes nothing stands behind, or aws")
	f.StringVar(&s.catalog, "catalog", "kubernetes.io/arch = amd64, karpenter.k8s.aws/instance-category in (c, m, r)", "which instance types the cloud of kwok nodes has")
	f.StringVar(&s.soldOut, "sold-out", "", "which of its offerings it refuses to sell, such as topology.kubernetes.io/zone = us-east-1a")
	f.StringVar(&s.region, "aws-region", "", "the region of the cluster; without it that of the AWS configuration")
	f.StringVar(&s.cluster, "aws-cluster", "", "the name of the EKS cluster")
	f.StringVar(&s.queue, "aws-interruption-queue", "", "the name of the SQS queue with the notices of EC2; without it there are none")
	f.BoolVar(&s.bill, "aws-bill", true, "plan for the bill: count volumes and public addresses of nodes, at list prices of us-east-1; false counts instances alone")
	if err := f.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			fmt.Fprint(help, "Controller is a node autoscaler for a cluster with the API of Karpenter.\n\nusage: controller [flags]\n\n")
			f.SetOutput(help)
			f.PrintDefaults()
		}
		return s, err
	}
	return s, s.check(f)
}

func (s *settings) check(f *flag.FlagSet) error {
	var faults []error
	fault := func(wrong bool, format string, args ...any) {
		if wrong {
			faults = append(faults, fmt.Errorf(format, args...))
		}
	}
	given := map[string]bool{}
	f.Visit(func(f *flag.Flag) { given[f.Name] = true })
	fault(f.NArg() > 0, "unexpected argument %q: there are flags only, and one that is true or false is written -flag=false", f.Arg(0))
	fault(s.provider != "kwok" && s.provider != "aws", "-provider is %q; it is kwok or aws", s.provider)
	fault(s.provider == "aws" && s.cluster == "", "-provider aws needs -aws-cluster, the name of the EKS cluster")
	for _, name := range []string{"aws-region", "aws-cluster", "aws-interruption-queue", "aws-bill"} {
		fault(given[name] && s.provider == "kwok", "-%s is for -provider aws, and that is kwok", name)
	}
	for _, name := range []string{"catalog", "sold-out"} {
		fault(given[name] && s.provider == "aws", "-%s is for the kwok nodes of -provider kwok; what AWS sells is asked of it", name)
	}
	fault(!(s.qps > 0), "-qps is %g; it is a number above zero", s.qps)
	fault(s.proposeEvery <= 0, "-propose-every is %s; it is a time above zero", s.proposeEvery)
	fault(s.confirmIn < 0, "-confirm-after is %s; it is zero or more", s.confirmIn)
	if err := (&disruption.Options{Consolidation: s.consolidation()}).Validate(); err != nil {
		faults = append(faults, fmt.Errorf("-min-score %g, -halve-score-after %s: %w", s.score, s.halve, err))
	}
	if _, err := batcher.NewWindow(s.idle, s.most); err != nil {
		faults = append(faults, fmt.Errorf("-batch-idle %s, -batch-max %s: %w", s.idle, s.most, err))
	}
	return errors.Join(faults...)
}

func (s *settings) consolidation() disruption.ConsolidationOptions {
	score := s.score
	if score == 0 {
		score = -1 // none, where zero is the default
	}
	return disruption.ConsolidationOptions{MinimumScore: score, HalveScoreAfter: s.halve}
}

func main() {
	s, err := parse(os.Args[1:], os.Stdout)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return
	case err != nil:
		fmt.Fprintf(os.Stderr, "%v\n\ncontroller -h explains the flags.\n", err)
		os.Exit(2)
	}
	level := slog.LevelInfo
	if s.debug {
		level = slog.LevelDebug
	}
	log := slog.New(slog.NewJSONHandler(os.Stdout, &slog.HandlerOptions{Level: level}))
	libraries := logr.FromSlogHandler(slog.NewJSONHandler(os.Stdout, &slog.HandlerOptions{Level: slog.LevelWarn}))
	ctrl.SetLogger(libraries)
	klog.SetLogger(libraries)
	if err := run(ctrl.SetupSignalHandler(), s, log); err != nil {
		log.Error("ended", "error", err)
		os.Exit(1)
	}
	log.Info("stopped")
}

// run runs the controller until ctx is done.
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
	if a.versions, err = discovery.NewDiscoveryClientForConfig(mgr.GetConfig()); err != nil {
		return err
	}
	a.window, a.proposeEvery, a.confirmAfter, a.consolidation = window, s.proposeEvery, s.confirmIn, s.consolidation()
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

// newCloud returns the cloud that the flags name, and the kinds of objects that it adds.
func newCloud(ctx context.Context, s settings, api client.Client, log *slog.Logger) (cloudprovider.CloudProvider, []client.Object, error) {
	if s.provider == "kwok" {
		cloud, err := newKwok(api, s.catalog, s.soldOut)
		return cloud, nil, err
	}
	cfg, err := config.LoadDefaultConfig(ctx, config.WithRegion(s.region), config.WithRetryer(aws.Retryer)) // as the AWS command line does
	if err != nil {
		return nil, nil, fmt.Errorf("AWS configuration: %w", err)
	}
	options := aws.Options{Region: cfg.Region, Cluster: aws.Cluster{Name: s.cluster}, InterruptionQueue: s.queue}
	if !s.bill {
		options.NodeRates = new(nodecost.Rates)
	}
	cloud, err := newEC2(api, aws.Connect(cfg), options, log)
	return cloud, []client.Object{&awsv1.EC2NodeClass{}}, err
}

// reach returns the configuration to connect to the cluster.
func (s *settings) reach() (*rest.Config, error) {
	if s.kubeconfig == "" {
		cfg, err := rest.InClusterConfig()
		if errors.Is(err, rest.ErrNotInCluster) {
			err = errors.New("there is no -kubeconfig, nor KUBECONFIG in the environment, and this is no pod of a cluster: name the cluster by one of them")
		}
		return cfg, err
	}
	cfg, err := clientcmd.BuildConfigFromFlags("", s.kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("-kubeconfig %s: %w", s.kubeconfig, err)
	}
	return cfg, nil
}

// newManager returns a manager whose caches show the program its own writes. Otherwise a pass could
// miss the NodeClaims of the pass before, and launch nodes for the same pods again.
func newManager(s settings) (manager.Manager, error) {
	cfg, err := s.reach()
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
