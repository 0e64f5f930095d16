import { recordAct } from "../../access/audit.ts";
import { AnswerCache } from "../../answers/answer-cache.ts";
import { system } from "../../base/system.ts";
import type { Storage } from "../../storage/storage.ts";
import { COMMAND_LINE } from "../actor.ts";
import { atGateway, GATEWAY_FLAGS } from "../at-gateway.ts";
import { EXIT, printJson, printTable, UsageError } from "../command.ts";
import { withStorage } from "../with-storage.ts";
import { defineVerb, withVerbs } from "../with-verbs.ts";

const PROJECT_FLAG = { type: "string", value: "P", about: "project whose keys share the cache" } as const;

interface Shown {
  project: string;
  entries: number;
  bytes: number;
  oldest_at: string | null;
}

const cacheIn = (storage: Storage): AnswerCache =>
  new AnswerCache({ storage, clock: system.clock, sealer: undefined, onProblem: () => {} });

const pathOf = (project: string): string => `/api/projects/${encodeURIComponent(project)}/cache`;

function named(project: string | undefined): string {
  if (!project) throw new UsageError("Missing project. Pass --project P.");
  return project;
}

const show = defineVerb({
  name: "show",
  usage: "--project P",
  summary: "show the number, size and age of a project's cached responses",
  flags: { project: PROJECT_FLAG, ...GATEWAY_FLAGS },
  run: async ({ values }) => {
    const project = named(values.project);
    const shown = await atGateway(
      values,
      async (client) => (await client.read(pathOf(project))) as Shown,
      () =>
        withStorage(values.config, async (storage): Promise<Shown> => {
          const { entries, bytes, oldestMs } = await cacheIn(storage).sums(project);
          return {
            project,
            entries,
            bytes,
            oldest_at: oldestMs === undefined ? null : new Date(oldestMs).toISOString(),
          };
        }),
    );
    if (values.json) printJson(shown);
    else {
      const { entries, bytes, oldest_at } = shown;
      printTable(
        ["project", "entries", "bytes", "oldest"],
        [[project, String(entries), String(bytes), oldest_at ?? "-"]],
      );
    }
    return EXIT.ok;
  },
});

const clear = defineVerb({
  name: "clear",
  usage: "--project P",
  summary: "delete all cached responses of a project",
  flags: { project: PROJECT_FLAG, ...GATEWAY_FLAGS },
  run: async ({ values }) => {
    const project = named(values.project);
    const cleared = await atGateway(
      values,
      async (client) => (await client.change("DELETE", pathOf(project))) as { deleted: number },
      () =>
        withStorage(values.config, async (storage) => {
          const deleted = await cacheIn(storage).clear(project);
          const act = { ...COMMAND_LINE, act: "cache.clear", target: project, project, after: { deleted } };
          await recordAct(storage, act, system);
          return { deleted };
        }),
    );
    if (values.json) printJson({ project, deleted: cleared.deleted });
    else console.log(`Deleted ${cleared.deleted} cached responses of ${project}.`);
    return EXIT.ok;
  },
});

export const cache = withVerbs([show, clear]);
