import { useState } from "preact/hooks";
import { ask, session } from "../api/client.ts";
import type { Act, Key, ListedKey, Page, Project, ShownKey } from "../api/types.ts";
import { ago, full } from "../format/time.ts";
import { ActList } from "../keys/act-list.tsx";
import { allKeys } from "../keys/all-keys.ts";
import { type BudgetRow, BudgetsPanel } from "../keys/budgets-panel.tsx";
import { useEscapeTo } from "../keys/escape.ts";
import { KeyActDialog } from "../keys/key-acts.tsx";
import { keyColumns } from "../keys/key-columns.tsx";
import { EditGroup } from "../keys/key-dialogs.tsx";
import type { Group } from "../keys/key-input.ts";
import { type KeyAct, keyAddress } from "../keys/key-menu.ts";
import type { Heritage } from "../keys/key-settings.ts";
import { type KeyState, statesOf } from "../keys/key-state.ts";
import { LastCalls } from "../keys/last-calls.tsx";
import { OwnerSpend } from "../keys/owner-spend.tsx";
import { projectAddress } from "../keys/project-menu.ts";
import { SettingsPanel } from "../keys/settings-panel.tsx";
import { CopyButton, Empty, PageHead, State } from "../parts/basics.tsx";
import { CopyLink } from "../parts/copy-link.tsx";
import { DataTable } from "../parts/data-table.tsx";
import { callsWith } from "../parts/filter-bar.tsx";
import { Icon } from "../parts/icon.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { RangeChoice } from "../parts/range-choice.tsx";
import { useData } from "../parts/use-data.ts";
import { actorOf } from "../state/audit-words.ts";
import { budgetsOf } from "../state/budgets.ts";
import { forecastOf } from "../state/forecast.ts";
import { nameOfKey } from "../state/names.ts";
import { readRange } from "../state/range.ts";
import { place } from "../state/router.ts";

interface Around extends Heritage {
  children: readonly ListedKey[];
  /** What the audit log says of its creation. */
  created: Act | undefined;
}

interface Config {
  data: { values: NonNullable<Heritage["gateway"]> };
}

const oneKey = (id: string, abort: AbortSignal) =>
  ask<{ data: ShownKey }>(keyAddress(id).replace("/", "/api/"), {}, abort);

/** What the key inherits from, and the keys it made. What this reader may not see is left out. */
async function aroundOf({ id, made_by, project, scopes }: Key, abort: AbortSignal): Promise<Around> {
  const left = () => undefined;
  const isOperator = session.value?.role !== "project";
  const [parent, projects, gateway, keys, acts] = await Promise.all([
    made_by === null ? undefined : oneKey(made_by, abort).catch(left),
    ask<Page<Project>>("/api/projects", { limit: 500 }, abort).catch(left),
    isOperator ? ask<Config>("/api/config", {}, abort).catch(left) : undefined,
    scopes.includes("keys:create") ? allKeys(abort).catch(left) : undefined,
    isOperator
      ? ask<Page<Act>>("/api/audit", { target: id, act: "key.create", limit: 1 }, abort).catch(left)
      : undefined,
  ]);
  return {
    parent: parent?.data,
    project: projects?.data.find((one) => one.id === project),
    gateway: gateway?.data.values,
    children: keys?.keys.filter((key) => key.made_by === id) ?? [],
    created: acts?.data[0],
  };
}

interface Spender extends Pick<Project, "limits" | "spent_nano_usd" | "budgets"> {
  id: string;
}

const budgetsFor = (spender: Spender, row: Pick<BudgetRow, "whose" | "href" | "owner">): BudgetRow[] =>
  budgetsOf(spender).map((budget) => ({ ...row, budget, forecast: forecastOf(spender.budgets, budget) }));

/** The budgets of the key, of its parent and of its project: each can end its calls. */
function budgetRows(key: ShownKey, { parent, project }: Heritage): BudgetRow[] {
  const rows = budgetsFor(key, { whose: "this key", owner: { key: key.id } });
  if (parent !== undefined) {
    const row = { whose: `parent key ${parent.name}`, href: keyAddress(parent.id), owner: { key: parent.id } };
    rows.push(...budgetsFor(parent, row));
  }
  if (project !== undefined) {
    const { id, name } = project;
    rows.push(...budgetsFor(project, { whose: `project ${name}`, href: projectAddress(id), owner: { project: id } }));
  }
  return rows;
}

const Facts = ({ item, around }: { item: ShownKey; around: Around | undefined }) => (
  <p class="lead key-lead muted">
    <span>
      …<code>{item.hint}</code>
    </span>
    <span>
      project <a href={`/projects/${encodeURIComponent(item.project)}`}>{around?.project?.name ?? item.project}</a>
    </span>
    {item.from === "file" ? (
      <span>from the configuration file: change it there</span>
    ) : (
      item.created_at !== null && (
        <span title={full(item.created_at)}>
          created {ago(item.created_at)}
          {around?.created !== undefined && item.made_by === null && ` by ${actorOf(around.created.who, nameOfKey)}`}
        </span>
      )
    )}
    {item.made_by !== null && (
      <span>
        made by the key <a href={keyAddress(item.made_by)}>{around?.parent?.name ?? nameOfKey(item.made_by)}</a>
      </span>
    )}
    <span title={item.last_used_at === null ? undefined : full(item.last_used_at)}>
      {item.last_used_at === null
        ? item.from === "file"
          ? "last use is not recorded"
          : "never used"
        : `last used ${ago(item.last_used_at)}`}
    </span>
    <span>
      <code>{item.id}</code> <CopyButton text={item.id} label="Copy ID" />
    </span>
  </p>
);

