import { useState } from "preact/hooks";
import { ask, session } from "../api/client.ts";
import type { Page, Project } from "../api/types.ts";
import { ago, full } from "../format/time.ts";
import { allKeys, type KeyList } from "../keys/all-keys.ts";
import { BudgetsPanel } from "../keys/budgets-panel.tsx";
import { useEscapeTo } from "../keys/escape.ts";
import { keyColumns } from "../keys/key-columns.tsx";
import { keyAddress } from "../keys/key-menu.ts";
import { inOrder } from "../keys/key-order.ts";
import { statesOf } from "../keys/key-state.ts";
import { Members } from "../keys/members.tsx";
import { OwnerSpend } from "../keys/owner-spend.tsx";
import { ProjectForm } from "../keys/project-form.tsx";
import { Empty, PageHead, State } from "../parts/basics.tsx";
import { CopyLink } from "../parts/copy-link.tsx";
import { DataTable } from "../parts/data-table.tsx";
import { callsWith } from "../parts/filter-bar.tsx";
import { Icon } from "../parts/icon.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { RangeChoice } from "../parts/range-choice.tsx";
import { useData } from "../parts/use-data.ts";
import { budgetsOf } from "../state/budgets.ts";
import { forecastOf } from "../state/forecast.ts";
import { rateWords } from "../state/limits.ts";
import { nameOfKey } from "../state/names.ts";
import { readRange } from "../state/range.ts";
import { place } from "../state/router.ts";

const Keys = ({ list, project }: { list: KeyList; project: Project }) => {
  const nowMs = Date.now();
  const keys = list.keys.filter((key) => key.project === project.id && key.state === "active");
  const isSuspended = project.status === "suspended";
  const columns = keyColumns({ seesCalls: true, nameOfProject: () => project.name, onAct: undefined });
  if (keys.length === 0) return <p class="muted">No key of this project works.</p>;
  return (
    <>
      <DataTable
        label="Keys of this project"
        class="keys"
        rows={inOrder(keys.map((key) => ({ key, states: statesOf(key, isSuspended, nowMs) })))}
        keyOf={({ key }) => key.id}
        columns={columns.filter(({ id }) => id !== "project" && id !== "acts")}
        addressOf={({ key }) => keyAddress(key.id)}
      />
      <p class="list-foot">
        <a href={`/keys?${new URLSearchParams({ project: project.id, state: "all" })}`}>
          All its keys, also revoked and expired ones
        </a>
      </p>
    </>
  );
};

interface ShownProps {
  item: Project;
  reload: () => void;
}

function Shown({ item, reload }: ShownProps) {
  const [isEditing, setEditing] = useState(false);
  const keys = useData("keys", (abort) => allKeys(abort));
  const range = readRange(place.value.query, Date.now(), "30d");
  const budgets = budgetsOf(item);
  const role = session.value?.role;
  const rates = rateWords(item.limits);
  return (
    <>
      <p class="crumb">
        <a href="/projects">
          <Icon name="back" size={14} /> Projects
        </a>
      </p>
      <PageHead title={item.name}>
        {role !== "project" && (
          <a class="button" href={callsWith({ project: item.id }, "30d")}>
            View calls
          </a>
        )}
        {role === "admin" && item.from === "storage" && (
          <button type="button" onClick={() => setEditing(true)}>
            Edit
          </button>
        )}
      </PageHead>
      <div class="key-state">
        <State kind={item.status === "active" ? "good" : "warn"}>{item.status}</State>
        <p class="lead key-lead muted">
          <code>{item.id}</code>
          {item.created_at === null ? (
            <span>named by keys of the configuration file</span>
          ) : (
            <span title={full(item.created_at)}>created {ago(item.created_at)}</span>
          )}
          <span>{rates === "" ? "no rate limits" : rates}</span>
          {item.objects === "private" && <span>objects are private to each key</span>}
        </p>
      </div>
      <section class="group">
        <h2>Budgets</h2>
        {budgets.length === 0 ? (
          <p class="muted">This project has no budget. Its keys may have their own.</p>
        ) : (
          <BudgetsPanel
            rows={budgets.map((budget) => ({
              whose: "all its keys together",
              owner: { project: item.id },
              budget,
              forecast: forecastOf(item.budgets, budget),
            }))}
          />
        )}
      </section>
      <section class="group">
        <h2>Keys</h2>
        <Loaded of={keys}>{(list) => <Keys list={list} project={item} />}</Loaded>
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
        <OwnerSpend owner={{ project: item.id }} range={range} nameOfKey={nameOfKey} />
      </section>
      <Members project={item.id} />
      {isEditing && <ProjectForm item={item} onDone={reload} onClose={() => setEditing(false)} />}
    </>
  );
}

/** Everything about one project: its budgets, its keys, what they spend, and who is in it. */
export function OneProject() {
  const id = decodeURIComponent(place.value.path.split("/")[2] ?? "");
  // The list has the spending, which the project by itself does not have.
  const loaded = useData(`project ${id}`, async (abort) => {
    const { data } = await ask<Page<Project>>("/api/projects", { limit: 500 }, abort);
    return { project: data.find((one) => one.id === id) };
  });
  useEscapeTo("/projects");
  return (
    <>
      {loaded.data?.project === undefined && <PageHead title="Project" />}
      <Loaded of={loaded} rows={10}>
        {({ project }) =>
          project === undefined ? (
            <Empty title="No such project">
              <p>
                No project has the ID {id}. <a href="/projects">Show all projects</a>
              </p>
            </Empty>
          ) : (
            <Shown key={project.id} item={project} reload={loaded.reload} />
          )
        }
      </Loaded>
    </>
  );
}
