/** The files of a patch in the form of `apply_patch`, the tool of Codex. */

/** Most files of a patch. For rules, a patch with more counts as outside of the project. */
const maxFiles = 500;

/** What a patch names, and what of it is not understood. */
export interface PatchFiles {
  readonly files: readonly string[];
  /** For rules, such a patch counts as outside of the project. */
  readonly faults: readonly string[];
}

/**
 * Reads the headers of a patch. Codex trims a line before it compares it with the headers, so every
 * line that looks like a header after trimming counts as one.
 */
export function readPatch(patch: string): PatchFiles {
  const files: string[] = [];
  const faults: string[] = [];
  for (const line of patch.split('\n')) {
    const header = trimmed(line);
    if (!header.startsWith('***')) continue;
    const [, file] = /^\*\*\* (?:(?:Add|Update|Delete) File|Move to):(.*)$/.exec(header) ?? [];
    if (file !== undefined) files.push(trimmed(file));
    // A line of a file begins with a space or a sign, and may have three asterisks after it.
    else if (!/^[ +-]/.test(line) && !/^\*\*\* (?:(?:Begin|End) Patch|End of File)$/.test(header))
      faults.push(`a line of a patch that is not understood: ${header.slice(0, 80)}`);
  }
  if (files.length === 0) faults.push('a patch that is not understood');
  if (files.length > maxFiles) faults.push(`a patch with more than ${maxFiles} files`);
  return { files: files.slice(0, maxFiles), faults };
}

/** Without the white space of Unicode at both ends, to which U+0085 belongs. */
function trimmed(text: string): string {
  const isSpace = (at: number): boolean => /[\s\u0085]/.test(text[at] as string);
  let [start, end] = [0, text.length];
  while (start < end && isSpace(start)) start++;
  while (start < end && isSpace(end - 1)) end--;
  return text.slice(start, end);
}
