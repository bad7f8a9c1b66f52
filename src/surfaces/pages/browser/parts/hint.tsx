/** A word with its meaning, which shows on hover, on focus, and on a click or touch. */
import type { JSX } from 'preact';
import { useEffect, useId, useLayoutEffect, useRef, useState } from 'preact/hooks';

/** Pixels between the meaning and the word, and between it and the edges of the window. */
const gap = 6;

/** Longer than 60 lines, since opening, placing and closing share one state. */
export function Hint({
  word,
  children,
}: {
  readonly word: string;
  /** What it means. */
  readonly children: string;
}): JSX.Element {
  const [open, setOpen] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const meaning = useRef<HTMLSpanElement>(null);
  const id = useId();
  const close = (): void => setOpen(false);
  // It has a place in the window and not in the document, since tables cut off what leaves them.
  useLayoutEffect(() => {
    const [at, own] = [button.current?.getBoundingClientRect(), meaning.current];
    if (!open || at === undefined || own === null) return;
    const below = at.bottom + gap + own.offsetHeight < innerHeight;
    own.style.left = `${Math.max(gap, Math.min(at.left, innerWidth - own.offsetWidth - gap))}px`;
    own.style.top = `${below ? at.bottom + gap : at.top - gap - own.offsetHeight}px`;
  }, [open]);
  useEffect(() => {
    if (!open) return;
    const elsewhere = ({ target }: Event): void => {
      if (!(target instanceof Node && button.current?.parentNode?.contains(target))) close();
    };
    document.addEventListener('pointerdown', elsewhere);
    document.addEventListener('scroll', close, true);
    return () => {
      document.removeEventListener('pointerdown', elsewhere);
      document.removeEventListener('scroll', close, true);
    };
  }, [open]);
  return (
    <span
      class="hinted"
      onPointerEnter={({ pointerType }) => pointerType === 'mouse' && setOpen(true)}
      onPointerLeave={({ pointerType }) => pointerType === 'mouse' && close()}
    >
      <button
        ref={button}
        type="button"
        class="hint-word"
        aria-describedby={id}
        onClick={() => setOpen(true)}
        onFocus={() => setOpen(true)}
        onBlur={close}
        onKeyDown={(event) => {
          if (event.key !== 'Escape' || !open) return;
          event.stopPropagation();
          close();
        }}
      >
        {word}
      </button>
      <span ref={meaning} id={id} role="tooltip" class="meaning" hidden={!open}>
        {children}
      </span>
    </span>
  );
}
