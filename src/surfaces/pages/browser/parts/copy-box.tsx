/** A text to copy, and a button that copies it. */
import type { JSX } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { Scroll } from './scroll.tsx';

const selected = 'The browser does not let the page copy. The text is selected: copy it yourself.';

export function CopyBox({
  label,
  text,
  stale,
}: {
  readonly label: string;
  readonly text: string;
  /** Whether it is no longer what the page asks for. It is then shown, and not copied. */
  readonly stale: boolean;
}): JSX.Element {
  const [told, tell] = useState<readonly [text: string, outcome: string]>();
  const shown = useRef<HTMLPreElement>(null);
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text);
      tell([text, 'Copied.']);
    } catch {
      if (shown.current !== null) getSelection()?.selectAllChildren(shown.current);
      tell([text, selected]);
    }
  };
  return (
    <div class="part">
      <Scroll name="json" label={label}>
        <pre ref={shown} class={stale ? 'soft' : ''}>
          {text}
        </pre>
      </Scroll>
      <p class="row">
        <button type="button" class="button main" disabled={stale} onClick={() => void copy()}>
          Copy
        </button>
        <span class="small soft" role="status">
          {told?.[0] === text ? told[1] : ''}
        </span>
      </p>
    </div>
  );
}
