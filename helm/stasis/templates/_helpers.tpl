{{/* Name of everything in the release: fullnameOverride, "stasis" for a release of that name, else RELEASE-stasis. */}}
{{- define "stasis.name" -}}
{{- if .Values.fullnameOverride }}{{ .Values.fullnameOverride }}{{ else if contains "stasis" .Release.Name }}{{ .Release.Name | trunc 40 | trimSuffix "-" }}{{ else }}{{ printf "%s-stasis" .Release.Name | trunc 40 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- define "stasis.operator" -}}{{ include "stasis.name" . }}-operator{{- end }}
{{- define "stasis.webhook" -}}{{ include "stasis.name" . }}-webhook{{- end }}
{{- define "stasis.agent" -}}{{ include "stasis.name" . }}-agent{{- end }}

{{/* Whether cert-manager issues the certificate of the webhooks; empty if not. */}}
{{- define "stasis.certManager" -}}
{{- if and .Values.webhook.enabled (eq .Values.webhook.certificates "CertManager") }}true{{ end }}
{{- end }}

{{/* User names of the two service accounts. */}}
{{- define "stasis.operatorUser" -}}system:serviceaccount:{{ .Release.Namespace }}:{{ include "stasis.operator" . }}{{- end }}
{{- define "stasis.agentUser" -}}system:serviceaccount:{{ .Release.Namespace }}:{{ include "stasis.agent" . }}{{- end }}

{{/* Labels of every object of the release. */}}
{{- define "stasis.labels" -}}
app.kubernetes.io/name: stasis
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- with .Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* include "stasis.selector" (list . "operator"): labels by which a part's pods are selected. */}}
{{- define "stasis.selector" -}}
app.kubernetes.io/name: stasis
app.kubernetes.io/instance: {{ (index . 0).Release.Name }}
app.kubernetes.io/component: {{ index . 1 }}
{{- end }}

{{/* include "stasis.image" (list . "operator"): the full name of an image, by its digest where one is given. */}}
{{- define "stasis.image" -}}
{{- $root := index . 0 }}
{{- $image := $root.Values.image }}
{{- $repository := index $image.repositories (index . 1) }}
{{- if not (or $repository $image.registry) }}
{{- fail "image.registry: required. There is no public registry: build the images with images/build, then either images/push REGISTRY and --set image.registry=REGISTRY, or images/load and --set image.registry=stasis.dev" }}
{{- end }}
{{- $name := $repository | default (printf "%s/%s" (trimSuffix "/" $image.registry) (index . 1)) }}
{{- with index $image.digests (index . 1) }}
{{- printf "%s@%s" $name . }}
{{- else }}
{{- printf "%s:%s" $name (default $root.Chart.AppVersion $image.tag) }}
{{- end }}
{{- end }}
