package manifests

import (
	"encoding/base64"
	"fmt"
	"reflect"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

func validSecret(text string) bool {
	raw, err := base64.StdEncoding.DecodeString(text)
	return err == nil && len(raw) == 32
}

// TestStatefulSetFitsTogether: selectors, names and ports that must agree do.
func TestStatefulSetFitsTogether(t *testing.T) {
	objects := manifests(t)
	set := only[*appsv1.StatefulSet](t, objects)
	pods := set.Spec.Template.Labels
	if !reflect.DeepEqual(set.Spec.Selector.MatchLabels, pods) {
		t.Errorf("the StatefulSet selects %v, its pods are %v", set.Spec.Selector.MatchLabels, pods)
	}
	if *set.Spec.Replicas != 3 || set.Spec.PodManagementPolicy != appsv1.ParallelPodManagement {
		t.Error("three nodes that wait for each other must start at once")
	}
	ports := map[string]bool{}
	for _, p := range set.Spec.Template.Spec.Containers[0].Ports {
		ports[p.Name] = true
	}
	governing := false
	for _, o := range objects {
		s, ok := o.(*corev1.Service)
		if !ok {
			continue
		}
		if !reflect.DeepEqual(s.Spec.Selector, pods) {
			t.Errorf("the Service %s selects %v", s.Name, s.Spec.Selector)
		}
		for _, p := range s.Spec.Ports {
			if !ports[p.TargetPort.String()] {
				t.Errorf("the Service %s leads to the port %s, which no pod has", s.Name, p.TargetPort.String())
			}
		}
		if s.Name == set.Spec.ServiceName {
			governing = s.Spec.ClusterIP == corev1.ClusterIPNone && s.Spec.PublishNotReadyAddresses
		}
	}
	if !governing {
		t.Error("nodes that aren't ready yet can't be found by name")
	}
	budget := only[*policyv1.PodDisruptionBudget](t, objects)
	if !reflect.DeepEqual(budget.Spec.Selector.MatchLabels, pods) || *budget.Spec.MaxUnavailable != intstr.FromInt32(1) {
		t.Errorf("the disruption budget is %+v", budget.Spec)
	}
}

// TestNodesKnowWhoTheyAre: name and address come from the pod, and every pod is
// among those that are joined.
func TestNodesKnowWhoTheyAre(t *testing.T) {
	set := only[*appsv1.StatefulSet](t, manifests(t))
	from, value := map[string]string{}, map[string]string{}
	for _, e := range set.Spec.Template.Spec.Containers[0].Env {
		value[e.Name] = e.Value
		if e.ValueFrom != nil && e.ValueFrom.FieldRef != nil {
			from[e.Name] = e.ValueFrom.FieldRef.FieldPath
		}
	}
	if from["UBL_NODE_ID"] != "metadata.name" || from["POD_IP"] != "status.podIP" || value["UBL_CLUSTER_ADVERTISE"] != "$(POD_IP):7946" {
		t.Errorf("a node takes its name from %q, its address from %q", from["UBL_NODE_ID"], value["UBL_CLUSTER_ADVERTISE"])
	}
	var pods []string
	for n := range *set.Spec.Replicas {
		pods = append(pods, fmt.Sprintf("%s-%d.%s:7946", set.Name, n, set.Spec.ServiceName))
	}
	if join := strings.Join(pods, ","); value["UBL_JOIN"] != join || value["UBL_BOOTSTRAP_EXPECT"] != "3" {
		t.Errorf("the nodes join %s, want %s", value["UBL_JOIN"], join)
	}
}

// TestPodsAreRestricted holds every pod against Kubernetes' "restricted" pod
// security standard, and a read-only root file system.
func TestPodsAreRestricted(t *testing.T) {
	objects := manifests(t)
	restricted(t, only[*appsv1.StatefulSet](t, objects).Spec.Template.Spec)
	restricted(t, only[*corev1.Pod](t, objects).Spec)
}

func restricted(t *testing.T, pod corev1.PodSpec) {
	t.Helper()
	p := pod.SecurityContext
	if p == nil || !*p.RunAsNonRoot || *p.RunAsUser != 65532 || p.SeccompProfile.Type != corev1.SeccompProfileTypeRuntimeDefault {
		t.Errorf("the pod's security context is %+v", p)
	}
	if pod.HostNetwork || pod.HostPID || pod.HostIPC || *pod.AutomountServiceAccountToken {
		t.Error("the pod has something of its host, or a token")
	}
	for _, c := range append(pod.InitContainers, pod.Containers...) {
		s := c.SecurityContext
		if s == nil || *s.AllowPrivilegeEscalation || !*s.ReadOnlyRootFilesystem ||
			!reflect.DeepEqual(s.Capabilities.Drop, []corev1.Capability{"ALL"}) || len(s.Capabilities.Add) > 0 {
			t.Errorf("the container %s has %+v", c.Name, s)
		}
	}
}

// TestProbes: a node that only waits for the others is not restarted, and one
// partition without a leader takes no node out of the Service.
func TestProbes(t *testing.T) {
	c := only[*appsv1.StatefulSet](t, manifests(t)).Spec.Template.Spec.Containers[0]
	for path, probe := range map[string]*corev1.Probe{"/healthz": c.LivenessProbe, "/readyz?traffic": c.ReadinessProbe} {
		if probe == nil || probe.HTTPGet == nil || probe.HTTPGet.Path != path || probe.HTTPGet.Port.String() != "http" {
			t.Errorf("the probe of %s is %+v", path, probe)
		}
	}
	if c.StartupProbe == nil || c.StartupProbe.HTTPGet.Path != "/healthz" {
		t.Errorf("the startup probe is %+v", c.StartupProbe)
	}
}