/** The reasons for a state that is not simply active. */
const Reasons = ({ states }: { states: readonly KeyState[] }) => {
  const shown = states.filter(({ name }) => name !== "active");
  if (shown.length === 0) return null;
  return (
    <ul class="reasons-list" aria-label="State">
      {shown.map(({ name, kind, why }) => (
        <li key={name} class={`reason ${kind}`}>
          {why}
        </li>
      ))}
    </ul>
  );
};

function History({ keyId }: { keyId: string }) {
  const loaded = useData(keyId, (abort) => ask<Page<Act>>("/api/audit", { target: keyId, limit: 20 }, abort));
  return (
    <section class="group">
      <h2>History</h2>
      <Loaded of={loaded} rows={3}>
        {({ data, next }) =>
          data.length === 0 ? (
            <p class="muted">Nobody has changed this key.</p>
          ) : (
            <>
              <ActList acts={data} />
              {next !== null && (
                <p class="list-foot">
                  <a href={`/audit?target=${encodeURIComponent(keyId)}`}>All changes of this key</a>
                </p>
              )}
            </>
          )
        }
      </Loaded>
    </section>
  );
}

function Children({ keys }: { keys: readonly ListedKey[] }) {
  const nowMs = Date.now();
  const columns = keyColumns({ seesCalls: true, nameOfProject: (id) => id, onAct: undefined });
  const shown = columns.filter(({ id }) => id !== "acts" && id !== "project");
  return (
    <section class="group">
      <h2>Child keys</h2>
      {keys.length === 0 ? (
        <p class="muted">It may create child keys, and has none.</p>
      ) : (
        <DataTable
          label="Child keys"
          class="keys"
          rows={keys.map((key) => ({ key, states: statesOf(key, false, nowMs) }))}
          keyOf={({ key }) => key.id}
          columns={shown.map(({ sortBy: _, ...column }) => column)}
          addressOf={({ key }) => keyAddress(key.id)}
        />
      )}
    </section>
  );
}

type Open = { act: KeyAct } | { group: Group };

interface ShownProps {
  item: ShownKey;
  around: Around | undefined;
  reload: () => void;
}

function Shown({ item, around, reload }: ShownProps) {
  const [open, setOpen] = useState<Open | undefined>(undefined);
  const range = readRange(place.value.query, Date.now(), "30d");
  const isSuspended = around?.project?.status === "suspended";
  const states = statesOf(item, isSuspended, Date.now());
  const [state] = states;
  const role = session.value?.role;
  const mayChange = role !== "viewer" && item.from === "storage" && item.revoked_at === null;
  const heritage: Heritage = around ?? {};
  const rows = budgetRows(item, heritage);
  const close = () => setOpen(undefined);
  return (
    <>
      <p class="crumb">
        <a href="/keys">
          <Icon name="back" size={14} /> Keys
        </a>
      </p>
      <PageHead title={item.name}>
        {role !== "project" && (
          <a class="button" href={callsWith({ key: item.id }, "30d")}>
            View calls
          </a>
        )}
        {mayChange && (
          <>
            <button type="button" onClick={() => setOpen({ act: "rotate" })}>
              Rotate
            </button>
            <button type="button" class="danger" onClick={() => setOpen({ act: "revoke" })}>
              Revoke
            </button>
          </>
        )}
      </PageHead>
      <div class="key-state">
        {state && <State kind={state.kind}>{state.text}</State>}
        <Facts item={item} around={around} />
      </div>
      <Reasons states={states} />
      <section class="group">
        <h2>Budgets</h2>
        {rows.length === 0 ? (
          <p class="muted">No budget applies to this key: only the gateway's, if there is one.</p>
        ) : (
          <BudgetsPanel rows={rows} />
        )}
      </section>
      <section class="group" aria-label="Use">
        <div class="group-head">
          <h2>Use</h2>
          <span class="muted small">days of UTC, as budgets are</span>
          <div class="page-tools">
            <RangeChoice range={range} />
            <CopyLink usual="30d" />
          </div>
        </div>
        <OwnerSpend owner={{ key: item.id }} range={range} nameOfKey={nameOfKey} />
      </section>
      {role !== "project" && <LastCalls keyId={item.id} />}
      <SettingsPanel item={item} heritage={heritage} onEdit={mayChange ? (group) => setOpen({ group }) : undefined} />
      {item.scopes.includes("keys:create") && around !== undefined && <Children keys={around.children} />}
      {role !== "project" && item.from === "storage" && <History keyId={item.id} />}
      {open !== undefined && "act" in open && (
        <KeyActDialog item={item} act={open.act} onDone={reload} onClose={close} />
      )}
      {open !== undefined && "group" in open && (
        <EditGroup item={item} group={open.group} onDone={reload} onClose={close} />
      )}
    </>
  );
}

/** Everything about one key. */
export function OneKey() {
  const id = decodeURIComponent(place.value.path.split("/")[2] ?? "");
  const key = useData(`key ${id}`, (abort) => oneKey(id, abort));
  const item = key.data?.data;
  const around = useData(`around ${id} ${item?.project}`, (abort) =>
    item === undefined ? Promise.resolve(undefined) : aroundOf(item, abort),
  );
  useEscapeTo("/keys");
  const reload = () => {
    key.reload();
    around.reload();
  };
  return (
    <>
      {item === undefined && <PageHead title="Key" />}
      {key.error !== undefined && item === undefined && "status" in key.error && key.error.status === 404 ? (
        <Empty title="No such key">
          <p>
            {key.error.message} <a href="/keys?state=all">Show all keys</a>
          </p>
        </Empty>
      ) : (
        <Loaded of={key} rows={10}>
          {({ data }) => <Shown key={data.id} item={data} around={around.data} reload={reload} />}
        </Loaded>
      )}
    </>
  );
}
