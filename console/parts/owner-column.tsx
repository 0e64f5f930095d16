import { nameOfKey, nameOfProject } from "../state/names.ts";
import type { Column } from "./data-table.tsx";
import { TwoLines } from "./two-lines.tsx";

interface Owned {
  project: string;
  key: string;
}

/** The key of an object over its project, as links that narrow the list to them. */
export const ownerColumn = <Row extends Owned>(path: string): Column<Row> => ({
  id: "owner",
  title: "Key",
  cell: ({ project, key }) => (
    <TwoLines
      of={
        <a class="cut" href={`${path}?${new URLSearchParams({ key })}`}>
          {nameOfKey(key)}
        </a>
      }
      below={<a href={`${path}?${new URLSearchParams({ project })}`}>{nameOfProject(project)}</a>}
      title={`${nameOfKey(key)}, project ${nameOfProject(project)}`}
    />
  ),
});
