import { ask } from "../api/client.ts";
import type { Act, Page } from "../api/types.ts";
import { full } from "../format/time.ts";
import { Empty, PageHead, Problem, Waiting } from "../parts/basics.tsx";
import { Pager } from "../parts/pager.tsx";
import { useData } from "../parts/use-data.ts";
import { changesOf } from "../state/changes.ts";
import { nameOfKey } from "../state/names.ts";
import { place, setQuery } from "../state/router.ts";

const ACTS = [
  "key.create",
  "key.update",
  "key.rotate",
  "key.revoke",
  "project.create",
  "project.update",
  "project.delete",
  "session.open",
  "session.refused",
  "session.end",
  "subject.revoke",
  "usage.export",
  "provider.test",
  "operation.cancel",
  "call.stop",
  "live_session.end",
  "batch.cancel",
  "object.delete",
  "alerts.test",
  "alerts.deliver",
];

const Changes = ({ act }: { act: Act }) => (
  <ul class="changes">
    {changesOf(act.before, act.after).map(({ name, before, after }) => (
      <li key={name}>
        <span class="muted">{name}</span> {before !== undefined && <del>{before}</del>}{" "}
        {after !== undefined && <ins>{after}</ins>}
      </li>
    ))}
  </ul>
);

export function Audit() {
  const { query } = place.value;
  const act = query.get("act") ?? undefined;
  const after = query.get("after") ?? undefined;
  const { data, error, reload } = useData(`${act} ${after}`, (abort) =>
    ask<Page<Act>>("/api/audit", { limit: 100, act, after }, abort),
  );
  return (
    <>
      <PageHead title="Audit">
        <label>
          <span class="muted">Action</span>{" "}
          <select
            value={act ?? ""}
            onChange={(event) => setQuery({ act: event.currentTarget.value, after: undefined })}
          >
            <option value="">all</option>
            {ACTS.map((name) => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
          </select>
        </label>
      </PageHead>
      {error && <Problem error={error} retry={reload} />}
      {data === undefined ? (
        !error && <Waiting />
      ) : data.data.length === 0 ? (
        <Empty title="No audit entries">
          <p>Changes, logins and exports are recorded here, with the previous values. Entries are never removed.</p>
        </Empty>
      ) : (
        <>
          <section class="wide" tabIndex={0} aria-label="Audit table">
            <table class="list audit">
              <thead>
                <tr>
                  <th scope="col">Time</th>
                  <th scope="col">Actor</th>
                  <th scope="col">IP address</th>
                  <th scope="col">Action</th>
                  <th scope="col">Target</th>
                  <th scope="col">Changes</th>
                </tr>
              </thead>
              <tbody>
                {data.data.map((one) => (
                  <tr key={one.id}>
                    <td class="time">{full(one.at)}</td>
                    <td>{one.who}</td>
                    <td class="muted">{one.address ?? "–"}</td>
                    <td>{one.act}</td>
                    <td class="name">{nameOfKey(one.target)}</td>
                    <td>
                      <Changes act={one} />
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </section>
          <Pager page={data} of="audit entries" />
        </>
      )}
    </>
  );
}
