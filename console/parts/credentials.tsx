import type { ProviderHealth } from "../api/types.ts";
import { decimal, duration, known, percent, short } from "../format/numbers.ts";
import { ago, full, when } from "../format/time.ts";
import { stateOf } from "../state/provider-state.ts";
import { State, words } from "./basics.tsx";
import { type Column, DataTable } from "./data-table.tsx";

type Credential = ProviderHealth["credentials"][number];
type Model = Credential["models"][number];
type Seen = Pick<Credential, "since" | "until" | "last_error">;

const StateCell = ({ of, quietMs = 0 }: { of: Seen & { state: Credential["state"] }; quietMs?: number }) => {
  const { kind, name } = stateOf(of.state, quietMs);
  return (
    <span class="two-lines">
      <State kind={kind}>{name}</State>
      {of.since !== null && (
        <small title={full(of.since)}>
          since {when(of.since)}
          {of.until !== null && `, next try ${ago(of.until)}`}
        </small>
      )}
    </span>
  );
};

const ErrorCell = ({ of: { last_error: error } }: { of: Seen }) =>
  error === null ? (
    <span class="muted">none</span>
  ) : (
    <span class="two-lines" title={error.text}>
      <span class="cut">{error.text || words(error.kind)}</span>
      <small title={full(error.at)}>
        {error.status ?? words(error.kind)}, {ago(error.at)}
      </small>
    </span>
  );

const labelOf = ({ label }: Pick<Credential, "label">): string => label ?? "the only one";

const CREDENTIALS: Column<Credential>[] = [
  { id: "label", title: "Credential", cell: labelOf },
  { id: "state", title: "State", onPhone: "lead", cell: (one) => <StateCell of={one} /> },
  { id: "weight", title: "Weight", kind: "number", cell: ({ weight }) => decimal(weight) },
  { id: "calls", title: "Attempts", kind: "number", cell: ({ measured }) => known(measured?.calls ?? null, short) },
  {
    id: "failed",
    title: "Failed",
    kind: "number",
    cell: ({ measured }) => (measured === null ? "–" : percent(measured.failures, measured.calls)),
  },
  {
    id: "p50",
    title: "First content",
    kind: "number",
    cell: ({ measured }) => known(measured?.first_content_ms.p50 ?? null, duration),
  },
  {
    id: "p95",
    title: "p95",
    kind: "number",
    cell: ({ measured }) => known(measured?.first_content_ms.p95 ?? null, duration),
  },
  {
    id: "speed",
    title: "Tokens/s",
    kind: "number",
    cell: ({ measured }) => known(measured?.tokens_per_second ?? null, decimal),
  },
  { id: "error", title: "Last error", cell: (one) => <ErrorCell of={one} /> },
];

/** Its credentials, never by their secret. */
export const Credentials = ({ provider: { credentials } }: { provider: ProviderHealth }) => (
  <section>
    <h2 class="over">Credentials</h2>
    <DataTable label="Credentials" rows={credentials} keyOf={labelOf} columns={CREDENTIALS} />
  </section>
);

interface Row extends Model {
  credential: string;
}

/** `x-ratelimit-remaining-requests` as `requests`. */
const limitName = (header: string): string =>
  header.replace(/^(x-|anthropic-)?ratelimit-/, "").replace(/-?remaining-?/, "") || header;

const MODELS: Column<Row>[] = [
  { id: "model", title: "Model at the provider", cell: ({ model }) => model },
  { id: "credential", title: "Credential", cell: ({ credential }) => <span class="muted">{credential}</span> },
  { id: "state", title: "State", onPhone: "lead", cell: (one) => <StateCell of={one} quietMs={one.quiet_ms} /> },
  { id: "first", title: "First content", kind: "number", cell: (one) => known(one.first_content_ms, duration) },
  { id: "p95", title: "p95", kind: "number", cell: (one) => known(one.p95_first_content_ms, duration) },
  { id: "speed", title: "Tokens/s", kind: "number", cell: (one) => known(one.tokens_per_second, decimal) },
  {
    id: "limits",
    title: "Limits left",
    cell: ({ limits }) =>
      limits.length === 0 ? (
        <span class="muted">not told</span>
      ) : (
        <span title={limits.map(({ header, remaining, at }) => `${header}: ${remaining} (${when(at)})`).join("\n")}>
          {limits.map(({ header, remaining }) => `${short(remaining)} ${limitName(header)}`).join(", ")}
        </span>
      ),
  },
  {
    id: "answered",
    title: "Last answer",
    cell: ({ last_success_at: at }) => (at === null ? "–" : <span title={full(at)}>{ago(at)}</span>),
  },
  { id: "error", title: "Last error", cell: (one) => <ErrorCell of={one} /> },
];

/** Models that were called, at each credential. */
export function ModelsOfProvider({ provider: { credentials } }: { provider: ProviderHealth }) {
  const rows = credentials.flatMap((one) => one.models.map((model): Row => ({ ...model, credential: labelOf(one) })));
  return (
    <section>
      <h2 class="over">Breakers and limits of each model</h2>
      {rows.length === 0 ? (
        <p class="muted">This process has not called it since its start.</p>
      ) : (
        <DataTable
          label="Breakers and limits of each model"
          rows={rows}
          keyOf={({ model, credential }) => `${credential} ${model}`}
          columns={MODELS}
        />
      )}
    </section>
  );
}
