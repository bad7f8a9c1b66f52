/** Sentences that follow each other without a space: `www.example.com.They are …`. */

/**
 * Words that begin sentences. No name is among them, and no top-level domain such as `in`, `it` and
 * `to`, so that `Ann.Lee`, `docs.Example.com` and `Report.Final.pdf` are never taken apart.
 */
const openers =
  'After|Also|And|Ask|Before|But|Could|Each|Finally|First|For|From|Get|Give|He|Her|His|However|' +
  'If|Just|Let|Make|Many|Not|Note|On|Only|Or|Our|Please|Say|Send|She|Should|Since|Some|Thank|' +
  'Thanks|That|The|Their|Then|There|These|They|This|Those|Use|We|Well|What|When|Where|Which|' +
  'While|Who|Why|With|Would|Write|Yes|Your';
const missingSpace = new RegExp(`(?<=[\\p{Ll}\\p{N}])\\.(?=(?:${openers})(?:[\\s,!?'’]|$))`, 'gu');

/** The text with the spaces that are missing after a full stop. */
export function withSpaces(text: string): string {
  return text.replace(missingSpace, '. ');
}
