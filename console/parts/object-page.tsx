import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { ask, change, session } from "../api/client.ts";
import type { ObjectItem, Page } from "../api/types.ts";
import { ago, full } from "../format/time.ts";
import { place } from "../state/router.ts";
import { Empty, PageHead } from "./basics.tsx";
import { type Column, DataTable } from "./data-table.tsx";
import { Dialog } from "./dialog.tsx";
import { FormProblem, useSending } from "./key-forms.tsx";
import { Loaded } from "./loaded.tsx";
import { ownerColumn } from "./owner-column.tsx";
import { OwnerFilter, ownerFilter } from "./owner-filter.tsx";
import { Pager } from "./pager.tsx";
import { TwoLines } from "./two-lines.tsx";
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
  columns: readonly {
    name: string;
    isNumber?: true;
    room?: Column<ObjectItem>["room"];
    cell: (item: ObjectItem) => ComponentChildren;
  }[];
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

const columnsOf = (
  { path, columns }: ShownObjects,
  onDelete: ((item: ObjectItem) => void) | undefined,
): Column<ObjectItem>[] => [
  {
    id: "name",
    title: "Name",
    cell: ({ name, id }) => (
      <TwoLines of={name || <span class="muted">no name</span>} below={id} title={name ? `${name}, ${id}` : id} />
    ),
  },
  {
    id: "created",
    title: "Created",
    cell: ({ created_at, expires_at }) => (
      <TwoLines
        of={ago(created_at)}
        below={expires_at === null ? "no expiry" : `expires ${ago(expires_at)}`}
        title={`${full(created_at)}${expires_at === null ? "" : `, expires ${full(expires_at)}`}`}
      />
    ),
  },
  ...columns.map(
    ({ name, isNumber, room, cell }): Column<ObjectItem> => ({
      id: name,
      title: name,
      ...(isNumber ? { kind: "number" } : {}),
      ...(room === undefined ? {} : { room }),
      cell,
    }),
  ),
  ownerColumn<ObjectItem>(path),
  {
    id: "sharing",
    title: "Visible to",
    room: 1100,
    cell: ({ objects }) => (objects === "private" ? "only its key" : "its project"),
  },
  {
    id: "acts",
    title: "Actions",
    kind: "acts",
    cell: (item) =>
      onDelete !== undefined && (
        <button
          type="button"
          class="quiet danger"
          onClick={() => onDelete(item)}
          aria-label={`Delete ${item.name || item.id}`}
        >
          Delete
        </button>
      ),
  },
];

/** A page of objects of one kind, which operators can delete but not read. */
export function ObjectPage({ shown }: { shown: ShownObjects }) {
  const { kind, path, noun, title } = shown;
  const after = place.value.query.get("after") ?? undefined;
  const filter = ownerFilter();
  const [deleting, setDeleting] = useState<ObjectItem | undefined>(undefined);
  const loaded = useData(JSON.stringify([kind, filter, after]), (abort) =>
    ask<Page<ObjectItem>>("/api/objects", { kind, limit: PAGE_SIZE, ...filter, after }, abort),
  );
  const mayDelete = session.value?.role !== "viewer";
  const isNarrowed = Object.keys(filter).length > 0 || after !== undefined;
  return (
    <>
      <PageHead title={title} />
      <OwnerFilter />
      <Loaded of={loaded}>
        {(page) =>
          page.data.length > 0 ? (
            <>
              <DataTable
                label={title}
                rows={page.data}
                keyOf={({ id }) => id}
                columns={columnsOf(shown, mayDelete ? setDeleting : undefined)}
              />
              <Pager page={page} of={`${noun}s`} />
            </>
          ) : isNarrowed ? (
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
        }
      </Loaded>
      {deleting && (
        <DeleteObject item={deleting} shown={shown} onDone={loaded.reload} onClose={() => setDeleting(undefined)} />
      )}
    </>
  );
}
