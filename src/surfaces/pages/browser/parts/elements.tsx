/** The small elements of which the pages are made. */
import { type ComponentChildren, Fragment, type JSX } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { visibleJson } from './visible.ts';

// A word in a coloured pill. The word is sufficient; the colour repeats it.

export type Tone = 'good' | 'warn' | 'bad' | 'shadow' | 'accent' | 'plain';

export function Badge({
  tone = 'plain',
  title,
  children,
}: {
  readonly tone?: Tone;
  readonly title?: string;
  readonly children: ComponentChildren;
}): JSX.Element {
  return (
    <span class={`badge ${tone}`} title={title}>
      <span class="cut">{children}</span>
    </span>
  );
}

const tones: Readonly<Record<string, Tone>> = {
  allow: 'good',
  succeeded: 'good',
  user: 'good',
  trusted: 'good',
  ask: 'warn',
  pending: 'warn',
  unknown: 'warn',
  deny: 'bad',
  rejected: 'bad',
  failed: 'bad',
  untrusted: 'bad',
  cancelled: 'plain',
};

/** The tone of a verdict, a status or an origin. */
export function toneOf(word: string): Tone {
  return Object.hasOwn(tones, word) ? (tones[word] as Tone) : 'plain';
}

/** A text to copy, and a button that copies it. */
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

/** A text for a place that has no content yet. */
export function Empty({
  title,
  children,
}: {
  readonly title: string;
  readonly children?: ComponentChildren;
}): JSX.Element {
  return (
    <div class="empty">
      <strong>{title}</strong>
      {children === undefined ? null : <p>{children}</p>}
    </div>
  );
}

/** The mark of the project: a call that passes a gate. It is also the icon of the page. */
const icon = document.querySelector<HTMLLinkElement>('link[rel=icon]');

export function Logo(): JSX.Element {
  return <img src={icon?.href} width="22" height="22" alt="" />;
}

/** A part of a pane under a small title. */
export function Part({
  title,
  beside,
  children,
}: {
  readonly title: string;
  /** At the end of the line of the title. */
  readonly beside?: ComponentChildren;
  readonly children: ComponentChildren;
}): JSX.Element {
  return (
    <div class="part">
      <div class="part-head">
        <h3>{title}</h3>
        {beside}
      </div>
      {children}
    </div>
  );
}

/** A part of the page that scrolls. It takes the focus, so that the keyboard can scroll it. */
export function Scroll({
  label,
  name,
  children,
}: {
  readonly label: string;
  /** Names in the style sheet. */
  readonly name: string;
  readonly children: ComponentChildren;
}): JSX.Element {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard.
    <section class={name} tabIndex={0} aria-label={label}>
      {children}
    </section>
  );
}

// A sentence of the library or of a host, in which backticks mark names.

export function Ticked({ text }: { readonly text: string }): JSX.Element {
  const parts = text.split('`');
  // An odd number of backticks marks nothing.
  if (parts.length % 2 === 0) return <>{text}</>;
  return (
    <>
      {parts.map((part, at) => (
        <Fragment key={at}>{at % 2 === 0 ? part : <span class="mono">{part}</span>}</Fragment>
      ))}
    </>
  );
}

/** The same without the marks, for labels. */
export function withoutTicks(text: string): string {
  return text.split('`').length % 2 === 0 ? text : text.replaceAll('`', '');
}

// JSON as plain text, with its parts in colours.

/** Above this many characters there are no colours. */
const maxColoured = 40_000;
const token =
  /("(?:[^"\\]|\\.)*")(\s*:)?|\b(?:true|false|null)\b|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

export function JsonText({
  value,
  label,
}: {
  /** Any JSON value, or a JSON text. */
  readonly value: unknown;
  readonly label: string;
}): JSX.Element {
  const text = visibleJson(value);
  return (
    <Scroll name="json" label={label}>
      <pre>{text.length > maxColoured ? text : coloured(text)}</pre>
    </Scroll>
  );
}

/** The value of a JSON text, or the text itself if it is not JSON. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function coloured(text: string): (string | JSX.Element)[] {
  const parts: (string | JSX.Element)[] = [];
  let at = 0;
  for (const match of text.matchAll(token)) {
    parts.push(text.slice(at, match.index));
    at = match.index + match[0].length;
    const [, string, colon] = match;
    if (string === undefined) parts.push(<span class="value">{match[0]}</span>);
    else if (colon === undefined) parts.push(<span class="text">{string}</span>);
    else parts.push(<span class="key">{string}</span>, colon);
  }
  parts.push(text.slice(at));
  return parts;
}
