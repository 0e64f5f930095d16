import { configuredKeys } from "../access/configured-keys.ts";
import { type KeyView, keyView } from "../access/key-view.ts";
import { listKeys } from "../access/keys.ts";
import { staticKeys } from "../app/static-keys.ts";
import { withoutAbsent } from "../base/without-absent.ts";
import { type Spent, spentByOwner } from "../ledger/queries.ts";
import { atGateway, GATEWAY_FLAGS } from "./at-gateway.ts";
import { defineCommand, EXIT, printJson, printTable } from "./command.ts";
import { withStorage } from "./with-storage.ts";

const NOTHING: Spent = { day: 0, month: 0, total: 0 };
const MOST_LISTED = 100_000;
const SPENT = ["today", "month", "total"];
const HEADER = ["id", "name", "project", "key", "models", "tags", "limits", ...SPENT, "made", "used", "state"];

export const listKeysCommand = defineCommand({
  name: "keys list",
  usage: "[--project P]",
  summary: "list keys (secrets hidden) with their limits and what they have spent, in US dollars",
  flags: { project: { type: "string", value: "P", about: "only keys of this project" }, ...GATEWAY_FLAGS },
  run: async ({ values }) => {
    const filter = withoutAbsent({ project: values.project });
    const found = await atGateway(
      values,
      async (client) => (await client.list<OfGateway>("/api/keys", filter, MOST_LISTED)).map(ofGateway),
      () =>
        withStorage(values.config, async (storage, config): Promise<ListedKey[]> => {
          const { byKey: spent } = await spentByOwner(storage, Date.now());
          const configured = configuredKeys(staticKeys(config)).filter(
            ({ project }) => project === (values.project ?? project),
          );
          const stored = (await listKeys(storage, filter)).map((key) => keyView(key));
          return [...configured, ...stored].map((key) => ({ ...key, ...spendView(spent.get(key.id) ?? NOTHING) }));
        }),
    );
    if (values.json) printJson(found);
    else printTable(HEADER, found.map(row));
    return EXIT.ok;
  },
});

interface ListedKey extends KeyView {
  /** US dollars in the current UTC day and month, and in total. */
  spent_usd: Record<keyof Spent, number>;
}

type OfGateway = KeyView & { spent_nano_usd: Spent };

const ofGateway = ({ spent_nano_usd, ...key }: OfGateway): ListedKey => ({
  ...key,
  ...spendView(spent_nano_usd),
});

const spendView = ({ day, month, total }: Spent): Pick<ListedKey, "spent_usd"> => ({
  spent_usd: { day: day / 1e9, month: month / 1e9, total: total / 1e9 },
});

function row({ id, name, project, hint, models, tags, limits, spent_usd, ...key }: ListedKey): string[] {
  const state = key.revoked_at !== null ? "revoked" : isExpired(key) ? "expired" : "valid";
  const shown = Object.entries(limits).map(([limit, value]) => `${limit}=${value}`);
  const spent = [spent_usd.day, spent_usd.month, spent_usd.total].map((usd) => usd.toFixed(4));
  const used = key.last_used_at?.slice(0, 10) ?? (key.created_at === null ? "" : "never");
  const made = key.created_at === null ? "configured" : key.created_at.slice(0, 10);
  const about = [models.join(","), tags.join(","), shown.join(",") || "none"];
  return [id, name, project, `…${hint}`, ...about, ...spent, made, used, state];
}

const isExpired = ({ expires_at }: Pick<KeyView, "expires_at">) =>
  expires_at !== null && Date.parse(expires_at) <= Date.now();
