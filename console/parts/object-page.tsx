import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { ask, change, session } from "../api/client.ts";
import type { ObjectItem, Page } from "../api/types.ts";
import { ago, full } from "../format/time.ts";
import { place } from "../state/router.ts";
import { Empty, PageHead, Problem, Waiting } from "./basics.tsx";
import { Dialog } from "./dialog.tsx";
import { FormProblem, useSending } from "./key-forms.tsx";
import { OwnerCells, OwnerFilter, ownerFilter } from "./owner-filter.tsx";
import { Pager } from "./pager.tsx";
import { useData } from "./use-data.ts";

const PAGE_SIZE = 50;

/** A kind of objects that clients have created, as its page shows it. */
interface ShownObjects {
  kind: ObjectItem["kind"];
  /** The path of the page. */
  path: string;
  /** What one of them is called. */
  noun: string;
  title: string;
  /** Between the time of creation and the owner. */
  columns: readonly { name: string; isNumber?: true; cell: (item: ObjectItem) => ComponentChildren }[];
  /** What a deletion leads to. */
  effect: string;
  /** Shown if there are none. */
  about: string;
}

function DeleteObject({
  item,
  shown: { noun, effect },
  onDone,
  onClose,
}: {
  item: ObjectItem;
  shown: ShownObjects;
  onDone: () => void;
  onClose: () => void;
}) {
  const { submit, error, busy } = useSending(
    () => change("DELETE", `/api/objects/${encodeURIComponent(item.id)}`),
    () => {
      onDone();
      onClose();
    },
  );
  return (
    <Dialog title={`Delete ${noun}`} onClose={onClose}>
      <form onSubmit={submit}>
        <p>
          <strong>{item.name || item.id}</strong> of the project {item.project} will be deleted. {effect}
        </p>
        <FormProblem error={error} />
        <footer>
          <button type="button" onClick={onClose}>
            Keep it
          </button>
          <button type="submit" class="danger main" disabled={busy}>
            Delete {noun}
          </button>
        </footer>
      </form>
    </Dialog>
  );
}

const Row = ({
  item,
  shown: { path, columns },
  onDelete,
}: {
  item: ObjectItem;
  shown: ShownObjects;
  onDelete: (() => void) | undefined;
}) => (
  <tr>
    <th scope="row" class="name" title={item.name ?? undefined}>
      {item.name || <span class="muted">no name</span>}
      <span class="muted small block">{item.id}</span>
    </th>
    <td title={full(item.created_at)}>{ago(item.created_at)}</td>
    {columns.map(({ name, isNumber, cell }) => (
      <td key={name} class={isNumber ? "number" : undefined}>
        {cell(item)}
      </td>
    ))}
    <OwnerCells path={path} project={item.project} name={item.key} />
    <td>{item.objects === "private" ? "only its key" : "its project"}</td>
    <td>{item.expires_at === null ? <span class="muted">never</span> : ago(item.expires_at)}</td>
    <td class="acts">
      {onDelete !== undefined && (
        <button type="button" class="quiet danger" onClick={onDelete} aria-label={`Delete ${item.name || item.id}`}>
          Delete
        </button>
      )}
    </td>
  </tr>
);

/** A page of objects of one kind, which operators can delete but not read. */
export function ObjectPage({ shown }: { shown: ShownObjects }) {
  const { kind, path, noun, title, columns } = shown;
  const after = place.value.query.get("after") ?? undefined;
  const filter = ownerFilter();
  const [deleting, setDeleting] = useState<ObjectItem | undefined>(undefined);
  const { data, error, reload } = useData(JSON.stringify([kind, filter, after]), (abort) =>
    ask<Page<ObjectItem>>("/api/objects", { kind, limit: PAGE_SIZE, ...filter, after }, abort),
  );
  const mayDelete = session.value?.role !== "viewer";
  const isNarrowed = Object.keys(filter).length > 0 || after !== undefined;
  return (
    <>
      <PageHead title={title} />
      <OwnerFilter />
      {error && <Problem error={error} retry={reload} />}
      {data === undefined ? (
        !error && <Waiting />
      ) : data.data.length === 0 ? (
        isNarrowed ? (
          <Empty title={`No matching ${noun}s`}>
            <p>
              They may have expired or been deleted. <a href={path}>Clear the filter</a>
            </p>
          </Empty>
        ) : (
          <Empty title={`No ${noun}s`}>
            <p>{shown.about}</p>
          </Empty>
        )
      ) : (
        <>
          <section class="wide" tabIndex={0} aria-label={`${title} table`}>
            <table class="list">
              <thead>
                <tr>
                  <th scope="col">Name</th>
                  <th scope="col">Created</th>
                  {columns.map(({ name, isNumber }) => (
                    <th key={name} scope="col" class={isNumber ? "number" : undefined}>
                      {name}
                    </th>
                  ))}
                  <th scope="col">Project</th>
                  <th scope="col">Key</th>
                  <th scope="col">Visible to</th>
                  <th scope="col">Expires</th>
                  <th scope="col">
                    <span class="unseen">Actions</span>
                  </th>
                </tr>
              </thead>
              <tbody>
                {data.data.map((item) => (
                  <Row
                    key={item.id}
                    item={item}
                    shown={shown}
                    onDelete={mayDelete ? () => setDeleting(item) : undefined}
                  />
                ))}
              </tbody>
            </table>
          </section>
          <Pager page={data} of={`${noun}s`} />
        </>
      )}
      {deleting && (
        <DeleteObject item={deleting} shown={shown} onDone={reload} onClose={() => setDeleting(undefined)} />
      )}
    </>
  );
}
