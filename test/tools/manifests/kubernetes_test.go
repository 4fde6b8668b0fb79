package manifests

import (
	"bytes"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	monitoringv1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"
)

// kinds are the types of what may stand in the manifests.
var kinds = map[string]func() any{
	"v1/Secret":                               func() any { return new(corev1.Secret) },
	"v1/Service":                              func() any { return new(corev1.Service) },
	"v1/ServiceAccount":                       func() any { return new(corev1.ServiceAccount) },
	"v1/Pod":                                  func() any { return new(corev1.Pod) },
	"apps/v1/StatefulSet":                     func() any { return new(appsv1.StatefulSet) },
	"policy/v1/PodDisruptionBudget":           func() any { return new(policyv1.PodDisruptionBudget) },
	"networking.k8s.io/v1/NetworkPolicy":      func() any { return new(networkingv1.NetworkPolicy) },
	"networking.k8s.io/v1/Ingress":            func() any { return new(networkingv1.Ingress) },
	"monitoring.coreos.com/v1/ServiceMonitor": func() any { return new(monitoringv1.ServiceMonitor) },
}

// decode reads every object of the text strictly: a field that the API doesn't
// know, or one that stands twice, is an error.
func decode(t *testing.T, name string, text []byte) (objects []any) {
	t.Helper()
	for part := range bytes.SplitSeq(text, []byte("\n---\n")) {
		var meta metav1.TypeMeta
		if err := yaml.Unmarshal(part, &meta); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		kind, ok := kinds[meta.APIVersion+"/"+meta.Kind]
		if !ok {
			t.Fatalf("%s: no type for %s %s", name, meta.APIVersion, meta.Kind)
		}
		object := kind()
		if err := yaml.UnmarshalStrict(part, object); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		objects = append(objects, object)
	}
	return objects
}

// manifests are all objects but the kustomization.
func manifests(t *testing.T) (objects []any) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(deployDir, "kubernetes", "*.yaml"))
	if err != nil || len(files) < 7 {
		t.Fatalf("there are %d manifests: %v", len(files), err)
	}
	for _, file := range files {
		if name := filepath.Base(file); name != "kustomization.yaml" {
			objects = append(objects, decode(t, name, readFile(t, filepath.Join("kubernetes", name)))...)
		}
	}
	return objects
}

// only is the one object of its type.
func only[T any](t *testing.T, objects []any) T {
	t.Helper()
	i := slices.IndexFunc(objects, func(o any) bool { _, ok := o.(T); return ok })
	if i < 0 {
		t.Fatalf("there is no %v", reflect.TypeFor[T]())
	}
	return objects[i].(T)
}

// kustomized is what a kustomization comes to, as "kubectl apply -k" would apply it.
func kustomized(t *testing.T, dir string) []any {
	t.Helper()
	built, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), filepath.Join(deployDir, dir))
	if err != nil {
		t.Fatalf("%s: %v", dir, err)
	}
	text, err := built.AsYaml()
	if err != nil {
		t.Fatalf("%s: %v", dir, err)
	}
	return decode(t, dir, text)
}

// TestKustomizationBuilds puts everything together, without the example of a secret, and decodes
// what comes out.
func TestKustomizationBuilds(t *testing.T) {
	objects := kustomized(t, "kubernetes")
	image := only[*appsv1.StatefulSet](t, objects).Spec.Template.Spec.Containers[0].Image
	if image == "ubl" {
		t.Error("the kustomization doesn't say where the image is")
	}
	for _, o := range objects {
		if secret, ok := o.(*corev1.Secret); ok {
			t.Errorf("the kustomization applies the secret %s", secret.Name)
		}
	}
	pod := only[*corev1.Pod](t, manifests(t))
	if pod.Spec.Containers[0].Image != image {
		t.Errorf("the pod for a restore runs %s, the nodes %s", pod.Spec.Containers[0].Image, image)
	}
}

// TestPublicIsReachedAndWatched: the components find the services that they name, and the
// ingress lets streams and silent calls live.
func TestPublicIsReachedAndWatched(t *testing.T) {
	objects := kustomized(t, "kubernetes-public")
	ports := func(matches func(*corev1.Service) bool) (names []string) {
		for _, o := range objects {
			if s, ok := o.(*corev1.Service); ok && matches(s) {
				for _, p := range s.Spec.Ports {
					names = append(names, p.Name)
				}
			}
		}
		return names
	}
	in := only[*networkingv1.Ingress](t, objects)
	to := in.Spec.Rules[0].HTTP.Paths[0].Backend.Service
	if open := ports(func(s *corev1.Service) bool { return s.Name == to.Name }); !slices.Contains(open, to.Port.Name) {
		t.Errorf("the ingress leads to %s:%s, which has the ports %v", to.Name, to.Port.Name, open)
	}
	if len(in.Spec.TLS) != 1 || !slices.Equal(in.Spec.TLS[0].Hosts, []string{in.Spec.Rules[0].Host}) {
		t.Error("the ingress has no TLS for its host")
	}
	if waits := in.Annotations["nginx.ingress.kubernetes.io/proxy-read-timeout"]; waits != "360" {
		t.Errorf("the ingress waits for %q seconds, want 360", waits)
	}
	watched := only[*monitoringv1.ServiceMonitor](t, objects)
	selector, err := metav1.LabelSelectorAsSelector(&watched.Spec.Selector)
	if err != nil {
		t.Fatal(err)
	}
	open := ports(func(s *corev1.Service) bool { return selector.Matches(labels.Set(s.Labels)) })
	if n := len(slices.DeleteFunc(open, func(p string) bool { return p != watched.Spec.Endpoints[0].Port })); n != 1 {
		t.Errorf("the figures are scraped from %d ports of services, want 1: each node would count more than once", n)
	}
}

// TestExampleSecretIsNone: nobody runs a cluster with a secret from a repository.
func TestExampleSecretIsNone(t *testing.T) {
	secret := only[*corev1.Secret](t, manifests(t))
	if text := secret.StringData["cluster-secret"]; validSecret(text) {
		t.Errorf("the example's secret %q is a real one", text)
	}
}

// TestNetworkPolicyKeepsThePort: only the nodes themselves reach the port
// between nodes.
func TestNetworkPolicyKeepsThePort(t *testing.T) {
	objects := manifests(t)
	policy := only[*networkingv1.NetworkPolicy](t, objects)
	pods := only[*appsv1.StatefulSet](t, objects).Spec.Template.Labels
	if !reflect.DeepEqual(policy.Spec.PodSelector.MatchLabels, pods) || !slices.Equal(policy.Spec.PolicyTypes, []networkingv1.PolicyType{"Ingress"}) {
		t.Errorf("the policy is for %v, %v", policy.Spec.PodSelector.MatchLabels, policy.Spec.PolicyTypes)
	}
	between := map[string]bool{}
	for _, rule := range policy.Spec.Ingress {
		if len(rule.Ports) == 0 {
			t.Error("a rule opens every port")
		}
		for _, port := range rule.Ports {
			switch name := port.Port.String(); name {
			case "http", "admin":
			case "cluster-tcp", "cluster-udp":
				between[name] = true
				if len(rule.From) != 1 || rule.From[0].NamespaceSelector != nil || rule.From[0].IPBlock != nil ||
					!reflect.DeepEqual(rule.From[0].PodSelector.MatchLabels, pods) {
					t.Errorf("the port %s is open to %+v", name, rule.From)
				}
			default:
				t.Errorf("the policy opens the port %s, which has no name in the pods", name)
			}
		}
	}
	if len(between) != 2 {
		t.Errorf("between the nodes only %v is open", between)
	}
}
