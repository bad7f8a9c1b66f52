/** Recognises a package that `npx` did not load to its end. npm keeps such a package for good. */

/**
 * What to do about it, as a sentence; `""` if the text is about something else.
 * @param stderr what a server wrote before it ended, which may be anything
 */
export function halfPackageHint(stderr: string): string {
  const isMissing = /\bCannot find (?:module|package)\b/.test(stderr);
  const [, folder] = /[\\/]_npx[\\/]([\da-f]{8,64})[\\/]/.exec(stderr) ?? [];
  if (!isMissing || folder === undefined) return '';
  return (
    ` npm has only a part of this package in its cache. Delete the folder \`_npx/${folder}\` of ` +
    '`npm config get cache`, and it is loaded again.'
  );
}
