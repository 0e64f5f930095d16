import { useState } from "preact/hooks";
import { ask, change, session } from "../api/client.ts";
import type { EndUser, Page } from "../api/types.ts";
import { money } from "../format/money.ts";
import { ago, full } from "../format/time.ts";
import { Empty, PageHead, Problem, Waiting } from "../parts/basics.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { FormProblem, LimitFields, useSending } from "../parts/key-forms.tsx";
import { OwnerFilter, ownerFilter } from "../parts/owner-filter.tsx";
import { useData } from "../parts/use-data.ts";
import { readLimits } from "../state/limits.ts";
import { nameOfKey } from "../state/names.ts";
import { place, setQuery } from "../state/router.ts";

const PAGE_SIZE = 50;

/** A key or a project of which the end user may have its own limits. */
interface Owner {
  project: string;
  key?: string;
}

const ownersOf = ({ keys, limits }: EndUser): Owner[] => {
  const owners = new Map<string, Owner>();
  const add = (owner: Owner) => owners.set(`${owner.project} ${owner.key ?? ""}`, owner);
  for (const { project } of keys) add({ project });
  for (const { project, key } of keys) add({ project, key });
  for (const { project, key } of limits) if (project !== null) add(key === null ? { project } : { project, key });
  return [...owners.values()];
};

const nameOf = ({ project, key }: { project: string | null; key?: string | null }): string =>
  key ? `key ${nameOfKey(key)}` : project === null ? "gateway" : `project ${project}`;

const limitsOf = (item: EndUser, owner: Owner): Readonly<Record<string, number | null>> =>
  item.limits.find(({ project, key }) => project === owner.project && (key ?? undefined) === owner.key)?.limits ?? {};

const words = (limits: Readonly<Record<string, number | null>>): string =>
  Object.entries(limits)
    .map(([name, value]) => `${name}=${value ?? "none"}`)
    .join(" ");

function EditLimits({ item, onDone, onClose }: { item: EndUser; onDone: () => void; onClose: () => void }) {
  const owners = ownersOf(item);
  const [at, setAt] = useState(0);
  const owner = owners[at] ?? { project: "default" };
  const own = limitsOf(item, owner);
  const address = `/api/end_users/${encodeURIComponent(item.id)}`;
  const done = () => {
    onDone();
    onClose();
  };
  const { submit, error, busy } = useSending((form) => {
    const set = Object.entries(readLimits(form)).filter(([, value]) => value !== null);
    if (set.length > 0) return change("PUT", address, { ...owner, limits: Object.fromEntries(set) });
    return change("DELETE", `${address}?${new URLSearchParams({ ...owner })}`);
  }, done);
  return (
    <Dialog title={`Limits of ${item.id}`} onClose={onClose}>
      <form onSubmit={submit}>
        <label>
          Applies to its calls with
          <select onChange={(event) => setAt(Number(event.currentTarget.value))}>
            {owners.map((one, index) => (
              <option key={nameOf(one)} value={index}>
                {nameOf(one)}
              </option>
            ))}
          </select>
        </label>
        <LimitFields
          key={at}
          limits={own}
          legend="Replaces the default limits of end users (leave empty to keep them)"
        />
        <FormProblem error={error} />
        <footer>
          <button type="submit" class="main" disabled={busy}>
            Save
          </button>
        </footer>
      </form>
    </Dialog>
  );
}

const Row = ({ item, onEdit }: { item: EndUser; onEdit: (() => void) | undefined }) => (
  <tr>
    <th scope="row" class="name">
      {item.id}
      <span class="muted small block">{item.keys.map(({ key }) => nameOfKey(key)).join(", ")}</span>
    </th>
    <td class="number">{money(item.spent_nano_usd.day)}</td>
    <td class="number">{money(item.spent_nano_usd.month)}</td>
    <td class="number">{money(item.spent_nano_usd.total)}</td>
    <td class="number">{item.requests.toLocaleString("en-US")}</td>
    <td class="number">{item.tokens.toLocaleString("en-US")}</td>
    <td title={item.last_used_at === null ? undefined : full(item.last_used_at)}>
      {item.last_used_at === null ? <span class="muted">never</span> : ago(item.last_used_at)}
    </td>
    <td>
      {item.limits.map((one) => (
        <span key={nameOf(one)} class="small block">
          <span class="muted">{nameOf(one)}:</span> {words(one.limits)}
        </span>
      ))}
    </td>
    <td class="acts">
      {onEdit !== undefined && (
        <button type="button" class="quiet" aria-label={`Edit the limits of ${item.id}`} onClick={onEdit}>
          Edit
        </button>
      )}
    </td>
  </tr>
);

const Search = ({ text }: { text: string }) => (
  <search>
    <form
      onSubmit={(event) => {
        event.preventDefault();
        const written = String(new FormData(event.currentTarget).get("text") ?? "").trim();
        setQuery({ text: written === "" ? undefined : written, after: undefined });
      }}
    >
      <label>
        ID begins with
        <input name="text" type="search" maxLength={256} defaultValue={text} />
      </label>
      <button type="submit">Search</button>
    </form>
  </search>
);

export function EndUsers() {
  const { query } = place.value;
  const after = query.get("after") ?? undefined;
  const text = query.get("text") ?? undefined;
  const { project, key } = ownerFilter();
  const filter = { project, key, text };
  const [editing, setEditing] = useState<EndUser | undefined>(undefined);
  const { data, error, reload } = useData(JSON.stringify([filter, after]), (abort) =>
    ask<Page<EndUser>>("/api/end_users", { limit: PAGE_SIZE, ...filter, after }, abort),
  );
  const mayChange = session.value?.role === "admin";
  return (
    <>
      <PageHead title="End users">
        <a class="button" href="/usage?by=end_user">
          Usage by end user
        </a>
      </PageHead>
      <OwnerFilter />
      <Search key={text} text={text ?? ""} />
      {error && <Problem error={error} retry={reload} />}
      {data === undefined ? (
        !error && <Waiting />
      ) : data.data.length === 0 ? (
        <Empty title={text === undefined ? "No end users" : "No matching end users"}>
          <p>
            Send the header <code>x-trivium-user</code>, or <code>user</code> in the body, to record who uses your
            program.
          </p>
        </Empty>
      ) : (
        <>
          <section class="wide" tabIndex={0} aria-label="End users table">
            <table class="list">
              <thead>
                <tr>
                  <th scope="col">ID</th>
                  <th scope="col" class="number">
                    Today
                  </th>
                  <th scope="col" class="number">
                    This month
                  </th>
                  <th scope="col" class="number">
                    Total
                  </th>
                  <th scope="col" class="number">
                    Calls today
                  </th>
                  <th scope="col" class="number">
                    Tokens today
                  </th>
                  <th scope="col">Last used</th>
                  <th scope="col">Own limits</th>
                  <th scope="col">
                    <span class="unseen">Actions</span>
                  </th>
                </tr>
              </thead>
              <tbody>
                {data.data.map((item) => (
                  <Row key={item.id} item={item} onEdit={mayChange ? () => setEditing(item) : undefined} />
                ))}
              </tbody>
            </table>
          </section>
          <nav class="pager" aria-label="Pagination for end users">
            {after !== undefined && (
              <button type="button" onClick={() => setQuery({ after: undefined })}>
                First
              </button>
            )}
            {data.next !== null && (
              <button type="button" onClick={() => setQuery({ after: data.next ?? undefined })}>
                Next
              </button>
            )}
          </nav>
        </>
      )}
      {editing && <EditLimits item={editing} onDone={reload} onClose={() => setEditing(undefined)} />}
    </>
  );
}
