import { once } from "node:events";
import { listKeys } from "../../access/keys.ts";
import { GatewayError } from "../../canon/error.ts";
import { completionTokens, promptTokens, type Usage } from "../../canon/usage.ts";
import { camelKeys } from "../../config/camel-keys.ts";
import { checkRollUps } from "../../ledger/check-roll-ups.ts";
import { EXPORT_FORMATS, exportReceipts } from "../../ledger/export.ts";
import { groupsOverlap, MAX_GROUPS, summariseUsage, totalUsage, type UsageTotal } from "../../ledger/queries.ts";
import { selectUnpricedUses } from "../../storage/receipts/unpriced-uses.ts";
import { USAGE_DIMENSIONS, type UsageDimension } from "../../storage/receipts/usage-question.ts";
import type { UsageSum } from "../../storage/receipts/usage-report.ts";
import { atGateway, GATEWAY_FLAGS } from "../at-gateway.ts";
import { bars } from "../bars.ts";
import {
  type Command,
  type CommandAbout,
  defineCommand,
  EXIT,
  isHelpFlag,
  printJson,
  printTable,
  UsageError,
} from "../command.ts";
import { checkOutput, writeOutput } from "../output-file.ts";
import { RANGE_FLAGS, readFilter, readRange, readZone } from "../usage-flags.ts";
import { withStorage } from "../with-storage.ts";
import { defineVerb, listVerbs, withVerbs } from "../with-verbs.ts";

const BAR_CELLS = 24;

const report = defineCommand({
  flags: {
    by: {
      type: "string",
      default: "model",
      value: "GROUP",
      about: `group by one or two of ${USAGE_DIMENSIONS.join(", ")}, such as day,model`,
    },
    ...RANGE_FLAGS,
    ...GATEWAY_FLAGS,
  },
  run: async ({ values }) => {
    const by = readDimensions(values.by);
    const zone = readZone(values);
    const range = readRange(values, zone, Date.now());
    const { sums, total, unpriced } = await atGateway(
      values,
      async (client): Promise<Shown> => {
        const [from, to] = [range.sinceMs, range.untilMs].map((ms) => new Date(ms).toISOString());
        const query = { by: by.join(","), from, to, zone: zone.name, ...readFilter(values, "key", "end_user") };
        const answer = await client.readAll("/api/usage", query);
        return {
          sums: (answer["data"] as unknown as GatewaySum[]).map((sum) => ({ groups: sum.groups, ...amountsOf(sum) })),
          total: amountsOf(answer["total"] as unknown as GatewayAmounts),
          unpriced: (answer["unpriced"] as string[] | undefined) ?? [],
        };
      },
      () =>
        withStorage(values.config, async (storage): Promise<Shown> => {
          const asked = { ...range, ...readFilter(values, "keyId", "endUser"), by, zone };
          const sums = await summariseUsage(storage, asked);
          const uses = await selectUnpricedUses(storage, {
            sinceMs: range.sinceMs,
            limit: 100,
            project: asked.project,
          });
          const unpriced = [...new Set(uses.map(({ name }) => name))];
          return { sums, total: await totalUsage(storage, asked, sums), unpriced };
        }),
    );
    if (values.json) printJson(sums.map((sum) => ({ group: sum.groups[0], ...sum })));
    else printSums(by, sums);
    // Notes for readers who add up the groups; they go to standard error with --json.
    const tell = values.json ? console.error : console.log;
    if (sums.length >= MAX_GROUPS) tell(`The result is limited to ${MAX_GROUPS} groups.`);
    if (groupsOverlap(by))
      tell("A call counts in the group of each of its tags. Calls without tags or end users are not listed.");
    if (unpriced.length > 0) tell(`Used without a known price and not included in the totals: ${unpriced.join(", ")}.`);
    if (groupsOverlap(by) || sums.length >= MAX_GROUPS) tell(allTogether(total));
    return EXIT.ok;
  },
});

type ShownSum = UsageTotal & Pick<UsageSum, "groups">;

interface Shown {
  sums: ShownSum[];
  total: UsageTotal;
  /** Names of what was used without a known price. */
  unpriced: readonly string[];
}

/** A sum as the Admin API shows it. */
interface GatewayAmounts extends Pick<UsageTotal, "calls" | "failures"> {
  usage: Record<string, number | null>;
  cost_nano_usd: number;
}

type GatewaySum = GatewayAmounts & Pick<UsageSum, "groups">;

function amountsOf({ calls, failures, usage, cost_nano_usd }: GatewayAmounts): UsageTotal {
  const known = Object.entries(usage).filter(([, value]) => value !== null);
  return { calls, failures, usage: camelKeys(Object.fromEntries(known)) as Usage, costNanoUsd: cost_nano_usd };
}

const allTogether = ({ calls, costNanoUsd }: UsageTotal): string =>
  `Total: ${calls} calls, ${(costNanoUsd / 1e9).toFixed(6)} USD.`;

function readDimensions(words: string): UsageDimension[] {
  const by = words.split(",").map((word) => {
    const found = USAGE_DIMENSIONS.find((dimension) => dimension === word.trim());
    if (!found) throw new UsageError(`--by: "${word}" is not one of ${USAGE_DIMENSIONS.join(", ")}.`);
    return found;
  });
  if (by.length > 2 || new Set(by).size < by.length)
    throw new UsageError(`--by: "${words}" must be one group or two different groups.`);
  return by;
}

