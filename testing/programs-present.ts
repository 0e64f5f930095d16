import { isPresent } from "./is-present.ts";

/** Whether the programs that an example calls are installed (see `isPresent`). */
export function programsPresent(purpose: string, ...programs: string[]): boolean {
  const missing = programs.filter((program) => Bun.which(program) === null);
  return isPresent(missing.length === 0, `${purpose}: ${missing.join(" and ")} not installed`);
}
