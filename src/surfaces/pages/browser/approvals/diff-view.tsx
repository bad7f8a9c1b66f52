/** The lines of a diff, removed ones before new ones. */
import type { JSX } from 'preact';
import { several } from '../parts/words.ts';
import { type ChangedParts, changedParts, type DiffLine, nearChanges } from './input-diff.ts';

/** Most characters that are shown beside a change within a line. */
const maxBeside = 120;

export function DiffView({ lines: all }: { readonly lines: readonly DiffLine[] }): JSX.Element {
  const lines = nearChanges(all);
  const parts = partsOf(lines);
  return (
    <ol class="diff">
      {lines.map((line, at) =>
        line.kind === 'left-out' ? (
          <li key={at} class="left-out">
            {several(line.count, 'line')} unchanged
          </li>
        ) : (
          <li key={at} class={line.kind}>
            {line.kind === 'same' ? (
              <pre>{shortMiddle(line.text)}</pre>
            ) : (
              <Changed line={line} parts={parts.get(at)} />
            )}
          </li>
        ),
      )}
    </ol>
  );
}

function Changed({
  line: { kind, text },
  parts,
}: {
  readonly line: DiffLine;
  readonly parts: ChangedParts | undefined;
}): JSX.Element {
  const Mark = kind === 'gone' ? 'del' : 'ins';
  return (
    <pre>
      <span class="unseen">{kind === 'gone' ? 'Removed: ' : 'Added: '}</span>
      {parts === undefined ? (
        <Mark>{text}</Mark>
      ) : (
        <>
          {shortStart(parts.start)}
          <Mark>{parts.changed}</Mark>
          {shortEnd(parts.end)}
        </>
      )}
    </pre>
  );
}

/** In a run of changes, the first removed line belongs to the first new one, and so on. */
function partsOf(lines: readonly { readonly kind: string }[]): Map<number, ChangedParts> {
  const found = new Map<number, ChangedParts>();
  for (let at = 0; at < lines.length; ) {
    const from = at;
    while (lines[at]?.kind === 'gone') at++;
    const middle = at;
    while (lines[at]?.kind === 'new') at++;
    for (let pair = 0; pair < Math.min(middle - from, at - middle); pair++) {
      const [before, after] = [lines[from + pair], lines[middle + pair]] as DiffLine[];
      const [a, b] = changedParts(before?.text ?? '', after?.text ?? '');
      // Lines that have only their indentation in common count as different.
      if (a.start.trim() === '' && a.end.trim().length < 2) continue;
      found.set(from + pair, a);
      found.set(middle + pair, b);
    }
    if (at === from) at++;
  }
  return found;
}

function shortMiddle(text: string): JSX.Element | string {
  if (text.length <= 4 * maxBeside) return text;
  return (
    <>
      {text.slice(0, maxBeside)}
      <Skipped count={text.length - 2 * maxBeside} />
      {text.slice(-maxBeside)}
    </>
  );
}

function shortStart(text: string): JSX.Element | string {
  if (text.length <= 2 * maxBeside) return text;
  const kept = text.slice(-maxBeside);
  return (
    <>
      <Skipped count={text.length - kept.length} />
      {kept}
    </>
  );
}

function shortEnd(text: string): JSX.Element | string {
  if (text.length <= 2 * maxBeside) return text;
  const kept = text.slice(0, maxBeside);
  return (
    <>
      {kept}
      <Skipped count={text.length - kept.length} />
    </>
  );
}

function Skipped({ count }: { readonly count: number }): JSX.Element {
  return <span class="left-out"> {several(count, 'character')} unchanged </span>;
}
