import { ask } from "../api/client.ts";
import type { GuardItem } from "../api/types.ts";
import { Empty, PageHead, Problem, Waiting, words } from "../parts/basics.tsx";
import { useData } from "../parts/use-data.ts";

const scopeOf = ({ projects, keys, models }: GuardItem["for"]): string =>
  Object.entries({ projects, keys, models })
    .flatMap(([name, patterns]) => (patterns === null ? [] : [`${name}: ${patterns.join(", ")}`]))
    .join("; ") || "all calls";

export function Guards() {
  const { data, error, reload } = useData("guards", (abort) => ask<{ data: GuardItem[] }>("/api/guards", {}, abort));
  return (
    <>
      <PageHead title="Guards" />
      {error && <Problem error={error} retry={reload} />}
      {data === undefined ? (
        !error && <Waiting />
      ) : data.data.length === 0 ? (
        <Empty title="No guards configured">
          <p>Guards look at the texts of requests and responses. Add them under guards in trivium.yaml.</p>
        </Empty>
      ) : (
        <section class="wide" tabIndex={0} aria-label="Guards table">
          <table class="list">
            <thead>
              <tr>
                <th scope="col">Guard</th>
                <th scope="col">Use</th>
                <th scope="col">Checks</th>
                <th scope="col">Action</th>
                <th scope="col">On failure</th>
                <th scope="col">Calls</th>
                <th scope="col">Verdicts of this process</th>
              </tr>
            </thead>
            <tbody>
              {data.data.map((guard) => (
                <tr key={guard.name}>
                  <th scope="row">{guard.name}</th>
                  <td>{guard.use}</td>
                  <td>{guard.on.join(", ")}</td>
                  <td>{guard.action}</td>
                  <td>{guard.on_failure}</td>
                  <td>{scopeOf(guard.for)}</td>
                  <td>
                    {guard.verdicts.map(({ on, verdict, calls }) => `${on} ${words(verdict)}: ${calls}`).join(", ") ||
                      "–"}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      )}
    </>
  );
}
