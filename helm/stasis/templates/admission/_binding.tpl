{{/* include "stasis.binding" (list . "name"): a policy without a binding does nothing. */}}
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

{{/* Match condition: anybody but the operator, who acts for those whose requests were checked already. */}}
{{- define "stasis.notTheOperator" -}}
- name: not-by-the-operator
  expression: request.userInfo.username != '{{ include "stasis.operatorUser" . }}'
{{- end }}

{{/* Match condition: the operator alone. */}}
{{- define "stasis.theOperator" -}}
- name: by-the-operator
  expression: request.userInfo.username == '{{ include "stasis.operatorUser" . }}'
{{- end }}
