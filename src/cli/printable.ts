/** Removes control characters, so that a response cannot move the cursor or change the terminal. */
export const printable = (text: string): string =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
  text.replaceAll(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, "");
