/**
 * Everything someone might try who wants models without paying, more than a key allows, or the gateway down. The
 * upstream hosts keep their own accounts, and the ledger may never record less than they bill. `npm run cheats`; names
 * of groups, or words from the cheats' lines, select some of them.
 */

import { openBudgets } from "./budgets.ts";
import { type Cheat, type CheatGroup, type OpenGroup, type Outcome, usd, whyBroken } from "./cheat.ts";
import { openDerived } from "./derived.ts";
import { openDisconnects } from "./disconnects.ts";
import { openDoors } from "./doors.ts";
import { openFields } from "./fields.ts";
import { openFolder } from "./folder.ts";
import { openInterplay } from "./interplay.ts";
import { openLive } from "./live.ts";
import { openMedia } from "./media.ts";
import { openMemory } from "./memory.ts";
import { openOffers } from "./offers.ts";
import { openRoom } from "./room.ts";
import { openSendings } from "./sendings.ts";
import { openServices } from "./services.ts";
import { openStored } from "./stored.ts";
import { openUnknownPrices } from "./unknown-prices.ts";
import { openUnpriced } from "./unpriced.ts";
import { openUsage } from "./usage.ts";

const GROUPS: Readonly<Record<string, OpenGroup>> = {
  disconnects: openDisconnects,
  usage: openUsage,
  fields: openFields,
  unpriced: openUnpriced,
  prices: openUnknownPrices,
  budgets: openBudgets,
  interplay: openInterplay,
  derived: openDerived,
  live: openLive,
  offers: openOffers,
  sendings: openSendings,
  stored: openStored,
  services: openServices,
  media: openMedia,
  doors: openDoors,
  memory: openMemory,
  folder: openFolder,
  room: openRoom,
};
const AT_ONCE = 12;
const TIMEOUT_MS = 60_000;

let held = 0;
let broken = 0;

function tell({ id, tries }: Cheat, outcome: Outcome): void {
  const why = whyBroken(outcome);
  if (why === undefined) held++;
  else broken++;
  const sums =
    outcome.upstream === undefined ? [] : [`upstream ${usd(outcome.upstream)}`, `ledger ${usd(outcome.ledger ?? 0)}`];
  const parts = [id.padEnd(13), tries, ...sums, outcome.got, ...(outcome.figures ? [outcome.figures] : [])];
  console.log(`${parts.join(" | ")} | ${why === undefined ? "held" : `BROKEN: ${why}`}`);
}

async function play(cheat: Cheat): Promise<void> {
  const late = Bun.sleep(TIMEOUT_MS).then(
    (): Outcome => ({ got: "nothing", broken: `no end within ${TIMEOUT_MS} ms` }),
  );
  const outcome = await Promise.race([cheat.run(), late]).catch(
    (error: unknown): Outcome => ({ got: "nothing", broken: `could not be played: ${String(error)}` }),
  );
  tell(cheat, outcome);
}

async function playGroup({ cheats, atOnce = false }: CheatGroup, wanted: (cheat: Cheat) => boolean): Promise<void> {
  const waiting = cheats.filter(wanted);
  const player = async () => {
    for (let cheat = waiting.shift(); cheat; cheat = waiting.shift()) await play(cheat);
  };
  await Promise.all(Array.from({ length: atOnce ? AT_ONCE : 1 }, player));
}

const [name, word] = process.argv.slice(2);
const startedMs = performance.now();
for (const [group, open] of Object.entries(GROUPS)) {
  if (name !== undefined && name !== group) continue;
  const opened = await open();
  try {
    await playGroup(opened, ({ id, tries }) => word === undefined || `${id} ${tries}`.includes(word));
  } finally {
    await opened.close();
  }
}
console.log(`${held} held, ${broken} broken, ${((performance.now() - startedMs) / 1000).toFixed(0)} s`);
process.exit(broken > 0 ? 1 : 0);
