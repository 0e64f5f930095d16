import { listProjects, type ProjectView, projectView } from "../access/projects.ts";
import { type Spent, spentByOwner } from "../ledger/queries.ts";
import { defineCommand, EXIT, printJson, printTable } from "./command.ts";
import { withStorage } from "./with-storage.ts";

const NOTHING: Spent = { day: 0, month: 0, total: 0 };
const HEADER = ["id", "name", "limits", "today", "month", "total", "made", "status"];

interface ListedProject extends ProjectView {
  /** US dollars in the current UTC day and month, and in total. */
  spent_usd: Record<keyof Spent, number>;
}

export const listProjectsCommand = defineCommand({
  name: "projects list",
  usage: "",
  summary: "list projects with their limits and what their keys have spent, in US dollars",
  flags: {},
  run: async ({ values }) => {
    const found = await withStorage(values.config, async (storage): Promise<ListedProject[]> => {
      const { byProject } = await spentByOwner(storage, Date.now());
      return (await listProjects(storage)).map((project) => {
        const { day, month, total } = byProject.get(project.id) ?? NOTHING;
        return { ...projectView(project), spent_usd: { day: day / 1e9, month: month / 1e9, total: total / 1e9 } };
      });
    });
    if (values.json) printJson(found);
    else printTable(HEADER, found.map(row));
    return EXIT.ok;
  },
});

function row({ id, name, limits, spent_usd, created_at, status }: ListedProject): string[] {
  const shown = Object.entries(limits).map(([limit, value]) => `${limit}=${value}`);
  const spent = [spent_usd.day, spent_usd.month, spent_usd.total].map((usd) => usd.toFixed(4));
  return [id, name, shown.join(",") || "none", ...spent, created_at.slice(0, 10), status];
}
