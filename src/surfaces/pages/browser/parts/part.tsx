/** A part of a pane under a small title. */
import type { ComponentChildren, JSX } from 'preact';

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
