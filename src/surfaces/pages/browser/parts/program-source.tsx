/** The source of a program, with numbers at its lines. Some of them are marked. */
import type { JSX } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { Text } from './shown-value.tsx';
import { several } from './words.ts';

/** Most lines that are shown at first. */
const maxLines = 200;
/** Lines that are shown around a marked one of a longer program, and at its beginning. */
const around = 8;
/** Most characters of a line that are shown at first. */
const maxOfLine = 2_000;

/** @param marks What is said at a line, by its number from 1. */
export function ProgramSource({
  source,
  marks = none,
  main,
}: {
  readonly source: string;
  readonly marks?: ReadonlyMap<number, string>;
  /** The marked line that is in sight at first. */
  readonly main?: number;
}): JSX.Element {
  const [isOpen, setOpen] = useState(false);
  const box = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const own = box.current;
    const line = own?.querySelector<HTMLElement>('.main') ?? null;
    if (own === null || line === null) return;
    const isBelow = line.offsetTop + line.offsetHeight > own.clientHeight;
    if (isBelow) own.scrollTop = line.offsetTop - own.clientHeight / 3;
  }, [source, main]);
  const { rows, cut } = rowsOf(source, marks, main, isOpen);
  return (
    <div class="block">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, also by keyboard. */}
      <section class="program" ref={box} tabIndex={0} aria-label="Source of the program">
        <pre class="wrap">{rows}</pre>
      </section>
      {cut === 0 ? null : (
        <button type="button" class="button small unfold" onClick={() => setOpen(true)}>
          Show {several(cut, 'more character')}
          <span class="unseen"> of the program</span>
        </button>
      )}
    </div>
  );
}

const none: ReadonlyMap<number, string> = new Map();

/** The lines that are shown, and how many characters are not. */
function rowsOf(
  source: string,
  marks: ReadonlyMap<number, string>,
  main: number | undefined,
  isOpen: boolean,
): { readonly rows: readonly JSX.Element[]; readonly cut: number } {
  // As a program is read: other line terminators end comments too, but count no lines.
  const lines = source.split(/\r\n|[\n\r]/);
  const isShown = shownLines(lines.length, marks, isOpen);
  const rows: JSX.Element[] = [];
  let cut = 0;
  let left = 0;
  for (const [at, text] of [...lines, undefined].entries()) {
    const n = at + 1;
    if (text !== undefined && !isShown(n)) {
      left++;
      cut += text.length + 1;
      continue;
    }
    if (left > 0)
      rows.push(
        <span key={`before ${n}`} class="gap">
          {several(left, 'line')} …
        </span>,
      );
    left = 0;
    if (text === undefined) break;
    const over = isOpen ? 0 : Math.max(0, text.length - maxOfLine);
    cut += over;
    const shown = over === 0 ? text : `${text.slice(0, maxOfLine)}…`;
    rows.push(<Line key={n} n={n} text={shown} mark={marks.get(n)} isMain={n === main} />);
  }
  return { rows, cut };
}

/** Of a long program, its beginning and what is around the marked lines. */
function shownLines(
  count: number,
  marks: ReadonlyMap<number, string>,
  isOpen: boolean,
): (n: number) => boolean {
  if (isOpen || count <= maxLines) return () => true;
  const shown = new Set(Array.from({ length: around }, (_, at) => at + 1));
  for (const mark of marks.keys())
    for (let n = mark - around; n <= mark + around; n++) shown.add(n);
  return (n) => shown.has(n);
}

function Line({
  n,
  text,
  mark,
  isMain,
}: {
  readonly n: number;
  readonly text: string;
  readonly mark: string | undefined;
  readonly isMain: boolean;
}): JSX.Element {
  // What looks like one line may be two: the second one runs even if the first is a comment.
  const parts = text.split(/(?<=[\u2028\u2029])/);
  const shown = parts.map((part, at) => (
    <>
      {at === 0 ? null : '\n'}
      <Text text={part} />
    </>
  ));
  return (
    <span class={`code-line ${mark === undefined ? '' : 'marked'} ${isMain ? 'main' : ''}`}>
      <span class="number" data-n={n} aria-hidden="true" />
      <span class="text">{mark === undefined ? shown : <mark>{shown}</mark>}</span>
      {mark === undefined ? null : <span class="said">{mark}</span>}
    </span>
  );
}
