/** The mark of the project: a gate. */
import type { JSX } from 'preact';

export function Logo(): JSX.Element {
  return (
    <svg width="22" height="22" viewBox="0 0 22 22" fill="none" aria-hidden="true">
      <rect x="1" y="1" width="20" height="20" rx="6" fill="currentColor" opacity="0.16" />
      <path
        d="M6 6v10M16 6v10M6 11h4m2 0h4"
        stroke="currentColor"
        stroke-width="2.2"
        stroke-linecap="round"
      />
    </svg>
  );
}
