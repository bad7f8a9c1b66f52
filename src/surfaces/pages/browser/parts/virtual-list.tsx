/**
 * A list box of which only the rows in sight are in the document. Arrow keys, Home, End and the
 * page keys choose a row. At the top, the list follows new rows. Elsewhere, the rows in sight stay
 * where they are.
 */
import type { ComponentChildren, JSX } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';

/** Rows beyond the edges, so that fast scrolling shows no gaps. */
const spare = 10;

/** Rows one after another under a heading. */
export interface RowGroup {
  /** The key of its first row. */
  readonly first: number;
  /** The text of the heading. */
  readonly label: string;
}

const headingHeight = 30;

export interface VirtualListProps {
  readonly label: string;
  /** Keys of the rows, from the top down. */
  readonly keys: readonly number[];
  readonly rowHeight: number;
  readonly chosen: number | undefined;
  readonly choose: (key: number) => void;
  /** Called for Enter. */
  readonly enter: () => void;
  /** Called for a click, after `choose`. */
  readonly clicked?: () => void;
  readonly row: (key: number) => ComponentChildren;
  /** The group of a row, the same object for each of its rows. */
  readonly groupOf?: (key: number) => RowGroup | undefined;
}

/** Longer than 60 lines, since scrolling, keys and markup share the position of the list. */
export function VirtualList(props: VirtualListProps): JSX.Element {
  const { label, keys, rowHeight, chosen, choose, enter, clicked, row, groupOf } = props;
  const box = useRef<HTMLDivElement>(null);
  const anchor = useRef<{ key: number; off: number } | undefined>(undefined);
  const [view, setView] = useState({ top: 0, height: 600 });
  // Positions of the rows below a heading. A list without groups has none.
  const headed: number[] = [];
  if (groupOf !== undefined)
    for (const [at, key] of keys.entries()) if (groupOf(key)?.first === key) headed.push(at);
  const topOf = (at: number): number =>
    at * rowHeight + headingHeight * headed.filter((one) => one <= at).length;
  /** The row at a height, or the one whose heading is there. */
  const rowAt = (top: number): number => {
    let at = Math.max(0, Math.floor((top - headed.length * headingHeight) / rowHeight));
    while (at < keys.length - 1 && topOf(at) + rowHeight <= top) at++;
    return at;
  };
  const first = Math.max(0, rowAt(view.top) - spare);
  const last = Math.min(keys.length, rowAt(view.top + view.height) + 1 + spare);
  const chosenAt = chosen === undefined ? -1 : keys.indexOf(chosen);

  useLayoutEffect(() => {
    const own = box.current;
    if (own === null) return;
    const measure = (): void => setView({ top: own.scrollTop, height: own.clientHeight });
    const observer = new ResizeObserver(measure);
    observer.observe(own);
    measure();
    return () => observer.disconnect();
  }, []);

  // New rows above the first row in sight push it down, so the list follows it.
  useLayoutEffect(() => {
    const own = box.current;
    if (own === null || anchor.current === undefined) return;
    const at = keys.indexOf(anchor.current.key);
    if (at === -1) return;
    const top = topOf(at) + anchor.current.off;
    if (Math.abs(own.scrollTop - top) > 1) own.scrollTop = top;
  }, [keys]);

  const onScroll = (): void => {
    const own = box.current;
    if (own === null) return;
    const at = rowAt(own.scrollTop);
    const key = keys[at];
    anchor.current =
      own.scrollTop < 2 || key === undefined ? undefined : { key, off: own.scrollTop - topOf(at) };
    setView({ top: own.scrollTop, height: own.clientHeight });
  };
  const go = (to: number): void => {
    const own = box.current;
    const at = Math.max(0, Math.min(keys.length - 1, to));
    const key = keys[at];
    if (own === null || key === undefined) return;
    choose(key);
    const top = topOf(at);
    const start = headed.includes(at) ? top - headingHeight : top;
    if (start < own.scrollTop) own.scrollTop = start;
    else if (top + rowHeight > own.scrollTop + own.clientHeight)
      own.scrollTop = top + rowHeight - own.clientHeight;
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const page = Math.max(1, Math.floor(view.height / rowHeight) - 1);
    const steps: Readonly<Record<string, number>> = {
      ArrowDown: chosenAt + 1,
      ArrowUp: chosenAt === -1 ? 0 : chosenAt - 1,
      PageDown: chosenAt + page,
      PageUp: chosenAt - page,
      Home: 0,
      End: keys.length - 1,
    };
    const to = steps[event.key];
    if (to !== undefined) go(to);
    else if (event.key === 'Enter') enter();
    else return;
    event.preventDefault();
  };
  const rows: JSX.Element[] = [];
  let inGroup: JSX.Element[] = [];
  for (let at = first; at < last; at++) {
    const key = keys[at] as number;
    const group = groupOf?.(key);
    const isNew =
      at === first || group === undefined || group !== groupOf?.(keys[at - 1] as number);
    if (isNew) inGroup = group === undefined ? rows : [];
    if (isNew && group !== undefined)
      rows.push(
        // biome-ignore lint/a11y/useSemanticElements: a group of options is no fieldset.
        <div key={`group ${group.first}`} role="group" aria-label={group.label}>
          {group.first === key ? (
            <div
              class="heading cut"
              aria-hidden="true"
              style={{ top: `${topOf(at) - headingHeight}px`, height: `${headingHeight}px` }}
            >
              {group.label}
            </div>
          ) : null}
          {inGroup}
        </div>,
      );
    inGroup.push(
      // biome-ignore lint/a11y/useKeyWithClickEvents: the list box has the keys.
      // biome-ignore lint/a11y/useFocusableInteractive: the list box has the focus.
      <div
        key={key}
        id={`option-${key}`}
        role="option"
        class="option"
        aria-selected={key === chosen}
        aria-posinset={at + 1}
        aria-setsize={keys.length}
        style={{ top: `${topOf(at)}px`, height: `${rowHeight}px` }}
        onClick={() => {
          choose(key);
          clicked?.();
        }}
      >
        {row(key)}
      </div>,
    );
  }
  return (
    <div
      ref={box}
      class="virtual"
      role="listbox"
      aria-label={label}
      tabIndex={0}
      aria-activedescendant={chosenAt >= first && chosenAt < last ? `option-${chosen}` : undefined}
      onScroll={onScroll}
      onKeyDown={onKeyDown}
    >
      <div
        role="presentation"
        class="tall"
        style={{ height: `${keys.length * rowHeight + headed.length * headingHeight}px` }}
      >
        {rows}
      </div>
    </div>
  );
}
