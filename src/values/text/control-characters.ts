/** Control characters in texts for a model. */

// biome-ignore lint/suspicious/noControlCharactersInRegex: the expression finds control characters
const unwanted = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/g;

/** The text without control characters other than tab, line feed and carriage return. */
export function withoutControls(text: string): string {
  return text.replaceAll(unwanted, '');
}
