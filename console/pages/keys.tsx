import { useMemo, useState } from "preact/hooks";
import { ask, session } from "../api/client.ts";
import type { Key, Page, Project } from "../api/types.ts";
import { counted, whole } from "../format/numbers.ts";
import { allKeys, type KeyList } from "../keys/all-keys.ts";
import { KeyActDialog } from "../keys/key-acts.tsx";
import { keyColumns } from "../keys/key-columns.tsx";
import { CreateKey } from "../keys/key-dialogs.tsx";
import {
  countOf,
  filterKeys,
  readStateChoice,
  STATE_CHOICE_NAMES,
  STATE_CHOICES,
  type StateChoice,
  type StatedKey,
} from "../keys/key-filter.ts";
import type { KeyAct } from "../keys/key-menu.ts";
import { inOrder } from "../keys/key-order.ts";
import { statesOf } from "../keys/key-state.ts";
import { SearchField } from "../keys/search-field.tsx";
import { Empty, PageHead } from "../parts/basics.tsx";
import { DataTable } from "../parts/data-table.tsx";
import { Icon } from "../parts/icon.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { SavedViews } from "../parts/saved-views.tsx";
import { useData } from "../parts/use-data.ts";
import { place, setQuery } from "../state/router.ts";

const hrefOf = (state: StateChoice): string => {
  const query = new URLSearchParams(place.value.query);
  query.set("state", state);
  return `/keys?${query}`;
};

/** What needs attention, as links to the keys it is about. Nothing if nothing does. */
function Attention({ keys }: { keys: readonly StatedKey[] }) {
  const findings = [
    { state: "used-up", kind: "bad", count: countOf(keys, "used-up"), say: "used up a budget" },
    {
      state: "near",
      kind: "warn",
      count: countOf(keys, "near") - countOf(keys, "used-up"),
      say: "is near the end of a budget",
    },
    { state: "expiring", kind: "warn", count: countOf(keys, "expiring"), say: "expires within 7 days" },
    { state: "suspended", kind: "bad", count: countOf(keys, "suspended"), say: "is in a suspended project" },
  ] as const;
  const found = findings.filter(({ count }) => count > 0);
  if (found.length === 0) return null;
  return (
    <ul class="attention-line" aria-label="Needs attention">
      {found.map(({ state, kind, count, say }) => (
        <li key={state}>
          <a href={hrefOf(state)} class={`state ${kind}`}>
            {counted(count, "key")} {count === 1 ? say : say.replace(/^expires/, "expire").replace(/^is/, "are")}
          </a>
        </li>
      ))}
    </ul>
  );
}

interface FilterProps {
  keys: readonly StatedKey[];
  projects: readonly Project[];
  state: StateChoice;
  project: string | undefined;
}

