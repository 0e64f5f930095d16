{{- define "trivium.name" -}}
{{- if contains "trivium" .Release.Name }}{{ .Release.Name | trunc 50 | trimSuffix "-" }}{{ else }}{{ printf "%s-trivium" .Release.Name | trunc 50 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- define "trivium.selector" -}}
app.kubernetes.io/name: trivium
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "trivium.labels" -}}
{{ include "trivium.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}
