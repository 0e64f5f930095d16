/** Control characters, those that end a line, and those that turn the direction in which what follows is shown. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
const HOSTILE = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/;

/** Whether a text is one line that shows as it is, on a terminal, a page or in a file, and can be stored anywhere. */
export const isPlainLine = (text: string): boolean => !HOSTILE.test(text) && text.isWellFormed();
