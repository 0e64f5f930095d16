import { listProjects, type ProjectView, projectView } from "../access/projects.ts";
import { type Spent, spentByOwner } from "../ledger/queries.ts";
import { atGateway, GATEWAY_FLAGS } from "./at-gateway.ts";
import { defineCommand, EXIT, printJson, printTable } from "./command.ts";
import { withStorage } from "./with-storage.ts";

const NOTHING: Spent = { day: 0, month: 0, total: 0 };
const MOST_LISTED = 100_000;
const HEADER = ["id", "name", "limits", "today", "month", "total", "made", "status"];

interface ListedProject extends ProjectView {
  /** US dollars in the current UTC day and month, and in total. */
  spent_usd: Record<keyof Spent, number>;
}

export const listProjectsCommand = defineCommand({
  name: "projects list",
  usage: "",
  summary: "list projects with their limits and what their keys have spent, in US dollars",
  flags: GATEWAY_FLAGS,
  run: async ({ values }) => {
    const found = await atGateway(
      values,
      async (client) => (await client.list<OfGateway>("/api/projects", {}, MOST_LISTED)).map(ofGateway),
      () =>
        withStorage(values.config, async (storage): Promise<ListedProject[]> => {
          const { byProject } = await spentByOwner(storage, Date.now());
          return (await listProjects(storage)).map((project) =>
            listed(projectView(project), byProject.get(project.id) ?? NOTHING),
          );
        }),
    );
    if (values.json) printJson(found);
    else printTable(HEADER, found.map(row));
    return EXIT.ok;
  },
});

const listed = (project: ProjectView, { day, month, total }: Spent): ListedProject => ({
  ...project,
  spent_usd: { day: day / 1e9, month: month / 1e9, total: total / 1e9 },
});

type OfGateway = ProjectView & { spent_nano_usd: Spent };

const ofGateway = ({ spent_nano_usd, ...project }: OfGateway): ListedProject => listed(project, spent_nano_usd);

function row({ id, name, limits, spent_usd, created_at, status }: ListedProject): string[] {
  const shown = Object.entries(limits).map(([limit, value]) => `${limit}=${value}`);
  const spent = [spent_usd.day, spent_usd.month, spent_usd.total].map((usd) => usd.toFixed(4));
  return [id, name, shown.join(",") || "none", ...spent, created_at?.slice(0, 10) ?? "configured", status];
}
