import { number, text } from "./columns.ts";
import type { Queries } from "./storage.ts";

interface StoredProject {
  name: string;
  createdAtMs: number;
}

/** Makes the project where there is none of that name. */
export async function insertProject(queries: Queries, project: StoredProject): Promise<void> {
  await queries.query("INSERT INTO projects (name, created_at_ms) VALUES (?, ?) ON CONFLICT (name) DO NOTHING", [
    project.name,
    project.createdAtMs,
  ]);
}

export async function selectProjects(queries: Queries): Promise<StoredProject[]> {
  const rows = await queries.query("SELECT name, created_at_ms FROM projects ORDER BY name");
  return rows.map((row) => ({ name: text(row, "name"), createdAtMs: number(row, "created_at_ms") }));
}
