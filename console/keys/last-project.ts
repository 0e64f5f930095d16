const PLACE = "trivium.project";
const USUAL = "default";

/** The project of the last key that was created here, if it still exists; otherwise `default`. */
export function lastProject(ids: readonly string[]): string | undefined {
  const last = localStorage.getItem(PLACE);
  if (last !== null && ids.includes(last)) return last;
  return ids.includes(USUAL) ? USUAL : ids[0];
}

export function rememberProject(id: string): void {
  if (id !== "") localStorage.setItem(PLACE, id);
}
