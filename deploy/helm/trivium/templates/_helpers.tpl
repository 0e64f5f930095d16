{{- define "trivium.name" -}}
{{- if contains "trivium" .Release.Name }}{{ .Release.Name | trunc 50 | trimSuffix "-" }}{{ else }}{{ printf "%s-trivium" .Release.Name | trunc 50 | trimSuffix "-" }}{{ end }}
{{- end }}

{{/* "true" for SQLite. A storage given by a variable counts as PostgreSQL, because only the gateway can read the variable. */}}
{{- define "trivium.onSqlite" -}}
{{- $storage := .Values.config.storage | default "sqlite:" -}}
{{- if hasPrefix "sqlite:" $storage }}true{{ end }}
{{- end }}

{{/* "true" if several pods can run at the same time. */}}
{{- define "trivium.several" -}}
{{- if .Values.autoscaling.enabled }}{{ if gt (int .Values.autoscaling.maxReplicas) 1 }}true{{ end }}{{ else if gt (int .Values.replicaCount) 1 }}true{{ end }}
{{- end }}

{{/* Fails for combinations that would lose data or not start. */}}
{{- define "trivium.check" -}}
{{- if include "trivium.several" . -}}
{{- if include "trivium.onSqlite" . -}}
{{- fail "SQLite is for one replica: each pod would have its own keys and budgets. Set config.storage to a postgres:// URL, or replicaCount to 1 and autoscaling.enabled to false." -}}
{{- end -}}
{{- if not .Values.config.redis -}}
{{- fail "Several replicas share limits and budgets through Redis or Valkey, and do not start without it. Set config.redis to a redis:// URL, or replicaCount to 1 and autoscaling.enabled to false." -}}
{{- end -}}
{{- if not .Values.config.files -}}
{{- fail "Several replicas must see the same uploaded files and media, and do not start otherwise. Set config.files to s3://bucket/prefix, or replicaCount to 1 and autoscaling.enabled to false." -}}
{{- end -}}
{{- end -}}
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
