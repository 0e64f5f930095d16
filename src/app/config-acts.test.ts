import { afterAll, describe, expect, test } from "bun:test";
import { testDatabases } from "../../testing/test-databases.ts";
import { listActs } from "../access/audit.ts";
import { system } from "../base/system.ts";
import { openStorage } from "../storage/open.ts";
import { ConfigRecord } from "./config-acts.ts";
import { readConfig } from "./read-config.ts";

const read = (sections: Record<string, unknown>) =>
  readConfig({ cwd: "/", environment: {}, text: JSON.stringify(sections) });

const provider = (more: object = {}) => ({ kind: "openai", api_key: "sk-first", ...more });

for (const databases of testDatabases("changes of the configuration")) {
  describe(`changes of the configuration in the audit log, on ${databases.engine}`, () => {
    afterAll(() => databases.clear());

    async function recorded(steps: (acts: ConfigRecord[]) => Promise<unknown>) {
      const storage = await openStorage(await databases.withTables(), system.clock);
      try {
        await steps([new ConfigRecord(storage, system), new ConfigRecord(storage, system)]);
        const { acts } = await listActs(storage, { act: "config.change" }, { limit: 100 });
        return acts.map(({ who, target, before, after }) => ({ who, target, before, after })).reverse();
      } finally {
        await storage.close();
      }
    }
    const start = { providers: { acme: provider() } };

    test("the first configuration is no change; providers, models and guards are, with old and new", async () => {
      const acts = await recorded(async ([one]) => {
        await one?.record(read(start), true);
        await one?.record(
          read({
            providers: { acme: provider({ base_url: "https://eu.example.com/v1" }), more: provider() },
            guards: [{ name: "pii", use: "pii", action: "redact" }],
          }),
          true,
        );
        await one?.record(read(start), true);
      });
      const of = (target: string) => acts.filter((act) => act.target === target);
      expect(acts).toHaveLength(6);
      expect(of("providers.acme")).toMatchObject([
        { who: "gateway", after: { base_url: "https://eu.example.com/v1" } },
        { before: { base_url: "https://eu.example.com/v1" } },
      ]);
      expect(of("providers.more")).toMatchObject([{ before: null }, { after: null }]);
      const guard = { name: "pii", use: "pii", action: "redact" };
      expect(of("guards.pii")).toMatchObject([
        { before: null, after: guard },
        { before: guard, after: null },
      ]);
    });

    test("another secret is a change, and is never shown", async () => {
      const acts = await recorded(async ([one]) => {
        await one?.record(read(start), true);
        await one?.record(read({ providers: { acme: provider({ api_key: "sk-second" }) } }), true);
      });
      expect(acts).toEqual([
        { who: "gateway", target: "providers.acme", before: expect.anything(), after: expect.anything() },
      ]);
      expect(JSON.stringify(acts)).toContain("[secret]");
      expect(JSON.stringify(acts)).not.toContain("sk-");
    });

    test("a change while no gateway ran is recorded at the start, and by one of several processes", async () => {
      const changed = read({ providers: { acme: provider({ max_concurrent: 3 }) } });
      const acts = await recorded(async ([one, other]) => {
        await one?.record(read(start), true);
        await Promise.all([other?.record(changed, true), one?.record(changed, false)]);
        await other?.record(changed, true);
      });
      expect(acts).toHaveLength(1);
      expect(acts[0]?.target).toBe("providers.acme");
    });

    test("where an instance runs is its own", async () => {
      const acts = await recorded(async ([one]) => {
        await one?.record(read({ server: { port: 1234 } }), true);
        await one?.record(read({ server: { port: 4321 }, data_dir: "/elsewhere" }), true);
      });
      expect(acts).toEqual([]);
    });
  });
}
