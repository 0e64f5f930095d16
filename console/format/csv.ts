/** Spreadsheets run cells that begin with one of these as formulas. */
const FORMULA = /^[=+\-@\t\r]/;

/** RFC 4180. Text that could be a formula gets a leading apostrophe; numbers stay numbers. */
export function csvCell(value: string | number): string {
  const text = typeof value === "number" ? String(value) : FORMULA.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

export const csvOf = (rows: readonly (readonly (string | number)[])[]): string =>
  rows.map((row) => `${row.map(csvCell).join(",")}\r\n`).join("");

/** Downloads a text as a file. */
export function download(name: string, type: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 1_000);
}
