/** `npm test` runs without services, even where they are installed; `npm run test:all` runs with them. */
const withServices = () => process.env["TRIVIUM_TEST_SERVICES"] !== "no";

/**
 * Whether what some tests need is here, for `skipIf`. Where it is not, the reason is printed, and the test runner repeats it at its end.
 * If a run with services finds it missing under CI, that is a failure.
 */
export function isPresent(found: boolean, reason: string): boolean {
  if (!found && withServices() && process.env["CI"] === "true") throw new Error(reason);
  return isOptional(found, reason);
}

/** The same for what no checkout contains, such as recordings: its absence does not fail under CI either. */
export function isOptional(found: boolean, reason: string): boolean {
  if (!found) console.log(`skipped: ${reason}`);
  return found;
}

/** The path of the first of these programs that is installed, if the run uses services. */
export function findService(...programs: string[]): string | undefined {
  if (!withServices()) return undefined;
  return programs.map((program) => Bun.which(program)).find((path) => path !== null) ?? undefined;
}

/** Whether the programs that an example calls are installed (see `isPresent`). */
export function programsPresent(purpose: string, ...programs: string[]): boolean {
  const missing = programs.filter((program) => Bun.which(program) === null);
  return isPresent(missing.length === 0, `${purpose}: ${missing.join(" and ")} not installed`);
}