const Filters = ({ keys, projects, state, project }: FilterProps) => (
  <div class="list-filters">
    <SearchField label="Search keys" placeholder="Name, hint, ID, tag or model" />
    <label>
      <span class="muted">Project</span>{" "}
      <select value={project ?? ""} onChange={(event) => setQuery({ project: event.currentTarget.value })}>
        <option value="">all</option>
        {projects.map(({ id, name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </select>
    </label>
    <label>
      <span class="muted">State</span>{" "}
      <select
        value={state}
        onChange={({ currentTarget: { value } }) => setQuery({ state: value === "working" ? undefined : value })}
      >
        <option value="working">not ended ({whole(countOf(keys, "working"))})</option>
        {STATE_CHOICE_NAMES.map((name) => (
          <option key={name} value={name}>
            {STATE_CHOICES[name].name} ({whole(countOf(keys, name))})
          </option>
        ))}
        <option value="all">all ({whole(keys.length)})</option>
      </select>
    </label>
  </div>
);

/** Which filter finds nothing, and how to remove it. */
const NothingFits = ({ text, project, state }: { text: string; project: string | undefined; state: StateChoice }) => (
  <Empty title="No key fits">
    <p>
      No key {text !== "" && <>matches “{text}”</>}
      {project !== undefined && <> in the project {project}</>}
      {state !== "all" && state !== "working" && <> with the state “{STATE_CHOICES[state].name}”</>}
      {state === "working" && " that has not ended"}.
    </p>
    <p>
      <button type="button" onClick={() => setQuery({ text: undefined, project: undefined, state: "all" })}>
        Show all keys
      </button>
    </p>
  </Empty>
);

export function Keys() {
  const { query } = place.value;
  const [part, setPart] = useState<KeyList | undefined>(undefined);
  const keys = useData("keys", (abort) => allKeys(abort, setPart));
  const projects = useData("projects", (abort) => ask<Page<Project>>("/api/projects", { limit: 500 }, abort));
  const [open, setOpen] = useState<{ item: Key; act: KeyAct } | undefined>(undefined);
  const [isCreating, setCreating] = useState(false);
  const mayChange = session.value?.role !== "viewer";
  const close = () => {
    setOpen(undefined);
    setCreating(false);
  };
  const list = keys.data ?? part;
  const known = projects.data?.data ?? [];
  const stated = useMemo((): StatedKey[] => {
    const suspended = new Set(known.filter(({ status }) => status === "suspended").map(({ id }) => id));
    const nowMs = Date.now();
    return inOrder(
      (list?.keys ?? []).map((key) => ({ key, states: statesOf(key, suspended.has(key.project), nowMs) })),
    );
  }, [list, projects.data]);
  const state = readStateChoice(query);
  const project = query.get("project") ?? undefined;
  const text = query.get("text") ?? "";
  const shown = useMemo(() => filterKeys(stated, { text, project, state }), [stated, text, project, state]);
  const names = new Map(known.map(({ id, name }) => [id, name]));
  const columns = keyColumns({
    seesCalls: session.value?.role !== "project",
    nameOfProject: (id) => names.get(id) ?? id,
    onAct: mayChange ? (item, act) => setOpen({ item, act }) : undefined,
  });
  return (
    <>
      <PageHead title="Keys">
        <SavedViews />
        {mayChange && (
          <button type="button" class="main" onClick={() => setCreating(true)}>
            <Icon name="plus" size={15} /> Create key
          </button>
        )}
      </PageHead>
      <Loaded of={{ ...keys, data: list }} rows={12}>
        {({ isComplete }) =>
          stated.length === 0 ? (
            <Empty title="No keys">
              <p>
                Clients need an API key to call models. Each key has its own limits, budgets and history. Create one
                here, or with <code>trivium keys create NAME</code>.
              </p>
            </Empty>
          ) : (
            <>
              <Attention keys={stated} />
              <Filters keys={stated} projects={known} state={state} project={project} />
              {shown.length === 0 ? (
                <NothingFits text={text} project={project} state={state} />
              ) : (
                <DataTable
                  label="Keys"
                  class="keys"
                  rows={shown}
                  keyOf={({ key }) => key.id}
                  columns={columns}
                  addressOf={({ key }) => `/keys/${encodeURIComponent(key.id)}`}
                />
              )}
              <p class="list-foot" role="status">
                {shown.length === stated.length
                  ? counted(stated.length, "key")
                  : `${whole(shown.length)} of ${counted(stated.length, "key")}`}
                {isComplete
                  ? "."
                  : keys.loading
                    ? "; more are being loaded."
                    : "; there are more, which this list does not load."}{" "}
                {query.get("sort") === null && "Those that need attention come first, then those that spend most. "}
                Today and this month are days and months of UTC, as budgets are.
              </p>
            </>
          )
        }
      </Loaded>
      {isCreating && <CreateKey projects={known} project={project} onDone={keys.reload} onClose={close} />}
      {open && <KeyActDialog item={open.item} act={open.act} onDone={keys.reload} onClose={close} />}
    </>
  );
}
