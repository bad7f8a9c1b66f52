/** A value under a title: field by field, texts as texts, or as JSON, as a person likes. */
import type { JSX } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { type Fold, foldsIn } from './input-shape.ts';
import { InputView } from './input-view.tsx';
import { JsonText } from './json-text.tsx';
import { Part } from './part.tsx';

export function ShownValue({
  value,
  title,
  label,
}: {
  readonly value: unknown;
  readonly title: string;
  readonly label: string;
}): JSX.Element {
  return useShownValue(value, title, label).part;
}

/** A value, field by field or as JSON, and what of it is folded. */
export function useShownValue(
  value: unknown,
  title: string,
  label: string,
): {
  readonly part: JSX.Element;
  readonly folds: readonly Fold[];
  readonly unfoldAll: () => void;
} {
  const [open, setOpen] = useState<ReadonlySet<string>>(nothing);
  const [isRaw, setRaw] = useState(false);
  const folds = useMemo(() => (isRaw ? [] : foldsIn(value, open)), [value, open, isRaw]);
  // Drawn once, and not each second with the clock. It may be long.
  const part = useMemo(
    () => (
      <Part
        title={title}
        beside={
          <button
            type="button"
            class="button small"
            aria-pressed={isRaw}
            onClick={() => setRaw(!isRaw)}
          >
            Raw JSON
          </button>
        }
      >
        {isRaw ? (
          <JsonText value={value} label={label} />
        ) : (
          <InputView
            value={value}
            label={label}
            open={open}
            unfold={(pointer) => setOpen((before) => new Set([...before, pointer]))}
          />
        )}
      </Part>
    ),
    [value, title, label, open, isRaw],
  );
  return { part, folds, unfoldAll: () => setOpen(everyFold(value, open)) };
}

const nothing: ReadonlySet<string> = new Set();

/** Folded members may have folded texts in them. */
function everyFold(value: unknown, open: ReadonlySet<string>): ReadonlySet<string> {
  const all = new Set(open);
  for (;;) {
    const more = foldsIn(value, all);
    if (more.length === 0) return all;
    for (const { pointer } of more) all.add(pointer);
  }
}
