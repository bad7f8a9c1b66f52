/** The marks that stand in an output for what was cut off it. */

/** What every mark begins with. */
export const markStart = '[output cut: ';

/** @param exact Whether the length is known, or only that the output is longer. */
export function cutMark(originalChars: number, limit: number, exact: boolean): string {
  return (
    `\n${markStart}${exact ? '' : 'more than '}${exact ? originalChars : originalChars - 1} ` +
    `characters, limit ${limit}]`
  );
}
