/** Commands that need no row: they say themselves what they need and do. */
import type { Row } from './rows.ts';

/** A line that installs packages, and does nothing else. */
export function isInstall(text: string): boolean {
  return /^npm install(?: --?[\w-]+| @?[\w./-]+)*$/.test(text);
}

/** The packages that a line installs. */
export function packagesOf(install: string): readonly string[] {
  return install
    .split(' ')
    .slice(2)
    .filter((word) => !word.startsWith('-'));
}

/** A line for a clone of the repository, which `.ci/run` tries. */
const ofRepository = /^(?:npm ci|npm run|npx vitest)\b/;

/** The row of a command that is not in the table; undefined if it has to be there. */
export function ownRow(text: string): Row | string | undefined {
  if (ofRepository.test(text)) return 'a command of the repository';
  return isInstall(text) || /^cd [\w-]+$/.test(text) ? {} : undefined;
}

/** Matches what a transcript shows. `…` stands for any text, and so do ids and times. */
export function likeTranscript(output: string): RegExp {
  const pattern = output
    .trimEnd()
    .replaceAll(/[$()*+.?[\\\]^{|}]/g, '\\$&')
    .replaceAll('…', '.*')
    .replaceAll(/sha256:[0-9a-f]+\.\*/g, 'sha256:[0-9a-f]+')
    .replaceAll(/call_\w+/g, 'call_\\w+')
    .replaceAll(/("durationMs":)[\d\\.]+/g, '$1[\\d.]+');
  return new RegExp(pattern);
}
