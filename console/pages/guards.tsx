import { ask } from "../api/client.ts";
import type { GuardItem } from "../api/types.ts";
import { whole } from "../format/numbers.ts";
import { Code, Empty, PageHead, State, words } from "../parts/basics.tsx";
import { type Column, DataTable } from "../parts/data-table.tsx";
import { callsWith } from "../parts/filter-bar.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { TwoLines } from "../parts/two-lines.tsx";
import { useData } from "../parts/use-data.ts";

const EXAMPLE = `guards:
  - name: secrets
    use: secrets
    action: redact
  - name: personal-data
    use: pii
    on: [request]
    action: observe
    for: { projects: [support] }`;

type Verdict = GuardItem["verdicts"][number]["verdict"];

const KINDS: Readonly<Record<Verdict, "good" | "warn" | "bad" | "idle">> = {
  passed: "good",
  observed: "warn",
  unreadable: "bad",
  redacted: "warn",
  blocked: "bad",
  not_run: "bad",
};

const scopeOf = ({ projects, keys, models }: GuardItem["for"]): string =>
  Object.entries({ projects, keys, models })
    .flatMap(([name, patterns]) => (patterns === null ? [] : [`${name} ${patterns.join(", ")}`]))
    .join("; ") || "all calls";

/** Both directions together. */
function countsOf({ verdicts }: GuardItem): [Verdict, number][] {
  const counts = new Map<Verdict, number>();
  for (const { verdict, calls } of verdicts) counts.set(verdict, (counts.get(verdict) ?? 0) + calls);
  return [...counts].filter(([, calls]) => calls > 0);
}

const Verdicts = ({ guard }: { guard: GuardItem }) => {
  const counts = countsOf(guard);
  if (counts.length === 0) return <span class="muted">none yet</span>;
  return (
    <span
      class="verdicts"
      title={guard.verdicts.map(({ on, verdict, calls }) => `${on} ${words(verdict)}: ${whole(calls)}`).join("\n")}
    >
      {counts.map(([verdict, calls]) => (
        <State key={verdict} kind={KINDS[verdict]}>
          {whole(calls)} {words(verdict)}
        </State>
      ))}
    </span>
  );
};

const COLUMNS: Column<GuardItem>[] = [
  {
    id: "guard",
    title: "Guard",
    cell: ({ name, use }) => (
      <TwoLines of={<a href={callsWith({ guard: name }, "30d")}>{name}</a>} below={use} title={`${name}, ${use}`} />
    ),
  },
  { id: "action", title: "Action", onPhone: "lead", cell: ({ action }) => action },
  { id: "on", title: "Checks", cell: ({ on }) => on.join(" and ") },
  { id: "for", title: "Calls", cell: (guard) => <span title={scopeOf(guard.for)}>{scopeOf(guard.for)}</span> },
  {
    id: "failure",
    title: "If it fails",
    cell: ({ on_failure, timeout_ms }) => (
      <span title={`It fails if it takes longer than ${timeout_ms} ms.`}>{on_failure}</span>
    ),
  },
  { id: "verdicts", title: "Verdicts since the start", cell: (guard) => <Verdicts guard={guard} /> },
];

export function Guards() {
  const loaded = useData("guards", (abort) => ask<{ data: GuardItem[] }>("/api/guards", {}, abort));
  return (
    <>
      <PageHead title="Guards">
        <button type="button" onClick={loaded.reload}>
          Refresh
        </button>
      </PageHead>
      <Loaded of={loaded}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty title="No guards configured">
              <p>
                Guards look at the texts of requests and responses, and block, redact or report what they find. Add them
                to <code>trivium.yaml</code>; changes apply without a restart.
              </p>
              <Code text={EXAMPLE} />
            </Empty>
          ) : (
            <>
              <p class="note muted">They run in this order. Each sees what the one before it left.</p>
              <DataTable label="Guards" rows={data} keyOf={({ name }) => name} columns={COLUMNS} />
            </>
          )
        }
      </Loaded>
    </>
  );
}
