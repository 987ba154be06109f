{{/* include "stasis.binding" (list . "name"): the binding of a policy, which has no effect without one. */}}
{{- define "stasis.binding" -}}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata:
  name: {{ index . 1 }}
  labels: {{- include "stasis.labels" (index . 0) | nindent 4 }}
spec:
  policyName: {{ index . 1 }}
  validationActions: [Deny]
{{- end }}

{{/* Match condition: all users except the operator, which acts on requests that were checked already. */}}
{{- define "stasis.notTheOperator" -}}
- name: not-by-the-operator
  expression: request.userInfo.username != '{{ include "stasis.operatorUser" . }}'
{{- end }}

{{/* Match condition: only the operator. */}}
{{- define "stasis.theOperator" -}}
- name: by-the-operator
  expression: request.userInfo.username == '{{ include "stasis.operatorUser" . }}'
{{- end }}
