{{/* include "stasis.metadata" (list . "operator" .Values.operator): labels and annotations of a pod. */}}
{{- define "stasis.metadata" -}}
labels:
  {{- include "stasis.labels" (index . 0) | nindent 2 }}
  app.kubernetes.io/component: {{ index . 1 }}
  {{- with (index . 2).podLabels }}{{ toYaml . | nindent 2 }}{{ end }}
{{- with (index . 2).podAnnotations }}
annotations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{/* Identity, node and logging. */}}
{{- define "stasis.environment" -}}
- name: POD_NAME
  valueFrom: {fieldRef: {fieldPath: metadata.name}}
- name: POD_NAMESPACE
  valueFrom: {fieldRef: {fieldPath: metadata.namespace}}
- name: POD_UID
  valueFrom: {fieldRef: {fieldPath: metadata.uid}}
- name: NODE_NAME
  valueFrom: {fieldRef: {fieldPath: spec.nodeName}}
- name: QUARKUS_HTTP_PORT
  value: {{ (index . 0).Values.metrics.port | quote }}
- name: QUARKUS_LOG_CATEGORY__DEV_STASIS__LEVEL
  value: {{ (index . 1).logLevel }}
{{- with (index . 0).Values.tracing.endpoint }}
- name: OTEL_EXPORTER_OTLP_ENDPOINT
  value: {{ . }}
{{- end }}
{{- with (index . 1).javaOptions }}
- name: _JAVA_OPTIONS
  value: {{ . | quote }}
{{- end }}
{{- end }}

{{/* Probes of Quarkus' health checks. The start takes a second or two; on an overloaded node it took a minute. */}}
{{- define "stasis.probes" -}}
startupProbe:
  httpGet: {path: /q/health/started, port: http}
  periodSeconds: 1
  failureThreshold: 300
livenessProbe:
  httpGet: {path: /q/health/live, port: http}
  periodSeconds: 10
  timeoutSeconds: 5
readinessProbe:
  httpGet: {path: /q/health/ready, port: http}
  periodSeconds: 5
  timeoutSeconds: 5
{{- end }}

{{/* Where agents run. Pods that mount a volume for them run there too. */}}
{{- define "stasis.agentPlacement" -}}
{{- with .Values.agent.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.agent.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- if .Values.agent.affinity }}
affinity: {{- toYaml .Values.agent.affinity | nindent 2 }}
{{- else if .Values.agent.gpuNodeLabel }}
affinity:
  nodeAffinity:
    requiredDuringSchedulingIgnoredDuringExecution:
      nodeSelectorTerms:
      - matchExpressions:
        - {key: {{ .Values.agent.gpuNodeLabel }}, operator: Exists}
        - {key: {{ .Values.agent.gpuNodeLabel }}, operator: NotIn, values: ["false"]}
{{- end }}
{{- end }}
