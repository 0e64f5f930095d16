import { ask } from "../api/client.ts";
import type { Finding, ProviderHealth } from "../api/types.ts";
import { counted, whole } from "../format/numbers.ts";
import { full, when } from "../format/time.ts";
import { tellFindings } from "../state/findings.ts";
import { nameOfKey } from "../state/names.ts";
import { State } from "./basics.tsx";
import { Said } from "./said.tsx";
import { type Loaded, useData } from "./use-data.ts";

/** What the lines say besides the findings. */
export interface Circumstances {
  providers: Pick<ProviderHealth, "state">[];
  refused: number;
}

const HOUR_MS = 3_600_000;

export const useCircumstances = (): Loaded<Circumstances> =>
  useData("circumstances", async (abort) => {
    const from = new Date(Date.now() - HOUR_MS).toISOString();
    const [providers, refusals] = await Promise.all([
      ask<{ data: ProviderHealth[] }>("/api/providers", {}, abort),
      ask<{ total: { requests: number } }>("/api/refusals", { from }, abort),
    ]);
    return { providers: providers.data, refused: refusals.total.requests };
  });

/** What is known of the providers. Those that were not called since the start are in no state. */
export function providerWords(providers: readonly Pick<ProviderHealth, "state">[]): string {
  const all = providers.length;
  const answering = providers.filter(({ state }) => state === "closed").length;
  const unknown = providers.filter(({ state }) => state === null).length;
  if (all === 0) return "No provider is set up";
  if (answering === all) return all === 1 ? "The provider answers" : `All ${all} providers answer`;
  if (unknown === all) return `${counted(all, "provider")}, none called since the start`;
  const rest = unknown === 0 ? "" : `, ${unknown} not called since the start`;
  return `${answering} of ${counted(all, "provider")} answer${answering === 1 ? "s" : ""}${rest}`;
}

interface StateLinesProps {
  findings: readonly Finding[];
  running: number;
  circumstances: Circumstances | undefined;
}

/** What needs attention, one sentence each; otherwise that all is well, and what that means. */
export function StateLines({ findings, running, circumstances }: StateLinesProps) {
  const told = tellFindings(findings, Date.now(), nameOfKey);
  return (
    <section class="state-lines" aria-label="State of the gateway">
      {told.length > 0 && (
        <ul>
          {told.map(({ severity, about, text, sinceMs, address, link }) => (
            <li key={`${address} ${text}`}>
              <State kind={severity}>{about}</State>
              <p>
                <Said text={text} />{" "}
                {sinceMs !== undefined && (
                  <span class="muted" title={full(sinceMs)}>
                    Since {when(sinceMs)}.
                  </span>
                )}
              </p>
              <a href={address}>{link}</a>
            </li>
          ))}
        </ul>
      )}
      <p class="all-well">
        {told.length === 0 && <State kind="good">All well</State>}
        {circumstances !== undefined && (
          <>
            <a href="/providers">{providerWords(circumstances.providers)}</a>
            {findings.every(({ kind }) => kind !== "refusals") && (
              <a href="/refused?range=1h">
                {circumstances.refused === 0 ? "Nothing refused" : `${whole(circumstances.refused)} refused`} in the
                last hour
              </a>
            )}
          </>
        )}
        <a href="/in-flight">{running === 0 ? "No calls in flight" : `${counted(running, "call")} in flight`}</a>
      </p>
    </section>
  );
}
