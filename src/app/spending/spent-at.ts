import type { SpentSums } from "../../access/admit.ts";
import { type Level, type LevelName, readPartId } from "../../access/level.ts";
import { matches } from "../../access/model-glob.ts";
import { NOTHING_SPENT, type PartSpent, plus, type Spent, spentByOwner, spentByPart } from "../../ledger/queries.ts";
import type { Storage } from "../../storage/storage.ts";
import { selectMakers } from "../../storage/tables/keys.ts";

/**
 * What each key, each project and the gateway have used in the current windows, from the ledger; and what the models and
 * tags have used that a level limits.
 */
export async function spentAt(storage: Storage, asOfMs: number, levels: readonly Level[]): Promise<SpentSums> {
  const { byKey, byProject, all } = await spentByOwner(storage, asOfMs);
  const namesOf = (level: LevelName) => levels.filter((one) => one.level === level).map(({ name }) => name);
  const tags = [...new Set(namesOf("tag"))];
  const byModel = namesOf("model").length === 0 ? [] : await spentByPart(storage, asOfMs, "model");
  const byTag = tags.length === 0 ? [] : await spentByPart(storage, asOfMs, { tagsLike: tags });
  const makers = byModel.length + byTag.length === 0 ? new Map<string, string>() : await selectMakers(storage);
  const known = new Map<string, Spent>();
  const ofPart = (level: LevelName, id: string): Spent => {
    const name = `${level} ${id}`;
    const spent = known.get(name) ?? sumOf(level === "model" ? byModel : byTag, id, makers);
    known.set(name, spent);
    return spent;
  };
  return (level, id, measure) => {
    if (level === "gateway") return all[measure];
    if (level === "model" || level === "tag") return ofPart(level, id)[measure];
    return (level === "key" ? byKey : byProject).get(id)?.[measure] ?? 0;
  };
}

function sumOf(rows: readonly PartSpent[], partId: string, makers: ReadonlyMap<string, string>): Spent {
  const part = readPartId(partId);
  if (part === undefined) return NOTHING_SPENT;
  let sum = NOTHING_SPENT;
  for (const row of rows) {
    const { project, keyId } = row;
    const isWithin =
      part.level === "gateway" ||
      (part.level === "project" ? project === part.id : keyId === part.id || makers.get(keyId) === part.id);
    if (isWithin && matches(part.name, row.part)) sum = plus(sum, row);
  }
  return sum;
}
