import { nameOfKey } from "../state/names.ts";
import type { Column } from "./data-table.tsx";

interface Owned {
  project: string;
  key: string;
}

/** The project and the key of an object, as links that narrow the list to them. */
export const ownerColumns = <Row extends Owned>(path: string): Column<Row>[] => [
  {
    id: "project",
    title: "Project",
    cell: ({ project }) => (
      <a href={`${path}?${new URLSearchParams({ project })}`} title={project}>
        {project}
      </a>
    ),
  },
  {
    id: "key",
    title: "Key",
    cell: ({ key }) => (
      <a href={`${path}?${new URLSearchParams({ key })}`} title={nameOfKey(key)}>
        {nameOfKey(key)}
      </a>
    ),
  },
];
