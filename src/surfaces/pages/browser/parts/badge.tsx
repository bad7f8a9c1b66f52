/** A word in a coloured pill. The word is sufficient; the colour repeats it. */
import type { ComponentChildren, JSX } from 'preact';

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
