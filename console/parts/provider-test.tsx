import { useState } from "preact/hooks";
import { change, session } from "../api/client.ts";
import type { ProviderTest as TestResult } from "../api/types.ts";
import { duration } from "../format/numbers.ts";
import { Problem, State, words } from "./basics.tsx";

export interface TestOf {
  /** Absent for operators who may not test. */
  run?: () => void;
  isBusy: boolean;
  result: TestResult | Error | undefined;
}

/** Tests of providers by name: each credential for free, and one small call. */
export function useProviderTests(): (provider: string) => TestOf {
  const [results, setResults] = useState<ReadonlyMap<string, TestResult | Error | "busy">>(new Map());
  const mayTest = session.value?.role === "admin";
  const set = (provider: string, result: TestResult | Error | "busy") =>
    setResults((before) => new Map(before).set(provider, result));
  return (provider) => {
    const found = results.get(provider);
    const run = () => {
      set(provider, "busy");
      change<{ data: TestResult }>("POST", `/api/providers/${encodeURIComponent(provider)}/test`).then(
        ({ data }) => set(provider, data),
        (thrown: unknown) => set(provider, thrown instanceof Error ? thrown : new Error(String(thrown))),
      );
    };
    return {
      ...(mayTest ? { run } : {}),
      isBusy: found === "busy",
      result: found === "busy" ? undefined : found,
    };
  };
}

export const TestButton = ({ provider, test: { run, isBusy } }: { provider: string; test: TestOf }) =>
  run === undefined ? null : (
    <button
      type="button"
      disabled={isBusy}
      onClick={run}
      aria-label={`Test ${provider}`}
      title="Tries each credential for free, and makes one call of at most 16 tokens"
    >
      {isBusy ? "Testing…" : "Test"}
    </button>
  );

const KINDS = { ok: "good", unchecked: "idle", rejected: "bad", unreachable: "bad" } as const;

export function TestedProvider({ result }: { result: TestResult | Error }) {
  if (result instanceof Error) return <Problem error={result} />;
  const { credentials, call } = result;
  return (
    <div class="tested" role="status">
      {credentials.map(({ label, host, state, detail }) => (
        <p key={label ?? host}>
          <State kind={KINDS[state]}>{words(state)}</State> {label ?? "credential"} at <code>{host}</code>{" "}
          <span class="muted">{detail}</span>
        </p>
      ))}
      {call === null ? (
        <p class="muted">No model is available for a test call.</p>
      ) : (
        <p>
          <State kind={call.ok ? "good" : "bad"}>{call.ok ? "answered" : words(call.error?.kind ?? "failed")}</State>{" "}
          {call.model} in {duration(call.ms)}{" "}
          {call.receipt !== null && <a href={`/calls/${call.receipt}`}>View call</a>}
          {call.error !== null && <span class="muted block">{call.error.message}</span>}
        </p>
      )}
    </div>
  );
}