/** On a terminal each line ends in a bar for its cost, or for its calls if everything was free. */
function printSums(by: readonly UsageDimension[], sums: readonly ShownSum[]): void {
  const costs = sums.map(({ costNanoUsd }) => costNanoUsd);
  const lengths = costs.some((cost) => cost > 0) ? costs : sums.map(({ calls }) => calls);
  const drawn = process.stdout.isTTY === true ? bars(lengths, BAR_CELLS) : [];
  printTable(
    [...by, "calls", "failed", "input", "cached", "output", "reasoning", "images", "seconds", "USD"],
    sums.map((sum, index) => [...sum.groups, ...figures(sum), ...drawn.slice(index, index + 1)]),
  );
}

function figures({ calls, failures, usage, costNanoUsd }: ShownSum): string[] {
  return [
    String(calls),
    String(failures),
    String(promptTokens(usage) - (usage.cacheRead ?? 0)),
    String(usage.cacheRead ?? 0),
    String(completionTokens(usage) - (usage.reasoning ?? 0)),
    String(usage.reasoning ?? 0),
    String(usage.images ?? 0),
    String(usage.seconds ?? 0),
    (costNanoUsd / 1e9).toFixed(6),
  ];
}

const exportAll = defineVerb({
  name: "export",
  usage: "[--format csv|jsonl] [--output FILE] [--from TIME] [--to TIME]",
  summary: "export receipts as CSV or JSON Lines, oldest first",
  flags: {
    format: { type: "string", default: "csv", value: "FORMAT", about: `one of ${EXPORT_FORMATS.join(", ")}` },
    output: { type: "string", short: "o", value: "FILE", about: "output file (default: standard output)" },
    force: { type: "boolean", default: false, about: "overwrite the file" },
    ...RANGE_FLAGS,
    ...GATEWAY_FLAGS,
  },
  run: async ({ values }) => {
    const format = EXPORT_FORMATS.find((one) => one === values.format);
    if (!format) throw new UsageError(`--format: "${values.format}" is not one of ${EXPORT_FORMATS.join(", ")}.`);
    const { output: path, force } = values;
    if (path !== undefined) checkOutput([path], force);
    const { sinceMs: fromMs, untilMs: toMs } = readRange(values, readZone(values), Date.now());
    const write = async (pieces: AsyncIterable<string>): Promise<void> => {
      if (path !== undefined) await writeOutput({ path, content: encoded(pieces), force });
      else await printPieces(pieces);
    };
    await atGateway(
      values,
      async (client) => {
        const [from, to] = [fromMs, toMs].map((ms) => new Date(ms).toISOString());
        const stream = await client.stream("/api/usage/export", {
          format,
          from,
          to,
          ...readFilter(values, "key", "end_user"),
        });
        await write(decoded(stream));
      },
      () =>
        withStorage(values.config, async (storage) => {
          const names = new Map((await listKeys(storage)).map(({ id, name }) => [id, name]));
          await write(
            exportReceipts(storage, { ...readFilter(values, "key", "endUser"), fromMs, toMs }, format, names),
          );
        }),
    );
    return EXIT.ok;
  },
});

async function* encoded(pieces: AsyncIterable<string>): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder();
  for await (const piece of pieces) yield encoder.encode(piece);
}

/** Waits for each piece to be written before reading the next. */
async function printPieces(pieces: AsyncIterable<string>): Promise<void> {
  const { stdout } = process;
  try {
    for await (const piece of pieces) if (!stdout.write(piece)) await once(stdout, "drain");
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "EPIPE") return;
    throw new GatewayError("internal", "The export could not be written.", { cause });
  }
}

async function* decoded(stream: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  for await (const piece of stream) yield decoder.decode(piece, { stream: true });
}

const check = defineVerb({
  name: "check",
  usage: "",
  summary: "verify the hourly and daily totals against the receipts",
  flags: {},
  run: async ({ values }) => {
    const { days, differences } = await withStorage(values.config, (storage) => checkRollUps(storage));
    if (values.json) printJson({ days, differences });
    else if (differences.length === 0) console.log(`${days} days checked: all totals match the receipts.`);
    for (const { where, group, here, there } of values.json ? [] : differences) {
      console.log(`${where}: ${group}: ${here ?? "nothing"} instead of ${there ?? "nothing"}`);
    }
    return differences.length === 0 ? EXIT.ok : EXIT.failed;
  },
});

const VERBS = [exportAll, check];
const verbs = withVerbs(VERBS);

const help = (about: CommandAbout): string => [report.help(about), "", ...listVerbs(VERBS)].join("\n");

/** Without a subcommand it prints the report, whose arguments are all flags. */
export const usage: Command = {
  help,
  run: async (args, about) => {
    const isReport = args[0] === undefined || args[0].startsWith("-");
    if (!isReport) return verbs.run(args, about);
    if (!args.some(isHelpFlag)) return report.run(args, about);
    console.log(help(about));
    return EXIT.ok;
  },
};
